import type { ChatId } from "@colloquy/core/Chat"
import type { Permission } from "@colloquy/core/Member"
import type { MessageId } from "@colloquy/core/Message"
import * as Effect from "effect/Effect"
import type { Bot, Post, Room } from "../platform/model.ts"
import * as refusal from "../http/refusal.ts"
import { hasRight, isAdmin } from "../platform/rooms.ts"
import type { Entrance } from "../http/wire.ts"
import { idOf, type World } from "../platform/world.ts"

/** A call of a bot that has shown its token. */
export interface Call {
  readonly world: World
  readonly bot: Bot
  readonly entrance: Entrance
}

type Refusable<A> = Effect.Effect<A, refusal.Refusal>

/** A chat that the bot takes part in or took part in once. */
export const knownRoom = ({ world, bot }: Call, chat_id: ChatId): Refusable<Room> =>
  Effect.suspend((): Refusable<Room> => {
    const room = world.rooms.get(chat_id)
    if (room === undefined) return refusal.chatNotFound(chat_id)
    const id = idOf(bot.account)
    return room.members.has(id) || room.former.has(id)
      ? Effect.succeed(room)
      : refusal.chatDenied(`The bot has no access to chat ${chat_id}`)
  })

/** A chat that the bot takes part in. */
export const roomOf = (call: Call, chat_id: ChatId): Refusable<Room> =>
  Effect.flatMap(knownRoom(call, chat_id), (room) => {
    if (room.isSuspended) return refusal.dialogSuspended()
    return room.members.has(idOf(call.bot.account))
      ? Effect.succeed(room)
      : refusal.chatDenied(`The bot is not a member of chat ${chat_id}`)
  })

/** A group chat or a channel in which the bot is an administrator. */
export const administered = (call: Call, chat_id: ChatId): Refusable<Room> =>
  Effect.flatMap(roomOf(call, chat_id), (room) =>
    isAdmin(room, call.bot.account) ? Effect.succeed(room) : refusal.notAdmin()
  )

export const requireRight = (call: Call, room: Room, right: Permission): Refusable<void> =>
  hasRight(room, call.bot.account, right)
    ? Effect.void
    : refusal.chatDenied(`The bot needs the administrator right ${right} in chat ${room.chat_id}`)

/** @assumption C A closed chat and an archived channel take no messages, members, pins or changes: 403 chat.denied. */
export const requireOpen = ({ chat_id, isClosed }: Room): Refusable<void> =>
  isClosed ? refusal.chatDenied(`Chat ${chat_id} is closed`) : Effect.void

/** A group chat or a channel in which the bot has a right. */
export const roomWithRight = (call: Call, chat_id: ChatId, right: Permission): Refusable<Room> =>
  administered(call, chat_id).pipe(
    Effect.tap((room) => requireRight(call, room, right)),
    Effect.tap(requireOpen)
  )

/** A message that the bot can see. */
export const visiblePost = ({ world, bot }: Call, mid: MessageId): Refusable<Post> =>
  Effect.suspend((): Refusable<Post> => {
    const post = world.posts.get(mid)
    return post !== undefined && post.room.members.has(idOf(bot.account))
      ? Effect.succeed(post)
      : refusal.messageNotFound(mid)
  })
