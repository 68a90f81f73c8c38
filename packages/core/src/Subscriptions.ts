/**
 * Where the platform delivers updates by webhook.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as ApiError from "./ApiError.ts"
import * as Endpoint from "./Endpoint.ts"
import { done, envelope } from "./internal/client/wire.ts"
import { isLoopbackUrl, webhookUrlProblem } from "./internal/client/url.ts"
import * as Platform from "./Platform.ts"
import { Subscription } from "./Subscription.ts"

/**
 * The webhooks that are subscribed.
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
 * The secret of a webhook: 5 to 256 of A-Z, a-z, 0-9 and hyphen.
 *
 * @category models
 * @since 0.1.0
 */
export const Secret = Schema.String.check(
  Schema.isPattern(Platform.webhookSecret, { message: "must be 5 to 256 characters of A-Z, a-z, 0-9 and hyphen" })
)

/**
 * The URL of a webhook. It starts with `https://` and contains no port, because the platform delivers to port 443.
 *
 * @category models
 * @since 0.1.0
 */
export const WebhookUrl = Schema.String.check(Schema.makeFilter(webhookUrlProblem))

/**
 * The URL of a webhook on this machine, such as `http://127.0.0.1:8080/updates`. The platform rejects it; the emulator
 * accepts it with `insecureWebhooks`.
 *
 * @category models
 * @since 0.1.0
 */
export const LoopbackUrl = Schema.String.check(
  Schema.makeFilter((url) => isLoopbackUrl(url) || "must be an http:// URL of this machine")
)

/**
 * What {@link subscribe} takes. Without `update_types` the platform delivers all.
 *
 * @category models
 * @since 0.1.0
 */
export interface SubscribeRequest {
  readonly url: string
  readonly update_types?: ReadonlyArray<string> | undefined
  readonly secret?: string | undefined
}

/**
 * Has updates delivered to `url`, or changes how. The address starts with `https://` and names no port (the platform
 * delivers to 443); its certificate is from a trusted authority with the whole chain. `secret` is 5 to 256 of A-Z, a-z,
 * 0-9 and hyphen, and comes back in the header `X-Svc-Bot-Api-Secret`. While subscribed, long polling does not work.
 *
 * Errors: `OperationRejected` with the platform's text.
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
  () => ({
    method: "POST",
    path: "/subscriptions",
    body: {
      url: WebhookUrl,
      update_types: Schema.optional(Schema.Array(Schema.String)),
      secret: Schema.optional(Secret)
    },
    success: done,
    errors: [ApiError.OperationRejected],
    idempotent: true
  })
)

/**
 * Stops the delivery to `url`.
 *
 * Errors: `OperationRejected` with the platform's text.
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
