import type * as Messages from "@colloquy/core/Messages"
import * as Effect from "effect/Effect"
import { type Call, requireOpen, roomOf, visiblePost } from "./call.ts"
import { readContent } from "../platform/content.ts"
import type { Post, Room } from "../platform/model.ts"
import { publish, rewrite, withdraw } from "../platform/posts.ts"
import * as refusal from "../http/refusal.ts"
import { findDialog, hasRight, isAdmin } from "../platform/rooms.ts"
import { present } from "../platform/views.ts"
import type { Handlers } from "./handler.ts"

const defaultCount = 50

const destination = (call: Call, { chat_id, user_id }: Messages.To): Effect.Effect<Room, refusal.Refusal> => {
  if (chat_id !== undefined) return roomOf(call, chat_id)
  const person = call.world.accounts.get(user_id)
  const dialog = person && findDialog(call.world, person, call.bot)
  return dialog === undefined ? refusal.chatNotFound(`with user ${user_id}`) : roomOf(call, dialog.chat_id)
}

const mayWrite = ({ bot }: Call, room: Room): Effect.Effect<void, refusal.Refusal> =>
  room.type !== "channel" || hasRight(room, bot.account, "write") ? Effect.void : refusal.notAdmin()

/** The bot's own messages, and what others wrote where it has the right. */
const mayChange = (
  { bot }: Call,
  { author, room }: Post,
  right: "edit" | "delete"
): Effect.Effect<void, refusal.Refusal> =>
  author === bot.account || (hasRight(room, bot.account, right) && (right === "delete" || room.type === "channel"))
    ? Effect.void
    : refusal.accessDenied("The message is not the bot's own")

const readable = (call: Call, room: Room): Effect.Effect<void, refusal.Refusal> =>
  room.type === "dialog" || isAdmin(room, call.bot.account) ? Effect.void : refusal.notAdmin()

const presenting =
  ({ world }: Call) =>
  (post: Post) =>
    present(world, post)

export const messages: Handlers<typeof Messages> = {
  send: Effect.fnUntraced(function* (request, call) {
    const room = yield* destination(call, request)
    yield* mayWrite(call, room)
    yield* requireOpen(room)
    const content = yield* readContent(call, room, request)
    return present(call.world, publish(call.world, room, call.bot.account, content, request.notify))
  }),

  list: Effect.fnUntraced(function* (
    {
      after = -Infinity,
      before = Infinity,
      chat_id,
      count = defaultCount,
      from = Infinity,
      message_ids,
      to = -Infinity
    },
    call
  ) {
    if (chat_id === undefined) {
      const posts = [...new Set(message_ids)].flatMap((mid) => call.world.posts.get(mid) ?? [])
      yield* Effect.forEach(posts, ({ room }) => roomOf(call, room.chat_id))
      return posts.map(presenting(call))
    }
    const isWanted = ({ message: { timestamp } }: Post) =>
      timestamp <= from && timestamp >= to && timestamp < before && timestamp > after
    const room = yield* roomOf(call, chat_id)
    yield* readable(call, room)
    return room.posts.filter(isWanted).slice(-count).reverse().map(presenting(call))
  }),

  get: ({ message_id }, call) => Effect.map(visiblePost(call, message_id), presenting(call)),

  edit: Effect.fnUntraced(function* ({ message_id, ...body }, call) {
    const post = yield* visiblePost(call, message_id)
    yield* roomOf(call, post.room.chat_id)
    yield* mayChange(call, post, "edit")
    const content = yield* readContent(call, post.room, body, post)
    rewrite(call.world, post, content, call.bot.account)
  }),

  remove: Effect.fnUntraced(function* ({ message_id }, call) {
    const post = yield* visiblePost(call, message_id)
    yield* mayChange(call, post, "delete")
    withdraw(call.world, post, call.bot.account)
  })
}
