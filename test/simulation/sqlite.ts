/**
 * The store on SQLite, in a database in memory that all processes share, beside tables of the bot's author. Its statements are
 * synchronous.
 */
import type { InboxStore } from "@colloquy/core/inbox/InboxStore"
import type { StoreError } from "@colloquy/core/base/StoreError"
import * as NodeSqlite from "@colloquy/node/base/NodeSqlite"
import * as SqlInboxStore from "@colloquy/node/inbox/SqlInboxStore"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"

/** The rows of the bot's author. */
export interface AuthorRows {
  /** What the statements of handlers have logged, in the order of the statements. */
  readonly log: ReadonlyArray<{ readonly chat: string; readonly subject: string; readonly part: string }>
  /** How many updates the handlers of each chat have counted. */
  readonly counts: ReadonlyArray<{ readonly chat: string; readonly updates: number }>
  /** How many updates the handlers of all chats have counted that read the number before. */
  readonly total: number
}

export interface SqliteStore {
  readonly store: InboxStore["Service"]
  /** The client of the database. */
  readonly sql: SqlClient
  readonly authorRows: Effect.Effect<AuthorRows, SqlError>
}

const tables = `CREATE TABLE log (id INTEGER PRIMARY KEY, chat TEXT NOT NULL, subject TEXT NOT NULL, part TEXT NOT NULL);
CREATE TABLE counts (chat TEXT PRIMARY KEY, updates INTEGER NOT NULL);
CREATE TABLE total (updates INTEGER NOT NULL);
INSERT INTO total (updates) VALUES (0)`

/** Creates an empty store, which is open as long as its world. */
export const sqliteStore: Effect.Effect<SqliteStore, StoreError | SqlError> = Effect.gen(function* () {
  const scope = yield* Scope.make()
  const client = yield* Layer.buildWithScope(NodeSqlite.layer({ filename: ":memory:" }), scope)
  const store = yield* SqlInboxStore.make().pipe(
    Effect.provideContext(client),
    Effect.provideService(Scope.Scope, scope)
  )
  const sql = Context.get(client, SqlClient)
  for (const table of tables.split(";")) yield* sql.unsafe(table)
  const authorRows = Effect.gen(function* () {
    const log = yield* sql<AuthorRows["log"][number]>`SELECT chat, subject, part FROM log ORDER BY id`
    const counts = yield* sql<AuthorRows["counts"][number]>`SELECT chat, updates FROM counts`
    const [total] = yield* sql<{ readonly updates: number }>`SELECT updates FROM total`
    return { log, counts, total: total.updates }
  })
  return { store, sql, authorRows }
})
