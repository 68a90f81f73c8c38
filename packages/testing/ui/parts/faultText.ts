import type { Faults } from "../types.ts"
import { durationOf } from "./format.ts"

type Rule = Faults[number]["rule"]

const targetOf = ({ delivery, endpoint, method, path, update_type }: Rule): string => {
  if (delivery !== undefined || update_type !== undefined) return update_type ?? "every update"
  if (endpoint !== undefined) return endpoint
  return path === undefined && method === undefined ? "every request" : [method, path ?? "*"].filter(Boolean).join(" ")
}

const answerOf = ({ body, code, message, status }: Rule): string | undefined => {
  if (status === undefined && code === undefined && message === undefined && body === undefined) return undefined
  return `is answered with ${status ?? (body === undefined ? 500 : 200)}${code === undefined ? "" : ` ${code}`}`
}

const effectsOf = (rule: Rule) => [
  rule.delivery === "drop" ? "is not delivered" : undefined,
  rule.delivery === "duplicate" ? "is delivered twice" : undefined,
  answerOf(rule),
  rule.delay === undefined ? undefined : `is answered ${durationOf(rule.delay)} later`,
  rule.reset === undefined ? undefined : `loses its connection ${rule.reset} the execution`,
  rule.truncate === undefined ? undefined : `gets the first ${rule.truncate} characters of the response`,
  rule.headers === undefined ? undefined : `gets other headers (${Object.keys(rule.headers).join(", ")})`,
  rule.forward_body === undefined ? undefined : `has forwards whose body is ${rule.forward_body}`,
  rule.empty_text === undefined ? undefined : `has empty texts that are ${rule.empty_text}`,
  rule.quote_markup === undefined ? undefined : "has quotes without markup"
]

const conditionsOf = ({ chat_id, every, lasts, nth, probability, times }: Rule) => [
  nth === undefined ? undefined : `only number ${nth}`,
  every === undefined ? undefined : every === 2 ? "every second time" : `every ${every}th time`,
  probability === undefined ? undefined : `with the probability ${probability}`,
  chat_id === undefined ? undefined : `in the chat ${chat_id}`,
  times === undefined ? undefined : times === 1 ? "once" : `at most ${times} times`,
  lasts === undefined ? undefined : `for ${durationOf(lasts)}`
]

/** A rule of the faults as a sentence. */
export const faultText = (rule: Rule): string => {
  const target = targetOf(rule)
  const effects = effectsOf(rule).filter((effect) => effect !== undefined)
  const conditions = conditionsOf(rule).filter((condition) => condition !== undefined)
  return `${target[0]!.toUpperCase()}${target.slice(1)} ${[effects.join(" and ") || "is not changed", ...conditions].join(", ")}.`
}
