import { MaxSize, ResponseTooLarge } from "@colloquy/core/client/ClientResponse"
import { PublicHostsOnly } from "@colloquy/core/client/PublicHost"
import { ConfirmPermit, PermitExpired } from "@colloquy/core/client/RateLimiter"
import sendRequest from "undici/lib/api/api-request.js"
import type { Dispatcher } from "undici/index.js"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as Headers from "effect/http/Headers"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Stream from "effect/Stream"
import type { Readable } from "node:stream"
import { type Address, makeAddressOf } from "./address.ts"
import { BufferedResponse, StreamedResponse } from "./responses.ts"
import { type Deadlines, makeDeadlines } from "../../base/internal/deadlines.ts"
import { release } from "../../base/internal/chunkPool.ts"

/**
 * Whether a request is an API call: small JSON bodies, and a span of the caller. Such a request needs neither streams nor a
 * span of the HTTP client, which halves its cost (`npm run bench`, the client on Node).
 */
const isApiCall = (request: HttpClientRequest.HttpClientRequest, fiber: Fiber.Fiber<unknown, unknown>): boolean =>
  request.headers["accept"] === "application/json" &&
  (request.body._tag === "Empty" || request.body._tag === "Uint8Array") &&
  fiber.getRef(HttpClient.TracerDisabledWhen)(request)

const bodyOf = ({ body }: HttpClientRequest.HttpClientRequest): string | Uint8Array | null =>
  body._tag === "Uint8Array" ? (body.text ?? body.body) : null

const transportError = (request: HttpClientRequest.HttpClientRequest, cause: unknown) =>
  new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })

const failed = (request: HttpClientRequest.HttpClientRequest, cause: unknown) =>
  Effect.fail(transportError(request, cause))

type Received = Effect.Effect<BufferedResponse, HttpClientError.HttpClientError>

/** Reads a response to its end, and then resumes with the buffered response. */
const readResponse = (
  request: HttpClientRequest.HttpClientRequest,
  url: string,
  confirmPermit: () => boolean,
  maxSize: number,
  resume: (received: Received) => void
): Dispatcher.DispatchHandler & { readonly abort: (reason: Error) => void } => {
  let controller: Dispatcher.DispatchController | undefined
  let end: Error | undefined
  let status = 0
  let headers = {}
  let size = 0
  const chunks: Array<Buffer> = []
  return {
    onRequestStart(started) {
      controller = started
      // The request may have waited for a connection until now.
      if (end === undefined && !confirmPermit()) end = new PermitExpired()
      if (end !== undefined) started.abort(end)
    },
    onResponseStart(_, responseStatus, responseHeaders) {
      status = responseStatus
      headers = responseHeaders
    },
    onResponseData(current, chunk) {
      size += chunk.byteLength
      if (size <= maxSize) chunks.push(chunk)
      else current.abort(new ResponseTooLarge({ status, limit: maxSize }))
    },
    onResponseEnd() {
      const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
      resume(Effect.succeed(new BufferedResponse(request, url, status, headers, body)))
    },
    onResponseError(_, cause) {
      resume(failed(request, cause))
    },
    abort(reason) {
      end = reason
      controller?.abort(reason)
    }
  }
}

/** A call took longer than its time-out, although data kept arriving. */
class CallTimeout extends Error {
  override readonly name = "TimeoutError"
  readonly code = "ETIMEDOUT"
}

const call = (
  dispatcher: Dispatcher,
  deadlines: Deadlines | undefined,
  request: HttpClientRequest.HttpClientRequest,
  { origin, path }: Address,
  fiber: Fiber.Fiber<unknown, unknown>
): Received =>
  Effect.callback((resume) => {
    const confirmPermit = fiber.getRef(ConfirmPermit)
    const handler = readResponse(request, origin + path, confirmPermit, fiber.getRef(MaxSize), (received) => {
      clear()
      resume(received)
    })
    const deadline = deadlines?.set(() => handler.abort(new CallTimeout("The call took longer than callTimeout")))
    const clear = () => {
      if (deadline !== undefined) deadlines?.clear(deadline)
    }
    const { method, headers } = request
    try {
      dispatcher.dispatch({ origin, path, method, headers, body: bodyOf(request) }, handler)
    } catch (cause) {
      clear()
      resume(failed(request, cause))
    }
    return Effect.sync(() => {
      clear()
      handler.abort(new Error("The request was interrupted"))
    })
  })

