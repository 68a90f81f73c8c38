import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as ChatRecord from "../../ChatRecord.ts"
import type { Filter, KnownChat } from "../../KnownChat.ts"
import type { ChatId } from "../../Recipient.ts"

/** Returns the index of the first id above `after` in ascending `ids`. */
const indexAfter = (ids: ReadonlyArray<ChatId>, after: ChatId): number => {
  let low = 0
  let high = ids.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ids[middle]! <= after) low = middle + 1
    else high = middle
  }
  return low
}

const matches = (filter: Filter, record: ChatRecord.ChatRecord): boolean =>
  ChatRecord.isKnown(record) &&
  (filter.type === undefined || record.type === filter.type) &&
  (filter.activeSince === undefined || record.last_seen >= filter.activeSince)

export const make = () => {
  const chats = new Map<ChatId, ChatRecord.ChatRecord>()
  /** The ids in ascending order, until a chat is added or deleted. */
  let sorted: ReadonlyArray<ChatId> | undefined

  const combine = (record: ChatRecord.ChatRecord) => {
    const stored = chats.get(record.chat_id)
    if (stored === undefined) sorted = undefined
    chats.set(record.chat_id, stored === undefined ? record : ChatRecord.combine(stored, record))
  }

  const sortedIds = (): ReadonlyArray<ChatId> => (sorted ??= [...chats.keys()].sort((a, b) => a - b))

  const findKnown = (chat_id: ChatId): Option.Option<ChatRecord.ChatRecord> =>
    Option.filter(Option.fromUndefinedOr(chats.get(chat_id)), ChatRecord.isKnown)

  return {
    upsert: (records: ReadonlyArray<ChatRecord.ChatRecord>) =>
      Effect.sync(() => ChatRecord.combineAll(records).forEach(combine)),
    get: (chat_id: ChatId) => Effect.sync(() => Option.map(findKnown(chat_id), ChatRecord.toKnownChat)),
    page: (filter: Filter, after: Option.Option<ChatId>, limit: number) =>
      Effect.sync(() => {
        const ids = sortedIds()
        const page: Array<KnownChat> = []
        let index = Option.match(after, { onNone: () => 0, onSome: (id) => indexAfter(ids, id) })
        for (; index < ids.length && page.length < limit; index++) {
          const stored = chats.get(ids[index]!)!
          if (matches(filter, stored)) page.push(ChatRecord.toKnownChat(stored))
        }
        return { chats: page, next: index < ids.length ? Option.some(ids[index - 1]!) : Option.none() }
      }),
    count: (filter: Filter) =>
      Effect.sync(() => {
        let count = 0
        for (const stored of chats.values()) if (matches(filter, stored)) count++
        return count
      }),
    remove: (chat_id: ChatId) =>
      Effect.sync(() => {
        const stored = findKnown(chat_id)
        if (Option.isNone(stored)) return false
        const { last_seen } = stored.value
        combine(ChatRecord.make(chat_id, last_seen, { left_at: last_seen }))
        return true
      }),
    cleanup: (before: number) =>
      Effect.sync(() => {
        let deleted = 0
        for (const [chat_id, record] of chats) {
          if (ChatRecord.isKnown(record) || record.left_at >= before) continue
          chats.delete(chat_id)
          sorted = undefined
          deleted++
        }
        return deleted
      })
  }
}
