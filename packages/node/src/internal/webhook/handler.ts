import { type Answer, bodyLimit, BodyRefused, type Webhook } from "@colloquy/core/Webhook"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { IncomingMessage, ServerResponse } from "node:http"
import { type Deadlines, makeDeadlines } from "../client/deadlines.ts"

export type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** What a framework may have put on a request before it came here. */
interface Passed {
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

const none = () => undefined

const empty = { "content-length": 0 }

const failed: Answer = { status: 500, headers: {}, body: "" }

const respond = (response: ServerResponse, exit: Exit.Exit<Answer>): void => {
  if (response.destroyed || response.headersSent) return
  const { body, headers, status } = Exit.isSuccess(exit) ? exit.value : failed
  const isPlain = status === 200 && body === ""
  response.writeHead(status, isPlain ? empty : { ...headers, "content-length": Buffer.byteLength(body) }).end(body)
}

/** A timer beyond this fires at once. */
const longestTimer = 2 ** 31 - 1

const timerOf = (duration: Duration.Duration): number => Math.min(Duration.toMillis(duration), longestTimer)

/** Reads the bytes of a body and gives them, or why not. Calls back once. */
const collect = (
  request: IncomingMessage,
  deadlines: Deadlines,
  done: (body: Uint8Array | BodyRefused["reason"]) => void
): void => {
  let chunks: Array<Uint8Array> | undefined = []
  let size = 0
  const end = (body: Uint8Array | BodyRefused["reason"]) => {
    if (chunks === undefined) return
    chunks = undefined
    deadlines.clear(deadline)
    done(body)
  }
  const deadline = deadlines.set(() => end("TooSlow"))
  request.on("data", (chunk: Buffer) => {
    size += chunk.length
    if (size > bodyLimit) end("TooLarge")
    else chunks?.push(chunk)
  })
  request.on("end", () => end(chunks?.length === 1 ? chunks[0] : Buffer.concat(chunks ?? [])))
  request.on("close", () => end("BrokenOff"))
}

/** Answers requests in the context given. Nothing that a client does interrupts what has begun. */
export const makeHandler = (webhook: Webhook["Service"], context: Context.Context<never>): Handler => {
  const fork = Effect.runForkWith(context)
  const deadlines = makeDeadlines(timerOf(webhook.bodyTimeout))

  const answer = (response: ServerResponse, answering: Effect.Effect<Answer>) => {
    // What is known already needs no fiber.
    if (Exit.isExit(answering)) respond(response, answering as Exit.Exit<Answer>)
    else fork(answering).addObserver((exit) => respond(response, exit))
  }

  return (request, response) => {
    const { body, originalUrl, rawBody } = request as Passed
    const head = {
      method: request.method ?? "",
      url: typeof originalUrl === "string" ? originalUrl : (request.url ?? ""),
      header: (name: string) => headerOf(request, name)
    }
    const answering = webhook.admit(head)
    if (answering !== undefined) return answer(response, answering)
    const refuse = (reason: BodyRefused["reason"]) => answer(response, webhook.refuse(new BodyRefused({ reason })))
    const read = bytesOf(rawBody) ?? bytesOf(body)
    if (read !== undefined) {
      if (read.length > bodyLimit) return refuse("TooLarge")
      // Whoever read it has unpacked it.
      return answer(response, webhook.accept({ ...head, header: none }, read))
    }
    if (request.readableEnded || request.destroyed) return refuse("AlreadyRead")
    collect(request, deadlines, (body) => {
      if (typeof body === "string") refuse(body)
      else answer(response, webhook.accept(head, body))
    })
  }
}
