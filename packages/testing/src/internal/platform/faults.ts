import * as Platform from "@colloquy/core/Platform"
import type { Update } from "@colloquy/core/Update"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { Rule } from "../../Faults.ts"
import { describe } from "../http/requestReader.ts"
import { atDoor } from "../http/shape.ts"
import { targetsOf } from "../http/requestTarget.ts"
import { ConnectionLost, type Request, respond, type Response } from "../../EmulatorHttp.ts"
import { asHead, mayHaveBody } from "../http/wire.ts"
import type { PlatformState } from "./state.ts"

/** A rule and how far it has come. */
export interface FaultState {
  readonly rule: Rule
  readonly next: () => number
  readonly path: RegExp | undefined
  matched: number
  applied: number
}

/** Of a request: the endpoint it came through to, and what its path says. */
export interface MatchedEndpoint {
  readonly endpoint: string | undefined
  readonly params: Readonly<Record<string, string>>
}

/** What a `*`, a `{chatId}` and any other sign of a path stand for. */
const patternOf = (path: string): RegExp => {
  const pattern = path.replace(/\*|\{[^{}/]*\}|[\\^$.+?()[\]{}|]/g, (found) => {
    if (found === "*") return ".*"
    return found.length > 1 ? "[^/]+" : `\\${found}`
  })
  return new RegExp(`^${pattern}$`, "s")
}

const decode = Schema.decodeUnknownEffect(Rule, { errors: "all", onExcessProperty: "error" })

/** Makes a rule count from its beginning. A rule that says nothing sensible is a defect that tells why. */
export const arm = (rule: Rule): Effect.Effect<FaultState> =>
  Effect.gen(function* () {
    const checked = yield* Effect.catch(decode(rule), (error) =>
      Effect.die(new RangeError(`Faults: ${describe(error)}`))
    )
    const random = yield* Random.withSeed(Random.Random, checked.seed ?? 0)
    const path = checked.path === undefined ? undefined : patternOf(checked.path)
    return { rule: checked, next: () => random.nextDoubleUnsafe(), path, matched: 0, applied: 0 }
  })

/** Replaces all rules. */
export const setFaults = (state: PlatformState, rules: ReadonlyArray<Rule>): Effect.Effect<void> =>
  Effect.map(Effect.forEach(rules, arm), (faults) => {
    state.faults = faults
  })

/** Adds a rule until the scope closes. */
export const addFault = (state: PlatformState, rule: Rule): Effect.Effect<void, never, Scope.Scope> =>
  Effect.asVoid(
    Effect.acquireRelease(
      Effect.tap(arm(rule), (fault) =>
        Effect.sync(() => {
          state.faults = [...state.faults, fault]
        })
      ),
      (fault) =>
        Effect.sync(() => {
          state.faults = state.faults.filter((each) => each !== fault)
        })
    )
  )

/** Counts one that matches, and tells whether the rule strikes it. */
const applies = (fault: FaultState): boolean => {
  const { every, nth, probability, times } = fault.rule
  fault.matched++
  const chosen =
    (nth === undefined || fault.matched === nth) &&
    (every === undefined || fault.matched % every === 0) &&
    (probability === undefined || fault.next() < probability)
  if (!chosen || (times !== undefined && fault.applied >= times)) return false
  fault.applied++
  return true
}

const codes: Readonly<Record<number, string>> = {
  400: Platform.codeInvalidPayload,
  401: Platform.codeInvalidToken,
  403: Platform.codeAccessDenied,
  404: Platform.codeNotFound,
  405: Platform.codeMethodNotAllowed,
  429: Platform.codeTooManyRequests,
  503: "service.unavailable"
}

/** What a rule answers in the request's stead, in the shape of the host. */
const answerOf = ({ listener }: Request, rule: Rule): Response | undefined => {
  if (rule.body !== undefined) return respond(rule.status ?? 200, rule.body, rule.headers)
  if (rule.status === undefined && rule.code === undefined && rule.message === undefined) return undefined
  const status = rule.status ?? 500
  const code = rule.code ?? codes[status] ?? Platform.codeInternalError
  const message = rule.message ?? "A scripted fault"
  return respond(status, mayHaveBody(status) ? atDoor(listener.kind, { code, message }) : "", rule.headers)
}

