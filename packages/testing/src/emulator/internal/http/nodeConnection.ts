import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Stream from "effect/Stream"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import { type Body, type Response, Unreadable } from "../../EmulatorHttp.ts"
import { headersOf, mayHaveBody } from "./wire.ts"

const unreadable = (cause: unknown) => new Unreadable({ cause })

const decoder = new TextDecoder()

const concat = (chunks: ReadonlyArray<Buffer>): Buffer => (chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))

const readText = (incoming: IncomingMessage): Deferred.Deferred<string, Unreadable> => {
  const text = Deferred.makeUnsafe<string, Unreadable>()
  const chunks: Array<Buffer> = []
  const fail = (cause?: unknown) => {
    if (!incoming.complete) Deferred.doneUnsafe(text, Exit.fail(unreadable(cause)))
  }
  incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
  incoming.on("end", () => Deferred.doneUnsafe(text, Exit.succeed(decoder.decode(concat(chunks)))))
  incoming.on("error", fail)
  incoming.on("close", fail)
  return text
}

// The garbage collector frees external memory late: without this, tens of megabytes of an upload would accumulate.
const release = ({ buffer, byteLength }: Uint8Array): void => {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

/** The body of a request to a port, received on demand of the reader. */
export class IncomingBody implements Body {
  readonly release = release
  readonly #incoming: IncomingMessage
  readonly #onRead: () => void
  #text: Deferred.Deferred<string, Unreadable> | undefined

  constructor(incoming: IncomingMessage, onRead: () => void) {
    this.#incoming = incoming
    this.#onRead = onRead
  }

  get text(): Effect.Effect<string, Unreadable> {
    return Effect.suspend(() => {
      if (this.#text === undefined) {
        this.#onRead()
        this.#text = readText(this.#incoming)
      }
      return Deferred.await(this.#text)
    })
  }

  get bytes(): Stream.Stream<Uint8Array, Unreadable> {
    return Stream.suspend(() => {
      this.#onRead()
      return Stream.fromAsyncIterable(this.#incoming.iterator({ destroyOnReturn: false }), unreadable)
    })
  }
}

/** Maximum size of an unread body that is discarded, for a client that reads the response only after its writes. */
const maxDiscardedBytes = 64 * 2 ** 20

/** Maximum time to receive an unread body, and maximum pause between two of its chunks, in milliseconds. */
const discardTimeout = 30_000
const discardIdleTimeout = 1000

/** Maximum `content-length` of an unread body after which the connection is kept alive. */
const maxKeepAliveBytes = 2 ** 18

const hasUnreadBody = ({ complete, headers }: IncomingMessage): boolean =>
  !complete && (headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0)

/** The connections on which the body of an answered request is still received. */
const discarding = new WeakSet<Duplex>()

export const isDiscarding = (socket: Duplex): boolean => discarding.has(socket)

const discardBody = (incoming: IncomingMessage): void => {
  const { socket } = incoming
  let received = 0
  discarding.add(socket)
  incoming.once("end", () => discarding.delete(socket))
  incoming.on("data", (chunk: Buffer) => {
    received += chunk.length
    if (received > maxDiscardedBytes) socket.destroy()
  })
  incoming.resume()
}

const discardBodyAndClose = (incoming: IncomingMessage, close: () => void): void => {
  const { socket } = incoming
  const destroy = () => socket.destroy()
  const total = setTimeout(destroy, discardTimeout)
  const idle = setTimeout(destroy, discardIdleTimeout)
  socket.once("close", () => {
    clearTimeout(total)
    clearTimeout(idle)
  })
  incoming.on("data", () => idle.refresh())
  incoming.once("end", close)
  discardBody(incoming)
}

/** A request on a connection and the response to write. */
export interface Connection {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  /** Whether the client sent `Expect: 100-continue` and has not received `100 Continue`. */
  awaitsContinue: boolean
}

/** Waits until the client has received the written data. The server interrupts the wait when the connection is closed. */
const drained = (outgoing: ServerResponse): Effect.Effect<void> =>
  Effect.callback((resume) => {
    if (!outgoing.writableNeedDrain) return resume(Effect.void)
    const done = () => resume(Effect.void)
    outgoing.once("drain", done)
    return Effect.sync(() => void outgoing.off("drain", done))
  })

/** Writes a response whose body is a stream. The stream is read as fast as the client receives it. */
export const sendStream = (
  { incoming, outgoing }: Connection,
  response: Response,
  stream: Stream.Stream<string>
): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (outgoing.destroyed) return Effect.void
    outgoing.writeHead(response.status, headersOf(response))
    outgoing.flushHeaders()
    if (hasUnreadBody(incoming)) discardBody(incoming)
    const write = (chunk: string) => Effect.suspend(() => (outgoing.write(chunk) ? Effect.void : drained(outgoing)))
    return Effect.andThen(
      Stream.runForEach(stream, write),
      Effect.sync(() => void outgoing.end())
    )
  })

/** Writes a response. The unread part of the body is discarded. */
export const sendResponse = ({ awaitsContinue, incoming, outgoing }: Connection, response: Response): void => {
  if (outgoing.destroyed) return
  const content = mayHaveBody(response.status) ? (response.bytes ?? response.body) : undefined
  const headers: Record<string, string | number> = { ...headersOf(response) }
  const hasHeadLength = incoming.method === "HEAD" && headers["content-length"] !== undefined
  if (content !== undefined && !hasHeadLength) {
    headers["content-length"] = response.promised ?? Buffer.byteLength(content)
  }
  const isUnread = hasUnreadBody(incoming)
  const isLong = Number(incoming.headers["content-length"]) > maxKeepAliveBytes
  if (isUnread && (awaitsContinue || isLong)) headers["connection"] = "close"
  outgoing.writeHead(response.status, headers)
  if (response.promised !== undefined) return void outgoing.write(content ?? "", () => incoming.socket.destroy())
  if (!isUnread) return void outgoing.end(content)
  if (headers["connection"] !== "close") {
    outgoing.end(content)
    return discardBody(incoming)
  }
  outgoing.flushHeaders()
  if (content !== undefined) outgoing.write(content)
  discardBodyAndClose(incoming, () => outgoing.end())
}
