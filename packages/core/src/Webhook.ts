/**
 * Updates by webhook: the way for production.
 *
 * `layer` subscribes and provides the source of updates for `Updates.run`; how requests reach it is said by `route`,
 * `toWebHandler`, or `NodeWebhook` of `@colloquy/node`. 200 says that the update stands in the inbox.
 *
 * API: Events, Webhook delivery rules; POST /subscriptions.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { BotApi } from "./BotApi.ts"
import type * as Endpoint from "./Endpoint.ts"
import { Inbox } from "./Inbox.ts"
import * as body from "./internal/webhook/body.ts"
import { attend } from "./internal/webhook/subscription.ts"
import { makeDesk } from "./internal/webhook/receiver.ts"
import { makeGate } from "./internal/webhook/authorization.ts"
import { type Health, makeHealth, makeHealthDesk, type Subscribed } from "./internal/webhook/health.ts"
import * as http from "./internal/webhook/http.ts"
import { generate, label } from "./internal/webhook/secret.ts"
import { loopbackUrl, problemOfUrl } from "./internal/webhook/url.ts"
import * as Platform from "./Platform.ts"
import * as Settings from "./Settings.ts"
import * as Subscriptions from "./Subscriptions.ts"
import * as Updates from "./Updates.ts"

/**
 * An option of the webhook that cannot be right. The secret itself is never told.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidWebhook extends Data.TaggedError("InvalidWebhook")<{
  readonly option: string
  readonly problem: string
}> {
  override get message() {
    return `The webhook cannot be set up: \`${this.option}\` ${this.problem}.`
  }
}

/**
 * Why the body of a delivery was not read: it is beyond 1 MiB, it came too slowly, the connection broke off, or something
 * else had read it before.
 *
 * @category errors
 * @since 0.1.0
 */
export const BodyRefused = body.BodyRefused

/**
 * @category errors
 * @since 0.1.0
 */
export type BodyRefused = body.BodyRefused

/**
 * A request up to its body, what is answered, and what the checks of health found.
 *
 * @category models
 * @since 0.1.0
 */
export type { Answer, Head } from "./internal/webhook/http.ts"

/**
 * @category models
 * @since 0.1.0
 */
export type { Health, Subscribed } from "./internal/webhook/health.ts"

/**
 * The greatest body that is read, in bytes: 1 MiB.
 *
 * @category settings
 * @since 0.1.0
 */
export const bodyLimit: number = http.bodyLimit

/**
 * How deliveries are received.
 *
 * - `url`: the address that the platform delivers to, `https://…` without a port;
 * - `path`: where requests arrive here, the path of `url` unless told. A proxy may change it;
 * - `secret`: 5 to 256 of A-Z, a-z, 0-9 and hyphen. Unless told, a new one is made at each start, which only fits a bot
 *   of one process. Deliveries that still carry the one before are refused, and come again with the new one;
 * - `secretHeader`: the header that carries it, `X-Svc-Bot-Api-Secret` unless told;
 * - `bodyTimeout`: how long a body may take to come, 10 seconds unless told;
 * - `storeTimeout`: how long the inbox may take, 15 seconds unless told. The platform waits for 30 in all;
 * - `healthPath`: below it stand `live` and `ready`, `/health` unless told;
 * - `maxAge`: the bot is not ready while an update waits for longer, 5 minutes unless told;
 * - `insecure`: takes a `url` with `http://127.0.0.1` or `http://localhost`, any port. For development against the
 *   emulator: the platform refuses it.
 *
 * API: POST /subscriptions; Events, Webhook delivery rules.
 *
 * @assumption webhookSecretOfRetries
 * @category models
 * @since 0.1.0
 */
export interface ReceiverOptions {
  readonly url: string
  readonly path?: string | undefined
  readonly secret?: string | Redacted.Redacted | undefined
  readonly secretHeader?: string | undefined
  readonly bodyTimeout?: Duration.Input | undefined
  readonly storeTimeout?: Duration.Input | undefined
  readonly healthPath?: string | undefined
  readonly maxAge?: Duration.Input | undefined
  readonly insecure?: boolean | undefined
}

/**
 * How the subscription is looked after.
 *
 * - `updateTypes`: the types wanted, all unless told;
 * - `checkEvery`: how often the bot looks whether the platform still holds the subscription, 5 minutes unless told;
 * - `unsubscribeAtStop`: ends the subscription when the program stops. Unless told it stays, and what happens meanwhile
 *   is delivered after the start.
 *
 * @category models
 * @since 0.1.0
 */
