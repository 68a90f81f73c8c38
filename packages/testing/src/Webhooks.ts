/**
 * The platform's side of webhooks: what a delivery is, and the way out for those that no receiver in process takes.
 *
 * Every update is posted to every subscription that wants it. The first attempts of a subscription's updates follow each
 * other in order. One that fails is tried again after 60 s, 150 s, 375 s and so on, up to ten times, and does not hold up
 * the ones behind it; eight hours without a success end the subscription.
 *
 * API: Events, Webhook delivery rules; POST /subscriptions.
 *
 * @since 0.1.0
 */
import type { Update } from "@colloquy/core/Update"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/**
 * What is posted: `body` is one update as JSON, and `update` is that JSON parsed, with every digit of its integers. The
 * names of the headers are in lower case.
 *
 * @category models
 * @since 0.1.0
 */
export interface Request {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly update: unknown
}

/**
 * What a receiver answers. Only 200 is a success.
 *
 * @category models
 * @since 0.1.0
 */
export interface Answer {
  readonly status: number
}

/**
 * Takes deliveries in process. It has 30 seconds by the clock of the program.
 *
 * @category models
 * @since 0.1.0
 */
export type Receiver<E = never, R = never> = (request: Request) => Effect.Effect<Answer, E, R>

/**
 * Why a delivery had no answer: nobody listens at the address, its certificate does not prove it, the connection broke,
 * or 30 seconds went by.
 *
 * @category models
 * @since 0.1.0
 */
export type Failure = "Unreachable" | "Untrusted" | "Broken" | "TimedOut"

/**
 * A delivery had no answer.
 *
 * @category errors
 * @since 0.1.0
 */
export class Undelivered extends Data.TaggedError("Undelivered")<{
  readonly failure: Failure
  readonly cause?: unknown
}> {}

/**
 * One attempt to deliver an update: `attempt` 1 is the first, 2 its first retry. `status` stands where there was an
 * answer, `failure` where there was none. `latency` is in milliseconds.
 *
 * @category models
 * @since 0.1.0
 */
export interface Delivery {
  readonly at: number
  readonly url: string
  readonly update: Update
  readonly attempt: number
  readonly status: number | undefined
  readonly failure: Failure | undefined
  readonly latency: number
}

/**
 * The network beyond the receivers in process. Without one nothing is reachable there; `NodeWebhooks.layer` posts over
 * real connections.
 *
 * **Example**
 *
 * ```ts
 * import { Emulator, Webhooks } from "@colloquy/testing"
 * import { Effect, Layer } from "effect"
 *
 * const broken = Emulator.layer().pipe(
 *   Layer.provide(
 *     Layer.succeed(Webhooks.WebhookSender, {
 *       send: () => Effect.fail(new Webhooks.Undelivered({ failure: "Broken" }))
 *     })
 *   )
 * )
 * ```
 *
 * @category services
 * @since 0.1.0
 */
export const WebhookSender = Context.Reference<WebhookSender>("@colloquy/testing/Webhooks/WebhookSender", {
  defaultValue: () => ({ send: () => Effect.fail(new Undelivered({ failure: "Unreachable" })) })
})

/**
 * @category services
 * @since 0.1.0
 */
export interface WebhookSender {
  readonly send: (request: Request) => Effect.Effect<Answer, Undelivered>
}