/**
 * Undici requests the next chunk when the socket has sent the previous chunk. Then the previous chunk can be reused.
 */
const releaseSent = async function* (pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    yield piece
    release(piece)
  }
}

/** Undici accepts only forms of its own class, which is loaded on demand, because the client of a bot sends no forms. */
const undiciFormOf = async (form: FormData) => {
  const { default: forms } = await import("undici/lib/web/fetch/formdata.js")
  const converted = new forms.FormData()
  for (const [name, value] of form) converted.append(name, value)
  return converted
}

type Payload = Pick<Dispatcher.RequestOptions, "body"> & { readonly headers: Headers.Headers }

const payloadOf = ({ body, headers }: HttpClientRequest.HttpClientRequest): Effect.Effect<Payload> => {
  switch (body._tag) {
    case "Empty":
      return Effect.succeed({ headers, body: null })
    case "Uint8Array":
    case "Raw":
      return Effect.succeed({ headers, body: body.body as Uint8Array })
    case "Stream":
      return Effect.map(Stream.toAsyncIterableEffect(body.stream), (pieces) => ({
        headers,
        // Undici accepts every asynchronous iterable, which its types do not say.
        body: releaseSent(pieces) as unknown as Readable
      }))
    case "FormData":
      return Effect.map(
        Effect.promise(() => undiciFormOf(body.formData)),
        // The type of the form has the boundary, which undici chooses.
        (form) => ({ headers: Headers.remove(headers, "content-type"), body: form })
      )
  }
}

// The references of the layer apply to its requests. Trace headers would tell the platform about the program.
const withContext = (layerContext: Context.Context<never>) => (client: HttpClient.HttpClient) =>
  HttpClient.transformResponse(client, (response) =>
    response.pipe(
      Effect.provideService(HttpClient.TracerPropagationEnabled, false),
      Effect.updateContext((context: Context.Context<never>) => Context.merge(layerContext, context))
    )
  )

/** Requests with all kinds of bodies, whose responses are streams. */
const makeGeneral = Effect.fnUntraced(function* (dispatcher: Dispatcher) {
  const client = HttpClient.make((request, url, signal) =>
    Effect.flatMap(payloadOf(request), (payload) =>
      Effect.tryPromise({
        try: () => {
          const { origin, pathname, search } = url
          const options = { origin, path: pathname + search, method: request.method, signal, ...payload }
          return sendRequest.call(dispatcher, options)
        },
        catch: (cause) => transportError(request, cause)
      }).pipe(Effect.map((response) => new StreamedResponse(request, url.href.split("#")[0], response)))
    )
  )
  return withContext(yield* Effect.context<never>())(client)
})

/**
 * The HTTP client of Effect on a dispatcher, with a faster path for API calls. `publicDispatcher` has the requests that may only
 * reach public addresses.
 */
export const makeClient = Effect.fnUntraced(function* (
  dispatcher: Dispatcher,
  publicDispatcher: Dispatcher,
  callTimeout: number
) {
  const addressOf = makeAddressOf()
  const deadlines = callTimeout === 0 ? undefined : makeDeadlines(callTimeout)
  const general = yield* makeGeneral(dispatcher)
  const publicOnly = yield* makeGeneral(publicDispatcher)
  return HttpClient.makeWith<never, never, HttpClientError.HttpClientError, never>(
    Effect.flatMap((request) =>
      Effect.withFiber((fiber) => {
        const address = isApiCall(request, fiber) ? addressOf(request) : undefined
        return address !== undefined
          ? call(dispatcher, deadlines, request, address, fiber)
          : (fiber.getRef(PublicHostsOnly) ? publicOnly : general).execute(request)
      })
    ),
    Effect.succeed
  )
})
