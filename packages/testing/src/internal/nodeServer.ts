import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { ServeError } from "effect/http/HttpServerError"
import type * as Scope from "effect/Scope"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { IncomingBody } from "./incomingBody.ts"
import { answerNoHttp } from "./noHttp.ts"
import { internalError } from "./refusal.ts"
import { type Entrance, headersOf, mayHaveBody, type Request, respond, type Response, type Serve } from "./wire.ts"

/** The path and the query, also where the caller takes the server for a proxy and gives a whole address. */
const targetOf = (url: string): string => {
  if (url.startsWith("/") || !URL.canParse(url)) return url
  const { pathname, search } = new URL(url)
  return pathname + search
}

const headersIn = ({ headers }: IncomingMessage): Request["headers"] =>
  headers["set-cookie"] === undefined
    ? (headers as Request["headers"])
    : { ...(headers as Request["headers"]), "set-cookie": headers["set-cookie"].join(", ") }

const toRequest = (incoming: IncomingMessage, entrance: Entrance, ask: () => void): Request => {
  const target = targetOf(incoming.url!)
  const mark = target.indexOf("?")
  return {
    method: incoming.method!,
    path: mark < 0 ? target : target.slice(0, mark),
    query: mark < 0 ? "" : target.slice(mark),
    headers: headersIn(incoming),
    body: new IncomingBody(incoming, ask),
    entrance
  }
}

/** A rest of a body that is no longer is read past, so that the connection serves on. */
const mostReadPast = 2 ** 18

/** How long the caller has to read an answer when the rest of the body is not read: then the connection breaks. */
const grace = 500

const leave = (incoming: IncomingMessage): void => {
  incoming.pause()
  const breaking = setTimeout(() => incoming.socket.destroy(), grace)
  incoming.socket.once("close", () => clearTimeout(breaking))
}

const readPast = (incoming: IncomingMessage): void => {
  let past = 0
  incoming.on("data", (chunk: Buffer) => {
    past += chunk.length
    if (past > mostReadPast) leave(incoming)
  })
  incoming.resume()
}

/** Whether more of the body may come. */
const isUnread = ({ complete, headers }: IncomingMessage): boolean =>
  !complete && (headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0)

const send = (incoming: IncomingMessage, outgoing: ServerResponse, response: Response, isWaiting: boolean): void => {
  if (outgoing.destroyed) return
  const content = mayHaveBody(response.status) ? (response.bytes ?? response.body) : undefined
  const headers: Record<string, string | number> = { ...headersOf(response) }
  const isTold = incoming.method === "HEAD" && headers["content-length"] !== undefined
  if (content !== undefined && !isTold) headers["content-length"] = response.promised ?? Buffer.byteLength(content)
  const unread = isUnread(incoming)
  const isLong = Number(incoming.headers["content-length"]) > mostReadPast
  if (unread && (isWaiting || isLong)) headers["connection"] = "close"
  outgoing.writeHead(response.status, headers)
  if (response.promised !== undefined) return void outgoing.write(content ?? "", () => incoming.socket.destroy())
  if (!unread) return void outgoing.end(content)
  if (headers["connection"] !== "close") {
    outgoing.end(content)
    return readPast(incoming)
  }
  outgoing.flushHeaders()
  if (content !== undefined) outgoing.write(content)
  leave(incoming)
}

const { body: defective, status: defectiveStatus } = internalError()

/** Answers until the scope closes. */
const answering = (server: Server, entrance: Entrance, serve: Serve): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const run = Effect.runForkWith(yield* Effect.context<never>())

    const answer = (incoming: IncomingMessage, outgoing: ServerResponse, waits: boolean): void => {
      let isWaiting = waits
      const ask = () => {
        if (isWaiting) outgoing.writeContinue()
        isWaiting = false
      }
      const answered = Effect.map(serve(toRequest(incoming, entrance, ask)), (response) =>
        send(incoming, outgoing, response, isWaiting)
      ).pipe(
        Effect.catchDefect((defect) =>
          Effect.map(Effect.logError("The emulator could not answer", defect), () =>
            send(incoming, outgoing, respond(defectiveStatus, defective), isWaiting)
          )
        )
      )
      const fiber = Fiber.runIn(run(answered), scope)
      outgoing.on("close", () => {
        if (!outgoing.writableEnded) fiber.interruptUnsafe()
      })
      // A lost connection is one that breaks: a listening port cannot refuse.
      fiber.addObserver((exit) => {
        if (Exit.isFailure(exit)) incoming.socket.destroy()
      })
    }

    server.on("request", (incoming: IncomingMessage, outgoing: ServerResponse) => answer(incoming, outgoing, false))
    server.on("checkContinue", (incoming: IncomingMessage, outgoing: ServerResponse) =>
      answer(incoming, outgoing, true)
    )
  })

export interface Listening {
  readonly address: string
  readonly answer: (entrance: Entrance, serve: Serve) => Effect.Effect<void, never, Scope.Scope>
}

// Closing breaks what is under way: a poll would otherwise hold it up for its whole time-out.
const close = (server: Server): Effect.Effect<void> =>
  Effect.callback((resume) => {
    server.close(() => resume(Effect.void))
    server.closeAllConnections()
  })

/** Listens on a port until the scope closes. */
export const listen = (host: string, port: number): Effect.Effect<Listening, ServeError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<Server, ServeError>((resume) => {
      const server = createServer().on("clientError", answerNoHttp)
      server.on("error", (cause) => resume(Effect.fail(new ServeError({ cause }))))
      server.listen(port, host, () => resume(Effect.succeed(server)))
    }),
    close
  ).pipe(
    Effect.map((server) => {
      const { address, family, port } = server.address() as AddressInfo
      return {
        address: new URL(`http://${family === "IPv6" ? `[${address}]` : address}:${port}`).origin,
        answer: (entrance, serve) => answering(server, entrance, serve)
      }
    })
  )
