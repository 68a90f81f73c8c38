import * as Effect from "effect/Effect"
import { Agent as HttpAgent, type ClientRequest, type RequestOptions, request as httpRequest } from "node:http"
import { Agent as HttpsAgent, request as httpsRequest } from "node:https"
import { checkServerIdentity, createSecureContext, getCACertificates } from "node:tls"
import { DeliveryError, type FailureReason, type Request, type Response } from "../../WebhookSender.ts"

const unreachable = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EADDRNOTAVAIL",
  "ETIMEDOUT"
])

const untrusted = /^(CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|INVALID_CA|PATH_LENGTH|HOSTNAME_MISMATCH|ERR_TLS_CERT)/

const reasonOf = (cause: unknown): FailureReason => {
  const code = typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : ""
  if (unreachable.has(code)) return "Unreachable"
  return untrusted.test(code) ? "Untrusted" : "ConnectionLost"
}

const deliveryError = (cause: unknown) => new DeliveryError({ reason: reasonOf(cause), cause })

type Open = (url: URL, options: RequestOptions) => ClientRequest

const message = (open: Open, { body, headers, url }: Request): Effect.Effect<Response, DeliveryError> =>
  Effect.callback((resume) => {
    const fail = (cause: unknown) => resume(Effect.fail(deliveryError(cause)))
    const request = open(new URL(url), {
      method: "POST",
      headers: { ...headers, "content-length": String(new TextEncoder().encode(body).byteLength) }
    })
    request.on("error", fail)
    request.on("response", (response) => {
      response.on("error", fail)
      response.on("end", () => resume(Effect.succeed({ status: response.statusCode ?? 0 })))
      response.resume()
    })
    request.end(body)
    return Effect.sync(() => {
      request.destroy()
    })
  })

/** TLS sessions are not reused, so that the certificate is checked for every connection. */
export const makeSend = (
  extraCa: ReadonlyArray<string>,
  { host, port }: { readonly host?: string | undefined; readonly port?: number | undefined }
) => {
  let agent: HttpsAgent | undefined
  // The agent is created on first use: reading the certificates of Node takes longer than the start of the emulator.
  const secure = () =>
    (agent ??= new HttpsAgent({
      maxCachedSessions: 0,
      ...(extraCa.length === 0
        ? {}
        : { secureContext: createSecureContext({ ca: [...getCACertificates("default"), ...extraCa] }) })
    }))
  const plain = new HttpAgent()

  const openSecure: Open = (url, options) =>
    httpsRequest(url, {
      ...options,
      ...(host === undefined ? {} : { host, hostname: host }),
      ...(port === undefined ? {} : { port }),
      headers: { ...options.headers, host: url.host },
      agent: secure(),
      rejectUnauthorized: true,
      checkServerIdentity: (_, certificate) => checkServerIdentity(url.hostname, certificate)
    })

  const openPlain: Open = (url, options) => httpRequest(url, { ...options, agent: plain })

  return (request: Request): Effect.Effect<Response, DeliveryError> =>
    message(request.url.startsWith("https:") ? openSecure : openPlain, request)
}
