/**
 * The webhook on Node: with its own HTTP server, or as a handler for an existing server.
 *
 * API: Events, Webhook delivery rules.
 *
 * @since 0.1.0
 */
import type { BotApi } from "@colloquy/core/client/BotApi"
import type { Inbox } from "@colloquy/core/inbox/Inbox"
import * as Settings from "@colloquy/core/client/Settings"
import type { Updates } from "@colloquy/core/inbox/Updates"
import * as Webhook from "@colloquy/core/inbox/Webhook"
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { IncomingMessage, ServerResponse } from "node:http"
import { optional, port } from "../base/internal/settings.ts"
import { makeHandler } from "./internal/webhook/handler.ts"
import { withRoutes } from "./internal/webhook/routes.ts"
import * as server from "./internal/webhook/server.ts"

const advice: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program uses this port. Stop it, or choose another port",
  EACCES: "the process may not listen on this port. Choose a port above 1023, or grant the permission",
  EADDRNOTAVAIL: "this machine does not have the address. Choose another host",
  ENOTFOUND: "the host has no address. Choose another host"
}

/**
 * The server of the webhook could not start: the port is in use, the host is unknown, or the key does not belong to the
 * certificate.
 *
 * @category errors
 * @since 0.1.0
 */
export class WebhookServerError extends Data.TaggedError("WebhookServerError")<{
  /** The host of the options. */
  readonly host: string | undefined
  /** The port of the options. */
  readonly port: number
  /** The error code of the operating system, such as `EADDRINUSE`. */
  readonly code: string | undefined
  /** The error of Node. */
  readonly cause: unknown
}> {
  override get message() {
    const { cause, code, host = "*", port } = this
    const text = cause instanceof Error ? cause.message : String(cause)
    return `The webhook cannot listen on ${host}:${port}: ${advice[code ?? ""] ?? text}.`
  }
}

/**
 * A request handler of `node:http`.
 *
 * @category models
 * @since 0.1.0
 */
export type Handler = (request: IncomingMessage, response: ServerResponse) => void

/**
 * The options of the server.
 *
 * @category models
 * @since 0.1.0
 */
export interface ServerOptions {
  /** The port to listen on. 0 selects a free port. */
  readonly port: number
  /** The address to listen on. Default: all addresses of the machine. */
  readonly host?: string | undefined
  /**
   * The private key and the certificate for HTTPS, in PEM. The certificate contains its whole chain. Default: plain HTTP,
   * behind a proxy that terminates TLS.
   */
  readonly tls?: { readonly key: string; readonly cert: string } | undefined
  /**
   * The path at which the server answers `GET` with all metrics of the program, in the text format of Prometheus:
   * `/metrics`. Every client that can connect to the server can read the metrics. Default: none, so the metrics are not
   * served.
   */
  readonly metricsPath?: `/${string}` | undefined
  /**
   * Further routes of the server, for all paths except the paths of the webhook and the metrics. Default: none, so
   * other paths are answered with 404.
   */
  readonly routes?: Layer.Layer<never, never, HttpRouter.HttpRouter> | undefined
  /**
   * Maximum number of connections on which no request is in progress. A new idle connection above the maximum closes
   * the connection that has been idle for the longest time, so that silent clients cannot block deliveries.
   * Default: 512.
   */
  readonly maxIdleConnections?: number | undefined
  /** Maximum time for responses in progress when the program stops. Default: 5 seconds. */
  readonly stopTimeout?: Duration.Input | undefined
}

/**
 * The options of a webhook with its own server.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends Webhook.Options, ServerOptions {}

/**
 * The server of the webhook.
 *
 * @category services
 * @since 0.1.0
 */
export class NodeWebhook extends Context.Service<
  NodeWebhook,
  {
    /** The address that the server listens on. */
    readonly host: string
    /** The port that the server listens on. */
    readonly port: number
  }
>()("@colloquy/node/NodeWebhook") {}

