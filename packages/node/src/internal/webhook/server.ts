import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { createServer as createPlain, type RequestListener, type Server } from "node:http"
import { createServer as createSecure } from "node:https"
import type { AddressInfo } from "node:net"

export interface Listening {
  readonly host: string | undefined
  readonly port: number
  readonly tls: { readonly key: string; readonly cert: string } | undefined
  readonly bodyTimeout: Duration.Duration
  readonly stopTimeout: Duration.Duration
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program listens there. Stop it, or choose another port",
  EACCES: "this process may not listen there. Choose a port above 1023, or give it the right to",
  EADDRNOTAVAIL: "this machine has no such address. Choose another host",
  ENOTFOUND: "the host has no address. Choose another host"
}

/**
 * The server of the webhook does not come up. `code` is what the system said.
 *
 * @category errors
 * @since 0.1.0
 */
export class WebhookServerError extends Data.TaggedError("WebhookServerError")<{
  readonly host: string | undefined
  readonly port: number
  readonly code: string | undefined
  readonly cause: unknown
}> {
  override get message() {
    const { cause, code, host = "*", port } = this
    const said = cause instanceof Error ? cause.message : String(cause)
    return `The webhook cannot listen on ${host}:${port}: ${reasons[code ?? ""] ?? said}.`
  }
}

const codeOf = (cause: unknown) =>
  typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : undefined

const create = ({ bodyTimeout, tls }: Listening, listener: RequestListener): Server => {
  const millis = Duration.isFinite(bodyTimeout) ? Duration.toMillis(bodyTimeout) : 0
  // The handler ends slow bodies itself: this is for what comes before and after.
  const options = { headersTimeout: millis, requestTimeout: 2 * millis, connectionsCheckingInterval: 1000 }
  return tls === undefined ? createPlain(options, listener) : createSecure({ ...options, ...tls }, listener)
}

/** Takes no more connections, lets answers that are under way come to their end, and then hangs up. */
const stop = (server: Server, within: Duration.Duration) => {
  const closed = Effect.callback<void>((resume) => {
    server.close(() => resume(Effect.void))
  })
  // A connection on which the last answer was given would stay for the next request.
  const hangUpIdle = Effect.repeat(
    Effect.sync(() => server.closeIdleConnections()),
    Schedule.spaced("20 millis")
  )
  return Effect.raceFirst(closed, hangUpIdle).pipe(
    Effect.timeoutOption(within),
    Effect.andThen(Effect.sync(() => server.closeAllConnections()))
  )
}

/** Listens until the scope closes. */
export const listen = Effect.fnUntraced(function* (listening: Listening, listener: RequestListener) {
  const { host, port, stopTimeout } = listening
  const fail = (cause: unknown) => new WebhookServerError({ host, port, code: codeOf(cause), cause })
  const server = yield* Effect.try({ try: () => create(listening, listener), catch: fail })
  yield* Effect.callback<void, WebhookServerError>((resume) => {
    const onError = (cause: Error) => resume(fail(cause))
    server.once("error", onError)
    server.listen({ ...(host === undefined ? undefined : { host }), port }, () => {
      server.off("error", onError)
      resume(Effect.void)
    })
  })
  yield* Effect.addFinalizer(() => stop(server, stopTimeout))
  return server.address() as AddressInfo
})
