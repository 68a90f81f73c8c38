import { ChatId } from "@colloquy/core/model/Chat"
import * as Json from "@colloquy/core/base/Json"
import type { Update } from "@colloquy/core/model/Update"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Rule } from "../../Faults.ts"
import { describe } from "../http/requestReader.ts"
import type { PlatformState } from "./state.ts"

/** `*` matches any text, and `{chatId}` any segment of a path. */
const patternOf = (path: string): RegExp => {
  const pattern = path.replace(/\*|\{[^{}/]*\}|[\\^$.+?()[\]{}|]/g, (found) => {
    if (found === "*") return ".*"
    return found.length > 1 ? "[^/]+" : `\\${found}`
  })
  return new RegExp(`^${pattern}$`, "s")
}

const decode = Schema.decodeUnknownEffect(Rule, { errors: "all", onExcessProperty: "error" })

/** Checks a rule and sets its counters to zero. An invalid rule is a `RangeError` defect. */
export const activate = Effect.fnUntraced(function* (rule: Rule) {
  const checked = yield* Effect.catch(decode(rule), (error) => Effect.die(new RangeError(`Faults: ${describe(error)}`)))
  const random = yield* Random.withSeed(Random.Random, checked.seed ?? 0)
  const path = checked.path === undefined ? undefined : patternOf(checked.path)
  const clock = yield* Clock.Clock
  const end = checked.lasts === undefined ? Infinity : clock.currentTimeMillisUnsafe() + checked.lasts
  const isOver = () => end !== Infinity && clock.currentTimeMillisUnsafe() >= end
  return { rule: checked, path, random: () => random.nextDoubleUnsafe(), isOver, matched: 0, applied: 0 }
})

/** A rule of the scripted faults, with the random sequence of `probability`, the end of its time, and its counters. */
export type FaultState = Effect.Success<ReturnType<typeof activate>>

/** Replaces the rules. */
export const setFaults = (state: PlatformState, rules: ReadonlyArray<Rule>): Effect.Effect<void> =>
  Effect.map(Effect.forEach(rules, activate), (faults) => {
    state.faults = faults
  })