/**
 * Returns the webhook as a request handler of `node:http`, for Express, Fastify and other servers. The handler serves
 * the path of the webhook and the health endpoints, and answers other paths with 404.
 *
 * The handler needs the original bytes of the body, from the request, or from its `rawBody` or `body` if these contain
 * bytes or text (`express.raw()`). If a body parser has read the body before, the delivery is answered with 500, and
 * the log says how to mount the handler.
 *
 * **Example** (Mount the webhook in Express)
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

const errorCode = (cause: unknown) =>
  typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : undefined

const routesOf = ({ metricsPath, routes }: ServerOptions): ServerOptions["routes"] => {
  if (metricsPath === undefined) return routes
  return Layer.merge(PrometheusMetrics.layerHttp({ path: metricsPath }), routes ?? Layer.empty)
}

/**
 * Starts a server for the webhook of the context. See {@link layerServer}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (
  options: ServerOptions
): Effect.fn.Return<NodeWebhook["Service"], WebhookServerError, Webhook.Webhook | Scope.Scope> {
  const { host, maxIdleConnections = 512, port, tls } = options
  const stopTimeout = Duration.fromInputUnsafe(options.stopTimeout ?? "5 seconds")
  const routes = routesOf(options)
  const webhook = yield* Webhook.Webhook
  const handleWebhook = yield* toNodeHandler
  const handle = routes === undefined ? handleWebhook : yield* withRoutes(webhook, handleWebhook, routes)
  const listening = { host, port, tls, bodyTimeout: webhook.bodyTimeout, maxIdleConnections, stopTimeout }
  const toError = (cause: unknown) => new WebhookServerError({ host, port, code: errorCode(cause), cause })
  const address = yield* server.listen(listening, handle, toError)
  yield* Effect.logInfo(`The webhook listens on ${address.address}:${address.port}.`)
  return NodeWebhook.of({ host: address.address, port: address.port })
})

/**
 * A server for the webhook of the context, its health endpoints and the given routes. When the program stops, the server accepts no new
 * connections and completes the responses in progress, for at most `stopTimeout`.
 *
 * Fails with `WebhookServerError` if the server cannot start.
 *
 * **Example** (Serve the metrics to Prometheus)
 *
 * ```ts
 * import { Bot, Inbox, Webhook } from "@colloquy/core"
 * import { NodeWebhook } from "@colloquy/node"
 * import { Layer } from "effect"
 *
 * const server = NodeWebhook.layerServer({ port: 8080, metricsPath: "/metrics" }).pipe(
 *   Layer.provide(Webhook.layerReceiver({ url: "https://bot.example/updates" })),
 *   Layer.provide(Inbox.layerMemory())
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerServer = (options: ServerOptions): Layer.Layer<NodeWebhook, WebhookServerError, Webhook.Webhook> =>
  Layer.effect(NodeWebhook, make(options))

/**
 * A webhook with its own server, which starts before the subscription. See `Webhook.layer` for the subscription.
 *
 * Fails with the errors of `Webhook.layer`, and with `WebhookServerError` if the server cannot start.
 *
 * **Example** (Run a bot with a webhook)
 *
 * ```ts
 * import { Bot } from "@colloquy/core"
 * import { NodeBot, NodeWebhook } from "@colloquy/node"
 * import { Effect, Layer } from "effect"
 *
 * const webhook = NodeWebhook.layer({ url: "https://bot.example/updates", port: 8080 }).pipe(
 *   Layer.provideMerge(NodeBot.layerConfig())
 * )
 *
 * const bot = Bot.run((update) => Effect.log(update.update_type)).pipe(Effect.provide(webhook))
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

const isPath = (text: string): text is `/${string}` => text.startsWith("/")

/**
 * The settings that {@link layerConfig} reads by default: `Webhook.settings`, and
 *
 * - `port`: `BOT_WEBHOOK_PORT`. Default: 8080.
 * - `host`: `BOT_WEBHOOK_HOST`. Default: all addresses of the machine.
 * - `metricsPath`: `BOT_WEBHOOK_METRICS_PATH`. Default: none, so the metrics are not served.
 *
 * @category settings
 * @since 0.1.0
 */
export const settings = {
  ...Webhook.settings,
  port: Config.withDefault(port("BOT_WEBHOOK_PORT"), 8080),
  host: optional(Config.NonEmptyString("BOT_WEBHOOK_HOST")),
  metricsPath: optional(
    Config.schema(
      Schema.String.pipe(Schema.refine(isPath, { message: "must be a path, such as /metrics" })),
      "BOT_WEBHOOK_METRICS_PATH"
    )
  )
}

/**
 * {@link layer} with options from `Config`. Default: {@link settings}.
 *
 * Also fails with `InvalidSettings`, which lists all missing and malformed settings.
 *
 * **Example** (Read the settings, and select the update types)
 *
 * ```ts
 * import { NodeWebhook } from "@colloquy/node"
 * import { Config } from "effect"
 *
 * // BOT_WEBHOOK_URL=https://bot.example/updates BOT_WEBHOOK_SECRET=… node bot.js
 * const webhook = NodeWebhook.layerConfig({
 *   ...NodeWebhook.settings,
 *   updateTypes: Config.succeed(["message_created", "bot_started"])
 * })
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  options: Config.Wrap<Options> = settings
): Layer.Layer<
  Updates | Webhook.Webhook | NodeWebhook,
  Webhook.InvalidWebhook | Webhook.SubscriptionError | WebhookServerError | Settings.InvalidSettings,
  BotApi | Inbox
> => Layer.unwrap(Effect.map(Settings.unwrap<Options>(options), layer))
