import * as Clock from "effect/Clock"
import * as Mac from "effect/crypto/Mac"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Redacted from "effect/Redacted"
import type { WebhookRequest, WebhookResponse } from "../../Webhook.ts"
import { contentEncodingOf, maxBodySize } from "./receiver.ts"
import { methodNotAllowed, reject, respond } from "./responses.ts"

// Every runtime has them, but the library is compiled without the types of any runtime.
declare const TextEncoder: new () => {
  readonly encodeInto: (text: string, into: Uint8Array) => { readonly written: number }
}
declare const crypto: { readonly getRandomValues: (bytes: Uint8Array) => Uint8Array }

export const secretLabel = "the secret of the webhook"

/** Generates a secret of 256 random bits. */
export const generateSecret: Effect.Effect<Redacted.Redacted> = Effect.sync(() =>
  // `SecureRandom` would add its UUIDs and ULIDs to the bundle of a worker.
  Redacted.make(Hex.encode(crypto.getRandomValues(new Uint8Array(32))), { label: secretLabel })
)

const encoder = new TextEncoder()

const fill = (bytes: Uint8Array, text: string): Uint8Array => {
  encoder.encodeInto(text, bytes.fill(0))
  return bytes
}

// The time of the comparison depends neither on the position of the first difference, nor on the length of the text,
// nor on the secret that matches.
const makeIsSecret = (secrets: ReadonlyArray<Redacted.Redacted>): ((text: string | undefined) => boolean) => {
  const texts = secrets.map(Redacted.value)
  // Secrets are ASCII. The compared bytes are one more than the longest secret, so that a longer text differs.
  const comparedBytes = 1 + Math.max(...texts.map(({ length }) => length))
  const expected = texts.map((text) => fill(new Uint8Array(comparedBytes), text))
  const buffer = new Uint8Array(comparedBytes)
  return (text) => {
    fill(buffer, text ?? "")
    let isSecret = false
    for (const secret of expected) isSecret = Mac.timingSafeEqual(secret, buffer) || isSecret
    return isSecret
  }
}

/** Returns the path of a URL, or of a path with a query. */
export const pathOf = (url: string): string => {
  const from = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("//") + 2)
  if (from < 0) return "/"
  const to = url.slice(from).search(/[?#]/)
  return to < 0 ? url.slice(from) : url.slice(from, from + to)
}

const isJson = (type: string | undefined): boolean =>
  type === undefined || type === "application/json" || /^\s*[\w.+-]+\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type)

const warnInterval = 60_000

// Anybody can send requests, so the log must not grow with their number.
const makeWarning = (message: string, url: string) => {
  let warnedAt = -Infinity
  return Effect.flatMap(Clock.currentTimeMillis, (now) => {
    if (now - warnedAt < warnInterval) return Effect.void
    warnedAt = now
    return Effect.annotateLogs(Effect.logWarning(message), { url })
  })
}

interface Options {
  readonly url: string
  readonly path: string
  /** The secrets with which a delivery is accepted. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
  readonly secretHeader: string
  /** Serves requests to other paths. */
  readonly otherRoutes: (path: string, request: WebhookRequest) => Effect.Effect<WebhookResponse> | undefined
}

/**
 * `authorize` returns the response to a request that is no delivery, or `undefined` for a delivery. A client that does not
 * know the secret learns only the path and the method. `serves` returns whether a request is for the webhook.
 */
export const makeAuthorize = ({ otherRoutes, path, secretHeader, secrets, url }: Options) => {
  const isSecret = makeIsSecret(secrets)
  const headerName = secretHeader.toLowerCase()

  const warnSecret = makeWarning(
    `Requests to the webhook are rejected with 403, because their header ${secretHeader} is missing or does not contain ` +
      "the secret. A proxy may remove the header, or another program may have subscribed the same URL.",
    url
  )
  const warnPath = makeWarning(
    `A delivery arrived at another path than ${path} and is rejected with 404. Set \`path\` to the path at which ` +
      "deliveries arrive.",
    url
  )

  const rejections = {
    notFound: reject(respond(404)),
    wrongPath: reject(respond(404), warnPath),
    method: reject(methodNotAllowed("POST")),
    secret: reject(respond(403), warnSecret),
    contentType: reject(respond(415, { accept: "application/json" })),
    contentEncoding: reject(respond(415, { "accept-encoding": "gzip, deflate" })),
    size: reject(respond(413))
  }

  const serves = (request: WebhookRequest): boolean => {
    const requestPath = pathOf(request.url)
    return (
      requestPath === path ||
      otherRoutes(requestPath, request) !== undefined ||
      (request.method === "POST" && isSecret(request.header(headerName)))
    )
  }

  const authorize = (request: WebhookRequest): Effect.Effect<WebhookResponse> | undefined => {
    const requestPath = request.url === path ? path : pathOf(request.url)
    const given = request.header(headerName)
    if (requestPath !== path) {
      return (
        otherRoutes(requestPath, request) ??
        (request.method === "POST" && given !== undefined && isSecret(given)
          ? rejections.wrongPath
          : rejections.notFound)
      )
    }
    if (request.method !== "POST") return rejections.method
    if (!isSecret(given)) return rejections.secret
    if (!isJson(request.header("content-type"))) return rejections.contentType
    if (contentEncodingOf(request.header("content-encoding")) === undefined) return rejections.contentEncoding
    return Number(request.header("content-length") ?? 0) > maxBodySize ? rejections.size : undefined
  }
  return { authorize, serves }
}
