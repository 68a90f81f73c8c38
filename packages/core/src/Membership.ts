/**
 * People who come and go. What happens to the bot itself is `Handler.on(["bot_added", "bot_removed"], …)`.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import * as Handler from "./Handler.ts"
import type * as Update from "./Update.ts"
import type { UserId } from "./User.ts"

type Handles<Type extends Update.UpdateType> = <O extends Handler.Outcome>(
  handler: (update: Update.Of<Type>, by: UserId | undefined) => O
) => Handler.Handler<Effect.Error<O>, Effect.Services<O>>

/**
 * Handles that a person came to a group chat or a channel. `by` is who added them; undefined where they joined by
 * themselves.
 *
 * **Example**
 *
 * ```ts
 * import { Membership, Messages } from "@colloquy/core"
 *
 * const welcome = Membership.joined((update, by) =>
 *   Messages.reply(update, `Welcome, ${update.user.first_name}${by === undefined ? "" : ". You were expected"}`)
 * )
 * ```
 *
 * API: Events.
 *
 * @assumption A `user_added` has no `inviter_id` where a person joined by themselves.
 * @category constructors
 * @since 0.1.0
 */
export const joined: Handles<"user_added"> = (handler) =>
  Handler.on("user_added", (update) => handler(update, update.inviter_id ?? undefined))

/**
 * Handles that a person is gone from a group chat or a channel. `by` is the administrator who removed them; undefined
 * where they left by themselves.
 *
 * **Example**
 *
 * ```ts
 * import { Membership, Messages } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const farewell = Membership.left((update, by) =>
 *   by === undefined ? Messages.reply(update, `${update.user.first_name} has left`) : Effect.void
 * )
 * ```
 *
 * API: Events.
 *
 * @assumption A `user_removed` has no `admin_id` where a person left by themselves.
 * @category constructors
 * @since 0.1.0
 */
export const left: Handles<"user_removed"> = (handler) =>
  Handler.on("user_removed", (update) => handler(update, update.admin_id ?? undefined))
