import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { KnownChat } from "../../KnownChat.ts"
import * as ChatRecord from "../../ChatRecord.ts"
import type { ChatStore, Filter } from "../../ChatStore.ts"
import type { ChatId } from "../../Recipient.ts"

interface Kept {
  readonly record: ChatRecord.ChatRecord
  readonly data: KnownChat["data"]
  /** When the chat was last seen before the data was written. */
  readonly data_at: number
}

/** The place of the first id above `after` in ascending `ids`. */
const placeAfter = (ids: ReadonlyArray<ChatId>, after: ChatId): number => {
  let low = 0
  let high = ids.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ids[middle]! <= after) low = middle + 1
    else high = middle
  }
  return low
}

const matches = (filter: Filter, { record }: Kept): boolean =>
  ChatRecord.isKnown(record) &&
  (filter.type === undefined || record.type === filter.type) &&
  (filter.activeSince === undefined || record.last_seen >= filter.activeSince)

/** Chats in a map; the order of the ids is made when a page asks for it. */
export const make = (): ChatStore["Service"] => {
  const chats = new Map<ChatId, Kept>()
  let order: ReadonlyArray<ChatId> | undefined

  const keep = ({ record, data, data_at }: Kept) => {
    if (!chats.has(record.chat_id)) order = undefined
    chats.set(record.chat_id, { record, data: data_at > record.left_at ? data : {}, data_at })
  }

  const combine = (told: ChatRecord.ChatRecord) => {
    const kept = chats.get(told.chat_id)
    keep(
      kept === undefined
        ? { record: told, data: {}, data_at: 0 }
        : { ...kept, record: ChatRecord.combine(kept.record, told) }
    )
  }

  const ids = (): ReadonlyArray<ChatId> => (order ??= [...chats.keys()].sort((a, b) => a - b))

  const known = (chat_id: ChatId): Option.Option<Kept> =>
    Option.filter(Option.fromUndefinedOr(chats.get(chat_id)), ({ record }) => ChatRecord.isKnown(record))

  const toEntry = ({ record, data }: Kept) => ChatRecord.toKnownChat(record, data)

  return {
    upsert: (records) => Effect.sync(() => ChatRecord.combineAll(records).forEach(combine)),
    get: (chat_id) => Effect.sync(() => Option.map(known(chat_id), toEntry)),
    page: (filter, after, limit) =>
      Effect.sync(() => {
        const all = ids()
        const page: Array<KnownChat> = []
        let at = Option.match(after, { onNone: () => 0, onSome: (id) => placeAfter(all, id) })
        for (; at < all.length && page.length < limit; at++) {
          const kept = chats.get(all[at]!)!
          if (matches(filter, kept)) page.push(toEntry(kept))
        }
        return { chats: page, next: at < all.length ? Option.some(all[at - 1]!) : Option.none() }
      }),
    count: (filter) =>
      Effect.sync(() => {
        let count = 0
        for (const kept of chats.values()) if (matches(filter, kept)) count++
        return count
      }),
    remove: (chat_id) =>
      Effect.sync(() => {
        const kept = known(chat_id)
        if (Option.isNone(kept)) return false
        const { last_seen } = kept.value.record
        combine(ChatRecord.make(chat_id, last_seen, { left_at: last_seen }))
        return true
      }),
    compareAndSetData: (chat_id, expected, next) =>
      Effect.sync(() => {
        const kept = known(chat_id)
        if (Option.isNone(kept) || JSON.stringify(kept.value.data) !== JSON.stringify(expected)) return false
        keep({ ...kept.value, data: next, data_at: kept.value.record.last_seen })
        return true
      }),
    cleanup: (before) =>
      Effect.sync(() => {
        let swept = 0
        for (const [chat_id, { record }] of chats) {
          if (ChatRecord.isKnown(record) || record.left_at >= before) continue
          chats.delete(chat_id)
          order = undefined
          swept++
        }
        return swept
      })
  }
}
