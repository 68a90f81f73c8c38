/**
 * The client of the platform, which executes the calls of endpoints over HTTP.
 *
 * A call goes through these steps: validate and encode the request; then, for each attempt, wait for a permit of the
 * `RateLimiter`, open a span, send the request and classify the response; repeat the attempt by the `RetryPolicy`;
 * decode the response.
 *
 * {@link layerMetrics} counts and measures the requests.
 *
 * API: General conventions; Authentication.
 *
 * @since 0.1.0
 */
import type * as Config from "effect/Config"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type * as ApiError from "./ApiError.ts"
import type * as Endpoint from "./Endpoint.ts"
import type { Transport } from "./internal/exchange.ts"
import * as fetch from "./internal/fetch.ts"
import * as httpClient from "./internal/httpClient.ts"
import * as interpreter from "./internal/interpreter.ts"
import { CurrentObserver, makeObserver } from "./internal/metrics.ts"
import { metricContext } from "../base/internal/metricContext.ts"
import * as Platform from "../base/Platform.ts"
import { RateLimiter } from "./RateLimiter.ts"
import * as Settings from "./Settings.ts"

/**
 * Executes the calls of endpoints. {@link layer} sends them to the platform; `TestBotApi` of `@colloquy/testing` answers
 * them with functions.
 *
 * @category services
 * @since 0.1.0
 */
export class BotApi extends Context.Service<
  BotApi,
  {
    /** Executes one call. An endpoint is also a function that executes its call: `Messages.send(request)`. */
    readonly execute: <Request, Success, E extends ApiError.Declared>(
      endpoint: Endpoint.Named<Request, Success, E>,
      request: Request
    ) => Effect.Effect<Success, E | ApiError.Common>
  }
>()("@colloquy/core/BotApi") {}

/**
 * Options of a client.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The token of the bot, without `Bearer`. */
  readonly token: Redacted.Redacted
  /** The address of the API host. */
  readonly baseUrl: string
  /**
   * Maximum duration of one attempt, from sending the request to the end of the response. Long polling adds the time
   * that the platform waits. `"Infinity"` turns the timeout off. Default: 1 minute.
   */
  readonly timeout?: Duration.Input | undefined
  /**
   * Maximum size of a response, in bytes. The rest of a larger response is not read: a success fails with
   * `InvalidResponse`, and an error is recognized by its status. Default: 8 MiB (`Platform.maxResponseSize`).
   */
  readonly maxResponseSize?: number | undefined
}

/**
 * Creates a client for one bot.
 *
 * API: General conventions; Authentication.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Effect.Effect<BotApi["Service"], never, HttpClient.HttpClient | RateLimiter> =>
  Effect.flatMap(HttpClient.HttpClient, (client) => makeWith(httpClient.make(client), options))

const makeWith = (transport: Transport, options: Options): Effect.Effect<BotApi["Service"], never, RateLimiter> =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    return BotApi.of(
      interpreter.make({
        ...options,
        transport,
        limiter: yield* RateLimiter,
        now: () => clock.currentTimeMillisUnsafe(),
        monotonic: () => Number(clock.monotonicTimeNanosUnsafe()) / 1e6,
        onRequest: yield* CurrentObserver,
        timeout: Duration.toMillis(options.timeout ?? "1 minute"),
        maxResponseSize: options.maxResponseSize ?? Platform.maxResponseSize
      })
    )
  })

/**
 * Provides a client for one bot.
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
 * API: General conventions; Authentication.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<BotApi, never, HttpClient.HttpClient | RateLimiter> =>
  Layer.effect(BotApi, make(options))

/**
 * Provides a client for one bot that sends its requests by `fetch`, instead of an `HttpClient`. A bundle with this client is
 * 10 kB smaller (gzipped), which counts in a worker. The layer reads the function from the reference `FetchHttpClient.Fetch`
 * of `effect/http`. Default: the global `fetch`.
 *
 * **Example**
 *
 * ```ts
 * import { BotApi, RateLimiter } from "@colloquy/core"
 * import { Layer, Redacted } from "effect"
 *
 * const bot = BotApi.layerFetch({ token: Redacted.make("token"), baseUrl: "https://api.example" }).pipe(
 *   Layer.provide(RateLimiter.layerMemory())
 * )
 * ```
 *
 * API: General conventions; Authentication.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerFetch = (options: Options): Layer.Layer<BotApi, never, RateLimiter> =>
  Layer.effect(
    BotApi,
    // The type of `fetch` depends on the runtime.
    Effect.flatMap(FetchHttpClient.Fetch, (send: unknown) => makeWith(fetch.make(send as fetch.Fetch), options))
  )

/**
 * Provides a client whose options are read from `Config`. Default: `Settings.bot`, the settings `BOT_TOKEN`,
 * `BOT_BASE_URL` and `BOT_MAX_RESPONSE_SIZE`. Fails with `InvalidSettings`, which reports all settings that are missing or malformed.
 *
 * **Example**
 *
 * ```ts
 * import { BotApi, Settings } from "@colloquy/core"
 * import { Config } from "effect"
 *
 * const bot = BotApi.layerConfig()
 * const other = BotApi.layerConfig({ token: Config.Redacted("OTHER_TOKEN"), baseUrl: Settings.baseUrl })
 * ```
 *
 * API: General conventions; Authentication.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  options: Config.Wrap<Options> = Settings.bot
): Layer.Layer<BotApi, Settings.InvalidSettings, HttpClient.HttpClient | RateLimiter> =>
  Layer.unwrap(Effect.map(Settings.unwrap<Options>(options), layer))

/**
 * Keeps the metrics of the clients that are built with this layer: `colloquy_requests_total` by `endpoint` and `status`, and
 * `colloquy_request_duration_seconds` by `endpoint`. Without a response, `status` is the kind of the transport failure. The
 * duration of a long poll includes its wait. A request that was interrupted or not sent is not
 * counted. `NodeBot` uses this layer.
 *
 * **Example** (Keep the metrics of a client)
 *
 * ```ts
 * import { BotApi } from "@colloquy/core"
 * import { Layer } from "effect"
 *
 * const client = BotApi.layerConfig().pipe(Layer.provide(BotApi.layerMetrics))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMetrics: Layer.Layer<never> = Layer.effect(
  CurrentObserver,
  Effect.map(Effect.context<never>(), (services) => makeObserver(metricContext(services)))
)
