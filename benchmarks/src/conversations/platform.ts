import { BotApi, RateLimiter } from "@colloquy/core"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { sent } from "../sample.ts"

/** A client whose platform answers in the same process, so that sockets cost nothing. `count` is called for each request. */
export const layer = (count: () => void = () => undefined): Layer.Layer<BotApi.BotApi, unknown> =>
  BotApi.layer({ token: Redacted.make("token"), baseUrl: "http://127.0.0.1:1" }).pipe(
    Layer.provide(
      Layer.succeed(
        HttpClient.HttpClient,
        HttpClient.make((request) =>
          Effect.sync(() => {
            count()
            return HttpClientResponse.fromWeb(
              request,
              new Response(sent, { headers: { "content-type": "application/json" } })
            )
          })
        )
      )
    ),
    Layer.provide(RateLimiter.layerMemory(RateLimiter.unlimited))
  )
