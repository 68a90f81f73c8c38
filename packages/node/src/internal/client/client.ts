import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import type { Dispatcher } from "@effect/platform-node/Undici"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { JsonResponse } from "./jsonResponse.ts"
import { release } from "../upload/chunkPool.ts"

/**
 * A call of the API: JSON in and out, small, and traced by its caller. It needs neither streams nor a span of the
 * client, which is half of what a request costs.
 */
const isCall = (request: HttpClientRequest.HttpClientRequest, fiber: Fiber.Fiber<unknown, unknown>): boolean =>
  request.headers["accept"] === "application/json" &&
  (request.body._tag === "Empty" || request.body._tag === "Uint8Array") &&
  fiber.getRef(HttpClient.TracerDisabledWhen)(request)

const bodyOf = ({ body }: HttpClientRequest.HttpClientRequest): string | Uint8Array | null =>
  body._tag === "Uint8Array" ? (body.text ?? body.body) : null

const failed = (request: HttpClientRequest.HttpClientRequest, cause: unknown) =>
  Effect.fail(new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) }))

type Answer = Effect.Effect<JsonResponse, HttpClientError.HttpClientError>

/** Reads an answer to its end, and gives it then. */
const reading = (
  request: HttpClientRequest.HttpClientRequest,
  url: string,
  resume: (answer: Answer) => void
): Dispatcher.DispatchHandler & { readonly abort: (reason: Error) => void } => {
  let controller: Dispatcher.DispatchController | undefined
  let end: Error | undefined
  let status = 0
  let headers = {}
  const chunks: Array<Buffer> = []
  return {
    onRequestStart(started) {
      controller = started
      if (end !== undefined) started.abort(end)
    },
    onResponseStart(_, responseStatus, responseHeaders) {
      status = responseStatus
      headers = responseHeaders
    },
    onResponseData(_, chunk) {
      chunks.push(chunk)
    },
    onResponseEnd() {
      const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
      resume(Effect.succeed(new JsonResponse(request, url, status, headers, body)))
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

/** A call that goes on for longer than it may, although something comes all the time. */
class CallTimeout extends Error {
  override readonly name = "TimeoutError"
  readonly code = "ETIMEDOUT"
}

const call = (
  dispatcher: Dispatcher,
  callTimeout: number,
  request: HttpClientRequest.HttpClientRequest,
  url: URL
): Answer =>
  Effect.callback((resume) => {
    const handler = reading(request, url.href, (answer) => {
      clearTimeout(timer)
      resume(answer)
    })
    const timer =
      callTimeout === 0 ? undefined : setTimeout(() => handler.abort(new CallTimeout("It took too long")), callTimeout)
    const { method, headers } = request
    try {
      const path = url.pathname + url.search
      dispatcher.dispatch({ origin: url.origin, path, method, headers, body: bodyOf(request) }, handler)
    } catch (cause) {
      clearTimeout(timer)
      resume(failed(request, cause))
    }
    return Effect.sync(() => {
      clearTimeout(timer)
      handler.abort(new Error("The request was interrupted"))
    })
  })

/** Undici asks for more when the socket has let go of what it was given. */
const lettingGo = async function* (pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    yield piece
    release(piece)
  }
}

const streaming = (
  request: HttpClientRequest.HttpClientRequest
): Effect.Effect<HttpClientRequest.HttpClientRequest> => {
  const { body } = request
  return body._tag !== "Stream"
    ? Effect.succeed(request)
    : Effect.map(Stream.toAsyncIterableEffect(body.stream), (pieces) =>
        HttpClientRequest.setBody(request, HttpBody.raw(lettingGo(pieces), body))
      )
}

// Settings of the layer's surroundings hold for its requests; trace headers would tell the platform of our insides.
const settle = (surroundings: Context.Context<never>) => (client: HttpClient.HttpClient) =>
  HttpClient.transformResponse(client, (response) =>
    response.pipe(
      Effect.provideService(HttpClient.TracerPropagationEnabled, false),
      Effect.updateContext((context: Context.Context<never>) => Context.merge(surroundings, context))
    )
  )

/** A client on a dispatcher: Effect's own, with a shorter way for calls of the API. */
export const makeClient = Effect.fnUntraced(function* (dispatcher: Dispatcher, callTimeout: number) {
  const undici = yield* Effect.provideService(NodeHttpClient.makeUndici, NodeHttpClient.Dispatcher, dispatcher)
  const general = settle(yield* Effect.context<never>())(undici)
  return HttpClient.makeWith<never, never, HttpClientError.HttpClientError, never>(
    Effect.flatMap((request) =>
      Effect.withFiber((fiber) => {
        const url = isCall(request, fiber) ? HttpClientRequest.toUrl(request) : Option.none()
        return Option.isSome(url)
          ? call(dispatcher, callTimeout, request, url.value)
          : Effect.flatMap(streaming(request), general.execute)
      })
    ),
    Effect.succeed
  )
})
