import type { Chat } from "@colloquy/core/Chat"
import type { ChatMember } from "@colloquy/core/Member"
import type { Message } from "@colloquy/core/Message"
import type { Bot, Membership, Post, Room } from "./model.ts"
import { pictureUrl } from "./pictures.ts"
import { counterpart } from "./rooms.ts"
import { withFreshLinks } from "./media.ts"
import { idOf, type World } from "./world.ts"

const isPureForward = ({ body, link }: Message): boolean =>
  link?.type === "forward" && !body?.text && (body?.attachments ?? []).length === 0

/** A message as it is given out: a pure forward has no body of its own, a post has its views, links to pictures last. */
export const present = (world: World, { message, viewers }: Post): Message => {
  const fresh = withFreshLinks(world, message)
  const shown = isPureForward(fresh) ? { ...fresh, body: null } : fresh
  return viewers === undefined ? shown : { ...shown, stat: { views: viewers.size } }
}

const statusFor = (room: Room, bot: Bot): Chat["status"] => {
  if (room.isClosed) return "closed"
  if (room.isSuspended) return "suspended"
  return room.former.get(idOf(bot.account)) ?? "active"
}

/** A chat as a bot sees it. */
export const toChat = (world: World, room: Room, bot: Bot): Chat => {
  const person = room.type === "dialog" ? counterpart(room, bot.account) : undefined
  const seen = [...room.members].map(([id, { lastAccessAt }]) => [String(id), lastAccessAt] as const)
  return {
    chat_id: room.chat_id,
    type: room.type,
    status: statusFor(room, bot),
    title: room.title,
    icon: room.icon === undefined ? null : { url: pictureUrl(world, room.icon) },
    last_event_time: room.lastEventAt,
    participants_count: room.members.size,
    ...(room.owner === undefined ? {} : { owner_id: room.owner }),
    participants: Object.fromEntries(seen),
    is_public: room.link !== null,
    ...(room.link === null ? {} : { link: room.link }),
    description: room.description,
    ...(person === undefined ? {} : { dialog_with_user: person.user }),
    ...(room.type === "dialog" ? {} : { messages_count: room.posts.length }),
    ...(room.pinned === undefined ? {} : { pinned_message: present(world, room.pinned) })
  }
}

export const toMember = (room: Room, { account, alias, joinedAt, lastAccessAt, rights }: Membership): ChatMember => ({
  ...account.user,
  last_access_time: lastAccessAt,
  is_owner: room.owner === idOf(account),
  is_admin: rights !== undefined,
  join_time: joinedAt,
  ...(rights === undefined ? {} : { permissions: [...rights] }),
  ...(alias === undefined ? {} : { alias })
})
