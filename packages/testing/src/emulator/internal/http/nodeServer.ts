import type { UploadType } from "@colloquy/core/endpoints/Upload"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { ServeError } from "effect/http/HttpServerError"
import * as Record from "effect/Record"
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http"
import type { AddressInfo } from "node:net"
import type { Duplex } from "node:stream"
import type { Handler, Listener, ListenerKind, Request } from "../../EmulatorHttp.ts"
import { boundIdleConnections } from "./idleConnections.ts"
import { type Connection, IncomingBody, isDiscarding, sendResponse, sendStream } from "./nodeConnection.ts"
import * as refusal from "./refusal.ts"

const encoder = new TextEncoder()

/** Writes an error response to a socket without a request, and closes the connection. */
const rejectConnection = (socket: Duplex, listener: ListenerKind, { body, status }: refusal.Refusal): void => {
  const text = JSON.stringify(refusal.errorBodyFor(listener, body))
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "connection: close",
    "content-type: application/json; charset=utf-8",
    `content-length: ${encoder.encode(text).byteLength}`
  ]
  socket.end(`${head.join("\r\n")}\r\n\r\n${text}`)
}

const statusOfParseError: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408
}

const onClientError =
  (listener: ListenerKind) =>
  ({ code = "", message }: Error & { readonly code?: string }, socket: Duplex): void => {
    if (!socket.writable || code === "ECONNRESET" || isDiscarding(socket)) return void socket.destroy()
    rejectConnection(socket, listener, refusal.noRequest(statusOfParseError[code] ?? 400, message))
  }

const onConnect =
  (listener: ListenerKind) =>
  ({ url }: IncomingMessage, socket: Duplex): void => {
    socket.on("error", () => socket.destroy())
    socket.on("finish", () => socket.destroy())
    rejectConnection(socket, listener, refusal.methodNotAllowed(`CONNECT ${url} is not allowed`))
  }

/** Maximum time to receive the head of a request, in milliseconds. */
const headersTimeout = 10_000

const connectionsCheckingInterval = 1000

/** Maximum number of idle connections to the API, and to each of the upload hosts. */
const maxIdleConnections = { api: 512, uploads: 64 }

/** Creates a server that answers malformed requests in the shape of the listener. */
export const makeServer = (listener: ListenerKind): Server => {
  // An upload has no time limit.
  const timeouts = listener === "api" ? {} : { requestTimeout: 0 }
  const server = createServer({
    requireHostHeader: false,
    headersTimeout,
    connectionsCheckingInterval,
    ...timeouts
  })
  boundIdleConnections(server, listener === "api" ? maxIdleConnections.api : maxIdleConnections.uploads)
  server.on("clientError", onClientError(listener))
  server.on("connect", onConnect(listener))
  server.on("checkExpectation", (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const error = refusal.expectationFailed(incoming.headers.expect ?? "")
    sendResponse({ incoming, outgoing, awaitsContinue: true }, refusal.toResponse(error, listener))
  })
  return server
}

/** The target of a request: a client that uses the server as a proxy sends an absolute URL. */
const pathAndQuery = (url: string): string => {
  if (url.startsWith("/") || !URL.canParse(url)) return url
  const { pathname, search } = new URL(url)
  return pathname + search
}

const headersIn = ({ headers }: IncomingMessage): Request["headers"] =>
  headers["set-cookie"] === undefined
    ? (headers as Request["headers"])
    : { ...(headers as Request["headers"]), "set-cookie": headers["set-cookie"].join(", ") }

const isSame = (a: Request["headers"], b: Request["headers"]): boolean => {
  for (const name in a) if (a[name] !== b[name]) return false
  for (const name in b) if (a[name] === undefined) return false
  return true
}

/** Repeated headers share one object, because the journal keeps the headers of requests. */
const makeHeaders = () => {
  let last: Request["headers"] = {}
  return (incoming: IncomingMessage): Request["headers"] => {
    const headers = headersIn(incoming)
    if (!isSame(headers, last)) last = headers
    return last
  }
}

const toRequest = (
  incoming: IncomingMessage,
  headers: Request["headers"],
  listener: Listener,
  onRead: () => void
): Request => {
  const target = pathAndQuery(incoming.url!)
  const mark = target.indexOf("?")
  return {
    method: incoming.method!,
    path: mark < 0 ? target : target.slice(0, mark),
    query: mark < 0 ? "" : target.slice(mark),
    headers,
    body: new IncomingBody(incoming, onRead),
    listener
  }
}

/** Returns the listener for the `Host` header of a request. */
type ResolveListener = (host: string | undefined) => Listener

