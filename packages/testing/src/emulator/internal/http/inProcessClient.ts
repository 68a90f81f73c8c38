import { ClientResponse } from "@colloquy/core/client/ClientResponse"
import type { UploadType } from "@colloquy/core/endpoints/Upload"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import type * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { type Body, type Handler, type Listener, type Response, Unreadable } from "../../EmulatorHttp.ts"
import { apiOrigin, bytesBody, headersOf, mayHaveBody, uploadOrigins } from "./wire.ts"

const listeners = new Map<string, Listener>([
  [apiOrigin, { kind: "api", uploads: uploadOrigins }],
  ...Object.entries(uploadOrigins).map(
    ([type, origin]) => [origin, { kind: type as UploadType, uploads: uploadOrigins }] as const
  )
])

const networkErrors = {
  refused: { code: "ECONNREFUSED", message: "connect ECONNREFUSED" },
  reset: { code: "ECONNRESET", message: "read ECONNRESET" },
  unresolved: { code: "ENOTFOUND", message: "getaddrinfo ENOTFOUND" }
}

const transportError = (request: HttpClientRequest.HttpClientRequest, kind: keyof typeof networkErrors) => {
  const { code, message } = networkErrors[kind]
  const cause = Object.assign(new Error(message), { code })
  return new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })
}

const unreadable = (cause: unknown) => new Unreadable({ cause })

// Cancelling the reader of a form rejects a promise that nothing handles, so the lock is released instead.
const webBody = (web: globalThis.Response, isForm: boolean): Body => ({
  text: Effect.tryPromise({ try: () => web.text(), catch: unreadable }),
  bytes: Stream.fromReadableStream({
    evaluate: () => web.body ?? new ReadableStream(),
    onError: unreadable,
    releaseLockOnEnd: isForm
  })
})

const encoder = new TextEncoder()

const decoder = new TextDecoder()

/** The body of a request, and its content type where the request has no such header. */
const readBody = (body: HttpBody.HttpBody): { readonly body: Body; readonly contentType?: string | undefined } => {
  switch (body._tag) {
    case "Empty":
      return { body: bytesBody(new Uint8Array(), () => "") }
    case "Uint8Array":
      return { body: bytesBody(body.body, () => body.text ?? decoder.decode(body.body)), contentType: body.contentType }
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
      return { body: webBody(web, body._tag === "FormData"), contentType: web.headers.get("content-type") ?? undefined }
    }
  }
}

/** A body whose connection is reset after its first bytes. */
const interruptedBody = (beginning: string | Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> => {
  const bytes = typeof beginning === "string" ? encoder.encode(beginning) : beginning
  const chunks = bytes.byteLength === 0 ? [] : [bytes]
  return new ReadableStream({
    pull: (controller) => {
      const chunk = chunks.pop()
      if (chunk === undefined) controller.error(Object.assign(new Error("aborted"), { code: "ECONNRESET" }))
      else controller.enqueue(chunk)
    }
  })
}

let lastDate = { second: Number.NaN, text: "" }

const dateAt = (now: number): string => {
  const second = Math.floor(now / 1000)
  if (second !== lastDate.second) lastDate = { second, text: new Date(now).toUTCString() }
  return lastDate.text
}

/** A response of the client. Its text is read directly, which `virtual-flood-cpu-us` measures. */
class InProcessResponse extends ClientResponse {
  readonly #headers: Headers.Headers
  readonly #response: Response

  constructor(request: HttpClientRequest.HttpClientRequest, response: Response, now: number) {
    super(request, response.status)
    const { bytes, promised } = response
    this.#headers = Headers.fromRecordUnsafe({
      date: dateAt(now),
      ...headersOf(response),
      ...(bytes === undefined ? {} : { "content-length": String(promised ?? bytes.byteLength) })
    })
    this.#response = response
  }

  override get headers() {
    return this.#headers
  }

  override get text(): Effect.Effect<string, HttpClientError.HttpClientError> {
    const { body, bytes, promised, stream } = this.#response
    if (!this.#hasBody) return Effect.succeed("")
    if (promised !== undefined || stream !== undefined) return this.web.text
    return bytes === undefined ? Effect.succeed(body) : Effect.sync(() => decoder.decode(bytes))
  }

  get #hasBody(): boolean {
    return this.request.method !== "HEAD" && mayHaveBody(this.status)
  }

  protected override makeWeb() {
    const { body, bytes = body, promised, status, stream } = this.#response
    const whole = stream === undefined ? bytes : Stream.toReadableStream(Stream.encodeText(stream))
    const content = promised === undefined ? whole : interruptedBody(bytes)
    return HttpClientResponse.fromWeb(
      this.request,
      new globalThis.Response(this.#hasBody ? content : null, { status, headers: this.headers })
    )
  }
}

type Target = Pick<URL, "origin" | "pathname" | "search">

/** A URL that its parser does not change: each call of a bot has such a URL. */
const normalized = /^(https:\/\/[a-z.]+)(\/[\w/~-]*(?:\.[\w~-]+)*)(\?[\w=&,.~-]*)?$/

const targetOf = (request: HttpClientRequest.HttpClientRequest): Target | undefined => {
  const parts = request.urlParams.params.length === 0 ? normalized.exec(request.url) : null
  if (parts !== null && Option.isNone(request.hash)) {
    return { origin: parts[1], pathname: parts[2], search: parts[3] ?? "" }
  }
  return Option.getOrUndefined(HttpClientRequest.toUrl(request))
}

/**
 * An HTTP client that calls the emulator without sockets. Its hosts have the names of the in-process origins. A request
 * without a span needs nothing else of a client, which `virtual-flood-cpu-us` measures.
 */
export const makeClient = (handle: Handler): HttpClient.HttpClient => {
  const answer = (
    request: HttpClientRequest.HttpClientRequest,
    { origin, pathname, search }: Target
  ): Effect.Effect<InProcessResponse, HttpClientError.HttpClientError> => {
    const listener = listeners.get(origin)
    if (listener === undefined) return Effect.fail(transportError(request, "unresolved"))
    const { body, contentType } = readBody(request.body)
    const { headers, method } = request
    const answered = handle({
      method,
      path: pathname,
      query: search,
      headers: contentType === undefined ? headers : { "content-type": contentType, ...headers },
      body,
      listener
    })
    return Effect.matchEffect(answered, {
      onSuccess: (response) =>
        Effect.clockWith((clock) =>
          Effect.succeed(new InProcessResponse(request, response, clock.currentTimeMillisUnsafe()))
        ),
      onFailure: ({ kind }) => Effect.fail(transportError(request, kind))
    })
  }
  const traced = HttpClient.make(answer)
  return HttpClient.makeWith<never, never, HttpClientError.HttpClientError, never>(
    Effect.flatMap((request) =>
      Effect.withFiber((fiber) => {
        const target = fiber.getRef(HttpClient.TracerDisabledWhen)(request) ? targetOf(request) : undefined
        return target === undefined ? traced.execute(request) : answer(request, target)
      })
    ),
    Effect.succeed
  )
}
