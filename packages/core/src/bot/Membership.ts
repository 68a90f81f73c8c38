/**
 * Handlers of users who join and leave group chats and channels. For the bot itself, use
 * `Handler.on(["bot_added", "bot_removed"], …)`.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import * as Handler from "../inbox/Handler.ts"
import type * as Update from "../model/Update.ts"
import type { UserId } from "../model/User.ts"

/**
 * Handles `user_added`: a user joined a group chat or a channel. `by` is the user who added them, and `undefined` if they
 * joined by themselves.
 *
 * **Example** (A welcome)
 *
 * ```ts
 * import { Membership, Messages } from "@colloquy/core"
 *
 * const welcome = Membership.joined((update, by) =>
 *   Messages.reply(update, `Welcome, ${update.user.first_name}${by === undefined ? "" : "! We have been expecting you"}`)
 * )
 * ```
 *
 * API: Events.
 *
 * @assumption joinedByThemselves
 * @category constructors
 * @since 0.1.0
 */
export const joined = <O extends Handler.Return>(
  handler: (update: Update.Of<"user_added">, by: UserId | undefined) => O
): Handler.Handler<Handler.ReturnError<O>, Effect.Services<O>> =>
  Handler.on("user_added", (update) => handler(update, update.inviter_id ?? undefined))

/**
 * Handles `user_removed`: a user left a group chat or a channel. `by` is the administrator who removed them, and
 * `undefined` if they left by themselves.
 *
 * **Example** (A farewell)
 *
 * ```ts
 * import { Membership, Messages } from "@colloquy/core"
 *
 * const farewell = Membership.left((update, by) =>
 *   by === undefined ? Messages.reply(update, `${update.user.first_name} has left`) : undefined
 * )
 * ```
 *
 * API: Events.
 *
 * @assumption leftByThemselves
 * @category constructors
 * @since 0.1.0
 */
export const left = <O extends Handler.Return>(
  handler: (update: Update.Of<"user_removed">, by: UserId | undefined) => O
): Handler.Handler<Handler.ReturnError<O>, Effect.Services<O>> =>
  Handler.on("user_removed", (update) => handler(update, update.admin_id ?? undefined))
