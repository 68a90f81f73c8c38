import type { ChatId } from "@colloquy/core/Chat"
import { type Permission, permissions } from "@colloquy/core/Member"
import { notifyBots, notifyBot } from "./updates.ts"
import type { UserState, BotState, MemberState, ChatState } from "./model.ts"
import { idOf, type PlatformState } from "./state.ts"

/** The rights that an administrator has unless told. */
export const allRights: ReadonlyArray<Permission> = permissions

/** What a chat is called unless told: only dialogs have no title. */
const titles = { chat: "Group chat", channel: "Channel", dialog: null }

export const createChat = (
  state: PlatformState,
  options: Pick<ChatState, "type"> & Partial<Pick<ChatState, "chat_id" | "title" | "link" | "owner" | "hasComments">>
): ChatState => {
  const chat: ChatState = {
    chat_id: options.chat_id ?? state.nextChatId(options.type),
    type: options.type,
    title: options.title ?? titles[options.type],
    description: null,
    icon: undefined,
    link: options.link ?? null,
    owner: options.owner,
    members: new Map(),
    memberIds: new Set(),
    former: new Map(),
    blocked: new Set(),
    messages: [],
    pinned: undefined,
    isClosed: false,
    isSuspended: false,
    hasComments: options.hasComments ?? true,
    lastEventAt: state.now
  }
  state.chats.set(chat.chat_id, chat)
  return chat
}

export const insertMember = (state: PlatformState, chat: ChatState, user: UserState): MemberState => {
  const isOwner = chat.owner === idOf(user)
  const membership: MemberState = {
    user,
    joinedAt: state.now,
    lastAccessAt: state.now,
    rights: isOwner ? new Set(allRights) : undefined,
    alias: undefined
  }
  chat.members.set(idOf(user), membership)
  chat.memberIds = new Set(chat.members.keys())
  chat.former.delete(idOf(user))
  return membership
}

/** Somebody does something in a chat: their last activity is now, there and at all. */
export const markActive = ({ now }: PlatformState, chat: ChatState, user: UserState): void => {
  const membership = chat.members.get(idOf(user))
  if (membership !== undefined) membership.lastAccessAt = now
  const { profile } = user
  if (profile.last_activity_time === undefined || profile.last_activity_time === now) return
  user.profile = { ...profile, last_activity_time: now }
}

const dialogKey = (person: UserState, bot: BotState): string => `${idOf(person)} ${idOf(bot.user)}`

export const findDialog = (state: PlatformState, person: UserState, bot: BotState): ChatState | undefined =>
  state.dialogs.get(dialogKey(person, bot))

export const openDialog = (state: PlatformState, person: UserState, bot: BotState, chat_id?: ChatId): ChatState => {
  const chat = createChat(state, { type: "dialog", ...(chat_id === undefined ? {} : { chat_id }) })
  insertMember(state, chat, person)
  insertMember(state, chat, bot.user)
  state.dialogs.set(dialogKey(person, bot), chat)
  return chat
}

/** Whom a dialog is with, as one of the two sees it. */
export const dialogPartner = (chat: ChatState, self: UserState): UserState | undefined => {
  for (const { user } of chat.members.values()) if (user !== self) return user
  return undefined
}

export const hasRight = (chat: ChatState, user: UserState, right: Permission): boolean =>
  chat.members.get(idOf(user))?.rights?.has(right) === true

export const isAdmin = (chat: ChatState, user: UserState): boolean => chat.members.get(idOf(user))?.rights !== undefined

const place = (chat: ChatState) => ({ chat_id: chat.chat_id, is_channel: chat.type === "channel" })

/**
 * Somebody comes in, by themselves or with the help of `by`.
 *
 * @assumption botsAsMembers
 */
export const addMember = (state: PlatformState, chat: ChatState, user: UserState, by: UserState = user): void => {
  const at = { timestamp: state.now, ...place(chat) }
  const bot = state.botOf(idOf(user))
  const inviter = by === user ? {} : { inviter_id: idOf(by) }
  markActive(state, chat, by)
  insertMember(state, chat, user)
  if (bot !== undefined) notifyBot(state, chat, bot, { update_type: "bot_added", ...at, user: by.profile })
  notifyBots(state, chat, { update_type: "user_added", ...at, user: user.profile, ...inviter }, user)
}

/** Somebody goes, by themselves or removed by `by`. */
export const removeMember = (state: PlatformState, chat: ChatState, user: UserState, by: UserState = user): void => {
  const at = { timestamp: state.now, ...place(chat) }
  const bot = state.botOf(idOf(user))
  const admin = by === user ? {} : { admin_id: idOf(by) }
  markActive(state, chat, by)
  if (chat.owner === idOf(user)) chat.owner = undefined
  chat.members.delete(idOf(user))
  chat.memberIds = new Set(chat.members.keys())
  chat.former.set(idOf(user), by === user ? "left" : "removed")
  if (bot !== undefined) notifyBot(state, chat, bot, { update_type: "bot_removed", ...at, user: by.profile })
  notifyBots(state, chat, { update_type: "user_removed", ...at, user: user.profile, ...admin }, user)
}

/** Gives an administrator these rights in place of those they had; without rights, they are one no more. */
export const setAdminRights = (
  state: PlatformState,
  chat: ChatState,
  member: MemberState,
  rights: ReadonlyArray<Permission> | undefined,
  by: UserState | undefined
): void => {
  if (by !== undefined) markActive(state, chat, by)
  member.rights = rights === undefined ? undefined : new Set(rights)
  const bot = state.botOf(idOf(member.user))
  if (bot === undefined) return
  notifyBot(state, chat, bot, {
    update_type: "bot_admin_permissions_changed",
    timestamp: state.now,
    ...place(chat),
    ...(by === undefined ? {} : { user_id: idOf(by) }),
    bot_id: idOf(member.user),
    is_admin: rights !== undefined,
    ...(rights === undefined ? {} : { permissions: rights })
  })
}

export const closeChat = (state: PlatformState, chat: ChatState): void => {
  chat.isClosed = true
  chat.lastEventAt = state.now
}

export const renameChat = (state: PlatformState, chat: ChatState, title: string, by: UserState): void => {
  chat.title = title
  markActive(state, chat, by)
  const { chat_id } = chat
  notifyBots(state, chat, { update_type: "chat_title_changed", timestamp: state.now, chat_id, user: by.profile, title })
}
