/**
 * A bot on Node in one layer: the client, its HTTP client, the rate limiter and the inbox.
 *
 * @since 0.1.0
 */
import * as BotApi from "@colloquy/core/client/BotApi"
import type * as Inbox from "@colloquy/core/inbox/Inbox"
import type { SqlTransactions } from "@colloquy/core/inbox/InboxStore"
import * as RateLimiter from "@colloquy/core/client/RateLimiter"
import * as Settings from "@colloquy/core/client/Settings"
import type { StoreError } from "@colloquy/core/base/StoreError"
import * as Outage from "@colloquy/core/client/Outage"
import * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as NodeBotHttpClient from "../client/NodeBotHttpClient.ts"
import * as inboxOwners from "../inbox/internal/inboxOwners.ts"
import * as NodeMetrics from "../base/NodeMetrics.ts"
import * as NodeInbox from "../inbox/NodeInbox.ts"
import * as connections from "../base/internal/stores/connections.ts"

/**
 * Options of the client of a bot: its token, the API host and the options of the HTTP client.
 *
 * @category models
 * @since 0.1.0
 */
export interface ClientOptions extends NodeBotHttpClient.Options {
  /** The token of the bot, without `Bearer`. */
  readonly token: string | Redacted.Redacted
  /** The address of the API host: an `https://` address, or `http://` on a loopback address. */
  readonly baseUrl: string
  /** Maximum size of a response of the API, in bytes. Default: 8 MiB. */
  readonly maxResponseSize?: number | undefined
  /**
   * How long the platform or a store may be away before the bot ends with `Outage.GaveUp`. Default: the setting
   * `BOT_GIVE_UP_AFTER`, or 10 minutes.
   */
  readonly giveUpAfter?: Duration.Input | undefined
}

/**
 * Options of a bot.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends ClientOptions {
  /**
   * Options of the rate limiter, for a platform whose limits differ from the documentation. Default:
   * `RateLimiter.defaults`.
   */
  readonly limits?: RateLimiter.Options | undefined
  /** Options of the inbox. Its file is created when the first update arrives. Default: the file `./colloquy.sqlite`. */
  readonly inbox?: NodeInbox.Options | undefined
}

/**
 * The services of a bot on Node.
 *
 * @category models
 * @since 0.1.0
 */
export type NodeBot = BotApi.BotApi | RateLimiter.RateLimiter | HttpClient.HttpClient | Inbox.Inbox | SqlTransactions

/**
 * Why a bot cannot start.
 *
 * @category errors
 * @since 0.1.0
 */
export type NodeBotError = NodeBotHttpClient.ExtraCaError | Settings.InvalidSettings | NodeMetrics.MetricsServerError

const tokenOf = ({ token }: ClientOptions): Redacted.Redacted =>
  Redacted.isRedacted(token) ? token : Redacted.make(token, { label: "token" })

/**
 * Provides only the client of a bot, for a bot with another rate limiter, such as a rate limiter that several processes
 * share. Fails as {@link layer} does.
 *
 * **Example** (A rate limiter in Redis)
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
 * const bot = NodeBot.layerClient({ token: "the-token", baseUrl: "https://api.example" }).pipe(
 *   Layer.provideMerge(limiter)
 * )
 * ```
 *
 * API: General conventions; Authentication.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerClient = (
  options: ClientOptions
): Layer.Layer<BotApi.BotApi | HttpClient.HttpClient, NodeBotError, RateLimiter.RateLimiter> => {
  const { baseUrl, giveUpAfter, maxResponseSize } = options
  const token = tokenOf(options)
  const limit =
    giveUpAfter === undefined ? Layer.empty : Layer.succeed(Outage.GiveUpAfter, Duration.fromInputUnsafe(giveUpAfter))
  return Layer.unwrap(
    Effect.as(
      Settings.check({ token, baseUrl }),
      // The HTTP client has its time-outs: to connect, until the response, without progress, and for the whole call.
      BotApi.layer({ token, baseUrl, maxResponseSize, timeout: "Infinity" }).pipe(
        Layer.provide(BotApi.layerMetrics),
        Layer.provideMerge(NodeBotHttpClient.layer(options)),
        Layer.merge(limit)
      )
    )
  )
}

/**
 * Provides a bot: its client, an HTTP client, a rate limiter in memory and an inbox in a SQLite file.
 *
 * Fails with `InvalidSettings` if the token, an address or a time-out is invalid, or if another bot of the process uses the
 * same inbox, with `ExtraCaError` if an extra root certificate cannot be used, and with `StoreError` if the file of the inbox is
 * corrupt, no database, or cannot be created.
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
export const layer = (options: Options): Layer.Layer<NodeBot, NodeBotError | StoreError> => {
  const { filename, prefix } = { ...options.inbox }
  return layerClient(options).pipe(
    Layer.provideMerge(Layer.provide(RateLimiter.layerMemory(options.limits), RateLimiter.layerMetrics)),
    Layer.merge(NodeInbox.layerLazy(options.inbox)),
    Layer.merge(NodeMetrics.layerProcess),
    Layer.merge(Layer.effectDiscard(inboxOwners.register({ token: tokenOf(options), filename, prefix })))
  )
}

/**
 * The settings of {@link layerClientConfig}: `BOT_TOKEN`, `BOT_BASE_URL`, `BOT_MAX_RESPONSE_SIZE`, `BOT_GIVE_UP_AFTER`
 * and the settings of `NodeBotHttpClient`.
 *
 * @category settings
 * @since 0.1.0
 */