export interface SubscriptionOptions {
  readonly updateTypes?: ReadonlyArray<string> | undefined
  readonly checkEvery?: Duration.Input | undefined
  readonly unsubscribeAtStop?: boolean | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Options extends ReceiverOptions, SubscriptionOptions {}

/**
 * Receives deliveries, whatever the server. `admit` answers what need not be read, and gives `undefined` for a delivery
 * that may come in; `accept` begins to store its body when it is called; `refuse` answers where the body could not be
 * had; `receive` is all three. Storing goes on when the one who waits for the answer is interrupted.
 *
 * Metrics: `colloquy_webhook_refused` by status, `colloquy_webhook_subscribed`, `colloquy_webhook_resubscribed`, and
 * those of the inbox.
 *
 * @assumption webhookContentType
 * @category services
 * @since 0.1.0
 */
export class Webhook extends Context.Service<
  Webhook,
  {
    readonly url: string
    readonly path: string
    readonly secret: Redacted.Redacted
    readonly bodyTimeout: Duration.Duration
    readonly healthPath: string
    readonly admit: (head: http.Head) => Effect.Effect<http.Answer> | undefined
    readonly accept: (head: http.Head, body: Uint8Array) => Effect.Effect<http.Answer>
    readonly refuse: (reason: BodyRefused) => Effect.Effect<http.Answer>
    readonly receive: (
      request: http.Head & { readonly body: Effect.Effect<Uint8Array, BodyRefused> }
    ) => Effect.Effect<http.Answer>
    /** Whether updates can be taken: what `ready` answers. */
    readonly health: Effect.Effect<Health>
    /** Tells `health` how the subscription stands. */
    readonly setSubscribed: (subscribed: Subscribed) => void
  }
>()("@colloquy/core/Webhook") {}

const defaults = {
  secretHeader: Platform.secretHeader,
  bodyTimeout: "10 seconds",
  storeTimeout: "15 seconds",
  healthPath: "/health",
  maxAge: "5 minutes",
  checkEvery: "5 minutes"
} as const

const isUrl = Schema.is(Subscriptions.WebhookUrl)

const isAllowedSecret = Schema.is(Subscriptions.Secret)

const checkOptions = Effect.fnUntraced(function* (options: ReceiverOptions) {
  const { insecure = false, secret, secretHeader = defaults.secretHeader, url } = options
  const wrong = (option: string, problem: string) => new InvalidWebhook({ option, problem })
  if (!isUrl(url) && !(insecure && loopbackUrl.test(url))) {
    return yield* wrong(
      "url",
      insecure
        ? "must start with https:// and name no port, or start with http://127.0.0.1 or http://localhost"
        : "must start with https:// and name no port: the platform delivers to 443. With the emulator, set `insecure`"
    )
  }
  const path = options.path ?? http.pathOf(url)
  const healthPath = options.healthPath ?? defaults.healthPath
  for (const [option, value] of Object.entries({ path, healthPath })) {
    if (!/^\/[^\s?#]*$/.test(value)) return yield* wrong(option, "must start with / and hold no blank, ? or #")
  }
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(secretHeader)) {
    return yield* wrong("secretHeader", "must be the name of an HTTP header")
  }
  const kept = secret === undefined ? yield* generate : secret
  const redacted = Redacted.isRedacted(kept) ? kept : Redacted.make(kept, { label })
  if (!isAllowedSecret(Redacted.value(redacted))) {
    return yield* wrong("secret", "must be 5 to 256 characters of A-Z, a-z, 0-9 and hyphen")
  }
  return { url, path, healthPath, secretHeader, secret: redacted }
})

const make = Effect.fnUntraced(function* (options: ReceiverOptions) {
  const checked = yield* checkOptions(options)
  const { healthPath, path, secret, secretHeader, url } = checked
  const inbox = yield* Inbox
  const bodyTimeout = Duration.fromInputUnsafe(options.bodyTimeout ?? defaults.bodyTimeout)
  const storeTimeout = Duration.fromInputUnsafe(options.storeTimeout ?? defaults.storeTimeout)
  const maxAge = Duration.fromInputUnsafe(options.maxAge ?? defaults.maxAge)
  let subscribed: Subscribed = "unattended"
  const health = makeHealth({ inbox, maxAge, subscribed: () => subscribed })
  const admit = makeGate({ url, path, secret, secretHeader, beside: makeHealthDesk(health, healthPath) })
  const { accept, refuse } = yield* makeDesk({ url, inbox, storeTimeout })

  const bodyIn = (body: Effect.Effect<Uint8Array, BodyRefused>) =>
    Effect.timeoutOrElse(body, {
      duration: bodyTimeout,
      orElse: () => Effect.fail(new BodyRefused({ reason: "TooSlow" }))
    })

  const webhook = Webhook.of({
    url,
    path,
    secret,
    bodyTimeout,
    healthPath,
    admit,
    accept,
    refuse,
    receive: (request) =>
      Effect.suspend(
        () =>
          admit(request) ??
          Effect.matchEffect(bodyIn(request.body), {
            onFailure: refuse,
            onSuccess: (bytes) => accept(request, bytes)
          })
      ),
    health,
    setSubscribed: (state) => {
      subscribed = state
    }
  })
  const redacted = yield* Headers.CurrentRedactedNames
  return Context.make(Webhook, webhook).pipe(
    // Servers above this layer tell headers in their spans and logs.
    Context.add(Headers.CurrentRedactedNames, [...redacted, secretHeader.toLowerCase()])
  )
})

/**
 * Receives deliveries and subscribes nothing: for further processes of one bot, where another one has the
 * {@link layerSubscription}. They share the inbox, and the secret has to be given.
 *
 * Errors: `InvalidWebhook` for an option that cannot be right.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerReceiver = (options: ReceiverOptions): Layer.Layer<Webhook, InvalidWebhook, Inbox> =>
  Layer.effectContext(make(options))

/**
 * Why a webhook was not subscribed.
 *
 * @category errors
 * @since 0.1.0
 */
export type SubscriptionError = Endpoint.Errors<typeof Subscriptions.subscribe>

/**
 * Subscribes the webhook of the program, looks after the subscription, and provides the source for `Updates.run`. See
 * {@link layer}.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerSubscription = (
  options: SubscriptionOptions = {}
): Layer.Layer<Updates.Updates, SubscriptionError, Webhook | BotApi | Inbox> =>
  Layer.effect(
    Updates.Updates,
    Effect.gen(function* () {
      const { secret, setSubscribed, url } = yield* Webhook
      const inbox = yield* Inbox
      setSubscribed("pending")
      const { untilRevoked } = yield* Effect.annotateLogs(
        attend(yield* BotApi, {
          url,
          secret,
          updateTypes: options.updateTypes,
          checkEvery: options.checkEvery ?? defaults.checkEvery,
          unsubscribeAtStop: options.unsubscribeAtStop ?? false,
          tell: setSubscribed
        }),
        { url }
      )
      return Updates.Updates.of({ inbox, source: untilRevoked })
    })
  )

/**
 * Updates by webhook, into the inbox of the program. It subscribes `url`, and leaves the subscriptions of others alone.
 * Every few minutes it looks whether the platform still holds the subscription with the same update types; one that was
 * dropped is made again, and a log and a metric say so. The subscription stays when the program stops.
 *
 * At the start, failures of the network and of the server are waited out with growing pauses.
 *
 * Errors: `InvalidWebhook` for an option that cannot be right; `Unauthorized` for a wrong token; `OperationRejected` when
 * the platform refuses the address; `RequestFailed` for what does not pass by itself. `Updates.run` fails with
 * `Unauthorized` when the token is revoked later.
 *
 * **Example**
 *
 * ```ts
 * import { Inbox, Updates, Webhook } from "@colloquy/core"
 * import { Effect, Layer } from "effect"
 * import { HttpRouter } from "effect/http"
 *
 * const webhook = Webhook.layer({
 *   url: "https://bot.example/updates",
 *   updateTypes: ["message_created", "bot_started"]
 * }).pipe(Layer.provideMerge(Inbox.layerMemory()))
 *
 * // on any server of effect/http
 * const server = HttpRouter.serve(Webhook.route)
 *
 * const bot = Updates.run((update) => Effect.log(update.update_type))
 *
 * const program = Effect.provide(bot, Layer.provideMerge(server, webhook))
 * ```
 *
 * API: Events, Webhook delivery rules; POST /subscriptions.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options: Options
): Layer.Layer<Updates.Updates | Webhook, InvalidWebhook | SubscriptionError, BotApi | Inbox> =>
  Layer.provideMerge(layerSubscription(options), layerReceiver(options))

// Whether a loopback address may stand there, `insecure` tells.
const isAddress = Schema.makeFilter((url: string) => loopbackUrl.test(url) || problemOfUrl(url))

/**
 * The settings of {@link layerConfig}: `BOT_WEBHOOK_URL`, `BOT_WEBHOOK_SECRET` (not required), `BOT_SECRET_HEADER`, and
 * `BOT_WEBHOOK_INSECURE=true` for development against the emulator.
 *
 * @category settings
 * @since 0.1.0
 */
export const settings = {
  url: Config.schema(Schema.String.check(isAddress), "BOT_WEBHOOK_URL"),
  secret: Config.option(Config.schema(Subscriptions.Secret, "BOT_WEBHOOK_SECRET")).pipe(
    Config.map(Option.map((secret) => Redacted.make(secret, { label: "BOT_WEBHOOK_SECRET" }))),
    Config.map(Option.getOrUndefined)
  ),
  secretHeader: Settings.secretHeader,
  insecure: Config.Boolean("BOT_WEBHOOK_INSECURE").pipe(Config.withDefault(false))
}

/**
 * {@link layer} with its address and secret from {@link settings}. What is missing or malformed is reported by name, all
 * at once.
 *
 * **Example**
 *
 * ```ts
 * import { Webhook } from "@colloquy/core"
 *
 * // BOT_WEBHOOK_URL=https://bot.example/updates node bot.js
 * const webhook = Webhook.layerConfig({ updateTypes: ["message_created"] })
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  options: Omit<Options, keyof typeof settings> = {}
): Layer.Layer<
  Updates.Updates | Webhook,
  InvalidWebhook | SubscriptionError | Settings.InvalidSettings,
  BotApi | Inbox
> => Layer.unwrap(Effect.map(Settings.all(settings), (settings) => layer({ ...options, ...settings })))

const toResponse = ({ body, headers, status }: http.Answer): HttpServerResponse.HttpServerResponse =>
  body === ""
    ? HttpServerResponse.empty({ status, headers })
    : HttpServerResponse.text(body, { status, headers, contentType: headers["content-type"] ?? "text/plain" })

const bodyOf = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<Uint8Array, BodyRefused> => {
  const { source } = request
  if ("bodyUsed" in source && source.bodyUsed === true) return new BodyRefused({ reason: "AlreadyRead" })
  return Effect.catchTag(body.collect(request.stream), "HttpServerError", () =>
    Effect.fail(new BodyRefused({ reason: "BrokenOff" }))
  )
}

const serve = (webhook: Webhook["Service"], request: HttpServerRequest.HttpServerRequest, url: string) => {
  const { headers, method } = request
  const header = (name: string) => headers[name]
  return Effect.map(webhook.receive({ method, url, header, body: bodyOf(request) }), toResponse)
}

/**
 * The routes of the webhook for a router of `effect/http`: its path, and `live` and `ready` below its health path. With
 * a prefix of the router, give the `path` without it.
 *
 * **Example**
 *
 * ```ts
 * import { Webhook } from "@colloquy/core"
 * import { HttpRouter } from "effect/http"
 *
 * const server = HttpRouter.serve(Webhook.route, { disableLogger: true })
 * ```
 *
 * @category servers
 * @since 0.1.0
 */
export const route: Layer.Layer<never, never, HttpRouter.HttpRouter | Webhook> = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const webhook = yield* Webhook
    const { healthPath, path } = webhook
    for (const at of [path, `${healthPath}/live`, `${healthPath}/ready`]) {
      // A colon would name a parameter.
      yield* router.add("*", at.replaceAll(":", "::") as "/", (request) => serve(webhook, request, at))
    }
  })
)

