import type { Webhook } from "@colloquy/core/inbox/Webhook"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpEffect from "effect/http/HttpEffect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http"
import type * as Scope from "effect/Scope"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { webHeadersOf } from "../../../base/internal/webHeaders.ts"
import { headOf } from "./handler.ts"

/** The address of the client, which a web request does not have. */
const RemoteAddress = Context.Reference<Option.Option<string>>("@colloquy/node/NodeWebhook/RemoteAddress", {
  defaultValue: Option.none
})

const withRemoteAddress = <A, E, R>(
  app: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R | HttpServerRequest.HttpServerRequest> =>
  Effect.flatMap(RemoteAddress, (remoteAddress) =>
    Effect.updateService(app, HttpServerRequest.HttpServerRequest, (request) => request.modify({ remoteAddress }))
  )

/** Returns the request for a router. Throws if the request has no valid URL or a method that `fetch` does not know. */
const toWebRequest = (request: IncomingMessage, signal: AbortSignal): Request => {
  const { headers, method = "GET", socket, url = "/" } = request
  const scheme = "encrypted" in socket ? "https" : "http"
  const body = method === "GET" || method === "HEAD" ? null : (Readable.toWeb(request) as ReadableStream)
  return new Request(new URL(url, `${scheme}://${headers.host ?? "localhost"}`), {
    method,
    headers: webHeadersOf(headers),
    body,
    signal,
    ...(body !== null && { duplex: "half" as const })
  })
}

const write = async (answer: Response, response: ServerResponse): Promise<void> => {
  response.statusCode = answer.status
  response.setHeaders(answer.headers)
  if (answer.body === null) response.end()
  else await pipeline(Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]), response)
}

/** Returns a request handler that passes all other requests than webhook requests to routes. */
export const withRoutes = Effect.fnUntraced(function* (
  webhook: Webhook["Service"],
  handle: RequestListener,
  routes: Layer.Layer<never, never, HttpRouter.HttpRouter>
) {
  const app = withRemoteAddress(yield* HttpRouter.toHttpEffect(routes))
  type Requirements = HttpServerRequest.HttpServerRequest | Scope.Scope
  const handleRoute = HttpEffect.toWebHandlerWith<never, Requirements>(yield* Effect.context<never>())(app)

  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const disconnected = new AbortController()
    response.once("close", () => disconnected.abort())
    const web = Result.try(() => toWebRequest(request, disconnected.signal))
    if (Result.isFailure(web)) return void response.writeHead(400).end()
    const context = Context.make(RemoteAddress, Option.fromUndefinedOr(request.socket.remoteAddress))
    // A pipe that breaks has closed the connection.
    handleRoute(web.success, context)
      .then((answer) => write(answer, response))
      .catch(() => response.destroy())
  }

  const listener: RequestListener = (request, response) => {
    if (webhook.serves(headOf(request))) handle(request, response)
    else answer(request, response)
  }
  return listener
})
