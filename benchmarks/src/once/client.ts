import { BotApi, RateLimiter } from "@colloquy/core"
import { NodeBotHttpClient } from "@colloquy/node"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"

/** A client without limits, and an effect that runs before each of its requests. */
export const layer = (
  baseUrl: string,
  before: Effect.Effect<unknown> = Effect.void
): Layer.Layer<BotApi.BotApi, unknown> =>
  BotApi.layer({ token: Redacted.make("token"), baseUrl }).pipe(
    Layer.provide(
      Layer.effect(
        HttpClient.HttpClient,
        HttpClient.HttpClient.use((client) =>
          Effect.succeed(HttpClient.mapRequestEffect(client, (request) => Effect.as(before, request)))
        )
      ).pipe(Layer.provide(NodeBotHttpClient.layer()))
    ),
    Layer.provide(RateLimiter.layerMemory(RateLimiter.unlimited))
  )
