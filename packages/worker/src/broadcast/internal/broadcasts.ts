import type {
  BegunRecipient,
  RecipientRecord,
  RecipientStatus,
  Status,
  Summary
} from "@colloquy/core/broadcast/Broadcast"
import type { BroadcastStore } from "@colloquy/core/broadcast/BroadcastStore"
import { ChatId, MessageId } from "@colloquy/core/model/Recipient"
import type * as Clock from "effect/Clock"
import * as Arr from "effect/Array"
import * as Option from "effect/Option"
import type { DurableObjectStorage } from "../../base/DurableObjectStorage.ts"
import { decodeText, encodeText, openStore, type Query } from "../../base/internal/database.ts"

type BroadcastRow = {
  readonly name: string
  readonly status: Status
  readonly started_at: number
  readonly total: number | null
  readonly sent: number
  readonly forbidden: number
  readonly not_found: number
  readonly failed: number
}

type RecordRow = {
  readonly chat_id: number
  readonly status: RecipientStatus
  readonly message_id: string | null
  readonly problem: string | null
  readonly at: number
}

/**
 * The owner of a broadcast counts until `lease_until`. The counts are sums over the records. Times are Unix
 * milliseconds.
 */
const migrations: ReadonlyArray<string> = [
  `CREATE TABLE colloquy_broadcasts (
    name TEXT PRIMARY KEY,
    status TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    total INTEGER,
    sent INTEGER NOT NULL DEFAULT 0,
    forbidden INTEGER NOT NULL DEFAULT 0,
    not_found INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    owner TEXT NOT NULL,
    lease_until INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE colloquy_broadcast_records (
    name TEXT NOT NULL,
    chat_id INTEGER NOT NULL,
    status TEXT NOT NULL,
    message_id TEXT,
    problem TEXT,
    at INTEGER NOT NULL,
    PRIMARY KEY (name, chat_id)
  ) WITHOUT ROWID`,
  "ALTER TABLE colloquy_broadcasts ADD COLUMN begun TEXT"
]

const toSummary = (row: BroadcastRow): Summary => ({
  name: decodeText(row.name),
  status: row.status,
  startedAt: row.started_at,
  total: row.total ?? undefined,
  counts: { Sent: row.sent, Forbidden: row.forbidden, NotFound: row.not_found, Failed: row.failed }
})

const toRecord = ({ at, chat_id, message_id, problem, status }: RecordRow): RecipientRecord => ({
  chat_id: ChatId.make(chat_id),
  status,
  at,
  ...(message_id === null ? {} : { message_id: MessageId.make(decodeText(message_id)) }),
  ...(problem === null ? {} : { problem: decodeText(problem) })
})

const textOrNull = (text: string | undefined) => (text === undefined ? null : encodeText(text))

/** Adds the records of chats that have none, and returns how many of them have a status. */
const insertAll = (query: Query, name: string, records: ReadonlyArray<RecipientRecord>) => {
  const added = records.filter(
    ({ at, chat_id, message_id, problem, status }) =>
      query(
        `INSERT INTO colloquy_broadcast_records (name, chat_id, status, message_id, problem, at)
          VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING 1`,
        name,
        chat_id,
        status,
        textOrNull(message_id),
        textOrNull(problem),
        at
      ).length > 0
  )
  return (status: RecipientStatus): number => added.filter((record) => record.status === status).length
}

/** Storages whose object has opened its broadcasts. */
const opened = new WeakSet<DurableObjectStorage>()

/** The store of broadcasts in the storage of a Durable Object. */
export const makeStore = (storage: DurableObjectStorage, clock: Clock.Clock) =>
  openStore<BroadcastStore["Service"]>(storage, "broadcasts", migrations, (query) => {
    // An object exists only once, so all owners of leases have ended when the object starts.
    if (!opened.has(storage)) query("UPDATE colloquy_broadcasts SET lease_until = 0")
    opened.add(storage)

    const summaryOf = (rows: ReadonlyArray<BroadcastRow>) => Option.map(Arr.head(rows), toSummary)

    return {
      acquireLease: ({ create, leaseDuration, name, owner }) => {
        const now = clock.currentTimeMillisUnsafe()
        const key = encodeText(name)
        if (create) {
          query(
            `INSERT INTO colloquy_broadcasts (name, status, started_at, owner, lease_until)
              VALUES (?, 'running', ?, '', 0) ON CONFLICT DO NOTHING`,
            key,
            now
          )
        }
        return summaryOf(
          query<BroadcastRow>(
            `UPDATE colloquy_broadcasts SET owner = ?, lease_until = ?
              WHERE name = ? AND (owner = ? OR (? AND lease_until <= ?)) RETURNING *`,
            owner,
            now + leaseDuration,
            key,
            owner,
            create ? 1 : 0,
            now
          )
        )
      },
      summary: (name) =>
        summaryOf(query<BroadcastRow>("SELECT * FROM colloquy_broadcasts WHERE name = ?", encodeText(name))),
      list: (limit) =>
        query<BroadcastRow>("SELECT * FROM colloquy_broadcasts ORDER BY started_at DESC, name LIMIT ?", limit).map(
          toSummary
        ),
      update: (name, { status, total }) =>
        query(
          `UPDATE colloquy_broadcasts SET status = COALESCE(?, status), total = COALESCE(?, total)
            WHERE name = ? AND status IN ('running', 'paused') RETURNING 1`,
          status ?? null,
          total ?? null,
          encodeText(name)
        ).length > 0,
      pending: (name, chats) =>
        query<{ value: ChatId }>(
          `SELECT value FROM json_each(?) WHERE NOT EXISTS
            (SELECT 1 FROM colloquy_broadcast_records WHERE name = ? AND chat_id = value) ORDER BY key`,
          JSON.stringify(chats),
          encodeText(name)
        ).map(({ value }) => value),
      begin: ({ name, owner, recipients }) => {
        query(
          "UPDATE colloquy_broadcasts SET begun = ? WHERE name = ? AND owner = ?",
          JSON.stringify(recipients),
          encodeText(name),
          owner
        )
      },
      begun: (name) => {
        const [row] = query<{ begun: string | null }>(
          "SELECT begun FROM colloquy_broadcasts WHERE name = ?",
          encodeText(name)
        )
        return JSON.parse(row?.begun ?? "[]") as ReadonlyArray<BegunRecipient>
      },
      addRecords: (name, records) => {
        const key = encodeText(name)
        if (query("SELECT 1 FROM colloquy_broadcasts WHERE name = ?", key).length === 0) return
        const count = insertAll(query, key, records)
        query(
          `UPDATE colloquy_broadcasts SET sent = sent + ?, forbidden = forbidden + ?, not_found = not_found + ?,
            failed = failed + ? WHERE name = ?`,
          count("Sent"),
          count("Forbidden"),
          count("NotFound"),
          count("Failed"),
          key
        )
      },
      records: (name, { after, limit }) =>
        query<RecordRow>(
          `SELECT chat_id, status, message_id, problem, at FROM colloquy_broadcast_records
            WHERE name = ? AND chat_id > ? ORDER BY chat_id LIMIT ?`,
          encodeText(name),
          after ?? Number.NEGATIVE_INFINITY,
          limit
        ).map(toRecord),
      remove: (name) => {
        const key = encodeText(name)
        query("DELETE FROM colloquy_broadcast_records WHERE name = ?", key)
        return query("DELETE FROM colloquy_broadcasts WHERE name = ? RETURNING 1", key).length > 0
      }
    }
  })
