import * as Effect from "effect/Effect"
import * as net from "node:net"
import * as tls from "node:tls"
import { codeOf } from "../base/network.ts"

/** The certificate of a server, and the reason if the certificate is not trusted. */
export interface Handshake {
  /** The code of the error, or `undefined` if the certificate is trusted. */
  readonly untrusted: string | undefined
  /** When the certificate expires, in Unix milliseconds. */
  readonly expiresAt: number
}

const timeout = 10_000

/** Connects to a server, and verifies its certificate with the given authorities. Fails with the error of the connection. */
export const handshake = (url: URL, authorities: ReadonlyArray<string>): Effect.Effect<Handshake, unknown> =>
  Effect.callback((resume) => {
    const host = url.hostname.replace(/^\[|\]$/g, "")
    const socket = tls.connect({
      host,
      port: url.port === "" ? 443 : Number(url.port),
      ...(net.isIP(host) === 0 ? { servername: host } : {}),
      ca: [...authorities],
      // The result says whether the certificate is trusted; nothing is sent on this connection.
      rejectUnauthorized: false,
      timeout
    })
    socket.on("secureConnect", () => {
      const error: unknown = socket.authorizationError
      const untrusted = socket.authorized ? undefined : codeOf(error) || String(error)
      const expiresAt = Date.parse(socket.getPeerCertificate().valid_to)
      socket.destroy()
      resume(Effect.succeed({ untrusted, expiresAt }))
    })
    socket.on("timeout", () => socket.destroy(Object.assign(new Error("time-out"), { code: "ETIMEDOUT" })))
    socket.on("error", (error) => resume(Effect.fail(error)))
    return Effect.sync(() => socket.destroy())
  })
