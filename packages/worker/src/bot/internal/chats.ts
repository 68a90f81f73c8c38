import * as ChatRecord from "@colloquy/core/bot/ChatRecord"
import type * as ChatStore from "@colloquy/core/bot/ChatStore"
import * as Arr from "effect/Array"
import * as Option from "effect/Option"
import type { DurableObjectStorage } from "../../base/DurableObjectStorage.ts"
import { openStore } from "../../base/internal/database.ts"

type Row = { readonly record: string }

/** `record` is JSON. The other columns repeat its fields for the filters. `left_at` is set for a tombstone. */
const migrations: ReadonlyArray<string> = [
  `CREATE TABLE colloquy_chats (
    chat_id INTEGER PRIMARY KEY,
    type TEXT,
    last_seen INTEGER NOT NULL,
    left_at INTEGER,
    record TEXT NOT NULL
  );
  CREATE INDEX colloquy_chats_left_at ON colloquy_chats (left_at) WHERE left_at IS NOT NULL`
]

const fromRow = ({ record }: Row): ChatRecord.ChatRecord => JSON.parse(record)

/** The store of chats in the storage of a Durable Object. */
export const makeStore = (storage: DurableObjectStorage) =>
  openStore<ChatStore.ChatStore["Service"]>(storage, "chats", migrations, (query) => {
    const find = (chat_id: number): ChatRecord.ChatRecord | undefined =>
      query<Row>("SELECT record FROM colloquy_chats WHERE chat_id = ?", chat_id).map(fromRow)[0]

    const combine = (record: ChatRecord.ChatRecord): void => {
      const stored = find(record.chat_id)
      const combined = stored === undefined ? record : ChatRecord.combine(stored, record)
      query(
        "INSERT OR REPLACE INTO colloquy_chats (chat_id, type, last_seen, left_at, record) VALUES (?, ?, ?, ?, ?)",
        combined.chat_id,
        combined.type ?? null,
        combined.last_seen,
        ChatRecord.isKnown(combined) ? null : combined.left_at,
        JSON.stringify(combined)
      )
    }

    /** The condition of a filter, with its values. */
    const matching = ({ activeSince, type }: ChatStore.Filter) => ({
      condition: `left_at IS NULL${type === undefined ? "" : " AND type = ?"}${activeSince === undefined ? "" : " AND last_seen >= ?"}`,
      values: [...(type === undefined ? [] : [type]), ...(activeSince === undefined ? [] : [activeSince])]
    })

    const findKnown = (chat_id: number) => Option.filter(Option.fromUndefinedOr(find(chat_id)), ChatRecord.isKnown)

    return {
      upsert: (records) => ChatRecord.combineAll(records).forEach(combine),
      get: (chat_id) => Option.map(findKnown(chat_id), ChatRecord.toKnownChat),
      page: (filter, after, limit) => {
        const { condition, values } = matching(filter)
        const chats = query<Row>(
          `SELECT record FROM colloquy_chats WHERE ${condition} AND chat_id > ? ORDER BY chat_id LIMIT ?`,
          ...values,
          Option.getOrElse(after, () => Number.NEGATIVE_INFINITY),
          limit
        ).map((row) => ChatRecord.toKnownChat(fromRow(row)))
        return {
          chats,
          next: chats.length < limit ? Option.none() : Option.map(Arr.last(chats), ({ chat_id }) => chat_id)
        }
      },
      count: (filter) => {
        const { condition, values } = matching(filter)
        return query<{ count: number }>(`SELECT count(*) AS count FROM colloquy_chats WHERE ${condition}`, ...values)[0]
          .count
      },
      remove: (chat_id) => {
        const known = findKnown(chat_id)
        if (Option.isNone(known)) return false
        const { last_seen } = known.value
        combine(ChatRecord.make(chat_id, last_seen, { left_at: last_seen }))
        return true
      },
      cleanup: (before) => query("DELETE FROM colloquy_chats WHERE left_at < ? RETURNING 1", before).length
    }
  })
