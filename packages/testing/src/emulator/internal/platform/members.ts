import { type Permission, permissions } from "@colloquy/core/model/Member"
import { type ChatState, type MemberState, now, type PlatformState, type UserState } from "./state.ts"
import { emit, inChat } from "./events.ts"
import { notifyBot, notifyBots } from "./updates.ts"
import { botOf, idOf } from "./users.ts"

/** The rights of an owner, and of an administrator for whom none are listed. */
export const allRights: ReadonlyArray<Permission> = permissions

export const hasRight = (chat: ChatState, user: UserState, right: Permission): boolean =>
  chat.members.get(idOf(user))?.rights?.has(right) === true

export const isAdmin = (chat: ChatState, user: UserState): boolean => chat.members.get(idOf(user))?.rights !== undefined

/** Records that a user was active now, on the platform and in a chat. */
export const recordActivity = (state: PlatformState, chat: ChatState, user: UserState): void => {
  const at = now(state)
  const member = chat.members.get(idOf(user))
  if (member !== undefined) member.lastAccessAt = at
  const { profile } = user
  if (profile.last_activity_time === undefined || profile.last_activity_time === at) return
  user.profile = { ...profile, last_activity_time: at }
}

/** Makes a user a member without an update. */
export const insertMember = (state: PlatformState, chat: ChatState, user: UserState): MemberState => {
  const isOwner = chat.owner === idOf(user)
  const member: MemberState = {
    user,
    joinedAt: now(state),
    lastAccessAt: now(state),
    rights: isOwner ? new Set(allRights) : undefined,
    alias: undefined
  }
  chat.members.set(idOf(user), member)
  chat.memberIds = new Set(chat.members.keys())
  chat.former.delete(idOf(user))
  return member
}

const emitMember = (
  state: PlatformState,
  chat: ChatState,
  user: UserState,
  change: "added" | "removed" | "rights",
  by: UserState | undefined,
  permissions?: ReadonlyArray<Permission>
): void =>
  emit(state, {
    type: "member",
    ...inChat(chat, user),
    user_id: idOf(user),
    change,
    ...(permissions === undefined ? {} : { permissions }),
    ...(by === undefined || by === user ? {} : { by: idOf(by) })
  })

const chatFields = (chat: ChatState) => ({ chat_id: chat.chat_id, is_channel: chat.type === "channel" })

/**
 * Makes a user a member, added by `by` or joining by themselves.
 *
 * @assumption botsAsMembers
 */
export const addMember = (state: PlatformState, chat: ChatState, user: UserState, by: UserState = user): void => {
  const fields = { timestamp: now(state), ...chatFields(chat) }
  const bot = botOf(state, idOf(user))
  const inviter = by === user ? {} : { inviter_id: idOf(by) }
  recordActivity(state, chat, by)
  insertMember(state, chat, user)
  emitMember(state, chat, user, "added", by)
  if (bot !== undefined) notifyBot(state, chat, bot, { update_type: "bot_added", ...fields, user: by.profile })
  notifyBots(state, chat, { update_type: "user_added", ...fields, user: user.profile, ...inviter }, user)
}

/** Removes a member, removed by `by` or leaving by themselves. */
export const removeMember = (state: PlatformState, chat: ChatState, user: UserState, by: UserState = user): void => {
  const fields = { timestamp: now(state), ...chatFields(chat) }
  const bot = botOf(state, idOf(user))
  const admin = by === user ? {} : { admin_id: idOf(by) }
  recordActivity(state, chat, by)
  if (chat.owner === idOf(user)) chat.owner = undefined
  chat.members.delete(idOf(user))
  chat.memberIds = new Set(chat.members.keys())
  chat.former.set(idOf(user), by === user ? "left" : "removed")
  emitMember(state, chat, user, "removed", by)
  if (bot !== undefined) notifyBot(state, chat, bot, { update_type: "bot_removed", ...fields, user: by.profile })
  notifyBots(state, chat, { update_type: "user_removed", ...fields, user: user.profile, ...admin }, user)
}

/** Replaces the rights of a member; without rights, the member is no administrator. */
export const setAdminRights = (
  state: PlatformState,
  chat: ChatState,
  member: MemberState,
  rights: ReadonlyArray<Permission> | undefined,
  by: UserState | undefined
): void => {
  if (by !== undefined) recordActivity(state, chat, by)
  member.rights = rights === undefined ? undefined : new Set(rights)
  emitMember(state, chat, member.user, "rights", by, rights)
  const bot = botOf(state, idOf(member.user))
  if (bot === undefined) return
  notifyBot(state, chat, bot, {
    update_type: "bot_admin_permissions_changed",
    timestamp: now(state),
    ...chatFields(chat),
    ...(by === undefined ? {} : { user_id: idOf(by) }),
    bot_id: idOf(member.user),
    is_admin: rights !== undefined,
    ...(rights === undefined ? {} : { permissions: rights })
  })
}
