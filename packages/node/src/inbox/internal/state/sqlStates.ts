import { type StateKey, type StateWrite, type StoredState, userOfScope } from "@colloquy/core/inbox/InboxStore"
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { type Dialect, indexName } from "../../../base/internal/stores/sql.ts"
import { decodeText, encodeIndexed, encodeText } from "../../../base/internal/stores/values.ts"
import { tableNames } from "../sqlTables.ts"

/** A value to store. `revision` is empty if the value is deleted. */
export type StateRow = {
  readonly name: string
  readonly scope: string
  readonly revision: string
  readonly version: number
  readonly expires_at: number | null
  readonly user_scope: string | null
  readonly text: string
}

/** A value in the table. */
interface StoredRow {
  readonly scope: string
  readonly revision: string
  readonly version: number | bigint
  readonly expires_at: number | bigint | null
  readonly text: string
}

export const keyColumns = { name: "text", scope: "text" } as const

export const toKeyRow = ({ name, scope }: StateKey) => ({ name: encodeIndexed(name), scope: encodeIndexed(scope) })

export const identify = ({ name, scope }: StateKey): string => JSON.stringify([name, scope])

export const toStateRow = (write: StateWrite): StateRow => {
  const { revision, scope, value } = write
  const user = userOfScope(scope)
  return {
    ...toKeyRow(write),
    revision: value === undefined ? "" : revision,
    version: value?.version ?? 0,
    expires_at: value?.expiresAt ?? null,
    user_scope: user === undefined ? null : encodeIndexed(user),
    text: value === undefined ? "" : encodeText(value.text)
  }
}

const toStored = ({ expires_at, revision, text, version }: StoredRow): StoredState => ({
  text: decodeText(text),
  version: Number(version),
  expiresAt: expires_at === null ? undefined : Number(expires_at),
  revision
})

export const createStates = (
  sql: SqlClient.SqlClient,
  table: string,
  { integer, text }: Dialect
): Effect.Effect<void, SqlError> =>
  Effect.gen(function* () {
    const { states } = tableNames(table)
    const index = (purpose: string) => sql(indexName(states, purpose))
    yield* sql`CREATE TABLE ${sql(states)} (
      name ${text} NOT NULL,
      scope ${text} NOT NULL,
      revision ${text} NOT NULL,
      version ${integer} NOT NULL,
      expires_at ${integer},
      user_scope ${text},
      text ${text} NOT NULL,
      PRIMARY KEY (name, scope)
    )`
    yield* sql`CREATE INDEX ${index("user")} ON ${sql(states)} (user_scope) WHERE user_scope IS NOT NULL`
    yield* sql`CREATE INDEX ${index("expires_at")} ON ${sql(states)} (expires_at) WHERE expires_at IS NOT NULL`
  })

/** The operations on state that SQLite and PostgreSQL share. */
export const make = (sql: SqlClient.SqlClient, table: string, { lock, lockFree, rows }: Dialect) => {
  const states = sql(tableNames(table).states)

  const get = (keys: ReadonlyArray<StateKey>) =>
    Effect.map(
      sql<StoredRow & { place: number | bigint }>`
        SELECT r.place, s.scope, s.revision, s.version, s.expires_at, s.text
        FROM ${rows(
          { place: "bigint", ...keyColumns },
          keys.map((key, place) => ({ place, ...toKeyRow(key) }))
        )} JOIN ${states} AS s ON s.name = r.name AND s.scope = r.scope`,
      (found): ReadonlyArray<StoredState | undefined> => {
        const byPlace = new Map(found.map((row) => [Number(row.place), row]))
        return keys.map((_, place) => {
          const row = byPlace.get(place)
          return row === undefined ? undefined : toStored(row)
        })
      }
    )

  const page = (name: string, after: string | undefined, limit: number) =>
    Effect.map(
      sql<StoredRow>`
        SELECT scope, revision, version, expires_at, text FROM ${states}
        WHERE name = ${encodeIndexed(name)} ${after === undefined ? sql.literal("") : sql`AND scope > ${encodeIndexed(after)}`}
        ORDER BY scope LIMIT ${limit}`,
      (found): ReadonlyArray<StateKey & StoredState> =>
        found.map((row) => ({ name, scope: decodeText(row.scope), ...toStored(row) }))
    )

  const forget = (user: string) =>
    Effect.map(
      sql`
        WITH chosen AS MATERIALIZED (
          SELECT name, scope FROM ${states} WHERE user_scope IS NOT NULL AND user_scope = ${encodeIndexed(user)}
          ORDER BY name, scope ${lock}
        ) DELETE FROM ${states} WHERE (name, scope) IN (SELECT name, scope FROM chosen) RETURNING name`,
      (deleted) => deleted.length
    )

  /** Returns how many values were deleted. */
  const cleanup = (expiredBefore: number, limit: number) =>
    Effect.map(
      sql`
        DELETE FROM ${states} WHERE (name, scope) IN (
          SELECT name, scope FROM ${states} WHERE expires_at < ${expiredBefore} LIMIT ${limit} ${lockFree}
        ) RETURNING name`,
      (deleted) => deleted.length
    )

  return { get, page, forget, cleanup }
}
