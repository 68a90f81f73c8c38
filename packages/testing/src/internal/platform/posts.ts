import type { LinkedMessage, Message, MessageBody } from "@colloquy/core/Message"
import type { Mutable } from "effect/Types"
import type { Content } from "./content.ts"
import { tell } from "./hearing.ts"
import type { Account, Heard, Post, Room } from "./model.ts"
import { announce } from "./deliveries.ts"
import { counterpart, markActive } from "./rooms.ts"
import { present } from "./views.ts"
import { idOf, type World } from "./world.ts"

const recipientOf = (room: Room, author: Account): Message["recipient"] => {
  const { chat_id, type: chat_type } = room
  const other = chat_type === "dialog" ? counterpart(room, author) : undefined
  return other === undefined ? { chat_id, chat_type } : { chat_id, chat_type, user_id: idOf(other) }
}

const localeOf = (room: Room, author: Account) =>
  room.type === "dialog" && author.locale !== undefined ? { user_locale: author.locale } : {}

const hear = (world: World, room: Room, by: Account, heard: Heard): void => {
  if (by.user.is_bot) tell(world, room, heard)
}

const bodyOf = (content: Content, { mid, seq }: Pick<MessageBody, "mid" | "seq">): MessageBody => {
  const { markup, text } = content
  const attachments = content.attachments.length === 0 ? null : content.attachments
  return markup.length === 0 ? { mid, seq, text, attachments } : { mid, seq, text, attachments, markup }
}

/** Says something in a chat. */
export const publish = (world: World, room: Room, author: Account, content: Content, notify = true): Post => {
  const { seq, mid } = world.nextPosition(room.chat_id)
  const timestamp = world.now
  const isChannel = room.type === "channel"
  markActive(world, room, author)
  const message: Mutable<Message> = {
    recipient: recipientOf(room, author),
    timestamp,
    body: bodyOf(content, { mid, seq })
  }
  if (!isChannel) message.sender = author.user
  if (content.link !== undefined) message.link = content.link
  if (isChannel && room.link !== null) message.url = `${room.link}/${seq}`
  const post: Post = { mid, room, author, message, viewers: isChannel ? new Set() : undefined, remarks: [] }
  room.posts.push(post)
  world.posts.set(mid, post)
  const shown = present(world, post)
  announce(
    world,
    room,
    { update_type: "message_created", timestamp, message: shown, ...localeOf(room, author) },
    author
  )
  hear(world, room, author, { _tag: "Message", chat_id: room.chat_id, message: shown, notify })
  return post
}

/** Changes what a message says. */
export const rewrite = (world: World, post: Post, content: Content, by: Account): void => {
  markActive(world, post.room, by)
  const { mid, seq } = post.message.body!
  const { link: _, ...kept } = post.message
  post.message = {
    ...kept,
    ...(content.link === undefined ? {} : { link: content.link }),
    body: bodyOf(content, { mid, seq })
  }
  const message = present(world, post)
  announce(world, post.room, { update_type: "message_edited", timestamp: world.now, message }, by)
  hear(world, post.room, by, { _tag: "Edited", chat_id: post.room.chat_id, message })
}

export const withdraw = (world: World, post: Post, by: Account): void => {
  const { room, mid } = post
  markActive(world, room, by)
  room.posts.splice(room.posts.indexOf(post), 1)
  world.posts.delete(mid)
  world.removed.set(mid, post)
  for (const remark of post.remarks) world.remarks.delete(remark.mid)
  if (room.pinned === post) room.pinned = undefined
  const where = { message_id: mid, chat_id: room.chat_id }
  announce(world, room, { update_type: "message_removed", timestamp: world.now, ...where, user_id: idOf(by) }, by)
  hear(world, room, by, { _tag: "Removed", ...where })
}

/** What a message says now. */
export const contentOf = ({ message }: Post): Content => ({
  text: message.body?.text ?? null,
  markup: message.body?.markup ?? [],
  attachments: message.body?.attachments ?? [],
  link: message.link ?? undefined
})

/** A message as another one points to it. */
export const linkTo = (type: "reply" | "forward", { message, room }: Post): LinkedMessage => ({
  type,
  ...(message.sender == null ? {} : { sender: message.sender }),
  ...(type === "forward" ? { chat_id: room.chat_id } : {}),
  message: message.body!
})
