/**
 * The HTTP of the emulator as plain values: requests, responses, lost connections, interceptors, and the journal of
 * requests. The same values are used in process and on a real port.
 *
 * @since 0.1.0
 */
import type { ChatId } from "@colloquy/core/model/Chat"
import * as Json from "@colloquy/core/base/Json"
import type { MessageId } from "@colloquy/core/model/Message"
import type { UploadType } from "@colloquy/core/endpoints/Upload"
import type { UserId } from "@colloquy/core/model/User"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { LimitUse } from "./EmulatorEvent.ts"
import type { Rule } from "./Faults.ts"

/**
 * No complete response arrives: the connection is refused, or reset before the end of the response.
 *
 * @category errors
 * @since 0.1.0
 */
export class ConnectionLost extends Data.TaggedError("ConnectionLost")<{
  /** `refused`: the emulator never received the request. `reset`: the emulator may have executed the request. */
  readonly kind: "refused" | "reset"
}> {}

/**
 * The body of a request cannot be read to its end, because the client closed the connection.
 *
 * @category errors
 * @since 0.1.0
 */
export class Unreadable extends Data.TaggedError("Unreadable")<{
  /** The error of the transport. */
  readonly cause: unknown
}> {}

/**
 * The body of a request, which can be read once, as text or as a stream of bytes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Body {
  /** The whole body, decoded as UTF-8. */
  readonly text: Effect.Effect<string, Unreadable>
  /** The body as it arrives. */
  readonly bytes: Stream.Stream<Uint8Array, Unreadable>
  /** Returns the memory of a chunk that is no longer used, where the listener pools its buffers. */
  readonly release?: ((chunk: Uint8Array) => void) | undefined
}

/**
 * The kind of a listener: for the API, or for the uploads of one type.
 *
 * @category models
 * @since 0.1.0
 */
export type ListenerKind = "api" | UploadType

/**
 * The listener that received a request.
 *
 * @category models
 * @since 0.1.0
 */
export interface Listener {
  /** The kind of the listener. */
  readonly kind: ListenerKind
  /** The origins of the upload listeners, as the client can reach them. */
  readonly uploads: Readonly<Record<UploadType, string>>
}

/**
 * A request, in process or from a socket.
 *
 * @category models
 * @since 0.1.0
 */
export interface Request {
  /** The HTTP method, in upper case. */
  readonly method: string
  /** The path, without the query. */
  readonly path: string
  /** The query with its `?`, or an empty string. */
  readonly query: string
  /** The headers, by their names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The body. */
  readonly body: Body
  /** The listener that received the request. */
  readonly listener: Listener
}

/**
 * A response.
 *
 * @category models
 * @since 0.1.0
 */
export interface Response {
  /** The HTTP status. */
  readonly status: number
  /** The headers. */
  readonly headers: Readonly<Record<string, string>>
  /** The body as text. */
  readonly body: string
  /** The body as a stream, for a body of unknown length. Replaces `body`. */
  readonly stream?: Stream.Stream<string>
  /** The body as bytes. Replaces `body`. */
  readonly bytes?: Uint8Array<ArrayBuffer>
  /** A `content-length` larger than the body: the connection is reset after the body. */
  readonly promised?: number
}

/**
 * Answers a request.
 *
 * @category models
 * @since 0.1.0
 */
export type Handler = (request: Request) => Effect.Effect<Response, ConnectionLost>

/**
 * Runs around the handling of a request: `next` handles it. An interceptor can delay the request, answer in place of
 * the emulator, change the response, or fail with `ConnectionLost`.
 *
 * @category models
 * @since 0.1.0
 */
export type Interceptor = (
  request: Request,
  next: Effect.Effect<Response, ConnectionLost>
) => Effect.Effect<Response, ConnectionLost>

/**
 * A request of a bot and its response, as the journal of the emulator keeps them.
 *
 * @category models
 * @since 0.1.0
 */
export interface Exchange extends Pick<Request, "method" | "path" | "query" | "headers"> {
  /** When the request arrived, in Unix milliseconds. */
  readonly at: number
  /** The endpoint, such as `Messages.send`; `undefined` if no endpoint matched. */
  readonly endpoint: string | undefined
  /** The body of the request; `undefined` if the emulator did not read it. */
  readonly body: string | undefined
  /** The HTTP status; `undefined` if the connection was lost. */
  readonly status: number | undefined
  /** The body of the response; `undefined` if the connection was lost. */
  readonly answer: string | undefined
  /** The position in the journal, from 0. */
  readonly number: number
  /** How long the response took, in milliseconds. */
  readonly took: number
  /** The bot; `undefined` if the request has no valid token. */
  readonly bot_id: UserId | undefined
  /** The chat that the request concerns, if the emulator knows it. */
  readonly chat_id: ChatId | undefined
  /** The message or comment that the request created, changed or removed. */
  readonly message_id: MessageId | undefined
  /** The limits that the request counted towards, if the emulator enforces limits. */
  readonly limits: ReadonlyArray<LimitUse>
  /** The first rule of the scripted faults that was applied to the request. */
  readonly fault: Rule | undefined
}

/**
 * Creates a response. A string is sent unchanged, any other value as JSON.
 *
 * **Example** (Answering in place of the emulator)
 *
 * ```ts
 * import { Emulator, EmulatorHttp } from "@colloquy/testing"
 * import { Effect } from "effect"
 *
 * const badGateway = Emulator.intercept((request, next) =>
 *   request.path === "/me" ? Effect.succeed(EmulatorHttp.respond(502, "<html>Bad gateway</html>")) : next
 * )
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const respond = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Response => ({
  status,
  headers: typeof body === "string" ? headers : { "content-type": "application/json; charset=utf-8", ...headers },
  body: typeof body === "string" ? body : Json.stringify(body)
})

/**
 * Fails as a refused connection: the emulator never receives the request.
 *
 * @category constructors
 * @since 0.1.0
 */
export const connectionRefused: Effect.Effect<never, ConnectionLost> = Effect.fail(
  new ConnectionLost({ kind: "refused" })
)

/**
 * Fails as a reset connection: the client cannot know whether the request was executed.
 *
 * @category constructors
 * @since 0.1.0
 */
export const connectionReset: Effect.Effect<never, ConnectionLost> = Effect.fail(new ConnectionLost({ kind: "reset" }))
