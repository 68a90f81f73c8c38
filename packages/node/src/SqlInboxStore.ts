/**
 * Inbox letters in an SQL database, SQLite or PostgreSQL.
 *
 * @since 0.1.0
 */
import { InboxStore, withWriteBatching } from "@colloquy/core/InboxStore"
import type { StoreError } from "@colloquy/core/StoreError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as SqlClient from "effect/sql/SqlClient"
import * as SqlInbox from "./internal/updates/sqlInbox.ts"

/**
 * Where the tables are: `tablePrefix` begins the name of each of them, `colloquy_inbox_` unless told. With a schema in
 * PostgreSQL, as in `bots.inbox_`, the schema has to be there.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly tablePrefix?: string | undefined
}

const make = ({ tablePrefix = "colloquy_inbox_" }: Options = {}) => SqlInbox.make({ tablePrefix })

/**
 * A store in the database of the program's `SqlClient`: `NodeSqlite` of this package, or `PgClient` of `@effect/sql-pg`.
 * It makes its tables when it is built, and brings those of an earlier version up to date.
 *
 * Several processes may share one database: a mailbox has one owner at a time, whoever it is. The clocks of their
 * machines have to agree to well within the lease.
 *
 * - What is stored is as durable as a commit of the database: by `synchronous_commit` of PostgreSQL and `synchronous` of
 *   SQLite, both safe unless changed.
 * - Arrivals and settlements of one process are joined into transactions.
 * - A key or a fingerprint of more than 400 characters is kept by its beginning and its hash.
 *
 * **Example**
 *
 * ```ts
 * import { Inbox } from "@colloquy/core"
 * import { SqlInboxStore } from "@colloquy/node"
 * import { PgClient } from "@effect/sql-pg"
 * import { Layer, Redacted } from "effect"
 *
 * const inbox = Inbox.layer().pipe(
 *   Layer.provide(SqlInboxStore.layer()),
 *   Layer.provide(PgClient.layer({ url: Redacted.make("postgres://bot@localhost/bot") }))
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: Options): Layer.Layer<InboxStore, StoreError, SqlClient.SqlClient> =>
  Layer.effect(
    InboxStore,
    Effect.gen(function* () {
      const { store, ready } = yield* make(options)
      yield* ready
      return yield* withWriteBatching(store)
    })
  )

/**
 * Like {@link layer}, but the tables are made at first use: the database is not touched until then.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerLazy = (options?: Options): Layer.Layer<InboxStore, never, SqlClient.SqlClient> =>
  Layer.effect(
    InboxStore,
    Effect.flatMap(make(options), ({ store }) => withWriteBatching(store))
  )
