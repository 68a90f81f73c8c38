/**
 * The client: the one interpreter of endpoints against the platform.
 *
 * The order is fixed: validate and encode, then retry( rate limit, span, send, classify ), then decode. Every retry
 * takes its own place in the rate limiter.
 *
 * API: General conventions; Authentication.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type * as ApiError from "./ApiError.ts"
import type * as Endpoint from "./Endpoint.ts"
import { interpret } from "./internal/client/interpreter.ts"
import { RateLimiter } from "./RateLimiter.ts"
import * as Settings from "./Settings.ts"

/**
 * Carries out endpoints. `layer` does it against the platform, `TestBotApi` with functions given by a test.
 *
 * @category services
 * @since 0.1.0
 */
export class BotApi extends Context.Service<
  BotApi,
  {
    readonly execute: <Request, Success, E extends ApiError.Declared>(
      endpoint: Endpoint.Endpoint<Request, Success, E>,
      request: Request
    ) => Effect.Effect<Success, E | ApiError.Common>
  }
>()("@colloquy/core/BotApi") {}

/**
 * How the platform is reached. `timeout` is for one attempt, from sending to the end of the answer; calls in which the
 * platform waits on purpose get that time on top. Default: 1 minute. `"Infinity"` leaves it to the time-outs of the HTTP
 * client, where it has some.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly token: Redacted.Redacted
  readonly baseUrl: string
  readonly timeout?: Duration.Input | undefined
}

/**
 * The client for one bot.
 *
 * **Example**
 *
 * ```ts
 * import { BotApi, RateLimiter } from "@colloquy/core"
 * import { Layer, Redacted } from "effect"
 *
 * const bot = BotApi.layer({ token: Redacted.make("token"), baseUrl: "https://api.example" }).pipe(
 *   Layer.provide(RateLimiter.layerMemory())
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<BotApi, never, HttpClient.HttpClient | RateLimiter> =>
  Layer.effect(
    BotApi,
    Effect.flatMap(HttpClient.HttpClient, (client) =>
      Effect.map(RateLimiter, (limiter) =>
        BotApi.of(interpret({ ...options, client, limiter, timeout: Duration.toMillis(options.timeout ?? "1 minute") }))
      )
    )
  )

/**
 * The client for the bot of the settings `BOT_TOKEN` and `BOT_BASE_URL`. What is missing or malformed is reported by
 * name, all at once.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig: Layer.Layer<BotApi, Settings.InvalidSettings, HttpClient.HttpClient | RateLimiter> =
  Layer.unwrap(Effect.map(Settings.bot, layer))
