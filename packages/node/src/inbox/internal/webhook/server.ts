import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { createServer as createHttpServer, type RequestListener, type Server } from "node:http"
import { createServer as createHttpsServer } from "node:https"
import type { AddressInfo } from "node:net"
import type { ServerOptions } from "../../NodeWebhook.ts"
import { boundIdleConnections } from "./connections.ts"

interface ListenOptions extends Pick<ServerOptions, "host" | "port" | "tls"> {
  readonly bodyTimeout: Duration.Duration
  readonly maxIdleConnections: number
  readonly stopTimeout: Duration.Duration
}

/** How often the server looks for connections whose headers or requests take too long, in milliseconds. */
const minCheckInterval = 1000
const maxCheckInterval = 30_000

const create = ({ bodyTimeout, maxIdleConnections, tls }: ListenOptions, listener: RequestListener): Server => {
  const millis = Duration.isFinite(bodyTimeout) ? Duration.toMillis(bodyTimeout) : 0
  // The handler has its own timeout for bodies. These apply to headers, and to requests as a whole.
  const connectionsCheckingInterval =
    millis === 0 ? maxCheckInterval : Math.min(Math.max(minCheckInterval, 2 * millis), maxCheckInterval)
  const options = { headersTimeout: millis, requestTimeout: 2 * millis, connectionsCheckingInterval }
  const handshake = millis === 0 ? {} : { handshakeTimeout: millis }
  const server =
    tls === undefined
      ? createHttpServer(options, listener)
      : createHttpsServer({ ...options, ...handshake, ...tls }, listener)
  boundIdleConnections(server, maxIdleConnections)
  return server
}

/** Accepts no new connections, completes the responses in progress, and closes all connections after `within`. */
const stop = (server: Server, within: Duration.Duration) => {
  const closed = Effect.callback<void>((resume) => {
    server.close(() => resume(Effect.void))
  })
  // `server.close` does not close idle keep-alive connections.
  const closeIdle = Effect.repeat(
    Effect.sync(() => server.closeIdleConnections()),
    Schedule.spaced("20 millis")
  )
  return Effect.raceFirst(closed, closeIdle).pipe(
    Effect.timeoutOption(within),
    Effect.andThen(Effect.sync(() => server.closeAllConnections()))
  )
}

/** Listens until the scope closes. Fails with the error of Node, converted by `toError`. */
export const listen = Effect.fnUntraced(function* <E>(
  options: ListenOptions,
  listener: RequestListener,
  toError: (cause: unknown) => E
) {
  const { host, port, stopTimeout } = options
  const server = yield* Effect.try({ try: () => create(options, listener), catch: toError })
  yield* Effect.callback<void, E>((resume) => {
    const onError = (cause: Error) => resume(Effect.fail(toError(cause)))
    server.once("error", onError)
    server.listen({ ...(host === undefined ? undefined : { host }), port }, () => {
      server.off("error", onError)
      resume(Effect.void)
    })
  })
  yield* Effect.addFinalizer(() => stop(server, stopTimeout))
  return server.address() as AddressInfo
})
