import type { Database } from "../../SqliteInboxStore.ts"
import type { Tables } from "./tables.ts"

/** The numbers of updates, and the next id. An operation changes the object, and {@link makeCounts} stores the object. */
export interface Counts {
  nextId: number
  queued: number
  deadLetters: number
}

export const makeCounts = (all: Database["all"], { counts, deadLetters, updates }: Tables) => {
  const select = `SELECT next_id, queued, dead_letters FROM ${counts}`
  const update = `UPDATE ${counts} SET next_id = ?, queued = ?, dead_letters = ?`

  const read = (): Counts => {
    const [[nextId, queued, dead]] = all<[number, number, number]>(select) as [[number, number, number]]
    return { nextId, queued, deadLetters: dead }
  }

  return {
    read,
    /** Runs a function that may change the numbers, in a transaction. */
    change: <A>(use: (counts: Counts) => A): A => {
      const before = read()
      const after = { ...before }
      const result = use(after)
      if (
        after.nextId !== before.nextId ||
        after.queued !== before.queued ||
        after.deadLetters !== before.deadLetters
      ) {
        all(update, after.nextId, after.queued, after.deadLetters)
      }
      return result
    },
    /** Rows may have been changed outside of the library while no process was running. */
    recount: (): void =>
      void all(
        `UPDATE ${counts} SET queued = (SELECT count(*) FROM ${updates}),
          dead_letters = (SELECT count(*) FROM ${deadLetters})`
      )
  }
}
