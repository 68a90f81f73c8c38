/**
 * A bot on Node in one layer: the client, the limits, an HTTP client with its trust, proxy and time-outs, and the inbox.
 *
 * @since 0.1.0
 */
import * as BotApi from "@colloquy/core/BotApi"
import type * as Inbox from "@colloquy/core/Inbox"
import * as RateLimiter from "@colloquy/core/RateLimiter"
import * as Settings from "@colloquy/core/Settings"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as NodeInbox from "./NodeInbox.ts"
import * as NodeBotHttpClient from "./NodeBotHttpClient.ts"

/**
 * The bot's token and the API host, with whatever `NodeBotHttpClient` accepts. `limits` are for a platform that allows another
 * rate than it documents; those left out keep their documented value. `inbox` is for another file than
 * `./colloquy.sqlite`, or another way to keep updates in it; the file is made when the first update arrives.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends NodeBotHttpClient.Options {
  readonly token: string | Redacted.Redacted
  readonly baseUrl: string
  readonly limits?: Partial<RateLimiter.Options> | undefined
  readonly inbox?: NodeInbox.Options | undefined
}

/**
 * What a bot on Node gets.
 *
 * @category models
 * @since 0.1.0
 */
export type NodeBot = BotApi.BotApi | RateLimiter.RateLimiter | HttpClient.HttpClient | Inbox.Inbox

const makeClient = <E>(
  { token, baseUrl }: BotApi.Options,
  http: Layer.Layer<HttpClient.HttpClient, E>
): Layer.Layer<BotApi.BotApi | HttpClient.HttpClient, E, RateLimiter.RateLimiter> =>
  // The HTTP client has time-outs of its own, for connecting, for the answer, its progress, and the whole call.
  BotApi.layer({ token, baseUrl, timeout: "Infinity" }).pipe(Layer.provideMerge(http))

const make = <E>(
  options: BotApi.Options & Pick<Options, "limits" | "inbox">,
  http: Layer.Layer<HttpClient.HttpClient, E>
): Layer.Layer<NodeBot, E> =>
  makeClient(options, http).pipe(
    Layer.provideMerge(RateLimiter.layerMemory(options.limits)),
    Layer.merge(NodeInbox.layerLazy(options.inbox))
  )

/**
 * A bot by its token and API host.
 *
 * Fails with `InvalidSettings` for a token or an address that cannot be right, and with `TrustError` when a root
 * certificate, the proxy or a time-out cannot be used.
 *
 * **Example**
 *
 * ```ts
 * import { Me } from "@colloquy/core"
 * import { NodeBot } from "@colloquy/node"
 * import { Effect } from "effect"
 *
 * const name = Me.get().pipe(
 *   Effect.map((me) => me.first_name),
 *   Effect.provide(NodeBot.layer({ token: "the-token", baseUrl: "https://api.example" }))
 * )
 * ```
 *
 * API: General conventions; Authentication.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options: Options
): Layer.Layer<NodeBot, NodeBotHttpClient.TrustError | Settings.InvalidSettings> => {
  const { baseUrl, limits, inbox } = options
  const token = Redacted.isRedacted(options.token) ? options.token : Redacted.make(options.token, { label: "token" })
  return Layer.unwrap(
    Effect.as(
      Settings.check({ token, baseUrl }),
      make({ token, baseUrl, limits, inbox }, NodeBotHttpClient.layer(options))
    )
  )
}

const clientSettings = {
  token: Settings.token,
  baseUrl: Settings.baseUrl,
  secretHeader: Settings.secretHeader,
  ...NodeBotHttpClient.settings
}

/**
 * The bot of the settings: `BOT_TOKEN`, `BOT_BASE_URL`, `BOT_INBOX`, and those of `NodeBotHttpClient`. What is missing or malformed is
 * reported by name, all at once.
 *
 * **Example**
 *
 * ```ts
 * import { Me } from "@colloquy/core"
 * import { NodeBot } from "@colloquy/node"
 * import { Effect } from "effect"
 *
 * // BOT_TOKEN=… BOT_BASE_URL=https://api.example node bot.js
 * const name = Me.get().pipe(
 *   Effect.map((me) => me.first_name),
 *   Effect.provide(NodeBot.layerConfig)
 * )
 * ```
 *
 * API: General conventions; Authentication.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig: Layer.Layer<NodeBot, NodeBotHttpClient.TrustError | Settings.InvalidSettings> = Layer.unwrap(
  Effect.map(
    Settings.all({ ...clientSettings, filename: NodeInbox.filename }),
    ({ token, baseUrl, secretHeader: _, filename, ...trust }) =>
      make({ token, baseUrl, inbox: { filename } }, NodeBotHttpClient.layerOfSettings(trust))
  )
)

/**
 * The client of {@link layerConfig} alone, for a bot with limits and an inbox of its own, such as those that several
 * processes share: it needs a `RateLimiter`. It reads the same settings but `BOT_INBOX`.
 *
 * **Example**
 *
 * ```ts
 * import { RateLimiter } from "@colloquy/core"
 * import { NodeBot, RedisRateLimiterStore } from "@colloquy/node"
 * import { NodeRedis } from "@effect/platform-node"
 * import { Layer } from "effect"
 *
 * const limiter = RateLimiter.layer().pipe(
 *   Layer.provide(RedisRateLimiterStore.layer({ prefix: "my-bot" })),
 *   Layer.provide(NodeRedis.layer({ url: "redis://127.0.0.1:6379" }))
 * )
 *
 * const bot = NodeBot.layerClientConfig.pipe(Layer.provideMerge(limiter))
 * ```
 *
 * API: General conventions; Authentication.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerClientConfig: Layer.Layer<
  BotApi.BotApi | HttpClient.HttpClient,
  NodeBotHttpClient.TrustError | Settings.InvalidSettings,
  RateLimiter.RateLimiter
> = Layer.unwrap(
  Effect.map(Settings.all(clientSettings), ({ token, baseUrl, secretHeader: _, ...trust }) =>
    makeClient({ token, baseUrl }, NodeBotHttpClient.layerOfSettings(trust))
  )
)
