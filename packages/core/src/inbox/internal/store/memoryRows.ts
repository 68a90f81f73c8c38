import type { Row, RowContent, RowWrite } from "../../InboxStore.ts"
import { makeHeap } from "./heap.ts"

interface MemoryRow extends Row {
  readonly user: string | undefined
  readonly partitionKey: string | undefined
}

interface DueRow extends MemoryRow {
  readonly dueAt: number
  readonly partitionKey: string
}

type Position = Pick<Row, "key" | "dueAt">

const byKey = (a: Position, b: Position): number => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)

const byTime = (a: Position, b: Position): number => a.dueAt! - b.dueAt! || byKey(a, b)

const isDue = (row: MemoryRow): row is DueRow => row.dueAt !== undefined

/** Writes rows, or returns `false` if one of them conflicts. */
export const writeTo = <A extends Row>(
  rows: Map<string, A>,
  writes: ReadonlyArray<RowWrite>,
  toRow: (write: RowWrite, content: RowContent) => A
): boolean => {
  const holds = ({ expected, key }: RowWrite): boolean =>
    expected === undefined || expected === (rows.get(key)?.revision ?? null)
  if (writes.some((write) => write.otherwise !== "skip" && !holds(write))) return false
  for (const write of writes) {
    if (!holds(write)) continue
    if (write.row === undefined) rows.delete(write.key)
    else rows.set(write.key, toRow(write, write.row))
  }
  return true
}

/** The rows of a store in memory that do not belong to journals. Times are Unix milliseconds. */
export const makeRows = () => {
  const rows = new Map<string, MemoryRow>()
  /** Rows that were replaced or deleted stay until they are the first. */
  const due = makeHeap<DueRow>((a, b) => byTime(a, b) < 0)

  const first = (): DueRow | undefined => {
    for (;;) {
      const row = due.peek()
      if (row === undefined || rows.get(row.key) === row) return row
      due.pop()
    }
  }

  const remove = (isRemoved: (row: MemoryRow) => boolean): number => {
    let removed = 0
    for (const row of rows.values()) if (isRemoved(row) && rows.delete(row.key)) removed++
    return removed
  }

  return {
    get: (key: string): Row | undefined => rows.get(key),
    /** Writes rows, or returns `false` if one of them conflicts. */
    write: (writes: ReadonlyArray<RowWrite>, now: number): boolean =>
      writeTo(rows, writes, ({ key, revision }, { due: turn, expiresAt, text, user }) => {
        const dueAt = turn === undefined ? undefined : "at" in turn.time ? turn.time.at : now + turn.time.after
        const row = { key, text, revision, expiresAt, dueAt, user, partitionKey: turn?.partitionKey }
        if (isDue(row)) due.push(row)
        return row
      }),
    /** Calls `append` with the rows that are due, the earliest first. These rows have no due time any more. */
    takeDue: (now: number, limit: number, append: (row: DueRow) => void): void => {
      for (let taken = 0; taken < limit; taken++) {
        const row = first()
        if (row === undefined || row.dueAt > now) return
        due.pop()
        rows.set(row.key, { ...row, dueAt: undefined })
        append(row)
      }
    },
    /** Returns the due time of the first row, or `Infinity`. */
    nextDue: (): number => first()?.dueAt ?? Infinity,
    page: (prefix: string, by: "key" | "due", after: Position | undefined, limit: number): ReadonlyArray<Row> => {
      const compare = by === "key" ? byKey : byTime
      return [...rows.values()]
        .filter(
          (row) =>
            row.key.startsWith(prefix) &&
            (by === "key" || isDue(row)) &&
            (after === undefined || compare(row, after) > 0)
        )
        .sort(compare)
        .slice(0, limit)
    },
    forget: (user: string, prefix: string): number => remove((row) => row.user === user && row.key.startsWith(prefix)),
    cleanup: (before: number): void => void remove(({ expiresAt }) => expiresAt !== undefined && expiresAt < before)
  }
}
