import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Dialect } from "../../base/internal/stores/sql.ts"
import { encodeIndexed } from "../../base/internal/stores/values.ts"
import * as ProcessLock from "./processLock.ts"

/** The names of owners in the database, and the processes that have ended. */
export const make = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, table: string, dialect: Dialect) {
  /**
   * With a SQLite file, the name of an owner begins with the id of its process, so that other processes detect its end.
   */
  let processLock: ProcessLock.ProcessLock | undefined
  // The finalizer runs after the last writes of batches, so that these writes have the lock.
  yield* Effect.addFinalizer(() => Effect.sync(() => processLock?.close()))
  const lockProcess =
    dialect.name === "pg"
      ? Effect.void
      : Effect.map(sql<{ name: string; file: string | null }>`PRAGMA database_list`, (databases) => {
          const file = databases.find(({ name }) => name === "main")?.file
          if (file) processLock = ProcessLock.make(file, table)
        })

  const ownerOf = (owner: string): string =>
    processLock === undefined ? encodeIndexed(owner) : `${processLock.id}:${encodeIndexed(owner)}`

  return {
    processLock: () => processLock,
    lockProcess,
    ownerOf,
    /** Runs a claim in a transaction, which first ends the leases of processes that have ended. */
    endingLeases: <A, E>(
      endLeasesOf: (id: string) => Effect.Effect<unknown, SqlError>,
      transaction: (effect: Effect.Effect<A, SqlError>) => Effect.Effect<A, E>,
      claim: () => Effect.Effect<A, SqlError>
    ): Effect.Effect<A, E> =>
      Effect.suspend(() => {
        const gone: Array<ProcessLock.GoneProcess> = []
        const claimed = Effect.suspend(() => {
          if (processLock !== undefined) gone.push(...processLock.findGone())
          const ended = Effect.forEach(gone, ({ id }) => endLeasesOf(id), { discard: true })
          return gone.length === 0 ? claim() : Effect.andThen(ended, claim())
        })
        return Effect.onExit(transaction(claimed), (exit) =>
          Effect.sync(() => gone.forEach(({ keep, remove }) => (Exit.isSuccess(exit) ? remove() : keep())))
        )
      })
  }
})
