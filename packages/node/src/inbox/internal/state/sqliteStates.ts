import type { StateWrite } from "@colloquy/core/inbox/InboxStore"
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Dialect } from "../../../base/internal/stores/sql.ts"
import { toInserts } from "../sqliteInserts.ts"
import { tableNames } from "../sqlTables.ts"
import { identify, keyColumns, type StateRow, toKeyRow, toStateRow } from "./sqlStates.ts"

/** The state that one transaction changes. */
export interface Changes {
  /**
   * Adds writes, all or none. Returns whether the revisions, after the earlier writes, match the expected revisions.
   */
  readonly add: (writes: ReadonlyArray<StateWrite>) => boolean
  /** Stores the added writes. */
  readonly apply: Effect.Effect<void, SqlError>
}

/** The writes of the state in SQLite. */
export const make = (sql: SqlClient.SqlClient, table: string, { rows }: Dialect) => {
  const states = sql(tableNames(table).states)

  const revisionsOf = (writes: ReadonlyArray<StateWrite>) =>
    Effect.map(
      sql<{ place: number; revision: string }>`
        SELECT r.place, s.revision FROM ${rows(
          { place: "bigint", ...keyColumns },
          writes.map((write, place) => ({ place, ...toKeyRow(write) }))
        )} JOIN ${states} AS s ON s.name = r.name AND s.scope = r.scope`,
      (found) => new Map(found.map(({ place, revision }) => [identify(writes[place]), revision]))
    )

  const remove = (keys: ReadonlyArray<StateRow>) =>
    sql`DELETE FROM ${states} WHERE (name, scope) IN (SELECT r.name, r.scope FROM ${rows(keyColumns, keys)})`

  const apply = Effect.fnUntraced(function* (changed: ReadonlyArray<StateRow>) {
    const removed = changed.filter(({ revision }) => revision === "")
    if (removed.length > 0) yield* remove(removed)
    for (const values of toInserts(changed.filter(({ revision }) => revision !== ""))) {
      yield* sql`
        INSERT INTO ${states} ${sql.insert(values)} ON CONFLICT (name, scope) DO UPDATE SET
          revision = excluded.revision, version = excluded.version, expires_at = excluded.expires_at, text = excluded.text`
    }
  })

  /** Prepares a transaction that may apply some of these writes. */
  const changes = (all: ReadonlyArray<StateWrite>): Effect.Effect<Changes, SqlError> =>
    Effect.map(all.length === 0 ? Effect.succeed(new Map<string, string>()) : revisionsOf(all), (revisions) => {
      const changed = new Map<string, StateRow>()
      return {
        add: (writes) => {
          if (!writes.every((write) => revisions.get(identify(write)) === write.expected)) return false
          for (const write of writes) {
            const row = toStateRow(write)
            changed.set(identify(write), row)
            if (row.revision === "") revisions.delete(identify(write))
            else revisions.set(identify(write), row.revision)
          }
          return true
        },
        apply: Effect.suspend(() => apply([...changed.values()]))
      }
    })

  const write = (writes: ReadonlyArray<StateWrite>): Effect.Effect<boolean, SqlError> =>
    Effect.flatMap(changes(writes), ({ add, apply }) => (add(writes) ? Effect.as(apply, true) : Effect.succeed(false)))

  return { changes, write }
}
