import type { InboxStore, Row, RowContent, RowWrite } from "../../InboxStore.ts"
import type { Database } from "../../SqliteInboxStore.ts"
import type { Tables } from "./tables.ts"
import { decodeText, encodeText, endOf } from "./texts.ts"

type RowTuple = [key: string, text: string, revision: string, expiresAt: number | null, dueAt: number | null]

const columns = "key, text, revision, expires_at, due_at"

const toRow = ([key, text, revision, expiresAt, dueAt]: RowTuple): Row => ({
  key: decodeText(key),
  text: decodeText(text),
  revision,
  ...(expiresAt === null ? {} : { expiresAt }),
  ...(dueAt === null ? {} : { dueAt })
})

const dueAtOf = ({ due }: RowContent, now: number): number | null => {
  if (due === undefined) return null
  return "at" in due.time ? Math.floor(due.time.at) : now + Math.ceil(due.time.after)
}

/** A due row, and the update that the row becomes. */
type DueTuple = [key: string, text: string, revision: string, dueAt: number, partitionKey: string]

/** Rows, by the id of the update to whose journal they belong, or 0. Writes pass their first due time to `onWork`. */
export const makeRows = (all: Database["all"], { rows }: Tables, onWork: (at: number) => void) => {
  const selectRevision = `SELECT revision FROM ${rows} WHERE update_id = ? AND key = ?`
  const deleteRow = `DELETE FROM ${rows} WHERE update_id = ? AND key = ?`
  const replaceRow = `INSERT OR REPLACE INTO ${rows} (update_id, key, text, revision, expires_at, user, due_at, partition_key)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
  const selectRow = `SELECT ${columns} FROM ${rows} WHERE update_id = 0 AND key = ?`
  const selectNextDue = `SELECT due_at FROM ${rows} WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1`
  const selectJournal = `SELECT ${columns} FROM ${rows} WHERE update_id = ?`
  const deleteJournal = `DELETE FROM ${rows} WHERE update_id = ?`
  const selectAnyJournal = `SELECT 1 FROM ${rows} WHERE update_id > 0 LIMIT 1`

  const isExpected = (updateId: number, { expected, key }: RowWrite): boolean => {
    if (expected === undefined) return true
    const [found] = all<[string]>(selectRevision, updateId, encodeText(key))
    return (found?.[0] ?? null) === expected
  }

  /** Returns the due time of the row. */
  const write = (updateId: number, { key, revision, row }: RowWrite, now: number): number | null => {
    if (row === undefined) {
      all(deleteRow, updateId, encodeText(key))
      return null
    }
    const dueAt = dueAtOf(row, now)
    all(
      replaceRow,
      updateId,
      encodeText(key),
      encodeText(row.text),
      revision,
      row.expiresAt ?? null,
      row.user === undefined ? null : encodeText(row.user),
      dueAt,
      row.due === undefined ? null : encodeText(row.due.partitionKey)
    )
    return dueAt
  }

  return {
    /** Returns the writes whose conditions hold. `undefined` if a condition that does not hold is a conflict. */
    admit: (updateId: number, writes: ReadonlyArray<RowWrite>): ReadonlyArray<RowWrite> | undefined => {
      const admitted: Array<RowWrite> = []
      for (const each of writes) {
        if (isExpected(updateId, each)) admitted.push(each)
        else if (each.otherwise !== "skip") return undefined
      }
      return admitted
    },
    write: (updateId: number, writes: ReadonlyArray<RowWrite>, now: number): void => {
      let earliest: number | undefined
      for (const each of writes) {
        const dueAt = write(updateId, each, now)
        if (dueAt !== null && (earliest === undefined || dueAt < earliest)) earliest = dueAt
      }
      if (earliest !== undefined) onWork(earliest)
    },
    read: (key: string): Row | undefined => {
      const [found] = all<RowTuple>(selectRow, encodeText(key))
      return found === undefined ? undefined : toRow(found)
    },
    page: ({ after, by, limit, prefix }: Parameters<InboxStore["Service"]["rows"]>[0]): ReadonlyArray<Row> => {
      const start = encodeText(prefix)
      const key = after === undefined ? "" : encodeText(after.key)
      const found =
        by === "key"
          ? all<RowTuple>(
              `SELECT ${columns} FROM ${rows} WHERE update_id = 0 AND key >= ? AND key < ? AND key > ?
                ORDER BY key LIMIT ? + 0`,
              start,
              endOf(start),
              key,
              limit
            )
          : all<RowTuple>(
              `SELECT ${columns} FROM ${rows} WHERE update_id = 0 AND due_at IS NOT NULL AND (due_at, key) > (?, ?)
                AND key >= ? AND key < ? ORDER BY due_at, key LIMIT ? + 0`,
              after?.dueAt ?? Number.MIN_SAFE_INTEGER,
              key,
              start,
              endOf(start),
              limit
            )
      return found.map(toRow)
    },
    /** Deletes the rows of a user, and returns their number. */
    forget: (user: string, prefix: string): number => {
      const start = encodeText(prefix)
      return all(
        `DELETE FROM ${rows} WHERE update_id = 0 AND user = ? AND key >= ? AND key < ? RETURNING 1`,
        encodeText(user),
        start,
        endOf(start)
      ).length
    },
    /** Deletes rows that expired before a time, and returns their number. */
    cleanup: (expiredBefore: number, limit: number): number =>
      all(
        `DELETE FROM ${rows} WHERE (update_id, key) IN (
          SELECT update_id, key FROM ${rows} WHERE expires_at < ? LIMIT ? + 0
        ) RETURNING 1`,
        expiredBefore,
        limit
      ).length,
    /** Returns the earliest due rows, which are due no longer. */
    takeDue: (now: number, limit: number): ReadonlyArray<DueTuple> => {
      const due = all<DueTuple>(
        `SELECT key, text, revision, due_at, partition_key FROM ${rows} WHERE due_at <= ? ORDER BY due_at, key LIMIT ? + 0`,
        now,
        limit
      )
      for (const [key] of due) all(`UPDATE ${rows} SET due_at = NULL WHERE update_id = 0 AND key = ?`, key)
      return due
    },
    nextDue: (): number | undefined => all<[number]>(selectNextDue)[0]?.[0],
    /** Whether any update has a journal. */
    hasJournals: (): boolean => all(selectAnyJournal).length > 0,
    /** Returns the journal of an update, or `undefined` if the journal has no rows. */
    journalOf: (updateId: number): ReadonlyArray<Row> | undefined => {
      const found = all<RowTuple>(selectJournal, updateId)
      return found.length === 0 ? undefined : found.map(toRow)
    },
    moveJournal: (from: number, to: number): void =>
      void all(`UPDATE ${rows} SET update_id = ? WHERE update_id = ?`, to, from),
    removeJournal: (updateId: number): void => void all(deleteJournal, updateId)
  }
}
