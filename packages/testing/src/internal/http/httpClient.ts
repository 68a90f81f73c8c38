import type { UploadType } from "@colloquy/core/Upload"
import * as Effect from "effect/Effect"
import type * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Stream from "effect/Stream"
import { ClientResponse } from "./clientResponse.ts"
import { type Body, type Listener, type Handler, Unreadable } from "../../EmulatorHttp.ts"

export const apiOrigin = "https://api.emulator.test"

export const uploadOrigins: Readonly<Record<UploadType, string>> = {
  image: "https://image.uploads.emulator.test",
  video: "https://video.uploads.emulator.test",
  audio: "https://audio.uploads.emulator.test",
  file: "https://file.uploads.emulator.test"
}

const entrances = new Map<string, Listener>([
  [apiOrigin, { kind: "api", uploads: uploadOrigins }],
  ...Object.entries(uploadOrigins).map(
    ([type, origin]) => [origin, { kind: type as UploadType, uploads: uploadOrigins }] as const
  )
])

const failures = {
  refused: { code: "ECONNREFUSED", message: "connect ECONNREFUSED" },
  reset: { code: "ECONNRESET", message: "read ECONNRESET" },
  unresolved: { code: "ENOTFOUND", message: "getaddrinfo ENOTFOUND" }
}

const lost = (request: HttpClientRequest.HttpClientRequest, kind: keyof typeof failures) => {
  const { code, message } = failures[kind]
  const cause = Object.assign(new Error(message), { code })
  return new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })
}

const unreadable = (cause: unknown) => new Unreadable({ cause })

// A form that is cancelled half way rejects a promise that nobody holds: it is let go of instead.
const ofWeb = (web: globalThis.Response, isForm: boolean): Body => ({
  text: Effect.tryPromise({ try: () => web.text(), catch: unreadable }),
  bytes: Stream.fromReadableStream({
    evaluate: () => web.body ?? new ReadableStream(),
    onError: unreadable,
    releaseLockOnEnd: isForm
  })
})

const ofBytes = (bytes: Uint8Array, text: () => string): Body => ({
  text: Effect.sync(text),
  bytes: Stream.suspend(() => Stream.succeed(bytes))
})

const decoder = new TextDecoder()

interface Sent {
  readonly body: Body
  readonly contentType?: string | undefined
}

/** The body of a request, and its type where that is known only now. */
const read = (body: HttpBody.HttpBody): Sent => {
  switch (body._tag) {
    case "Empty":
      return { body: ofBytes(new Uint8Array(), () => "") }
    case "Uint8Array":
      return { body: ofBytes(body.body, () => body.text ?? decoder.decode(body.body)), contentType: body.contentType }
    case "Stream": {
      const bytes = Stream.mapError(body.stream, unreadable)
      return {
        body: { bytes, text: Stream.mkString(Stream.decodeText(bytes)) },
        contentType: body.contentType
      }
    }
    case "FormData":
    case "Raw": {
      const web = new globalThis.Response(
        body._tag === "FormData" ? body.formData : (body.body as ConstructorParameters<typeof globalThis.Response>[0])
      )
      return { body: ofWeb(web, body._tag === "FormData"), contentType: web.headers.get("content-type") ?? undefined }
    }
  }
}

/** The platform as an HTTP client, without sockets: its hosts are reached by their names. */
export const makeClient = (serve: Handler): HttpClient.HttpClient =>
  HttpClient.make((request, url) => {
    const listener = entrances.get(url.origin)
    if (listener === undefined) return Effect.fail(lost(request, "unresolved"))
    const { body, contentType } = read(request.body)
    const answered = serve({
      method: request.method,
      path: url.pathname,
      query: url.search,
      headers: contentType === undefined ? request.headers : { "content-type": contentType, ...request.headers },
      body,
      listener
    })
    return Effect.mapBoth(answered, {
      onSuccess: (response) => new ClientResponse(request, response),
      onFailure: ({ kind }) => lost(request, kind)
    })
  })
