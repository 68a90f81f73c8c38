import type { PhotoAttachmentRequestPayload } from "@colloquy/core/AttachmentRequest"
import type * as Chats from "@colloquy/core/Chats"
import type { MessageId } from "@colloquy/core/Message"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { administered, type Call, knownRoom, requireOpen, requireRight, roomOf, roomWithRight } from "./call.ts"
import { readContent } from "../platform/content.ts"
import { tell } from "../platform/hearing.ts"
import type { ChatChange, Room } from "../platform/model.ts"
import * as refusal from "../http/refusal.ts"
import { markActive, rename } from "../platform/rooms.ts"
import { present, toChat } from "../platform/views.ts"
import type { Handlers } from "./handler.ts"

const postIn = ({ world }: Call, room: Room, mid: MessageId) =>
  Effect.suspend(() => {
    const post = world.posts.get(mid)
    return post?.room === room ? Effect.succeed(post) : refusal.messageNotFound(mid)
  })

const readIcon = (call: Call, room: Room, payload: PhotoAttachmentRequestPayload) =>
  Effect.map(readContent(call, room, { attachments: [{ type: "image", payload }] }), ({ attachments: [image] }) =>
    image.type === "image" ? call.world.media.get(image.payload.token) : undefined
  )

/** @assumption C The notice that members get is no message of the chat, and bots are sent no update of it. */
const announceChange = (
  { bot, world }: Call,
  room: Room,
  changed: ReadonlyArray<ChatChange>,
  notify: boolean | null | undefined
): void => {
  if (changed.length === 0) return
  room.lastEventAt = world.now
  markActive(world, room, bot.account)
  if (notify !== false) tell(world, room, { _tag: "Notice", chat_id: room.chat_id, changed })
}

/** A dialog lets the bot pin by itself. */
const pinnable = (call: Call, { chat_id }: { readonly chat_id: Room["chat_id"] }) =>
  Effect.flatMap(roomOf(call, chat_id), (room) =>
    room.type === "dialog" ? Effect.succeed(room) : roomWithRight(call, chat_id, "pin_message")
  )

const changeable = ["icon", "title", "description", "pin"] as const

export const chats: Handlers<typeof Chats> = {
  get: ({ chat_id }, call) => Effect.map(knownRoom(call, chat_id), (room) => toChat(call.world, room, call.bot)),

  edit: Effect.fnUntraced(function* ({ chat_id, notify, ...changes }, call) {
    const { description, icon, pin, title } = changes
    const room = yield* administered(call, chat_id)
    const changesInfo = description != null || icon != null || title != null
    if (changesInfo) yield* requireRight(call, room, "change_chat_info")
    if (pin != null) yield* requireRight(call, room, "pin_message")
    yield* requireOpen(room)
    const post = pin == null ? room.pinned : yield* postIn(call, room, pin)
    const media = icon == null ? room.icon : yield* readIcon(call, room, icon)
    const isRenamed = title != null && title !== room.title
    room.pinned = post
    room.icon = media
    if (description != null) room.description = description === "" ? null : description
    if (isRenamed) rename(call.world, room, title, call.bot.account)
    const changed = changeable.filter((key) => (key === "title" ? isRenamed : changes[key] != null))
    announceChange(call, room, changed, notify)
    return toChat(call.world, room, call.bot)
  }),

  sendAction: ({ action, chat_id }, call) =>
    roomOf(call, chat_id).pipe(
      Effect.tap(requireOpen),
      Effect.map((room) => tell(call.world, room, { _tag: "Action", chat_id, action }))
    ),

  getPin: ({ chat_id }, call) =>
    Effect.map(roomOf(call, chat_id), ({ pinned }) =>
      Option.map(Option.fromUndefinedOr(pinned), (post) => present(call.world, post))
    ),

  pin: Effect.fnUntraced(function* ({ chat_id, message_id, notify }, call) {
    const room = yield* pinnable(call, { chat_id })
    room.pinned = yield* postIn(call, room, message_id)
    announceChange(call, room, ["pin"], notify)
  }),

  unpin: ({ chat_id }, call) =>
    Effect.map(pinnable(call, { chat_id }), (room) => {
      room.pinned = undefined
      announceChange(call, room, ["pin"], false)
    })
}
