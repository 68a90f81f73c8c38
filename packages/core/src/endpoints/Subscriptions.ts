/**
 * Reads and changes the subscriptions of webhooks.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as ApiError from "../client/ApiError.ts"
import * as Endpoint from "../client/Endpoint.ts"
import * as rules from "../base/internal/rules.ts"
import { done, envelope } from "../base/internal/wire.ts"
import * as Platform from "../base/Platform.ts"
import { Subscription } from "../model/Subscription.ts"

/**
 * Returns the webhooks that are subscribed.
 *
 * **Example**
 *
 * ```ts
 * import { Subscriptions } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const urls = Subscriptions.list().pipe(Effect.map((subscriptions) => subscriptions.map(({ url }) => url)))
 * ```
 *
 * API: Endpoints, Other operations (GET /subscriptions).
 *
 * @category endpoints
 * @since 0.1.0
 */
export const list: Endpoint.Endpoint<void, ReadonlyArray<Subscription>> = Endpoint.make("Subscriptions.list", () => ({
  method: "GET",
  path: "/subscriptions",
  success: envelope("subscriptions", Schema.Array(Subscription)),
  errors: []
}))

/**
 * Creates the schema of secrets with another alphabet: 5 to 256 characters of A-Z, a-z, 0-9 and `characters`.
 *
 * **Example** (Secrets with hyphens and underscores)
 *
 * ```ts
 * import { Subscriptions } from "@colloquy/core"
 * import { Schema } from "effect"
 *
 * const isSecret = Schema.is(Subscriptions.makeSecret("-_"))
 *
 * isSecret("a_long_secret") // => true
 * ```
 *
 * API: POST /subscriptions.
 *
 * @category models
 * @since 0.1.0
 */
export const makeSecret = (characters: string): Schema.String => {
  const { description, length, pattern } = rules.secretForm(characters)
  return Schema.String.check(
    Schema.isPattern(pattern, {
      message: description,
      toJsonSchema: () => ({ ...length, pattern: pattern.source })
    })
  )
}

/**
 * The secret of a webhook: 5 to 256 characters of A-Z, a-z, 0-9 and hyphen.
 *
 * API: POST /subscriptions.
 *
 * @category models
 * @since 0.1.0
 */
export const Secret = makeSecret(Platform.secretCharacters)

/**
 * The URL of a webhook. The URL starts with `https://` and contains no port, because the platform delivers to port 443.
 *
 * @category models
 * @since 0.1.0
 */
export const WebhookUrl = Schema.String.check(
  Schema.makeFilter(rules.webhookUrlProblem, { toJsonSchema: () => ({ pattern: "^https://" }) })
)

/**
 * The URL of a webhook on this machine, such as `http://127.0.0.1:8080/updates`. The platform rejects such a URL; the
 * emulator accepts the URL with `insecureWebhooks`.
 *
 * @category models
 * @since 0.1.0
 */
export const LoopbackUrl = Schema.String.check(
  Schema.makeFilter((url) => rules.isLoopbackUrl(url) || "must be an http:// URL of this machine")
)

/**
 * The request of {@link subscribe}.
 *
 * @category models
 * @since 0.1.0
 */
export interface SubscribeRequest {
  /** The URL to deliver to: see {@link WebhookUrl}. */
  readonly url: string
  /** The types of updates to deliver. Default: all. */
  readonly update_types?: ReadonlyArray<string> | undefined
  /** The secret that each delivery carries: 5 to 256 characters of A-Z, a-z, 0-9 and hyphen. Default: none. */
  readonly secret?: string | undefined
}

const subscribeDeclaration = (url: Schema.String, secret: Schema.String) => ({
  method: "POST" as const,
  path: "/subscriptions" as const,
  body: { url, update_types: Schema.optional(rules.list(Schema.String, 0)), secret: Schema.optional(secret) },
  success: done,
  errors: [ApiError.OperationRejected],
  idempotent: true
})

/**
 * Subscribes a webhook, or changes its subscription. Each delivery carries the secret in the header
 * `X-Svc-Bot-Api-Secret`. While a webhook is subscribed, `Updates.list` fails with `MethodNotAllowed`.
 *
 * The certificate of the host must be issued by a trusted authority and match the host name, and the host must serve
 * the full chain. Self-signed certificates are not supported.
 *
 * Fails with `OperationRejected` if the platform rejects the subscription.
 *
 * **Example**
 *
 * ```ts
 * import { Subscriptions } from "@colloquy/core"
 *
 * const subscribed = Subscriptions.subscribe({
 *   url: "https://bot.example/updates",
 *   update_types: ["message_created", "bot_started"],
 *   secret: "a-long-secret"
 * })
 * ```
 *
 * API: POST /subscriptions.
 *
 * @category endpoints
 * @since 0.1.0
 */
export const subscribe: Endpoint.Endpoint<SubscribeRequest, void, ApiError.OperationRejected> = Endpoint.make(
  "Subscriptions.subscribe",
  () => subscribeDeclaration(WebhookUrl, Secret)
)

/**
 * Returns {@link subscribe} for a platform that accepts other URLs or secrets.
 *
 * **Example** (A secret with underscores)
 *
 * ```ts
 * import { Subscriptions } from "@colloquy/core"
 *
 * const subscribe = Subscriptions.subscribeWith({ secretCharacters: "-_" })
 *
 * const subscribed = subscribe({ url: "https://bot.example/updates", secret: "a_long_secret" })
 * ```
 *
 * API: POST /subscriptions.
 *
 * @category endpoints
 * @since 0.1.0
 */
export const subscribeWith = (options: {
  /** Characters that the secret may contain besides letters and digits. Default: `-`. */
  readonly secretCharacters?: string | undefined
  /** Whether the URL must be an address of this machine, which only the emulator accepts. Default: `false`. */
  readonly insecure?: boolean | undefined
}): typeof subscribe =>
  Endpoint.make("Subscriptions.subscribe", () =>
    subscribeDeclaration(
      options.insecure === true ? LoopbackUrl : WebhookUrl,
      makeSecret(options.secretCharacters ?? Platform.secretCharacters)
    )
  )

/**
 * Removes the subscription of a webhook.
 *
 * Fails with `OperationRejected` if the platform rejects the call.
 *
 * **Example**
 *
 * ```ts
 * import { Subscriptions } from "@colloquy/core"
 *
 * const unsubscribed = Subscriptions.unsubscribe({ url: "https://bot.example/updates" })
 * ```
 *
 * API: Endpoints, Other operations (DELETE /subscriptions).
 *
 * @assumption unsubscribe
 * @category endpoints
 * @since 0.1.0
 */
export const unsubscribe: Endpoint.Endpoint<{ readonly url: string }, void, ApiError.OperationRejected> = Endpoint.make(
  "Subscriptions.unsubscribe",
  () => ({
    method: "DELETE",
    path: "/subscriptions",
    query: { url: Schema.NonEmptyString },
    success: done,
    errors: [ApiError.OperationRejected]
  })
)
