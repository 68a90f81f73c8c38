import type { StoredTimer, TimerChange, TimerStore } from "@colloquy/core/inbox/InboxStore"
import { decodeText, encodeText, numberOf, type Query } from "../../../base/internal/database.ts"

/** A due timer, and its update. */
export type DueTimer = {
  readonly id: number
  readonly name: string
  readonly timer_key: string
  readonly user: string | null
  readonly partition_key: string
  readonly fingerprint: string
  readonly due_at: number
  readonly text: string
}

type TimerRow = { readonly id: number; readonly due_at: number; readonly partition_key: string; readonly text: string }

const toStored = ({ due_at, id, partition_key, text }: TimerRow): StoredTimer => ({
  id: String(id),
  dueAt: due_at,
  partitionKey: decodeText(partition_key),
  text: decodeText(text)
})

/** The timers, and the updates that they became. Times are Unix milliseconds. */
export const makeTimers = (query: Query) => {
  /** Ends the handling of an occurrence. Returns whether the timer recurs. */
  const end = (occurrence: string): boolean => {
    const [ended] = query<{ cancelled: number }>(
      "DELETE FROM colloquy_occurrences WHERE update_id = ? RETURNING cancelled",
      numberOf(occurrence)
    )
    return ended?.cancelled === 0
  }

  const change = ({ key, name, occurrence, set }: TimerChange, now: number): void => {
    const timer = [encodeText(name), encodeText(key)]
    if (occurrence === undefined) {
      query("UPDATE colloquy_occurrences SET cancelled = 1 WHERE name = ? AND timer_key = ?", ...timer)
      query("DELETE FROM colloquy_timers WHERE name = ? AND timer_key = ?", ...timer)
    } else if (!end(occurrence)) return
    if (set === undefined) return
    query(
      `INSERT OR REPLACE INTO colloquy_timers (name, timer_key, due_at, partition_key, fingerprint, text, user)
        VALUES (?, ?, ?, ?, ?, ?, ?)`,
      ...timer,
      "at" in set.due ? Math.floor(set.due.at) : now + Math.ceil(set.due.after),
      encodeText(set.partitionKey),
      encodeText(set.fingerprint),
      encodeText(set.text),
      set.user === undefined ? null : encodeText(set.user)
    )
  }

  return {
    change: (changes: ReadonlyArray<TimerChange>, now: number): void => {
      for (const each of changes) change(each, now)
    },
    moveDue: (now: number, limit: number, append: (timer: DueTimer) => number): void => {
      const due = query<DueTimer>(
        `SELECT id, name, timer_key, user, partition_key, fingerprint, due_at, text FROM colloquy_timers
          WHERE due_at <= ? ORDER BY due_at, id LIMIT ?`,
        now,
        limit
      )
      for (const timer of due) {
        query("DELETE FROM colloquy_timers WHERE id = ?", timer.id)
        query(
          "INSERT INTO colloquy_occurrences (update_id, name, timer_key, user) VALUES (?, ?, ?, ?)",
          append(timer),
          timer.name,
          timer.timer_key,
          timer.user
        )
      }
    },
    /** When the next timer is due. */
    next: (): number | undefined =>
      query<{ due_at: number }>("SELECT due_at FROM colloquy_timers ORDER BY due_at LIMIT 1")[0]?.due_at,
    isCancelled: (occurrence: string): boolean =>
      query<{ cancelled: number }>(
        "SELECT cancelled FROM colloquy_occurrences WHERE update_id = ?",
        numberOf(occurrence)
      )[0]?.cancelled === 1,
    page: ({ after, limit }: Parameters<TimerStore["page"]>[0]): ReadonlyArray<StoredTimer> =>
      query<TimerRow>(
        `SELECT id, due_at, partition_key, text FROM colloquy_timers WHERE (due_at, id) > (?, ?)
          ORDER BY due_at, id LIMIT ?`,
        after?.dueAt ?? Number.NEGATIVE_INFINITY,
        numberOf(after?.id ?? "0"),
        limit
      ).map(toStored),
    /** Returns the number of cancelled timers. */
    forget: (user: string): number => {
      const encoded = encodeText(user)
      return (
        query("DELETE FROM colloquy_timers WHERE user = ? RETURNING 1", encoded).length +
        query("UPDATE colloquy_occurrences SET cancelled = 1 WHERE user = ? AND cancelled = 0 RETURNING 1", encoded)
          .length
      )
    }
  }
}
