import type { Faults } from "../types.ts"
import { durationOf } from "./format.ts"

type Rule = Faults[number]["rule"]

const targetOf = ({ delivery, endpoint, method, path, update_type }: Rule): string => {
  if (delivery !== undefined || update_type !== undefined) return update_type ?? "every update"
  if (endpoint !== undefined) return endpoint
  return path === undefined && method === undefined ? "every request" : [method, path ?? "*"].filter(Boolean).join(" ")
}

const effectsOf = ({
  body,
  code,
  delay,
  delivery,
  empty_text,
  forward_body,
  headers,
  message,
  quote_markup,
  reset,
  status,
  truncate
}: Rule) => [
  delivery === "drop" ? "is not delivered" : undefined,
  delivery === "duplicate" ? "is delivered twice" : undefined,
  status === undefined && code === undefined && message === undefined && body === undefined
    ? undefined
    : `is answered with ${status ?? (body === undefined ? 500 : 200)}${code === undefined ? "" : ` ${code}`}`,
  delay === undefined ? undefined : `is answered ${durationOf(delay)} later`,
  reset === undefined ? undefined : `loses its connection ${reset === "before" ? "before" : "after"} the execution`,
  truncate === undefined ? undefined : `gets the first ${truncate} characters of the response`,
  headers === undefined ? undefined : `gets other headers (${Object.keys(headers).join(", ")})`,
  forward_body === undefined ? undefined : `has forwards whose body is ${forward_body}`,
  empty_text === undefined ? undefined : `has empty texts that are ${empty_text}`,
  quote_markup === undefined ? undefined : "has quotes without markup"
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
