/**
 * What a store keeps of a chat, so that updates may come late, swapped and more than once.
 *
 * An update becomes the record of what it alone tells; two records of one chat combine into one. The order in which
 * records are combined makes no difference, nor does combining one twice: each fact carries the time of its update, and
 * the latest counts. A chat that was left keeps a record without contents, so that an older update does not bring it
 * back.
 *
 * Only who writes a store of their own needs this module.
 *
 * API: Events.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import type { Chat } from "./Chat.ts"
import type { KnownChat, Rights } from "./KnownChat.ts"
import type { Message } from "./Message.ts"
import type { ChatId, ChatType } from "./Recipient.ts"
import type { Update } from "./Update.ts"
import type { User } from "./User.ts"

/**
 * A fact and when it was told, in milliseconds.
 *
 * @category models
 * @since 0.1.0
 */
export interface Dated<A> {
  readonly at: number
  readonly value: A
}

/**
 * The record of a chat. Times are milliseconds of the platform's clock.
 *
 * - `member_at` is when the bot was last seen to be in the chat: 0 where updates only showed that the chat exists.
 * - `left_at` is when the bot last left it: -1 where it did not. It is in the chat while `member_at > left_at`.
 * - `title`, `user` and `rights` are none where nothing was told since the bot last left.
 *
 * @category models
 * @since 0.1.0
 */
export interface ChatRecord {
  readonly chat_id: ChatId
  readonly type: ChatType | undefined
  readonly first_seen: number
  readonly last_seen: number
  readonly member_at: number
  readonly left_at: number
  readonly title: Dated<string | null> | undefined
  readonly user: Dated<User> | undefined
  readonly rights: Dated<Rights> | undefined
}

type Facts = Partial<Pick<ChatRecord, "type" | "member_at" | "left_at" | "title" | "user" | "rights">>

/**
 * A record of facts that were all told at one time.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (chat_id: ChatId, at: number, facts: Facts = {}): ChatRecord => ({
  chat_id,
  type: undefined,
  first_seen: at,
  last_seen: at,
  member_at: 0,
  left_at: -1,
  title: undefined,
  user: undefined,
  rights: undefined,
  ...facts
})

const typeOf = (is_channel: boolean | null | undefined): ChatType | undefined =>
  is_channel == null ? undefined : is_channel ? "channel" : "chat"

// Without the times of their activity, which would be out of date at once.
const profile = ({ user_id, first_name, last_name, username, is_bot }: User): User => ({
  user_id,
  first_name,
  ...(last_name == null ? {} : { last_name }),
  ...(username == null ? {} : { username }),
  is_bot
})

const ofDialog = (at: number, user: User | null | undefined): Facts =>
  user == null || user.is_bot ? { type: "dialog" } : { type: "dialog", user: { at, value: profile(user) } }

const ofMessage = (at: number, message: Message | null | undefined, member_at: number, user = message?.sender) => {
  const chat_id = message?.recipient.chat_id
  if (message == null || chat_id == null) return undefined
  const type = message.recipient.chat_type
  return make(chat_id, at, { member_at, ...(type === "dialog" ? ofDialog(at, user) : { type }) })
}

const read = (update: Update): ChatRecord | undefined => {
  const at = update.update_type === "unknown" ? 0 : update.timestamp
  switch (update.update_type) {
    case "message_created":
    case "comment_created":
    case "comment_edited":
      return ofMessage(at, update.message, at)
    case "message_callback":
      return ofMessage(at, update.message, at, update.callback.user)
    case "message_edited":
      return ofMessage(at, update.message, 0)
    case "message_removed":
      return make(update.chat_id, at)
    case "comment_removed":
      return make(update.chat_id, at, { member_at: at, type: "channel" })
    case "bot_added":
    case "user_added":
    case "user_removed":
      return make(update.chat_id, at, { member_at: at, type: typeOf(update.is_channel) })
    case "bot_removed":
      return make(update.chat_id, at, { left_at: at, type: typeOf(update.is_channel) })
    case "bot_started":
      return make(update.chat_id, at, { member_at: at, ...ofDialog(at, update.user) })
    case "bot_stopped":
    case "dialog_removed":
      return make(update.chat_id, at, { left_at: at, type: "dialog" })
    case "dialog_cleared":
    case "dialog_muted":
    case "dialog_unmuted":
      return make(update.chat_id, at, ofDialog(at, update.user))
    case "chat_title_changed":
      return make(update.chat_id, at, { member_at: at, title: { at, value: update.title ?? null } })
    case "bot_admin_permissions_changed": {
      const rights = { is_admin: update.is_admin ?? false, permissions: update.permissions ?? [] }
      const type = typeOf(update.is_channel)
      return make(update.chat_id, at, { member_at: at, type, rights: { at, value: rights } })
    }
    case "unknown":
      return undefined
  }
}

/**
 * What an update tells about its chat; none where it names no chat.
 *
 * - The bot left by `bot_removed`, `bot_stopped` and `dialog_removed`.
 * - It is in the chat by all others, except those that a person can also cause in a dialog that they stopped: an edited
 *   or removed message, a dialog cleared, muted or unmuted. These tell of a chat, but do not bring it back.
 *
 * @assumption updatesOfStoppedDialogs
 *
 * **Example**
 *
 * ```ts
 * import type { Update } from "@colloquy/core"
 * import * as ChatRecord from "@colloquy/core/ChatRecord"
 * import * as Option from "effect/Option"
 *
 * export const isLeft = (update: Update.Update) =>
 *   Option.exists(ChatRecord.fromUpdate(update), ({ left_at, member_at }) => left_at >= member_at)
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromUpdate = (update: Update): Option.Option<ChatRecord> => Option.fromUndefinedOr(read(update))

/**
 * What `GET /chats/{chatId}` tells. It is as old as the chat's last event, so an update that came after it counts more.
 *
 * @assumption chatStatus
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromChat = (chat: Chat): ChatRecord => {
  const at = chat.last_event_time
  const isGone = ["removed", "left", "closed", "suspended"].includes(chat.status)
  return make(chat.chat_id, at, {
    ...(isGone ? { left_at: at } : { member_at: at }),
    title: { at, value: chat.title ?? null },
    ...(chat.type === "dialog" ? ofDialog(at, chat.dialog_with_user) : { type: chat.type })
  })
}

const later = <A>(a: Dated<A> | undefined, b: Dated<A> | undefined, after: number): Dated<A> | undefined => {
  const latest = a === undefined || (b !== undefined && b.at >= a.at) ? b : a
  return latest !== undefined && latest.at > after ? latest : undefined
}

/**
 * What both records of one chat tell together. Facts that were told before the bot left are not kept. Of two facts of
 * the same millisecond the second counts, and leaving counts more than being there.
 *
 * @category combining
 * @since 0.1.0
 */
