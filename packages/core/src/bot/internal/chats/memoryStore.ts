import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as ChatRecord from "../../ChatRecord.ts"
import type { Filter, KnownChat } from "../../ChatStore.ts"
import type { ChatId } from "../../../model/Recipient.ts"
import * as SortedIds from "./sortedIds.ts"

/** A call looks at this many chats in one turn of the event loop. */
const chatsPerTurn = 1000

const matches = (filter: Filter, record: ChatRecord.ChatRecord): boolean =>
  ChatRecord.isKnown(record) &&
  (filter.type === undefined || record.type === filter.type) &&
  (filter.activeSince === undefined || record.last_seen >= filter.activeSince)

export const make = () => {
  const chats = new Map<ChatId, ChatRecord.ChatRecord>()
  const ids = SortedIds.make()

  const combine = (record: ChatRecord.ChatRecord) => {
    const stored = chats.get(record.chat_id)
    if (stored === undefined) ids.add(record.chat_id)
    chats.set(record.chat_id, stored === undefined ? record : ChatRecord.combine(stored, record))
  }

  /** Visits all chats, including chats that are added meanwhile. Returns for how many of them `visit` returns `true`. */
  const countChats = Effect.fnUntraced(function* (visit: (record: ChatRecord.ChatRecord) => boolean) {
    let visited = 0
    let count = 0
    for (const record of chats.values()) {
      if (visit(record)) count++
      if (++visited % chatsPerTurn === 0) yield* Effect.yieldNow
    }
    return count
  })

  const findKnown = (chat_id: ChatId): Option.Option<ChatRecord.ChatRecord> =>
    Option.filter(Option.fromUndefinedOr(chats.get(chat_id)), ChatRecord.isKnown)

  return {
    upsert: (records: ReadonlyArray<ChatRecord.ChatRecord>) =>
      Effect.sync(() => ChatRecord.combineAll(records).forEach(combine)),
    get: (chat_id: ChatId) => Effect.sync(() => Option.map(findKnown(chat_id), ChatRecord.toKnownChat)),
    page: Effect.fnUntraced(function* (filter: Filter, after: Option.Option<ChatId>, limit: number) {
      const page: Array<KnownChat> = []
      for (let last = Option.getOrUndefined(after); ;) {
        const next = ids.after(last, chatsPerTurn)
        for (const id of next) {
          if (page.length >= limit) return { chats: page, next: Option.fromUndefinedOr(last) }
          last = id
          const stored = chats.get(id)!
          if (matches(filter, stored)) page.push(ChatRecord.toKnownChat(stored))
        }
        if (next.length < chatsPerTurn) return { chats: page, next: Option.none<ChatId>() }
        yield* Effect.yieldNow
      }
    }),
    count: (filter: Filter) => countChats((stored) => matches(filter, stored)),
    remove: (chat_id: ChatId) =>
      Effect.sync(() => {
        const stored = findKnown(chat_id)
        if (Option.isNone(stored)) return false
        const { last_seen } = stored.value
        combine(ChatRecord.make(chat_id, last_seen, { left_at: last_seen }))
        return true
      }),
    cleanup: (before: number) =>
      countChats((record) => {
        if (ChatRecord.isKnown(record) || record.left_at >= before) return false
        chats.delete(record.chat_id)
        ids.remove(record.chat_id)
        return true
      })
  }
}
