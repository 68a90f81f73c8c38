import * as Data from "effect/Data"
import type { Revocation } from "../platform/model.ts"

/** The platform's "no": a status and a body in its shape. */
export class Refusal extends Data.TaggedError("Refusal")<{
  readonly status: number
  readonly body: object
  readonly headers?: Readonly<Record<string, string>>
}> {}

const refusal = (status: number, code: string, message: string, headers?: Readonly<Record<string, string>>) =>
  new Refusal({ status, body: { code, message }, ...(headers === undefined ? {} : { headers }) })

export const unauthorized = (message: string) => refusal(401, "verify.token", message)

/** @assumption C A token in whose place the bot has another one is answered with 403 deprecated.token. */
export const tokenOfNoUse = (revocation: Revocation) =>
  revocation === "revoked"
    ? unauthorized("The access token has been revoked")
    : refusal(403, "deprecated.token", "The access token is deprecated: the bot has another one")

export const chatDenied = (message: string) => refusal(403, "chat.denied", message)

export const accessDenied = (message: string) => refusal(403, "access.denied", message)

export const dialogSuspended = () => chatDenied("error.dialog.suspended")

export const notAdmin = () => chatDenied("chat.send.msg.no.permission.because.not.admin")

export const chatNotFound = (chat: number | string) => refusal(404, "chat.not.found", `Chat ${chat} not found`)

export const messageNotFound = (mid: string) => refusal(404, "message.not.found", `Message ${mid} not found`)

export const notFound = (what: string) => refusal(404, "not.found", `${what} not found`)

export const invalidPayload = (problem: string) => refusal(400, "proto.payload", problem)

export const noRequest = (status: number, problem: string) =>
  refusal(status, "proto.payload", `The request cannot be read: ${problem}`)

export const replyToItself = () => invalidPayload("link: a message cannot reply to itself")

export const unreadable = () => invalidPayload("The body could not be read to its end")

/** The rest of the body is not read, so the connection is of no more use. */
export const tooLarge = (limit: number) =>
  refusal(413, "proto.payload", `The body is larger than ${limit} bytes`, { connection: "close" })

export const tooManyRequests = (retryAfter?: number) =>
  refusal(
    429,
    "too.many.requests",
    "Too many requests",
    retryAfter === undefined ? undefined : { "retry-after": String(retryAfter) }
  )

export const attachmentNotReady = (kind: string) =>
  refusal(400, "attachment.not.ready", `Key: errors.process.attachment.${kind}.not.processed`)

export const expectationFailed = (expectation: string) =>
  refusal(417, "proto.payload", `Expect: ${expectation} cannot be met`)

export const methodNotAllowed = (message: string, allow?: ReadonlyArray<string>) =>
  refusal(405, "method.not.allowed", message, allow === undefined ? undefined : { allow: allow.join(", ") })

export const commentTooOld = () => refusal(422, "comments.timeout_exceeded", "The comment is too old to be edited")

export const internalError = () => refusal(500, "internal.error", "The emulator has a defect; its log says which")

/** An operation that the platform answers with 200 and `success: false`. */
export const rejected = (message: string, details: object = {}) =>
  new Refusal({ status: 200, body: { success: false, message, ...details } })