const serveRequests = Effect.fnUntraced(function* (server: Server, resolve: ResolveListener, handle: Handler) {
  const scope = yield* Effect.scope
  const headersOf = makeHeaders()
  const run = Effect.runForkWith(yield* Effect.context<never>())

  const answer = (incoming: IncomingMessage, outgoing: ServerResponse, awaitsContinue: boolean): void => {
    const connection: Connection = { incoming, outgoing, awaitsContinue }
    const onRead = () => {
      if (connection.awaitsContinue) outgoing.writeContinue()
      connection.awaitsContinue = false
    }
    const listener = resolve(incoming.headers.host)
    const answered = Effect.flatMap(handle(toRequest(incoming, headersOf(incoming), listener, onRead)), (response) =>
      response.stream === undefined
        ? Effect.sync(() => sendResponse(connection, response))
        : sendStream(connection, response, response.stream)
    ).pipe(
      Effect.catchDefect((defect) =>
        Effect.map(
          Effect.logError(`The emulator failed to answer ${incoming.method} ${incoming.url} and responds 500`, defect),
          () => sendResponse(connection, refusal.toResponse(refusal.internalError(), listener.kind))
        )
      )
    )
    const fiber = Fiber.runIn(run(answered), scope)
    outgoing.on("close", () => {
      if (!outgoing.writableEnded) fiber.interruptUnsafe()
    })
    // A listening port cannot refuse a connection: a refused connection is reset too.
    fiber.addObserver((exit) => {
      if (Exit.isFailure(exit)) incoming.socket.destroy()
    })
  }

  server.on("request", (incoming: IncomingMessage, outgoing: ServerResponse) => answer(incoming, outgoing, false))
  server.on("checkContinue", (incoming: IncomingMessage, outgoing: ServerResponse) => answer(incoming, outgoing, true))
})

// Open connections are closed: a long poll would keep the server open for its whole timeout.
const close = (server: Server): Effect.Effect<void> =>
  Effect.callback((resume) => {
    server.close(() => resume(Effect.void))
    server.closeAllConnections()
  })

/** Listens on a port until the scope closes. */
export const listen = (listener: ListenerKind, host: string, port: number) =>
  Effect.acquireRelease(
    Effect.callback<Server, ServeError>((resume) => {
      const server = makeServer(listener)
      server.on("error", (cause) => resume(Effect.fail(new ServeError({ cause }))))
      server.listen(port, host, () => resume(Effect.succeed(server)))
    }),
    close
  ).pipe(
    Effect.map((server) => ({
      ...(server.address() as AddressInfo),
      serve: (resolve: ResolveListener, handle: Handler) => serveRequests(server, resolve, handle)
    }))
  )

/** A server that listens and does not answer yet. */
type BoundServer = Effect.Success<ReturnType<typeof listen>>

const unspecifiedAddresses = new Set(["0.0.0.0", "::"])

const hostnameOf = ({ address, family }: BoundServer): string => {
  const name = unspecifiedAddresses.has(address) ? (family === "IPv6" ? "::1" : "127.0.0.1") : address
  // A URL cannot contain the zone of an IPv6 address.
  return family === "IPv6" ? `[${name.replace(/%.*/, "")}]` : name
}

const originOf = (hostname: string, { port }: BoundServer): string => new URL(`http://${hostname}:${port}`).origin

/** The base URL of a server for clients on the same machine. */
export const baseUrlOf = (server: BoundServer): string => originOf(hostnameOf(server), server)

export type UploadServers = Readonly<Record<UploadType, BoundServer>>

/** The base URLs of the upload servers under a host name. */
export const uploadUrls = (
  servers: UploadServers,
  hostname = hostnameOf(servers.image)
): Readonly<Record<UploadType, string>> => Record.map(servers, (server) => originOf(hostname, server))

const hostnameIn = (host: string | undefined): string | undefined => {
  const url = `http://${host}`
  return host !== undefined && URL.canParse(url) ? new URL(url).hostname : undefined
}

/** On all addresses of the machine, the upload servers have the host name that the client uses for its request. */
export const resolveListener = (kind: ListenerKind, servers: UploadServers): ResolveListener => {
  const listener = { kind, uploads: uploadUrls(servers) }
  if (!unspecifiedAddresses.has(servers.image.address)) return () => listener
  let last = { host: undefined as string | undefined, listener }
  return (host) => {
    if (host !== last.host) last = { host, listener: { kind, uploads: uploadUrls(servers, hostnameIn(host)) } }
    return last.listener
  }
}
