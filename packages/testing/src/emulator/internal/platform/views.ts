import type { Chat } from "@colloquy/core/model/Chat"
import type { ChatMember } from "@colloquy/core/model/Member"
import type { Message } from "@colloquy/core/model/Message"
import { dialogPartner } from "./chats.ts"
import { imageUrl, withFreshLinks } from "./media.ts"
import type { BotState, ChatState, MemberState, MessageState, PlatformState } from "./state.ts"
import { idOf } from "./users.ts"

/** A message as the API returns it: a channel post has its views. */
export const toMessage = (state: PlatformState, { value: message, viewers }: MessageState): Message => {
  const fresh = withFreshLinks(state, message)
  return viewers === undefined ? fresh : { ...fresh, stat: { views: viewers.size } }
}

const statusFor = (chat: ChatState, bot: BotState): Chat["status"] => {
  if (chat.isClosed) return "closed"
  if (chat.isSuspended) return "suspended"
  return chat.former.get(idOf(bot.user)) ?? "active"
}

/** A chat as a bot sees it. */
export const toChat = (state: PlatformState, chat: ChatState, bot: BotState): Chat => {
  const person = chat.type === "dialog" ? dialogPartner(chat, bot.user) : undefined
  const seen = [...chat.members].map(([id, { lastAccessAt }]) => [String(id), lastAccessAt] as const)
  return {
    chat_id: chat.chat_id,
    type: chat.type,
    status: statusFor(chat, bot),
    title: chat.title,
    icon: chat.icon === undefined ? null : { url: imageUrl(state, chat.icon) },
    last_event_time: chat.lastEventAt,
    participants_count: chat.members.size,
    ...(chat.owner === undefined ? {} : { owner_id: chat.owner }),
    participants: Object.fromEntries(seen),
    is_public: chat.link !== null,
    ...(chat.link === null ? {} : { link: chat.link }),
    description: chat.description,
    ...(person === undefined ? {} : { dialog_with_user: person.profile }),
    ...(chat.type === "dialog" ? {} : { messages_count: chat.forgottenMessages + chat.messages.length }),
    ...(chat.pinned === undefined ? {} : { pinned_message: toMessage(state, chat.pinned) })
  }
}

export const toMember = (
  chat: ChatState,
  { user, alias, joinedAt, lastAccessAt, rights }: MemberState
): ChatMember => ({
  ...user.profile,
  last_access_time: lastAccessAt,
  is_owner: chat.owner === idOf(user),
  is_admin: rights !== undefined,
  join_time: joinedAt,
  ...(rights === undefined ? {} : { permissions: [...rights] }),
  ...(alias === undefined ? {} : { alias })
})