const lost = Effect.fail(new ConnectionLost({ kind: "reset" }))

type Answering = Effect.Effect<Response, ConnectionLost>

const late = (answering: Answering, delay: number): Answering =>
  Effect.flatMap(Effect.result(answering), (result) =>
    Effect.andThen(
      Effect.sleep(delay),
      Effect.suspend((): Answering => Effect.fromResult(result))
    )
  )

const cut = (response: Response, length: number): Response => ({
  ...response,
  body: response.body.slice(0, length),
  ...(response.bytes === undefined ? {} : { bytes: response.bytes.slice(0, length) })
})

const encoder = new TextEncoder()

/** The beginning of an answer, then the connection breaks; a shorter one comes whole. */
const breakOff = (response: Response, length: number): Response => {
  const { body, bytes } = response
  if ((bytes ?? body).length <= length) return response
  return { ...cut(response, length), promised: response.promised ?? (bytes ?? encoder.encode(body)).length }
}

const act = (request: Request, rule: Rule, next: Answering): Answering => {
  const scripted = answerOf(request, rule)
  const answer = scripted !== undefined && request.method === "HEAD" ? asHead(scripted) : scripted
  const { delay, headers, reset, truncate } = rule
  let answering: Answering = reset === "before" ? lost : answer === undefined ? next : Effect.succeed(answer)
  if (answer === undefined && headers !== undefined) {
    answering = Effect.map(answering, (response) => ({ ...response, headers: { ...response.headers, ...headers } }))
  }
  if (truncate !== undefined) {
    const shorten = reset === "after" ? breakOff : cut
    answering = Effect.map(answering, (response) => shorten(response, truncate))
  } else if (reset === "after") {
    answering = Effect.andThen(answering, lost)
  }
  return delay === undefined ? answering : late(answering, delay)
}

/** Lets the rules that strike a request have their way with it. */
export const faulty = (
  state: PlatformState,
  request: Request,
  find: (request: Request) => MatchedEndpoint,
  next: Answering
): Answering => {
  if (state.faults.length === 0) return next
  const { endpoint, params } = find(request)
  const bot = state.bots.get(request.headers["authorization"] ?? "")
  const chats = targetsOf(state, bot, params, request.query).map(({ chat_id }) => chat_id)
  const matches = ({ path, rule }: FaultState): boolean =>
    rule.delivery === undefined &&
    (rule.method === undefined || rule.method.toUpperCase() === request.method) &&
    (path === undefined || path.test(request.path)) &&
    (rule.endpoint === undefined || rule.endpoint === endpoint) &&
    (rule.chat_id === undefined || chats.some((chat_id) => chat_id === rule.chat_id))
  return state.faults
    .filter((fault) => matches(fault) && applies(fault))
    .reduceRight((inner, { rule }) => act(request, rule, inner), next)
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/** An update as a record: one of an unknown type as it was given. */
const fieldsOf = (update: Update): Readonly<Record<string, unknown>> => {
  const fields: unknown = update.update_type === "unknown" ? update.raw : update
  return isRecord(fields) ? fields : {}
}

const chatOf = (fields: Readonly<Record<string, unknown>>): unknown => {
  const { message } = fields
  if (!isRecord(message)) return fields["chat_id"]
  return isRecord(message["recipient"]) ? message["recipient"]["chat_id"] : undefined
}

/** What the rules make of the delivery of an update. */
export const onDelivery = (state: Pick<PlatformState, "faults">, update: Update): "deliver" | "drop" | "duplicate" => {
  const fields = fieldsOf(update)
  const applied = state.faults.filter((fault) => {
    const { chat_id, delivery, update_type } = fault.rule
    return (
      delivery !== undefined &&
      (update_type === undefined || update_type === fields["update_type"]) &&
      (chat_id === undefined || chat_id === chatOf(fields)) &&
      applies(fault)
    )
  })
  return applied[0]?.rule.delivery ?? "deliver"
}
