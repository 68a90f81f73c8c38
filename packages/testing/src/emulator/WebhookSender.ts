/**
 * The webhook deliveries of the emulator, and the service that sends them over the network.
 *
 * The emulator sends every update to each subscription that accepts its type. The first attempts of the updates of one
 * subscription are made in order. A failed delivery is repeated after 60 s, 150 s, 375 s and so on, up to ten times, and
 * does not delay later updates. A subscription without a successful delivery for eight hours is removed.
 *
 * API: Events, Webhook delivery rules; POST /subscriptions.
 *
 * @since 0.1.0
 */
import type { Update } from "@colloquy/core/model/Update"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/**
 * A request to a webhook.
 *
 * @category models
 * @since 0.1.0
 */
export interface Request {
  /** The URL of the subscription. */
  readonly url: string
  /** The headers, by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** One update as JSON. */
  readonly body: string
  /** The parsed body. Integers beyond 2^53 are bigints. */
  readonly update: unknown
}

/**
 * The response of a webhook.
 *
 * @category models
 * @since 0.1.0
 */
export interface Response {
  /** The status code. Only 200 is a success. */
  readonly status: number
}

/**
 * Receives deliveries in process. A receiver has 30 seconds to answer, by the clock of the program.
 *
 * @category models
 * @since 0.1.0
 */
export type Receiver<E = never, R = never> = (request: Request) => Effect.Effect<Response, E, R>

/**
 * Why a delivery has no response:
 *
 * - `Unreachable`: nothing listens at the URL, or its host does not exist.
 * - `Untrusted`: the certificate is not issued by a trusted authority, is expired, or does not name the host.
 * - `ConnectionLost`: the connection was closed before the response, or the receiver in process failed.
 * - `TimedOut`: no response arrived within 30 seconds.
 *
 * @category models
 * @since 0.1.0
 */
export type FailureReason = "Unreachable" | "Untrusted" | "ConnectionLost" | "TimedOut"

/**
 * A delivery has no response.
 *
 * @category errors
 * @since 0.1.0
 */
export class DeliveryError extends Data.TaggedError("DeliveryError")<{
  /** Why there is no response. */
  readonly reason: FailureReason
  /** The error of the connection or of the receiver. */
  readonly cause?: unknown
}> {}

/**
 * One attempt to deliver an update.
 *
 * @category models
 * @since 0.1.0
 */
export interface Delivery {
  /** When the attempt started, in milliseconds. */
  readonly at: number
  /** The URL of the subscription. */
  readonly url: string
  /** The delivered update. */
  readonly update: Update
  /** The number of the attempt: 1 is the first attempt, 2 the first retry. */
  readonly attempt: number
  /** The status of the response, or `undefined` if there was none. */
  readonly status: number | undefined
  /** The reason of a missing response, or `undefined` if a response arrived. */
  readonly failure: FailureReason | undefined
  /** The duration of the attempt, in milliseconds. */
  readonly latency: number
}

/**
 * Sends deliveries to URLs that have no receiver in process. Default: every URL is unreachable.
 * `NodeWebhookSender.layer` sends over real connections.
 *
 * **Example** (Losing every connection)
 *
 * ```ts
 * import { Emulator, WebhookSender } from "@colloquy/testing"
 * import { Effect, Layer } from "effect"
 *
 * const broken = Emulator.layer().pipe(
 *   Layer.provide(
 *     Layer.succeed(WebhookSender.WebhookSender, {
 *       send: () => Effect.fail(new WebhookSender.DeliveryError({ reason: "ConnectionLost" }))
 *     })
 *   )
 * )
 * ```
 *
 * @category services
 * @since 0.1.0
 */
export const WebhookSender = Context.Reference<WebhookSender>("@colloquy/testing/WebhookSender", {
  defaultValue: () => ({ send: () => Effect.fail(new DeliveryError({ reason: "Unreachable" })) })
})

/**
 * The service that sends deliveries.
 *
 * @category services
 * @since 0.1.0
 */
export interface WebhookSender {
  /** Sends a request and returns the response of the webhook. */
  readonly send: (request: Request) => Effect.Effect<Response, DeliveryError>
}
