import type * as QueuedUpdate from "@colloquy/core/inbox/QueuedUpdate"
import { decodeText, numberOf, type Query } from "../../base/internal/database.ts"
import { type NewUpdate, toEntry } from "./queue.ts"

type DeadLetterRow = NewUpdate & {
  readonly id: number
  readonly attempts: number
  readonly error: string
  readonly failed_at: number
}

const columns = "id, partition_key, fingerprint, received_at, text, attempts, error, failed_at"

const toDeadLetter = (row: DeadLetterRow): QueuedUpdate.DeadLetter => ({
  ...toEntry(row),
  error: decodeText(row.error),
  attempts: row.attempts,
  failedAt: row.failed_at
})

/** The dead letters. */
export const makeDeadLetters = (query: Query) => {
  const take = (where: string, value: number): ReadonlyArray<DeadLetterRow> =>
    query<DeadLetterRow>(`DELETE FROM colloquy_dead_letters WHERE ${where} RETURNING ${columns}`, value)

  return {
    page: (after: string, limit: number): ReadonlyArray<QueuedUpdate.DeadLetter> =>
      query<DeadLetterRow>(
        `SELECT ${columns} FROM colloquy_dead_letters WHERE id > ? ORDER BY id LIMIT ?`,
        numberOf(after),
        limit
      ).map(toDeadLetter),
    /** Deletes and returns a dead letter. `undefined` for an unknown id. */
    take: (id: string): DeadLetterRow | undefined => take("id = ?", numberOf(id))[0],
    /** Deletes the dead letters that failed before a time, and returns them. */
    takeBefore: (failedBefore: number): ReadonlyArray<DeadLetterRow> => take("failed_at < ?", failedBefore),
    count: (): number => query<{ count: number }>("SELECT count(*) AS count FROM colloquy_dead_letters")[0].count
  }
}
