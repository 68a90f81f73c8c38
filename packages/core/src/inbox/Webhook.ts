/**
 * Receives updates by webhook, the transport for production.
 *
 * `layer` subscribes the webhook and provides the source of updates for `Bot.run`. An adapter connects the webhook
 * to an HTTP server: `route` for `effect/http`, `toWebHandler` for web-standard requests, `NodeWebhook` of
 * `@colloquy/node` for Node. A delivery is answered with 200 after its update is stored in the inbox.
 *
 * API: Events, Webhook delivery rules; POST /subscriptions.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as EffectScope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as ApiError from "../client/ApiError.ts"
import { BotApi } from "../client/BotApi.ts"
import type * as Endpoint from "../client/Endpoint.ts"
import { Inbox } from "./Inbox.ts"
import { secretForm, webhookUrlProblem } from "../base/internal/rules.ts"
import { generateSecret, makeAuthorize, pathOf, secretLabel } from "./internal/sources/authorization.ts"
import { makeHealth, makeHealthRoutes } from "./internal/sources/health.ts"
import { collectBody, makeReceive, maxBodySize as maxSize } from "./internal/sources/receiver.ts"
import { keepSubscribed } from "./internal/sources/subscription.ts"
import * as Platform from "../base/Platform.ts"
import * as Settings from "../client/Settings.ts"
import type { GaveUp } from "../client/Outage.ts"
// Bundlers keep a constant that reads a member of a namespace, and the modules that the namespace uses.
import { secretCharacters as charactersSetting, secretHeader as headerSetting } from "../client/Settings.ts"
import { SecretCharacters, SecretHeader } from "../model/Subscription.ts"
import * as Subscriptions from "../endpoints/Subscriptions.ts"
import * as Updates from "./Updates.ts"
import { TaggedError } from "../base/TaggedError.ts"

/**
 * A request without its body.
 *
 * @category models
 * @since 0.1.0
 */
export interface WebhookRequest {
  /** The method, in upper case. */
  readonly method: string
  /** The URL, or only its path and query. */
  readonly url: string
  /** Returns the value of a header. The name is in lower case. */
  readonly header: (name: string) => string | undefined
}

/**
 * A response. An empty `body` is sent without a content type.
 *
 * @category models
 * @since 0.1.0
 */
export interface WebhookResponse {
  /** The HTTP status. */
  readonly status: number
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The body, or an empty string. */
  readonly body: string
}

/**
 * The body of a request could not be read. The webhook answers such a request with the status of the reason:
 *
 * - `TooLarge` (413): the body has more than {@link maxBodySize} bytes.
 * - `Timeout` (408): the body did not arrive within `bodyTimeout`.
 * - `Aborted` (400): the connection was closed before the end of the body.
 * - `AlreadyRead` (500): other code, such as a body parser, has read the body before the webhook.
 *
 * @category errors
 * @since 0.1.0
 */
export class BodyError extends TaggedError("BodyError", () => ({
  /** Why the body could not be read. */
  reason: Schema.Literals(["TooLarge", "Timeout", "Aborted", "AlreadyRead"])
})) {
  override get message() {
    return `The body of the webhook request could not be read (${this.reason}).`
  }
}

/**
 * Maximum size of a body, in bytes: 1 MiB. An update has a few kilobytes.
 *
 * @category models
 * @since 0.1.0
 */
export const maxBodySize: number = maxSize

/**
 * The state of the subscription: `unmanaged` if this process does not manage the subscription (`Webhook.layerReceiver`
 * alone), `pending` before the subscription is created, `active` while the platform has the subscription, and `missing`
 * if the platform has lost it.
 *
 * @category models
 * @since 0.1.0
 */
export type SubscriptionState = "unmanaged" | "pending" | "active" | "missing"

/**
 * The result of one check.
 *
 * @category models
 * @since 0.1.0
 */
