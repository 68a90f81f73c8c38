import * as Platform from "@colloquy/core/base/Platform"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { type ListenerKind, type Request, respond, type Response } from "../../EmulatorHttp.ts"
import type { Revocation } from "../../EmulatorOptions.ts"
import { asHead } from "./wire.ts"

/** A response with an error status, in the form of the API. */
export class Refusal extends Data.TaggedError("Refusal")<{
  readonly status: number
  readonly body: object
  readonly headers?: Readonly<Record<string, string>>
}> {
  override get message() {
    return (this.body as { readonly message: string }).message
  }
}

/** An operation that may be refused. */
export type Refusable<A> = Effect.Effect<A, Refusal>

export const of = (status: number, code: string, message: string, headers?: Readonly<Record<string, string>>) =>
  new Refusal({ status, body: { code, message }, ...(headers === undefined ? {} : { headers }) })

export const unauthorized = (message: string) => of(401, Platform.codeInvalidToken, message)

export const tokenRevoked = (revocation: Revocation) =>
  revocation === "revoked"
    ? unauthorized("The access token has been revoked")
    : of(403, Platform.codeDeprecatedToken, "The access token is deprecated: the bot has another one")

export const chatDenied = (message: string) => of(403, Platform.codeChatDenied, message)

export const accessDenied = (message: string) => of(403, Platform.codeAccessDenied, message)

export const dialogSuspended = () => chatDenied(Platform.messageDialogSuspended)

/** @assumption forwardingProhibited */
export const forwardingProhibited = () => chatDenied(Platform.messageForwardingProhibited)

export const notAdmin = () => chatDenied(Platform.messageNotAdmin)

export const chatNotFound = (chat: number | string) => of(404, Platform.codeChatNotFound, `Chat ${chat} not found`)

export const messageNotFound = (mid: string) => of(404, Platform.codeMessageNotFound, `Message ${mid} not found`)

export const notFound = (what: string) => of(404, Platform.codeNotFound, `${what} not found`)

export const invalidPayload = (problem: string) => of(400, Platform.codeInvalidPayload, problem)

/** Adds the place of a field to the problem of an invalid request. Other refusals do not change. */
export const inField =
  (place: string) =>
  (refused: Refusal): Refusal => {
    const { code } = refused.body as { readonly code?: unknown }
    return code === Platform.codeInvalidPayload ? invalidPayload(`${place}.${refused.message}`) : refused
  }

export const noRequest = (status: number, problem: string) =>
  of(status, Platform.codeInvalidPayload, `The request cannot be read: ${problem}`)

export const replyToItself = () => invalidPayload("link: a message cannot reply to itself")

export const unreadable = () => invalidPayload("The body could not be read to its end")

/** The rest of the body is not read, so the connection cannot be reused. */
export const tooLarge = (limit: number) =>
  of(413, Platform.codeInvalidPayload, `The body is larger than ${limit} bytes`, { connection: "close" })

export const tooManyRequests = (retryAfter?: number) =>
  of(
    429,
    Platform.codeTooManyRequests,
    "Too many requests",
    retryAfter === undefined ? undefined : { "retry-after": String(retryAfter) }
  )

export const attachmentNotReady = (kind: string) =>
  of(400, Platform.codeAttachmentNotReady, `Key: errors.process.attachment.${kind}.not.processed`)

export const expectationFailed = (expectation: string) =>
  of(417, Platform.codeInvalidPayload, `Expect: ${expectation} cannot be met`)

export const methodNotAllowed = (message: string, allow?: ReadonlyArray<string>) =>
  of(405, Platform.codeMethodNotAllowed, message, allow === undefined ? undefined : { allow: allow.join(", ") })

export const commentTooOld = () => of(422, Platform.codeCommentTooOld, "The comment is too old to be edited")

export const internalError = () => of(500, Platform.codeInternalError, "The emulator has a defect; its log says which")

/** An operation that the platform answers with 200 and `success: false`. */
export const rejected = (message: string, details: object = {}) =>
  new Refusal({ status: 200, body: { success: false, message, ...details } })

/** Succeeds with a value that is there. */
export const found = <A>(value: A | undefined, otherwise: () => Refusal): Refusable<A> =>
  value === undefined ? otherwise() : Effect.succeed(value)

/** Converts the body of an error to the form of the listener: upload hosts use other names than the API. */
export const errorBodyFor = (listener: ListenerKind, body: object): object => {
  if (listener === "api") return body
  const { code, message } = body as { readonly code: string; readonly message: string }
  return { error_code: code, error_data: message }
}

/** Converts a refusal to a response in the form of the listener. */
export const toResponse = ({ body, headers, status }: Refusal, listener: ListenerKind = "api"): Response =>
  respond(status, errorBodyFor(listener, body), headers)

export const isSettled = <A, E>(effect: Effect.Effect<A, E>): effect is Exit.Exit<A, E> => Exit.isExit(effect)

/** Answers a refusal, and a defect, which is logged. The response of HEAD has no body. */
export const toAnswer = (
  { listener, method }: Request,
  answering: Refusable<Response>,
  logged: string
): Effect.Effect<Response> => {
  const answered = Effect.catchEager(answering, (refused) => Effect.succeed(toResponse(refused, listener.kind)))
  const whole =
    isSettled(answered) && Exit.isSuccess(answered)
      ? answered
      : Effect.catchDefect(answered, (defect) =>
          Effect.as(Effect.logError(logged, defect), toResponse(internalError(), listener.kind))
        )
  return method === "HEAD" ? Effect.mapEager(whole, asHead) : whole
}
