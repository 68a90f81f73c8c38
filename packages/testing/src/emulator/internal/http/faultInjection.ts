import type { ChatId } from "@colloquy/core/model/Chat"
import * as Platform from "@colloquy/core/base/Platform"
import * as Effect from "effect/Effect"
import { type ConnectionLost, connectionReset, type Request, respond, type Response } from "../../EmulatorHttp.ts"
import type { Rule } from "../../Faults.ts"
import { emitFault } from "../platform/events.ts"
import { applies, type FaultState, reform } from "../platform/faults.ts"
import type { BotState, PlatformState } from "../platform/state.ts"
import { errorBodyFor } from "./refusal.ts"
import { asHead, mayHaveBody } from "./wire.ts"

/** The properties by which rules select a request. */
export interface Target {
  readonly endpoint: string | undefined
  readonly bot: BotState | undefined
  /** The chats that the request concerns. */
  readonly chats: ReadonlyArray<ChatId>
  /** Called with each rule that is applied, the outermost first. */
  readonly onApplied: (rule: Rule) => void
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

/** Returns the response that a rule scripts, in the error shape of the listener. */
const scriptedResponse = ({ listener }: Request, rule: Rule): Response | undefined => {
  if (rule.body !== undefined) return respond(rule.status ?? 200, rule.body, rule.headers)
  if (rule.status === undefined && rule.code === undefined && rule.message === undefined) return undefined
  const status = rule.status ?? 500
  const code = rule.code ?? codes[status] ?? Platform.codeInternalError
  const message = rule.message ?? "A scripted fault"
  return respond(status, mayHaveBody(status) ? errorBodyFor(listener.kind, { code, message }) : "", rule.headers)
}

type Handling = Effect.Effect<Response, ConnectionLost>

const delayed = (handling: Handling, delay: number): Handling =>
  Effect.flatMap(Effect.result(handling), (result) => Effect.delay(Effect.fromResult(result), delay))

const cut = (response: Response, length: number): Response => ({
  ...response,
  body: response.body.slice(0, length),
  ...(response.bytes === undefined ? {} : { bytes: response.bytes.slice(0, length) })
})

const encoder = new TextEncoder()

/** Sends the first bytes of a response, then resets the connection. A shorter response is sent whole. */
const breakOff = (response: Response, length: number): Response => {
  const { body, bytes } = response
  if ((bytes ?? body).length <= length) return response
  return { ...cut(response, length), promised: response.promised ?? (bytes ?? encoder.encode(body)).length }
}

const applyRule = (request: Request, rule: Rule, next: Handling): Handling => {
  const scripted = scriptedResponse(request, rule)
  const answer = scripted !== undefined && request.method === "HEAD" ? asHead(scripted) : scripted
  const { delay, headers, reset, truncate } = rule
  let handling: Handling = reset === "before" ? connectionReset : answer === undefined ? next : Effect.succeed(answer)
  if (answer === undefined && headers !== undefined) {
    handling = Effect.map(handling, (response) => ({ ...response, headers: { ...response.headers, ...headers } }))
  }
  handling = Effect.map(handling, (response) => ({ ...response, body: reform(response.body, rule) }))
  if (truncate !== undefined) {
    const shorten = reset === "after" ? breakOff : cut
    handling = Effect.map(handling, (response) => shorten(response, truncate))
  } else if (reset === "after") {
    handling = Effect.andThen(handling, connectionReset)
  }
  return delay === undefined ? handling : delayed(handling, delay)
}

/** Runs the handler of a request under the matching rules. */
export const withFaults = (
  state: PlatformState,
  request: Request,
  { bot, chats, endpoint, onApplied }: Target,
  next: Handling
): Handling => {
  if (state.faults.length === 0) return next
  const matches = ({ path, rule }: FaultState): boolean =>
    rule.delivery === undefined &&
    rule.update_type === undefined &&
    (rule.method === undefined || rule.method.toUpperCase() === request.method) &&
    (path === undefined || path.test(request.path)) &&
    (rule.endpoint === undefined || rule.endpoint === endpoint) &&
    (rule.chat_id === undefined || chats.some((chat_id) => chat_id === rule.chat_id))
  const [chat_id] = chats
  const report = (fault: FaultState): void => {
    onApplied(fault.rule)
    emitFault(state, fault, `${request.method} ${request.path}`, {
      ...(bot === undefined ? {} : { bot_id: bot.user.profile.user_id }),
      ...(chat_id === undefined ? {} : { chat_id })
    })
  }
  return state.faults
    .filter((fault) => matches(fault) && applies(fault) && (report(fault), true))
    .reduceRight((inner, { rule }) => applyRule(request, rule, inner), next)
}