/** Counts a match, and returns whether the rule applies. */
export const applies = (fault: FaultState): boolean => {
  const { every, nth, probability, times } = fault.rule
  if (fault.isOver()) return false
  fault.matched++
  const chosen =
    (nth === undefined || fault.matched === nth) &&
    (every === undefined || fault.matched % every === 0) &&
    (probability === undefined || fault.random() < probability)
  if (!chosen || (times !== undefined && fault.applied >= times)) return false
  fault.applied++
  return true
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/** The fields of an update. An update of an unknown type has its fields in `raw`. */
export const fieldsOf = (update: Update): Readonly<Record<string, unknown>> => {
  const fields: unknown = update.update_type === "unknown" ? update.raw : update
  return isRecord(fields) ? fields : {}
}

const chatIn = (fields: Readonly<Record<string, unknown>>): unknown => {
  const { message } = fields
  if (!isRecord(message)) return fields["chat_id"]
  return isRecord(message["recipient"]) ? message["recipient"]["chat_id"] : undefined
}

/** The chat that an update concerns. */
export const chatOf = (update: Update): ChatId | undefined => {
  const chat_id = chatIn(fieldsOf(update))
  return Number.isSafeInteger(chat_id) ? ChatId.make(chat_id as number) : undefined
}

type Form = "null" | "absent"

type Forms = Pick<Rule, "empty_text" | "forward_body" | "quote_markup">

const hasForms = ({ empty_text, forward_body, quote_markup }: Forms): boolean =>
  (empty_text ?? forward_body ?? quote_markup) !== undefined

const without = (object: Readonly<Record<string, unknown>>, key: string, form: Form): Record<string, unknown> => {
  const { [key]: _, ...rest } = object
  return form === "null" ? { ...rest, [key]: null } : rest
}

const isBody = (value: Readonly<Record<string, unknown>>): boolean => "mid" in value && "seq" in value

const isQuote = (element: unknown): boolean => isRecord(element) && element["type"] === "quote"

/** @assumption quotesRecognized */
const withoutQuotes = (body: Record<string, unknown>): Record<string, unknown> => {
  const { markup, ...rest } = body
  const others = Array.isArray(markup) ? markup.filter((element) => !isQuote(element)) : []
  return others.length === 0 ? rest : { ...rest, markup: others }
}

/** Changes the bodies, the texts and the quotes of messages in a JSON value to the forms of a rule. */
const reformed = (value: unknown, rule: Forms): unknown => {
  if (Array.isArray(value)) return value.map((each) => reformed(each, rule))
  if (!isRecord(value)) return value
  const { empty_text, forward_body, quote_markup } = rule
  const copy: Record<string, unknown> = {}
  for (const [key, member] of Object.entries(value)) copy[key] = reformed(member, rule)
  const { body, link } = value
  const isForward = isRecord(value["recipient"]) && isRecord(link) && link["type"] === "forward"
  if (forward_body !== undefined && isForward && isRecord(body) && !body["text"] && body["attachments"] == null) {
    return without(copy, "body", forward_body)
  }
  if (!isBody(value)) return copy
  const unquoted = quote_markup === undefined ? copy : withoutQuotes(copy)
  return empty_text !== undefined && value["text"] === "" ? without(unquoted, "text", empty_text) : unquoted
}

/** Applies `forward_body`, `empty_text` and `quote_markup` to the JSON of a response. */
export const reform = (json: string, rule: Rule): string => {
  if (!hasForms(rule)) return json
  const parsed = Result.try(() => Json.parse(json))
  return Result.isFailure(parsed) ? json : Json.stringify(reformed(parsed.success, rule))
}

const matchesUpdate = ({ rule }: FaultState, fields: Readonly<Record<string, unknown>>): boolean =>
  (rule.update_type === undefined || rule.update_type === fields["update_type"]) &&
  (rule.chat_id === undefined || rule.chat_id === chatIn(fields))

/** Called with each applied rule. */
type OnApplied = (fault: FaultState) => void

/** Applies the rules with `forward_body`, `empty_text` and `quote_markup` to an update. */
const withForms = (state: Pick<PlatformState, "faults">, update: Update, onApplied: OnApplied): Update => {
  if (!("message" in update) || update.message == null) return update
  const { body, link } = update.message
  const concerns = ({ empty_text, endpoint, forward_body, method, path, quote_markup }: Rule) =>
    endpoint === undefined &&
    method === undefined &&
    path === undefined &&
    ((forward_body !== undefined && link?.type === "forward") ||
      (empty_text !== undefined && (body?.text === "" || link?.message?.text === "")) ||
      (quote_markup !== undefined && [body, link?.message].some((each) => each?.markup?.some(isQuote))))
  const applied = state.faults.filter(
    (fault) => concerns(fault.rule) && matchesUpdate(fault, fieldsOf(update)) && applies(fault)
  )
  applied.forEach(onApplied)
  return applied.reduce<Update>((changed, { rule }) => reformed(changed, rule) as Update, update)
}

/** Returns the fault of the delivery of an update. */
export const deliveryFault = (
  state: Pick<PlatformState, "faults">,
  update: Update,
  onApplied: OnApplied = () => {}
): "deliver" | "drop" | "duplicate" => {
  const fields = fieldsOf(update)
  const applied = state.faults.filter(
    (fault) => fault.rule.delivery !== undefined && matchesUpdate(fault, fields) && applies(fault)
  )
  applied.forEach(onApplied)
  return applied[0]?.rule.delivery ?? "deliver"
}

/** Returns the deliveries of an update under the rules: none, one or two, perhaps changed. */
export const deliveriesOf = (
  state: Pick<PlatformState, "faults">,
  update: Update,
  onApplied: OnApplied
): ReadonlyArray<Update> => {
  if (state.faults.length === 0) return [update]
  const fault = deliveryFault(state, update, onApplied)
  if (fault === "drop") return []
  const changed = withForms(state, update, onApplied)
  return fault === "duplicate" ? [changed, changed] : [changed]
}
