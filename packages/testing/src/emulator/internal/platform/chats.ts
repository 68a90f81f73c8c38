import type { ChatId } from "@colloquy/core/model/Chat"
import type { ChatOptions } from "../../EmulatorOptions.ts"
import type { Person } from "../../Person.ts"
import { emitChat } from "./events.ts"
import { nextChatId, nextName } from "./ids.ts"
import { addMember, allRights, insertMember, recordActivity, setAdminRights } from "./members.ts"
import { type BotState, ChatState, now, type PlatformState, type UserState } from "./state.ts"
import { notifyBots } from "./updates.ts"
import { addUser, idOf } from "./users.ts"
import { defined } from "./validation.ts"

const defaultTitles = { chat: "Group chat", channel: "Channel" }

export const createChat = (
  state: PlatformState,
  type: ChatState["type"],
  chat_id = nextChatId(state, type),
  settings: Partial<Pick<ChatState, "title" | "link" | "owner" | "hasComments" | "allowsForwarding">> = {}
): ChatState => {
  const chat = Object.assign(new ChatState(chat_id, type, now(state)), settings)
  state.chats.set(chat_id, chat)
  return chat
}

const userOf = (state: PlatformState, { user_id }: Person): UserState => state.users.get(user_id)!

/** Creates a group chat or channel with its members, then adds the bot. */
export const createGroup = (state: PlatformState, bot: BotState, options: ChatOptions): ChatState => {
  const { allowsForwarding, bot: role = {}, chat_id, hasComments, isPublic = false, type = "chat" } = options
  const members = (options.members ?? []).map((person) => userOf(state, person))
  const owner =
    options.owner === undefined ? (members[0] ?? addUser(state, { first_name: "Owner" })) : userOf(state, options.owner)
  const link = isPublic ? `https://emulator.test/${nextName(state, "c")}` : null
  const title = options.title ?? defaultTitles[type]
  const settings = { title, link, owner: idOf(owner), ...defined({ hasComments, allowsForwarding }) }
  const chat = createChat(state, type, chat_id, settings)
  for (const user of new Set([owner, ...members])) insertMember(state, chat, user)
  emitChat(state, chat, "created", owner)
  if (role !== false) {
    addMember(state, chat, bot.user, owner)
    const isAdmin = role.admin ?? role.permissions !== undefined
    const member = chat.members.get(idOf(bot.user))!
    if (isAdmin) setAdminRights(state, chat, member, role.permissions ?? allRights, owner)
  }
  return chat
}

const dialogKey = (person: UserState, bot: BotState): string => `${idOf(person)} ${idOf(bot.user)}`

export const findDialog = (state: PlatformState, person: UserState, bot: BotState): ChatState | undefined =>
  state.dialogs.get(dialogKey(person, bot))

export const createDialog = (state: PlatformState, person: UserState, bot: BotState, chat_id?: ChatId): ChatState => {
  const chat = createChat(state, "dialog", chat_id)
  insertMember(state, chat, person)
  insertMember(state, chat, bot.user)
  state.dialogs.set(dialogKey(person, bot), chat)
  emitChat(state, chat, "created", person)
  return chat
}

/** Returns the other one of the two members of a dialog. */
export const dialogPartner = (dialog: ChatState, self: UserState): UserState | undefined => {
  for (const { user } of dialog.members.values()) if (user !== self) return user
  return undefined
}

export const closeChat = (state: PlatformState, chat: ChatState): void => {
  chat.isClosed = true
  chat.lastEventAt = now(state)
  emitChat(state, chat, "closed")
}

export const renameChat = (state: PlatformState, chat: ChatState, title: string, by: UserState): void => {
  chat.title = title
  emitChat(state, chat, "title", by)
  recordActivity(state, chat, by)
  const { chat_id } = chat
  notifyBots(state, chat, {
    update_type: "chat_title_changed",
    timestamp: now(state),
    chat_id,
    user: by.profile,
    title
  })
}

export const allowComments = (state: PlatformState, chat: ChatState, allowed: boolean): void => {
  chat.hasComments = allowed
  emitChat(state, chat, "comments")
}