export interface Check {
  /** Whether the check succeeded. */
  readonly ok: boolean
  /**
   * The reason, if the check failed. The text contains no message of the store, which may contain addresses or names.
   */
  readonly problem?: string
}

/**
 * The health of a webhook, as returned by its `ready` endpoint.
 *
 * @category models
 * @since 0.1.0
 */
export interface Health {
  /** Whether all checks succeeded. */
  readonly ok: boolean
  /** The result of each check. */
  readonly checks: {
    /** Whether the inbox can be reached and accepts updates. */
    readonly inbox: Check
    /**
     * Whether the oldest waiting update is younger than `maxAge`, with the number of waiting updates and the age of the
     * oldest one in milliseconds.
     */
    readonly queue: Check & { readonly waiting?: number; readonly ageMs?: number }
    /** Whether the platform has the subscription. Not present if this process does not manage the subscription. */
    readonly subscription?: Check
  }
}

/**
 * An option of the webhook is invalid. The message does not contain the secret.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidWebhook extends TaggedError("InvalidWebhook", () => ({
  /** The name of the option. */
  option: Schema.String,
  /** The problem of the option. */
  problem: Schema.String
})) {
  override get message() {
    return `The webhook option \`${this.option}\` is invalid: it ${this.problem}.`
  }
}

/**
 * The options of the receiver of deliveries.
 *
 * API: POST /subscriptions; Events, Webhook delivery rules.
 *
 * @assumption webhookSecretOfRetries
 * @category models
 * @since 0.1.0
 */
export interface ReceiverOptions {
  /** The URL that the platform delivers to: `https://`, without a port. */
  readonly url: string
  /** The path at which deliveries arrive, if a proxy changes the path. Default: the path of `url`. */
  readonly path?: string | undefined
  /**
   * The secret that the platform sends with each delivery: 5 to 256 characters of A-Z, a-z, 0-9 and hyphen. Set the
   * secret if several processes receive deliveries. Default: a new one at each start. Deliveries with the previous
   * secret are then rejected, and the platform sends them again with the new one.
   */
  readonly secret?: string | Redacted.Redacted | undefined
  /**
   * Further secrets with which deliveries are accepted. Use this option to change the secret without delays: the
   * deliveries that are on their way, and the processes that were started before, have the other secret. Default: none.
   */
  readonly acceptedSecrets?: ReadonlyArray<string | Redacted.Redacted> | undefined
  /** Characters that the secrets may contain besides letters and digits. Default: `-`. */
  readonly secretCharacters?: string | undefined
  /** The header that contains the secret. Default: `X-Svc-Bot-Api-Secret`. */
  readonly secretHeader?: string | undefined
  /**
   * Maximum time in which the body of a delivery has to arrive. The server of `NodeWebhook` also closes connections whose
   * headers, or whose TLS handshake, take longer. Default: 10 seconds.
   */
  readonly bodyTimeout?: Duration.Input | undefined
  /**
   * Maximum time in which the inbox has to store an update. The platform waits 30 seconds for a response. Default: 15
   * seconds.
   */
  readonly storeTimeout?: Duration.Input | undefined
  /** The path below which the health endpoints `live` and `ready` are served. Default: `/health`. */
  readonly healthPath?: string | undefined
  /** The bot is not ready while an update has been waiting for longer. Default: 5 minutes. */
  readonly maxAge?: Duration.Input | undefined
  /**
   * Whether `url` may be an `http://` URL of this machine, such as `http://127.0.0.1:8080/updates`. For development with the
   * emulator; the platform rejects such a URL. Default: `false`.
   */
  readonly insecure?: boolean | undefined
}

/**
 * The options of the subscription.
 *
 * @category models
 * @since 0.1.0
 */
