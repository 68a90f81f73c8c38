import type { ChatId } from "@colloquy/core/Chat"
import { type Permission, permissions } from "@colloquy/core/Member"
import { announce, report } from "./deliveries.ts"
import type { Account, Bot, Membership, Room } from "./model.ts"
import { idOf, type World } from "./world.ts"

/** The rights that an administrator has unless told. */
export const allRights: ReadonlyArray<Permission> = permissions

/** What a chat is called unless told: only dialogs have no title. */
const titles = { chat: "Group chat", channel: "Channel", dialog: null }

export const openRoom = (
  world: World,
  options: Pick<Room, "type"> & Partial<Pick<Room, "chat_id" | "title" | "link" | "owner" | "hasComments">>
): Room => {
  const room: Room = {
    chat_id: options.chat_id ?? world.nextChatId(options.type),
    type: options.type,
    title: options.title ?? titles[options.type],
    description: null,
    icon: undefined,
    link: options.link ?? null,
    owner: options.owner,
    members: new Map(),
    people: new Set(),
    former: new Map(),
    blocked: new Set(),
    posts: [],
    pinned: undefined,
    isClosed: false,
    isSuspended: false,
    hasComments: options.hasComments ?? true,
    lastEventAt: world.now
  }
  world.rooms.set(room.chat_id, room)
  return room
}

export const settle = (world: World, room: Room, account: Account): Membership => {
  const isOwner = room.owner === idOf(account)
  const membership: Membership = {
    account,
    joinedAt: world.now,
    lastAccessAt: world.now,
    rights: isOwner ? new Set(allRights) : undefined,
    alias: undefined
  }
  room.members.set(idOf(account), membership)
  room.people = new Set(room.members.keys())
  room.former.delete(idOf(account))
  return membership
}

/** Somebody does something in a chat: their last activity is now, there and at all. */
export const markActive = ({ now }: World, room: Room, account: Account): void => {
  const membership = room.members.get(idOf(account))
  if (membership !== undefined) membership.lastAccessAt = now
  const { user } = account
  if (user.last_activity_time === undefined || user.last_activity_time === now) return
  account.user = { ...user, last_activity_time: now }
}

const dialogKey = (person: Account, bot: Bot): string => `${idOf(person)} ${idOf(bot.account)}`

export const findDialog = (world: World, person: Account, bot: Bot): Room | undefined =>
  world.dialogs.get(dialogKey(person, bot))

export const openDialog = (world: World, person: Account, bot: Bot, chat_id?: ChatId): Room => {
  const room = openRoom(world, { type: "dialog", ...(chat_id === undefined ? {} : { chat_id }) })
  settle(world, room, person)
  settle(world, room, bot.account)
  world.dialogs.set(dialogKey(person, bot), room)
  return room
}

/** Whom a dialog is with, as one of the two sees it. */
export const counterpart = (room: Room, self: Account): Account | undefined => {
  for (const { account } of room.members.values()) if (account !== self) return account
  return undefined
}

export const hasRight = (room: Room, account: Account, right: Permission): boolean =>
  room.members.get(idOf(account))?.rights?.has(right) === true

export const isAdmin = (room: Room, account: Account): boolean => room.members.get(idOf(account))?.rights !== undefined

const place = (room: Room) => ({ chat_id: room.chat_id, is_channel: room.type === "channel" })

/**
 * Somebody comes in, by themselves or with the help of `by`.
 *
 * @assumption C A bot that comes or goes is a user added or removed to the other bots in the chat.
 */
export const admit = (world: World, room: Room, account: Account, by: Account = account): void => {
  const at = { timestamp: world.now, ...place(room) }
  const bot = world.botOf(idOf(account))
  const inviter = by === account ? {} : { inviter_id: idOf(by) }
  markActive(world, room, by)
  settle(world, room, account)
  if (bot !== undefined) report(world, room, bot, { update_type: "bot_added", ...at, user: by.user })
  announce(world, room, { update_type: "user_added", ...at, user: account.user, ...inviter }, account)
}

/** Somebody goes, by themselves or removed by `by`. */
export const dismiss = (world: World, room: Room, account: Account, by: Account = account): void => {
  const at = { timestamp: world.now, ...place(room) }
  const bot = world.botOf(idOf(account))
  const admin = by === account ? {} : { admin_id: idOf(by) }
  markActive(world, room, by)
  if (room.owner === idOf(account)) room.owner = undefined
  room.members.delete(idOf(account))
  room.people = new Set(room.members.keys())
  room.former.set(idOf(account), by === account ? "left" : "removed")
  if (bot !== undefined) report(world, room, bot, { update_type: "bot_removed", ...at, user: by.user })
  announce(world, room, { update_type: "user_removed", ...at, user: account.user, ...admin }, account)
}

/** Gives an administrator these rights in place of those they had; without rights, they are one no more. */
export const appoint = (
  world: World,
  room: Room,
  member: Membership,
  rights: ReadonlyArray<Permission> | undefined,
  by: Account | undefined
): void => {
  if (by !== undefined) markActive(world, room, by)
  member.rights = rights === undefined ? undefined : new Set(rights)
  const bot = world.botOf(idOf(member.account))
  if (bot === undefined) return
  report(world, room, bot, {
    update_type: "bot_admin_permissions_changed",
    timestamp: world.now,
    ...place(room),
    ...(by === undefined ? {} : { user_id: idOf(by) }),
    bot_id: idOf(member.account),
    is_admin: rights !== undefined,
    ...(rights === undefined ? {} : { permissions: rights })
  })
}

export const closeRoom = (world: World, room: Room): void => {
  room.isClosed = true
  room.lastEventAt = world.now
}

export const rename = (world: World, room: Room, title: string, by: Account): void => {
  room.title = title
  markActive(world, room, by)
  const { chat_id } = room
  announce(world, room, { update_type: "chat_title_changed", timestamp: world.now, chat_id, user: by.user, title })
}
