/**
 * The webhook on Node: a server of its own, or a handler for the server that is there.
 *
 * | setting | what | default |
 * |---|---|---|
 * | `BOT_WEBHOOK_PORT` | the port to listen on | `8080` |
 * | `BOT_WEBHOOK_HOST` | the address to listen on | all of the machine |
 *
 * API: Events, Webhook delivery rules.
 *
 * @since 0.1.0
 */
import type { BotApi } from "@colloquy/core/BotApi"
import type { Inbox } from "@colloquy/core/Inbox"
import * as Settings from "@colloquy/core/Settings"
import type { Updates } from "@colloquy/core/Updates"
import * as Webhook from "@colloquy/core/Webhook"
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { type Handler, makeHandler } from "./internal/webhook/handler.ts"
import * as server from "./internal/webhook/server.ts"

/**
 * The server of the webhook does not come up: the port is taken, the host is unknown, or the key does not belong to the
 * certificate. `code` is what the system said.
 *
 * @category errors
 * @since 0.1.0
 */
export const WebhookServerError = server.WebhookServerError

/**
 * @category errors
 * @since 0.1.0
 */
export type WebhookServerError = server.WebhookServerError

/**
 * A handler of requests as `node:http` has them.
 *
 * @category models
 * @since 0.1.0
 */
export type { Handler } from "./internal/webhook/handler.ts"

/**
 * Where to listen: `port` (0 takes a free one), and `host`, all addresses of the machine unless told. `tls` is a key and a
 * certificate in PEM, with the whole chain behind it; without, a proxy in front has to speak TLS. `stopTimeout`: how long
 * answers under way may take when the program stops, 5 seconds unless told.
 *
 * @category models
 * @since 0.1.0
 */
export interface ServerOptions {
  readonly port: number
  readonly host?: string | undefined
  readonly tls?: { readonly key: string; readonly cert: string } | undefined
  readonly stopTimeout?: Duration.Input | undefined
}

/**
 * Where the server of the webhook listens.
 *
 * @category services
 * @since 0.1.0
 */
export class NodeWebhook extends Context.Service<NodeWebhook, { readonly host: string; readonly port: number }>()(
  "@colloquy/node/NodeWebhook"
) {}

/**
 * The webhook as Node's `(request, response)`, for Express, Fastify and whatever runs on `node:http`. It answers the path
 * of the webhook and the health paths, and 404 to everything else.
 *
 * It needs the body as it came. A body that was parsed before is refused with 500, and a log tells the way out; one that
 * stands on the request as bytes or text (`express.raw()`, `rawBody`) is taken from there.
 *
 * **Example**
 *
 * ```ts
 * import { NodeWebhook } from "@colloquy/node"
 * import { Effect } from "effect"
 * import express from "express"
 *
 * const app = Effect.gen(function* () {
 *   const handle = yield* NodeWebhook.toNodeHandler
 *   return express().post("/updates", handle).use(express.json())
 * })
 * ```
 *
 * @category servers
 * @since 0.1.0
 */
export const toNodeHandler: Effect.Effect<Handler, never, Webhook.Webhook> = Effect.gen(function* () {
  return makeHandler(yield* Webhook.Webhook, yield* Effect.context<never>())
})

/**
 * A server for the webhook of the program, with its health paths. When the program stops, it lets answers under way come
 * to their end.
 *
 * Errors: `WebhookServerError` when it does not come up.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerServer = (options: ServerOptions): Layer.Layer<NodeWebhook, WebhookServerError, Webhook.Webhook> =>
  Layer.effect(
    NodeWebhook,
    Effect.gen(function* () {
      const { bodyTimeout } = yield* Webhook.Webhook
      const listening = {
        host: options.host,
        port: options.port,
        tls: options.tls,
        bodyTimeout,
        stopTimeout: Duration.fromInputUnsafe(options.stopTimeout ?? "5 seconds")
      }
      const { address: host, port } = yield* server.listen(listening, yield* toNodeHandler)
      yield* Effect.logInfo(`The webhook listens on ${host}:${port}.`)
      return NodeWebhook.of({ host, port })
    })
  )

/**
 * @category models
 * @since 0.1.0
 */
export interface Options extends Webhook.Options, ServerOptions {}

/**
 * Updates by webhook with a server of its own: it listens, then it subscribes. See `Webhook.layer` for what follows.
 *
 * **Example**
 *
 * ```ts
 * import { Updates } from "@colloquy/core"
 * import { NodeBot, NodeWebhook } from "@colloquy/node"
 * import { Effect, Layer } from "effect"
 *
 * const webhook = NodeWebhook.layer({ url: "https://bot.example/updates", port: 8080 }).pipe(
 *   Layer.provideMerge(NodeBot.layerConfig())
 * )
 *
 * const bot = Updates.run((update) => Effect.log(update.update_type)).pipe(Effect.provide(webhook))
 * ```
 *
 * API: Events, Webhook delivery rules; POST /subscriptions.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options: Options
): Layer.Layer<
  Updates | Webhook.Webhook | NodeWebhook,
  Webhook.InvalidWebhook | Webhook.SubscriptionError | WebhookServerError,
  BotApi | Inbox
> =>
  Webhook.layerSubscription(options).pipe(
    Layer.provideMerge(layerServer(options)),
    Layer.provideMerge(Webhook.layerReceiver(options))
  )

const isPort = Schema.makeFilter(
  (text: string) => (/^\d{1,5}$/.test(text) && Number(text) <= 65535) || "must be a port, 0 to 65535"
)

/**
 * The settings of {@link layerConfig}: those of `Webhook.layerConfig`, `BOT_WEBHOOK_PORT` and `BOT_WEBHOOK_HOST`.
 *
 * @category settings
 * @since 0.1.0
 */
export const settings = {
  ...Webhook.settings,
  port: Config.schema(Schema.String.check(isPort), "BOT_WEBHOOK_PORT").pipe(
    Config.map(Number),
    Config.withDefault(8080)
  ),
  host: Config.map(Config.option(Config.NonEmptyString("BOT_WEBHOOK_HOST")), Option.getOrUndefined)
}

/**
 * {@link layer} with what {@link settings} say. What is missing or malformed is reported by name, all at once.
 *
 * **Example**
 *
 * ```ts
 * import { NodeWebhook } from "@colloquy/node"
 *
 * // BOT_WEBHOOK_URL=https://bot.example/updates BOT_WEBHOOK_SECRET=… node bot.js
 * const webhook = NodeWebhook.layerConfig({ updateTypes: ["message_created", "bot_started"] })
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  options: Omit<Options, keyof typeof settings> = {}
): Layer.Layer<
  Updates | Webhook.Webhook | NodeWebhook,
  Webhook.InvalidWebhook | Webhook.SubscriptionError | WebhookServerError | Settings.InvalidSettings,
  BotApi | Inbox
> => Layer.unwrap(Effect.map(Settings.all(settings), (settings) => layer({ ...options, ...settings })))