export interface SubscriptionOptions {
  /** The types of updates that the platform delivers. Default: all types. */
  readonly updateTypes?: ReadonlyArray<string> | undefined
  /** How often the webhook checks whether the platform still has the subscription. Default: 5 minutes. */
  readonly checkEvery?: Duration.Input | undefined
  /**
   * Whether the webhook unsubscribes when the program stops. If the subscription stays, the platform delivers the
   * updates of the downtime after the next start. Default: `false`.
   */
  readonly unsubscribeAtStop?: boolean | undefined
}

/**
 * The options of a webhook.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends ReceiverOptions, SubscriptionOptions {}

/**
 * Receives deliveries, independent of the HTTP server.
 *
 * Metrics: `colloquy_webhook_rejected_total` by the attribute `status`, `colloquy_webhook_subscribed`,
 * `colloquy_webhook_resubscribed_total`, and the metrics of the inbox.
 *
 * @assumption webhookContentType
 * @category services
 * @since 0.1.0
 */
export class Webhook extends Context.Service<
  Webhook,
  {
    /** The URL that the platform delivers to. */
    readonly url: string
    /** The path at which deliveries arrive. */
    readonly path: string
    /** The secret that the platform sends with each delivery. */
    readonly secret: Redacted.Redacted
    /** Characters that the secret may contain besides letters and digits. */
    readonly secretCharacters: string
    /** Maximum time in which the body of a delivery has to arrive. */
    readonly bodyTimeout: Duration.Duration
    /** The path below which the health endpoints are served. */
    readonly healthPath: string
    /**
     * Whether a request is for the webhook: its path is the path of deliveries or of a health endpoint, or the request
     * carries the secret. A server may use other requests for its own routes.
     */
    readonly serves: (request: WebhookRequest) => boolean
    /**
     * Returns the response to a request that is no authorized delivery, including requests to the health endpoints. Returns
     * `undefined` for a delivery: read its body and call `receive`, or `rejectBody` if that fails.
     */
    readonly authorize: (request: WebhookRequest) => Effect.Effect<WebhookResponse> | undefined
    /**
     * Stores the update in the body of an authorized delivery, and returns the response. Storing begins with the call
     * of the function, and continues if the effect is interrupted.
     */
    readonly receive: (request: WebhookRequest, body: Uint8Array) => Effect.Effect<WebhookResponse>
    /** Returns the response to a delivery whose body could not be read. */
    readonly rejectBody: (error: BodyError) => Effect.Effect<WebhookResponse>
    /** Handles a request completely: `authorize`, then read the body within `bodyTimeout`, then `receive`. */
    readonly handle: (
      request: WebhookRequest & { readonly body: Effect.Effect<Uint8Array, BodyError> }
    ) => Effect.Effect<WebhookResponse>
    /** Returns whether the bot can receive updates now, as the health endpoint `ready` does. */
    readonly health: Effect.Effect<Health>
    /** Sets the state of the subscription for `health`. */
    readonly setSubscriptionState: (state: SubscriptionState) => void
  }
>()("@colloquy/core/Webhook") {}

const defaults = {
  secretHeader: Platform.secretHeader,
  secretCharacters: Platform.secretCharacters,
  bodyTimeout: "10 seconds",
  storeTimeout: "15 seconds",
  healthPath: "/health",
  maxAge: "5 minutes"
} as const

const isWebhookUrl = Schema.is(Subscriptions.WebhookUrl)

const isLoopbackUrl = Schema.is(Subscriptions.LoopbackUrl)

const isSecretHeader = Schema.is(SecretHeader)

const isSecretCharacters = Schema.is(SecretCharacters)

const redactSecret = (secret: string | Redacted.Redacted): Redacted.Redacted =>
  Redacted.isRedacted(secret) ? secret : Redacted.make(secret, { label: secretLabel })