export const clientSettings = { ...Settings.bot, giveUpAfter: Settings.giveUpAfter, ...NodeBotHttpClient.settings }

/**
 * Options of {@link layerConfig}, each as a `Config`. Default of each option: the `Config` in {@link clientSettings}, and
 * `NodeInbox.filename` for the `filename` of `inbox`. One `Config` of all options replaces the settings.
 *
 * @category models
 * @since 0.1.0
 */
export type ConfigOptions = { readonly [K in keyof Options]?: Config.Wrap<Options[K]> } | Config.Config<Options>

const settings = { ...clientSettings, inbox: { filename: NodeInbox.filename } }

const withSettings = (options: ConfigOptions): Config.Wrap<Options> => {
  if (Config.isConfig(options)) return options
  const { inbox } = options
  const all = { ...settings, ...options, inbox: Config.isConfig(inbox) ? inbox : { ...settings.inbox, ...inbox } }
  return all as Config.Wrap<Options>
}

/**
 * Provides a bot with options from `Config`. Missing options are read from the settings of {@link ConfigOptions}.
 * `InvalidSettings` reports all settings that are missing or malformed.
 *
 * **Example** (A bot that is configured by environment variables)
 *
 * ```ts
 * import { Me } from "@colloquy/core"
 * import { NodeBot } from "@colloquy/node"
 * import { Effect } from "effect"
 *
 *  // BOT_TOKEN=… BOT_BASE_URL=https://api.example node bot.js
 * const name = Me.get().pipe(
 *   Effect.map((me) => me.first_name),
 *   Effect.provide(NodeBot.layerConfig())
 * )
 * ```
 *
 * **Example** (Options of the inbox, beside the settings)
 *
 * ```ts
 * import { Update } from "@colloquy/core"
 * import { NodeBot } from "@colloquy/node"
 * import { Config } from "effect"
 *
 * const byUser = (update: Update.Update) => Update.userIdOf(update) ?? "nobody"
 *
 * const bot = NodeBot.layerConfig({
 *   inbox: { partitionKey: Config.succeed(byUser), capacity: Config.Int("BOT_INBOX_CAPACITY") }
 * })
 * ```
 *
 * **Example** (Another file for the inbox)
 *
 * ```ts
 * import { NodeBot } from "@colloquy/node"
 * import { Config } from "effect"
 *
 * const bot = NodeBot.layerConfig({ inbox: { filename: Config.succeed("data/inbox.sqlite") } })
 * ```
 *
 * API: General conventions; Authentication.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (options: ConfigOptions = {}): Layer.Layer<NodeBot, NodeBotError | StoreError> =>
  Layer.merge(Layer.unwrap(Effect.map(Settings.unwrap<Options>(withSettings(options)), layer)), NodeMetrics.layerConfig)

/**
 * Provides {@link layerClient} with options that are read from `Config`. Default: {@link clientSettings}.
 *
 * **Example** (A rate limiter in Redis)
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
 * const bot = NodeBot.layerClientConfig().pipe(Layer.provideMerge(limiter))
 * ```
 *
 * API: General conventions; Authentication.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerClientConfig = (
  options: Config.Wrap<ClientOptions> = clientSettings
): Layer.Layer<BotApi.BotApi | HttpClient.HttpClient, NodeBotError, RateLimiter.RateLimiter> =>
  Layer.unwrap(Effect.map(Settings.unwrap<ClientOptions>(options), layerClient))

/**
 * Builds a layer again, with growing pauses, while its server is away at the start. Fails with `Outage.GaveUp` after the time of
 * `Outage.GiveUpAfter`, and at once if another attempt would fail the same way, for example because the password is wrong. `what`
 * begins the lines of the log.
 *
 * **Example** (An inbox in PostgreSQL that waits for its database)
 *
 * ```ts
 * import { Inbox } from "@colloquy/core"
 * import { NodeBot, SqlInboxStore } from "@colloquy/node"
 * import { PgClient } from "@effect/sql-pg"
 * import { Config, Layer } from "effect"
 *
 * const database = PgClient.layerConfig({ url: Config.Redacted("DATABASE_URL") })
 *
 * const inbox = Inbox.layer().pipe(
 *   Layer.provide(SqlInboxStore.layer()),
 *   Layer.provide(database),
 *   NodeBot.untilAvailable("PostgreSQL")
 * )
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const untilAvailable: (
  what: string
) => <A, E, R>(layer: Layer.Layer<A, E, R>) => Layer.Layer<A, E | Outage.GaveUp, R> = connections.untilAvailable
