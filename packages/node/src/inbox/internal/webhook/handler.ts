import {
  BodyError,
  maxBodySize,
  type Webhook,
  type WebhookRequest,
  type WebhookResponse
} from "@colloquy/core/inbox/Webhook"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { IncomingMessage, ServerResponse } from "node:http"
import { type Deadlines, makeDeadlines } from "../../../base/internal/deadlines.ts"

/** The properties that a framework may have added to a request. */
interface FrameworkRequest {
  readonly originalUrl?: unknown
  readonly body?: unknown
  readonly rawBody?: unknown
}

const bytesOf = (value: unknown): Uint8Array | undefined =>
  value instanceof Uint8Array ? value : typeof value === "string" ? Buffer.from(value) : undefined

const headerOf = ({ headers }: IncomingMessage, name: string): string | undefined => {
  const given = headers[name]
  return typeof given === "string" ? given : given?.join(", ")
}

/** Returns the request without its body. */
export const headOf = (request: IncomingMessage): WebhookRequest => {
  const { originalUrl } = request as FrameworkRequest
  return {
    method: request.method ?? "",
    url: typeof originalUrl === "string" ? originalUrl : (request.url ?? ""),
    header: (name) => headerOf(request, name)
  }
}

const none = () => undefined

const empty = { "content-length": 0 }

const failed: WebhookResponse = { status: 500, headers: {}, body: "" }

const respond = (response: ServerResponse, exit: Exit.Exit<WebhookResponse>): void => {
  if (response.destroyed || response.headersSent) return
  const { body, headers, status } = Exit.isSuccess(exit) ? exit.value : failed
  const isPlain = status === 200 && body === ""
  response.writeHead(status, isPlain ? empty : { ...headers, "content-length": Buffer.byteLength(body) }).end(body)
}

// Node fires a timer with a longer delay at once.
const maxTimerDelay = 2 ** 31 - 1

/** Reads the body of a request. Calls `done` once, with the bytes or with the reason of a `BodyError`. */
const collect = (
  request: IncomingMessage,
  deadlines: Deadlines,
  done: (body: Uint8Array | BodyError["reason"]) => void
): void => {
  let chunks: Array<Uint8Array> | undefined = []
  let size = 0
  const end = (body: Uint8Array | BodyError["reason"]) => {
    if (chunks === undefined) return
    chunks = undefined
    deadlines.clear(deadline)
    done(body)
  }
  const deadline = deadlines.set(() => end("Timeout"))
  request.on("data", (chunk: Buffer) => {
    size += chunk.length
    if (size > maxBodySize) end("TooLarge")
    else chunks?.push(chunk)
  })
  request.on("end", () => end(chunks?.length === 1 ? chunks[0] : Buffer.concat(chunks ?? [])))
  request.on("close", () => end("Aborted"))
}

/** Returns a request handler of `node:http`. The fibers of a request continue when its client disconnects. */
export const makeHandler = (webhook: Webhook["Service"], context: Context.Context<never>) => {
  const fork = Effect.runForkWith(context)
  const deadlines = makeDeadlines(Math.min(Duration.toMillis(webhook.bodyTimeout), maxTimerDelay))

  const run = (response: ServerResponse, effect: Effect.Effect<WebhookResponse>) => {
    // A response that is already available needs no fiber.
    if (Exit.isExit(effect)) respond(response, effect as Exit.Exit<WebhookResponse>)
    else fork(effect).addObserver((exit) => respond(response, exit))
  }

  return (request: IncomingMessage, response: ServerResponse): void => {
    const { body, rawBody } = request as FrameworkRequest
    const head = headOf(request)
    const rejection = webhook.authorize(head)
    if (rejection !== undefined) return run(response, rejection)
    const reject = (reason: BodyError["reason"]) => run(response, webhook.rejectBody(new BodyError({ reason })))
    const read = bytesOf(rawBody) ?? bytesOf(body)
    if (read !== undefined) {
      if (read.length > maxBodySize) return reject("TooLarge")
      // Body parsers decompress the body, so its content-encoding does not apply anymore.
      return run(response, webhook.receive({ ...head, header: none }, read))
    }
    if (request.readableEnded || request.destroyed) return reject("AlreadyRead")
    collect(request, deadlines, (body) => {
      if (typeof body === "string") reject(body)
      else run(response, webhook.receive(head, body))
    })
  }
}