const validate = Effect.fnUntraced(function* (options: ReceiverOptions) {
  const { acceptedSecrets = [], insecure = false, secretHeader = defaults.secretHeader, url } = options
  const invalid = (option: string, problem: string) => new InvalidWebhook({ option, problem })
  if (!isWebhookUrl(url) && !(insecure && isLoopbackUrl(url))) {
    return yield* invalid(
      "url",
      insecure
        ? "must start with https:// and contain no port, or be an http:// URL of this machine"
        : "must start with https:// and contain no port, because the platform delivers to port 443 (set `insecure` for " +
            "the emulator)"
    )
  }
  const path = options.path ?? pathOf(url)
  const healthPath = options.healthPath ?? defaults.healthPath
  for (const [option, value] of Object.entries({ path, healthPath })) {
    if (!/^\/[^\s?#]*$/.test(value)) return yield* invalid(option, "must start with / and contain no blank, ? or #")
  }
  if (!isSecretHeader(secretHeader)) {
    return yield* invalid("secretHeader", "must be the name of an HTTP header")
  }
  const secretCharacters = options.secretCharacters ?? defaults.secretCharacters
  if (!isSecretCharacters(secretCharacters)) {
    return yield* invalid("secretCharacters", "must be visible ASCII characters other than the comma")
  }
  const { description, pattern } = secretForm(secretCharacters)
  const checkSecret = (option: string, secret: string | Redacted.Redacted) => {
    const redacted = redactSecret(secret)
    return pattern.test(Redacted.value(redacted)) ? Effect.succeed(redacted) : invalid(option, description)
  }
  const secret = yield* checkSecret("secret", options.secret ?? (yield* generateSecret))
  const accepted = yield* Effect.forEach(acceptedSecrets, (secret) => checkSecret("acceptedSecrets", secret))
  return { url, path, healthPath, secretHeader, secretCharacters, secret, secrets: [secret, ...accepted] }
})

/**
 * Creates a webhook that receives deliveries and does not manage the subscription. See {@link layerReceiver}.
 *
 * Fails with `InvalidWebhook` if an option is invalid.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeReceiver = Effect.fnUntraced(function* (
  options: ReceiverOptions
): Effect.fn.Return<Webhook["Service"], InvalidWebhook, Inbox | EffectScope.Scope> {
  const { healthPath, path, secret, secretCharacters, secretHeader, secrets, url } = yield* validate(options)
  const inbox = yield* Inbox
  const bodyTimeout = Duration.fromInputUnsafe(options.bodyTimeout ?? defaults.bodyTimeout)
  const storeTimeout = Duration.fromInputUnsafe(options.storeTimeout ?? defaults.storeTimeout)
  const maxAge = Duration.fromInputUnsafe(options.maxAge ?? defaults.maxAge)
  let subscriptionState: SubscriptionState = "unmanaged"
  const health = makeHealth({ inbox, maxAge, subscriptionState: () => subscriptionState })
  const otherRoutes = makeHealthRoutes(health, healthPath)
  const { authorize, serves } = makeAuthorize({ url, path, secrets, secretHeader, otherRoutes })
  const { receive, rejectBody } = yield* makeReceive({ url, inbox, storeTimeout, tooLarge })

  const readBody = (body: Effect.Effect<Uint8Array, BodyError>) =>
    Effect.timeoutOrElse(body, {
      duration: bodyTimeout,
      orElse: () => Effect.fail(new BodyError({ reason: "Timeout" }))
    })

  return Webhook.of({
    url,
    path,
    secret,
    secretCharacters,
    bodyTimeout,
    healthPath,
    serves,
    authorize,
    receive,
    rejectBody,
    handle: (request) =>
      Effect.suspend(
        () =>
          authorize(request) ??
          Effect.matchEffect(readBody(request.body), {
            onFailure: rejectBody,
            onSuccess: (bytes) => receive(request, bytes)
          })
      ),
    health,
    setSubscriptionState: (state) => {
      subscriptionState = state
    }
  })
})

/**
 * Receives deliveries and does not manage the subscription. Use this layer in the additional processes of a bot. One
 * process of the bot uses {@link layerSubscription}. The processes share the inbox and the secret.
 *
 * The layer adds the header of the secret to the headers that `effect/http` redacts in spans and logs.
 *
 * Fails with `InvalidWebhook` if an option is invalid.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerReceiver = (options: ReceiverOptions): Layer.Layer<Webhook, InvalidWebhook, Inbox> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const webhook = yield* makeReceiver(options)
      const redacted = yield* Headers.CurrentRedactedNames
      const secretHeader = options.secretHeader ?? defaults.secretHeader
      return Context.make(Webhook, webhook).pipe(
        Context.add(Headers.CurrentRedactedNames, [...redacted, secretHeader.toLowerCase()])
      )
    })
  )

/**
 * Why the webhook could not be subscribed.
 *
 * @category errors
 * @since 0.1.0
 */
export type SubscriptionError = Endpoint.Errors<typeof Subscriptions.subscribe> | GaveUp

/**
 * Subscribes the webhook of the context, keeps the subscription, and returns the source of its updates as a value, with
 * its bot and the webhook. See {@link layer}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeSubscription = Effect.fnUntraced(function* (
  options: SubscriptionOptions = {}
): Effect.fn.Return<
  Updates.Source<ApiError.Unauthorized, BotApi | Webhook>,
  SubscriptionError,
  Webhook | BotApi | Inbox | EffectScope.Scope
> {
  const webhook = yield* Webhook
  const api = yield* BotApi
  const inbox = yield* Inbox
  const { setSubscriptionState, url } = webhook
  setSubscriptionState("pending")
  const { untilRevoked } = yield* Effect.annotateLogs(keepSubscribed(api, webhook, options), { url })
  const services = Context.add(Context.make(BotApi, api), Webhook, webhook)
  return { inbox, source: untilRevoked, drain: Effect.void, services }
})

/**
 * Subscribes the webhook of the context, keeps the subscription, and provides the source of updates for `Bot.run`.
 * See {@link layer}.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerSubscription = (
  options?: SubscriptionOptions
): Layer.Layer<Updates.Updates, SubscriptionError, Webhook | BotApi | Inbox> =>
  Layer.effect(Updates.Updates, makeSubscription(options))

/**
 * Creates the webhook of {@link layer} as a value: the source of its updates, with its bot and the service {@link Webhook}.
 * The handlers of its updates make their calls as this bot.
 *
 * Fails as {@link layer} does.
 *
 * **Example** (Serve the webhook of the bot of the context)
 *
 * ```ts
 * import { Bot, Handler, Messages, Webhook } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const bot = Effect.gen(function* () {
 *   const source = yield* Webhook.make({ url: "https://bot.example/updates" })
 *   const handle = yield* Effect.provideContext(Webhook.toWebHandler, source.services)
 *   const greet = Handler.on("bot_started", (update) => Messages.reply(update, "Hello"))
 *   yield* Effect.forkScoped(Bot.run(greet, { source }))
 *   return handle
 * })
 * ```
 *
 * API: Events, Webhook delivery rules; POST /subscriptions.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  options: Options
): Effect.Effect<
  Updates.Source<ApiError.Unauthorized, BotApi | Webhook>,
  InvalidWebhook | SubscriptionError,
  BotApi | Inbox | EffectScope.Scope
> =>
  Effect.flatMap(makeReceiver(options), (webhook) => Effect.provideService(makeSubscription(options), Webhook, webhook))

/**
 * A webhook that stores updates in the inbox of the context and provides the source of updates for `Bot.run`.
 *
 * The layer subscribes `url` at the start, and retries while the platform is unavailable. Subscriptions of other URLs
 * stay as they are. Every `checkEvery`, the layer checks whether the platform still has the subscription with the same
 * update types, and otherwise subscribes again. The subscription stays when the program stops, unless
 * `unsubscribeAtStop` is set.
 *
 * Fails with `InvalidWebhook` if an option is invalid, with `Unauthorized` if the token is wrong, with `OperationRejected` if
 * the platform rejects the URL, and with `RequestFailed` if the request fails permanently. `Bot.run` fails with
 * `Unauthorized` if the token is revoked later.
 *
 * **Example** (Serve a webhook with effect/http)
 *
 * ```ts
 * import { Bot, Inbox, Webhook } from "@colloquy/core"
 * import { Effect, Layer } from "effect"
 * import { HttpRouter } from "effect/http"
 *
 * const webhook = Webhook.layer({
 *   url: "https://bot.example/updates",
 *   updateTypes: ["message_created", "bot_started"]
 * }).pipe(Layer.provideMerge(Inbox.layerMemory()))
 *
 * const server = HttpRouter.serve(Webhook.route)
 *
 * const bot = Bot.run((update) => Effect.log(update.update_type))
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

// A loopback URL is valid only with `insecure`, which `layer` checks.
const UrlSetting = Schema.String.check(Schema.makeFilter((url: string) => isLoopbackUrl(url) || webhookUrlProblem(url)))

const listOf = (text: string): ReadonlyArray<string> => text.split(",").map((item) => item.trim())

const acceptedSecretsOf = (characters: string) => {
  const { description, pattern } = secretForm(characters)
  return Schema.String.check(
    Schema.makeFilter(
      (text: string) => listOf(text).every((secret) => pattern.test(secret)) || `${description}, separated by commas`
    )
  )
}

/**
 * The settings that {@link layerConfig} reads by default:
 *
 * - `url`: `BOT_WEBHOOK_URL`. Required.
 * - `secret`: `BOT_WEBHOOK_SECRET`. Default: a new one at each start.
 * - `acceptedSecrets`: `BOT_WEBHOOK_ACCEPTED_SECRETS`, separated by commas. Default: none.
 * - `secretHeader`: `BOT_SECRET_HEADER`. Default: `X-Svc-Bot-Api-Secret`.
 * - `secretCharacters`: `BOT_SECRET_CHARACTERS`. Default: `-`.
 * - `insecure`: `BOT_WEBHOOK_INSECURE`. Default: `false`.
 *
 * @category settings
 * @since 0.1.0
 */
export const settings = {
  url: Config.schema(UrlSetting, "BOT_WEBHOOK_URL"),
  secret: Config.flatMap(charactersSetting, (characters) =>
    Config.option(Config.schema(Subscriptions.makeSecret(characters), "BOT_WEBHOOK_SECRET")).pipe(
      Config.map(Option.map((secret) => Redacted.make(secret, { label: "BOT_WEBHOOK_SECRET" }))),
      Config.map(Option.getOrUndefined)
    )
  ),
  acceptedSecrets: Config.flatMap(charactersSetting, (characters) =>
    Config.option(Config.schema(acceptedSecretsOf(characters), "BOT_WEBHOOK_ACCEPTED_SECRETS")).pipe(
      Config.map(Option.match({ onNone: () => [], onSome: listOf })),
      Config.map((secrets) => secrets.map((secret) => Redacted.make(secret, { label: "BOT_WEBHOOK_ACCEPTED_SECRETS" })))
    )
  ),
  secretHeader: headerSetting,
  secretCharacters: charactersSetting,
  insecure: Config.Boolean("BOT_WEBHOOK_INSECURE").pipe(Config.withDefault(false))
}

/**
 * {@link layer} with options from `Config`. Default: {@link settings}.
 *
 * Also fails with `InvalidSettings`, which lists all missing and malformed settings.
 *
 * **Example** (Read the settings, and select the update types)
 *
 * ```ts
 * import { Webhook } from "@colloquy/core"
 * import { Config } from "effect"
 *
 * // BOT_WEBHOOK_URL=https://bot.example/updates node bot.js
 * const webhook = Webhook.layerConfig({
 *   ...Webhook.settings,
 *   updateTypes: Config.succeed(["message_created"])
 * })
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  options: Config.Wrap<Options> = settings
): Layer.Layer<
  Updates.Updates | Webhook,
  InvalidWebhook | SubscriptionError | Settings.InvalidSettings,
  BotApi | Inbox
> => Layer.unwrap(Effect.map(Settings.unwrap<Options>(options), layer))

type WebRequest = Parameters<WebHandler>[0]

type WebResponse = Awaited<ReturnType<WebHandler>>

// Every runtime has this class, but the library is compiled without the types of any runtime.
declare const Response: new (
  body: string | null,
  init: { readonly status: number; readonly headers: WebhookResponse["headers"] }
) => WebResponse

const toResponse = ({ body, headers, status }: WebhookResponse): HttpServerResponse.HttpServerResponse =>
  body === ""
    ? HttpServerResponse.empty({ status, headers })
    : HttpServerResponse.text(body, { status, headers, contentType: headers["content-type"] ?? "text/plain" })

// `HttpServerResponse.toWeb` would add streams of bodies and cookies to the bundle of a worker.
const toWebResponse = ({ body, headers, status }: WebhookResponse): WebResponse =>
  body === ""
    ? new Response(null, { status, headers })
    : new Response(body, { status, headers: { "content-type": "text/plain", ...headers } })

const tooLarge = Effect.suspend(() => Effect.fail(new BodyError({ reason: "TooLarge" })))

const bodyOf = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<Uint8Array, BodyError> => {
  const { source } = request
  if ("bodyUsed" in source && source.bodyUsed === true) return new BodyError({ reason: "AlreadyRead" })
  return Effect.catchTag(collectBody(request.stream, tooLarge), "HttpServerError", () =>
    Effect.fail(new BodyError({ reason: "Aborted" }))
  )
}

// `HttpServerRequest.fromWeb` would add the parser of multipart bodies to the bundle of a worker.
const webBodyOf = ({ body, bodyUsed }: WebRequest): Effect.Effect<Uint8Array, BodyError> => {
  if (bodyUsed) return new BodyError({ reason: "AlreadyRead" })
  if (body === null) return Effect.succeed(new Uint8Array())
  return collectBody(
    Stream.fromReadableStream({ evaluate: () => body, onError: () => new BodyError({ reason: "Aborted" }) }),
    tooLarge
  )
}

const serve = (webhook: Webhook["Service"], request: HttpServerRequest.HttpServerRequest, url: string) => {
  const { headers, method } = request
  const header = (name: string) => headers[name]
  return Effect.map(webhook.handle({ method, url, header, body: bodyOf(request) }), toResponse)
}

/**
 * The routes of the webhook for a router of `effect/http`: the path of the webhook and its health endpoints. If the router
 * has a prefix, set the option `path` without the prefix.
 *
 * **Example** (Serve the routes)
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
      // A single colon is the prefix of a parameter.
      yield* router.add("*", at.replaceAll(":", "::") as "/", (request) => serve(webhook, request, at))
    }
  })
)

/**
 * A function from a web-standard `Request` to a `Response`, with the types of the runtime.
 *
 * @category models
 * @since 0.1.0
 */
export type WebHandler = (
  request: Parameters<typeof HttpServerRequest.fromWeb>[0]
) => Promise<ReturnType<typeof HttpServerResponse.toWeb>>

/**
 * Returns the webhook as a function from a web-standard `Request` to a `Response`, for Hono, Bun, Deno and other
 * servers. The function serves the path of the webhook and the health endpoints, and answers other paths with 404. Its
 * promise never rejects.
 *
 * **Example** (Mount the webhook in Hono)
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
  return (request) => {
    const { method, url } = request
    const header = (name: string) => request.headers.get(name) ?? undefined
    return run(Effect.map(webhook.handle({ method, url, header, body: webBodyOf(request) }), toWebResponse))
  }
})
