/**
 * The record of a chat in a `ChatStore`. For authors of stores.
 *
 * Updates may arrive late, out of order and repeatedly. Therefore every update becomes a record of its facts, with
 * their time, and a store combines the records of a chat. Combining is associative and idempotent, and its order does
 * not matter: of each fact, the latest one applies. A chat that the bot left keeps a record without facts, a tombstone,
 * so that an older update does not bring the chat back.
 *
 * API: Events.
 *
 * @since 0.1.0
 */
import type { Chat } from "../model/Chat.ts"
import type { KnownChat, Rights } from "./ChatStore.ts"
import type { Message } from "../model/Message.ts"
import type { ChatId, ChatType } from "../model/Recipient.ts"
import type { Update } from "../model/Update.ts"
import type { User } from "../model/User.ts"

/**
 * A value from an update, and the time of the update in Unix milliseconds.
 *
 * @category models
 * @since 0.1.0
 */
export interface Dated<A> {
  readonly at: number
  readonly value: A
}

/**
 * The record of a chat. Times are Unix milliseconds of the platform's clock. The bot is in the chat while
 * `member_at > left_at`.
 *
 * @category models
 * @since 0.1.0
 */
export interface ChatRecord {
  readonly chat_id: ChatId
  readonly type: ChatType | undefined
  /** Time of the first update. */
  readonly first_seen: number
  /** Time of the last update. */
  readonly last_seen: number
  /** Time of the last update that proves that the bot is in the chat, or 0 if there was none. */
  readonly member_at: number
  /** The time when the bot last left the chat, or -1 if the bot never left the chat. */
  readonly left_at: number
  /** The title, or `undefined` if no update since the bot last left contained a title. */
  readonly title: Dated<string | null> | undefined
  /** The user of a dialog, or `undefined` if no update since the bot last left contained a user. */
  readonly user: Dated<User> | undefined
  /** The permissions of the bot, or `undefined` if no update contained them since the bot last left. */
  readonly rights: Dated<Rights> | undefined
}

type Facts = Partial<Pick<ChatRecord, "type" | "member_at" | "left_at" | "title" | "user" | "rights">>

/**
 * Creates a record whose values all have the same time.
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

// Without the times of activity, which would be outdated at once.
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

/**
 * Returns the facts of an update about its chat as a record, or `undefined` if the update has no chat.
 *
 * - `bot_removed`, `bot_stopped` and `dialog_removed` mean that the bot left the chat.
 * - All other updates mean that the bot is in the chat, except updates that a user can also cause in a stopped dialog:
 *   an edited or removed message, and a dialog that is cleared, muted or unmuted. Such updates do not bring back a chat
 *   that the bot left.
 *
 * @assumption updatesOfStoppedDialogs
 *
 * **Example** (Whether an update means that the bot left the chat)
 *
 * ```ts
 * import type { Update } from "@colloquy/core"
 * import * as ChatRecord from "@colloquy/core/bot/ChatRecord"
 *
 * export const isLeft = (update: Update.Update) => {
 *   const record = ChatRecord.fromUpdate(update)
 *   return record !== undefined && record.left_at >= record.member_at
 * }
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromUpdate = (update: Update): ChatRecord | undefined => {
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
    case "colloquy_timer":
    case "unknown":
      return undefined
  }
}

/**
 * Returns a response of `GET /chats/{chatId}` as a record. Its values have the time of the last event of the chat, so that
 * newer updates replace them.
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

/**
 * Returns a known chat as a record, for example to store an export of another store. Its values have the time `last_seen`, so
 * that newer updates replace them.
 *
 * **Example** (Copy the chats of one store to another)
 *
 * ```ts
 * import { ChatStore } from "@colloquy/core"
 * import * as ChatRecord from "@colloquy/core/bot/ChatRecord"
 * import * as Stream from "effect/Stream"
 *
 * export const copyTo = (target: ChatStore.ChatStore["Service"]) =>
 *   ChatStore.stream().pipe(
 *     Stream.map(ChatRecord.fromKnownChat),
 *     Stream.grouped(500),
 *     Stream.runForEach((records) => target.upsert(records))
 *   )
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromKnownChat = ({
  chat_id,
  first_seen,
  last_seen,
  rights,
  title,
  type,
  user
}: KnownChat): ChatRecord => ({
  ...make(chat_id, last_seen, {
    member_at: last_seen,
    type,
    title: title === undefined ? undefined : { at: last_seen, value: title },
    user: user === undefined ? undefined : { at: last_seen, value: user },
    rights: rights === undefined ? undefined : { at: last_seen, value: rights }
  }),
  first_seen
})

const later = <A>(a: Dated<A> | undefined, b: Dated<A> | undefined, after: number): Dated<A> | undefined => {
  const latest = a === undefined || (b !== undefined && b.at >= a.at) ? b : a
  return latest !== undefined && latest.at > after ? latest : undefined
}

/**
 * Combines two records of one chat. Facts from before the bot left are dropped. Of two facts with the same time, the
 * second one applies, and leaving takes precedence over joining.
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
 * Combines records into one for each chat, in ascending order of the ids. Stores write them in this order, so that
 * concurrent transactions do not deadlock.
 *
 * @category combining
 * @since 0.1.0
 */
export const combineAll = (records: Iterable<ChatRecord>): ReadonlyArray<ChatRecord> => {
  const chats = new Map<ChatId, ChatRecord>()
  for (const record of records) {
    const known = chats.get(record.chat_id)
    // Combined with itself, a record loses the facts from before the bot left.
    chats.set(record.chat_id, combine(known ?? record, record))
  }
  return [...chats.values()].sort((a, b) => a.chat_id - b.chat_id)
}

/**
 * Returns whether the bot is in the chat.
 *
 * @category guards
 * @since 0.1.0
 */
export const isKnown = (record: Pick<ChatRecord, "member_at" | "left_at">): boolean => record.member_at > record.left_at

/**
 * Returns the chat of a record.
 *
 * @category conversions
 * @since 0.1.0
 */
export const toKnownChat = (record: ChatRecord): KnownChat => ({
  chat_id: record.chat_id,
  ...(record.type === undefined ? {} : { type: record.type }),
  ...(record.title?.value == null ? {} : { title: record.title.value }),
  ...(record.user === undefined ? {} : { user: record.user.value }),
  ...(record.rights === undefined ? {} : { rights: record.rights.value }),
  first_seen: record.first_seen,
  last_seen: record.last_seen
})
