/**
 * An update in a stream, with the duty to settle the update. `Updates.deliveries` emits deliveries, and the operators
 * of `Deliveries` keep the acknowledgement with the element.
 *
 * @since 0.1.0
 */
import type * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Types from "effect/Types"
import type { StoreError } from "../base/StoreError.ts"
import type { Update } from "../model/Update.ts"

/**
 * Identifies a delivery.
 *
 * @category type ids
 * @since 0.1.0
 */
export const TypeId = "~@colloquy/core/Delivery"

/**
 * The services that a delivery provides to the effects that handle the delivery.
 *
 * @category models
 * @since 0.1.0
 */
export interface Variance<in Services> {
  readonly _Services: Types.Contravariant<Services>
}

/**
 * An update, or the value that a pipeline derived from an update, which stays in the inbox until the delivery is
 * settled by `ack` or `reject`.
 *
 * A delivery is settled once: later calls of `ack`, `retry` and `reject` do nothing. If another process has taken over
 * the chat of the delivery and handles the update again, these effects do nothing either. The effects may be run in any
 * fiber. Temporary failures of the store are retried until they succeed. `StoreError` means that the store refuses for
 * good, for example because a table does not exist; the delivery is then not settled.
 *
 * `Services` are provided to the effects that handle the delivery, for example the `BotApi` of the bot that received
 * the update: see the option `source` of `Updates.deliveries`.
 *
 * **Example** (Settle by hand)
 *
 * ```ts
 * import { type Delivery, Messages, type Update } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const answer = (delivery: Delivery.Delivery<Update.Of<"bot_started">>) =>
 *   Messages.reply(delivery.value, "Hello").pipe(
 *     Effect.andThen(delivery.ack),
 *     Effect.catchCause((cause) =>
 *       delivery.attempt < 3 ? delivery.retry({ after: "5 seconds" }) : delivery.reject(cause)
 *     )
 *   )
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export interface Delivery<out A = Update, in Services = never> {
  readonly [TypeId]: Variance<Services>
  /** The update, or the value that a pipeline derived from the update. */
  readonly value: A
  /**
   * The number of the attempt, beginning with 1. The number continues after a restart, and counts attempts that were
   * interrupted or whose process died. The number of a group is the highest number of its updates.
   */
  readonly attempt: number
  /** Acknowledges the delivery: its update leaves the inbox. */
  readonly ack: Effect.Effect<void, StoreError>
  /**
   * Emits the delivery again, with the next attempt, after a duration. Default: at once. Later updates of the chat wait if
   * `perChat` is 1. While the stream is closing, the update stays in the inbox.
   */
  readonly retry: (options?: { readonly after?: Duration.Input | undefined }) => Effect.Effect<void, StoreError>
  /** Makes the update a dead letter with this cause. */
  readonly reject: (cause: Cause.Cause<unknown>) => Effect.Effect<void, StoreError>
}
