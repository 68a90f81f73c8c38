import type { Webhook } from "@colloquy/core/Webhook"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as Layer from "effect/Layer"
import type { RequestListener } from "node:http"
import { headOf } from "./handler.ts"

/** Returns a request handler that passes the requests that are not for the webhook to routes. */
export const withRoutes = Effect.fnUntraced(function* (
  webhook: Webhook["Service"],
  handle: RequestListener,
  routes: Layer.Layer<never, never, HttpRouter.HttpRouter>
) {
  const scope = yield* Effect.scope
  // Only a program with routes loads the adapter.
  const { makeHandler } = yield* Effect.promise(() => import("@effect/platform-node/NodeHttpServer"))
  const handleRoute = yield* makeHandler(yield* HttpRouter.toHttpEffect(routes), { scope })
  const listener: RequestListener = (request, response) => {
    if (webhook.serves(headOf(request))) handle(request, response)
    else handleRoute(request, response)
  }
  return listener
})