/**
 * A request and a response of the web, as the platform of the program has them.
 *
 * @category models
 * @since 0.1.0
 */
export type WebHandler = (
  request: Parameters<typeof HttpServerRequest.fromWeb>[0]
) => Promise<ReturnType<typeof HttpServerResponse.toWeb>>

/**
 * The webhook as a function from a web-standard `Request` to a `Response`, for Hono, Bun, Deno and whatever takes one. It
 * answers the path of the webhook and the health paths, and 404 to everything else. It never rejects.
 *
 * **Example**
 *
 * ```ts
 * import { Webhook } from "@colloquy/core"
 * import { Effect } from "effect"
 * import { Hono } from "hono"
 *
 * const app = Effect.gen(function* () {
 *   const handle = yield* Webhook.toWebHandler
 *   return new Hono().post("/updates", (context) => handle(context.req.raw))
 * })
 * ```
 *
 * @category servers
 * @since 0.1.0
 */
export const toWebHandler: Effect.Effect<WebHandler, never, Webhook> = Effect.gen(function* () {
  const webhook = yield* Webhook
  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  return (source) => {
    const request = HttpServerRequest.fromWeb(source)
    return run(Effect.map(serve(webhook, request, request.url), (response) => HttpServerResponse.toWeb(response)))
  }
})
