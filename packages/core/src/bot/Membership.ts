/**
 * Handlers of users who join and leave group chats and channels, and of administrators. For the bot itself, use
 * `Handler.on(["bot_added", "bot_removed"], …)`.
 *
 * @since 0.1.0
 */
import * as Cache from "effect/Cache"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type { BotApi } from "../client/BotApi.ts"
import type { Errors } from "../client/Endpoint.ts"
import * as Members from "../endpoints/Members.ts"
import * as Handler from "../inbox/Handler.ts"
import type { ChatId } from "../model/Recipient.ts"
import * as Update from "../model/Update.ts"
import type { UserId } from "../model/User.ts"
import * as Bot from "./Bot.ts"

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

type AdminsError = Errors<typeof Members.listAdmins>

/** The administrators of the chats. */
class Admins extends Context.Service<Admins, Cache.Cache<ChatId, ReadonlySet<UserId>, AdminsError, BotApi>>()(
  "@colloquy/core/Membership/Admins"
) {}

const adminsOf = (chat_id: ChatId): Effect.Effect<ReadonlySet<UserId>, AdminsError, BotApi> =>
  Effect.map(Members.listAdmins({ chat_id }), ({ members }) => new Set(members.map(({ user_id }) => user_id)))

const isFromAdmin = (update: Update.Update) =>
  Effect.gen(function* () {
    const chat_id = Update.chatOf(update)
    const user_id = Update.userIdOf(update)
    if (chat_id === undefined || user_id === undefined || Update.chatTypeOf(update) === "dialog") return false
    return (yield* Cache.get(yield* Admins, chat_id)).has(user_id)
  })

/**
 * Options of {@link fromAdmins}.
 *
 * @category models
 * @since 0.1.0
 */
export interface FromAdminsOptions {
  /** How long the administrators of a chat are kept before they are read again. Default: 5 minutes. */
  readonly expireAfter?: Duration.Input | undefined
}

/**
 * Restricts a handler to the updates that an administrator or the owner of the chat has caused. The handler declines all other
 * updates, and updates of dialogs.
 *
 * The administrators are read by `Members.listAdmins` when an update arrives that the handler takes. Their ids are kept in memory
 * for at most 10,000 chats. A bot that is not an administrator cannot read the administrators: the handler fails with `Forbidden`.
 *
 * **Example** (A command of the administrators of a group)
 *
 * ```ts
 * import { Bot, Command, Membership, Messages } from "@colloquy/core"
 *
 * const rules = Command.make("rules").on((update) => Messages.reply(update, "Be kind. This is a rule."))
 *
 * const bot = Bot.make(Membership.fromAdmins(rules))
 * ```
 *
 * @category filtering
 * @since 0.1.0
 */
export const fromAdmins = <E, R>(
  handler: Handler.Handler<E, R>,
  { expireAfter = "5 minutes" }: FromAdminsOptions = {}
): Handler.Handler<E | AdminsError, R | BotApi> => {
  const kept = Duration.fromInputUnsafe(expireAfter)
  const admins = Cache.makeWith(adminsOf, {
    capacity: 10_000,
    timeToLive: (exit) => (Exit.isSuccess(exit) ? kept : Duration.zero),
    requireServicesAt: "lookup"
  })
  return Bot.provide(Handler.filterEffect(handler, isFromAdmin), Layer.effect(Admins, admins))
}
