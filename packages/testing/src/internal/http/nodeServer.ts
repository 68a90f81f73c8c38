import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { ServeError } from "effect/http/HttpServerError"
import type * as Scope from "effect/Scope"
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { IncomingBody } from "./incomingBody.ts"
import { makeServer } from "./makeServer.ts"
import { internalError } from "./refusal.ts"
import { type Asked, send } from "./send.ts"
import { toResponse } from "./shape.ts"
import type { ListenerKind, Listener, Request, Handler } from "../../EmulatorHttp.ts"

/** The path and the query, also where the caller takes the server for a proxy and gives a whole address. */
const pathAndQuery = (url: string): string => {
  if (url.startsWith("/") || !URL.canParse(url)) return url
  const { pathname, search } = new URL(url)
  return pathname + search
}

const headersIn = ({ headers }: IncomingMessage): Request["headers"] =>
  headers["set-cookie"] === undefined
    ? (headers as Request["headers"])
    : { ...(headers as Request["headers"]), "set-cookie": headers["set-cookie"].join(", ") }

const toRequest = (incoming: IncomingMessage, listener: Listener, ask: () => void): Request => {
  const target = pathAndQuery(incoming.url!)
  const mark = target.indexOf("?")
  return {
    method: incoming.method!,
    path: mark < 0 ? target : target.slice(0, mark),
    query: mark < 0 ? "" : target.slice(mark),
    headers: headersIn(incoming),
    body: new IncomingBody(incoming, ask),
    listener
  }
}

/** How a caller gets in, by what it calls the server. */
export type Greet = (host: string | undefined) => Listener

/** Answers until the scope closes. */
const answering = (server: Server, greet: Greet, serve: Handler): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const run = Effect.runForkWith(yield* Effect.context<never>())

    const answer = (incoming: IncomingMessage, outgoing: ServerResponse, isWaiting: boolean): void => {
      const asked: Asked = { incoming, outgoing, isWaiting }
      const ask = () => {
        if (asked.isWaiting) outgoing.writeContinue()
        asked.isWaiting = false
      }
      const listener = greet(incoming.headers.host)
      const answered = Effect.map(serve(toRequest(incoming, listener, ask)), (response) => send(asked, response)).pipe(
        Effect.catchDefect((defect) =>
          Effect.map(Effect.logError("The emulator could not answer", defect), () =>
            send(asked, toResponse(internalError(), listener.kind))
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
  readonly family: "IPv4" | "IPv6"
  readonly address: string
  readonly port: number
  readonly answer: (greet: Greet, serve: Handler) => Effect.Effect<void, never, Scope.Scope>
}

// Closing breaks what is under way: a poll would otherwise hold it up for its whole time-out.
const close = (server: Server): Effect.Effect<void> =>
  Effect.callback((resume) => {
    server.close(() => resume(Effect.void))
    server.closeAllConnections()
  })

/** Listens on a port until the scope closes. */
export const listen = (
  door: ListenerKind,
  host: string,
  port: number
): Effect.Effect<Listening, ServeError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<Server, ServeError>((resume) => {
      const server = makeServer(door)
      server.on("error", (cause) => resume(Effect.fail(new ServeError({ cause }))))
      server.listen(port, host, () => resume(Effect.succeed(server)))
    }),
    close
  ).pipe(
    Effect.map((server) => {
      const { address, family, port } = server.address() as AddressInfo
      return {
        family: family === "IPv6" ? "IPv6" : "IPv4",
        address,
        port,
        answer: (greet, serve) => answering(server, greet, serve)
      }
    })
  )
