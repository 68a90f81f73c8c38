import * as Json from "@colloquy/core/Json"
import type { UploadType } from "@colloquy/core/Upload"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"

/** Nothing comes back: the connection is refused, or it breaks before the whole answer has been sent. */
export class ConnectionLost extends Data.TaggedError("Lost")<{
  readonly kind: "refused" | "reset"
}> {}

/** The body of a request cannot be read to its end. */
export class Unreadable extends Data.TaggedError("Unreadable")<{
  readonly cause: unknown
}> {}

export interface Body {
  readonly text: Effect.Effect<string, Unreadable>
  readonly bytes: Stream.Stream<Uint8Array, Unreadable>
  /** Gives the memory of a piece back at once, where it is the door's own: nobody looks at it any more. */
  readonly release?: ((piece: Uint8Array) => void) | undefined
}

/** Where a request comes in: each kind of media has a host of its own. */
export type ListenerKind = "api" | UploadType

/** The door a request came through, and the addresses of the doors for uploads as the caller can reach them. */
export interface Listener {
  readonly kind: ListenerKind
  readonly uploads: Readonly<Record<UploadType, string>>
}

/** A request as a plain value, whatever it came by. */
export interface Request {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Body
  readonly listener: Listener
}

/** The headers that a request has. */
export const headersIn = ({ headers }: Pick<Request, "headers">): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])))

export interface Response {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The body where it is no text. */
  readonly bytes?: Uint8Array<ArrayBuffer>
  /** How many bytes are promised, where the connection breaks after the body: it is only the beginning. */
  readonly promised?: number
}

/** An answer: a text as it is, anything else as JSON. */
export const respond = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Response => ({
  status,
  headers: typeof body === "string" ? headers : { "content-type": "application/json; charset=utf-8", ...headers },
  body: typeof body === "string" ? body : Json.stringify(body)
})

const withoutBody = new Set([204, 205, 304])

export const mayHaveBody = (status: number): boolean => !withoutBody.has(status)

/** The headers of an answer, by their names in lower case: a text that does not say what it is is plain. */
export const headersOf = ({ body, bytes, headers: given, status }: Response): Response["headers"] => {
  const headers = Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]))
  return bytes !== undefined || body === "" || headers["content-type"] !== undefined || !mayHaveBody(status)
    ? headers
    : { "content-type": "text/plain; charset=utf-8", ...headers }
}

const encoder = new TextEncoder()

/** What HEAD is answered: all that GET is but the body. */
export const asHead = (response: Response): Response => {
  const { body, bytes = encoder.encode(body), status } = response
  const length = mayHaveBody(status) ? { "content-length": String(bytes.byteLength) } : {}
  return { status, headers: { ...headersOf(response), ...length }, body: "" }
}

/** What OPTIONS is answered. */
export const allow = (methods: ReadonlyArray<string>): Response => ({
  status: 204,
  headers: { allow: methods.join(", ") },
  body: ""
})

/** What can stand in a request's way before it is answered: `next` answers it. */
export type Interceptor = (
  request: Request,
  next: Effect.Effect<Response, ConnectionLost>
) => Effect.Effect<Response, ConnectionLost>

export type Serve = (request: Request) => Effect.Effect<Response, ConnectionLost>

/** A call of the bot and what it was answered. `endpoint` stands where the call came through to one. */
export interface Exchange {
  readonly at: number
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly endpoint: string | undefined
  readonly body: string | undefined
  readonly status: number | undefined
  readonly answer: string | undefined
}