export const combine = (first: ChatRecord, second: ChatRecord): ChatRecord => {
  const left_at = Math.max(first.left_at, second.left_at)
  return {
    chat_id: first.chat_id,
    type: second.type ?? first.type,
    first_seen: Math.min(first.first_seen, second.first_seen),
    last_seen: Math.max(first.last_seen, second.last_seen),
    member_at: Math.max(first.member_at, second.member_at),
    left_at: left_at,
    title: later(first.title, second.title, left_at),
    user: later(first.user, second.user, left_at),
    rights: later(first.rights, second.rights, left_at)
  }
}

/**
 * One record for each chat, in the order of their ids: what a store writes at once, without two writers waiting for
 * each other in different orders.
 *
 * @category combining
 * @since 0.1.0
 */
export const combineAll = (records: Iterable<ChatRecord>): ReadonlyArray<ChatRecord> => {
  const chats = new Map<ChatId, ChatRecord>()
  for (const record of records) {
    const known = chats.get(record.chat_id)
    // A record combined with itself sheds what was told before the bot left.
    chats.set(record.chat_id, combine(known ?? record, record))
  }
  return [...chats.values()].sort((a, b) => a.chat_id - b.chat_id)
}

/**
 * Whether the bot is in the chat.
 *
 * @category guards
 * @since 0.1.0
 */
export const isKnown = (record: Pick<ChatRecord, "member_at" | "left_at">): boolean => record.member_at > record.left_at

/**
 * What the program sees of the record, with the data that it keeps with the chat.
 *
 * @category conversions
 * @since 0.1.0
 */
export const toKnownChat = (record: ChatRecord, data: KnownChat["data"]): KnownChat => ({
  chat_id: record.chat_id,
  ...(record.type === undefined ? {} : { type: record.type }),
  ...(record.title?.value == null ? {} : { title: record.title.value }),
  ...(record.user === undefined ? {} : { user: record.user.value }),
  ...(record.rights === undefined ? {} : { rights: record.rights.value }),
  first_seen: record.first_seen,
  last_seen: record.last_seen,
  data
})
