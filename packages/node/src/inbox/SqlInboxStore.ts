/**
 * Stores an inbox in an SQL database, SQLite or PostgreSQL: its queued updates, and the journals, state and timers of their
 * handling.
 *
 * @since 0.1.0
 */
import { InboxStore, SqlTransactions } from "@colloquy/core/inbox/InboxStore"
import { StoreError } from "@colloquy/core/base/StoreError"
import * as Settings from "@colloquy/core/client/Settings"
import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import * as PgInbox from "./internal/pg/inbox.ts"
import * as SqliteInbox from "./internal/sqlite/inbox.ts"

/**
 * Options of {@link layer}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * The names of the tables begin with this prefix, followed by `_inbox_`. Use a different prefix for each bot. In
   * PostgreSQL, the prefix may contain an existing schema, such as `bots.shop`. Default: `"colloquy"`.
   */
  readonly prefix?: string | undefined
  /**
   * Maximum duration of an operation, in real time. A longer operation fails with a retryable `StoreError`, and may
   * still be executed, which is safe because all operations can be repeated. The creation and migration of the tables
   * has no limit. Default: 10 seconds.
   */
  readonly operationTimeout?: Duration.Input | undefined
}

const unsupported = new StoreError({
  store: "inbox",
  operation: "migrate",
  reason: "the SqlClient is not one of NodeSqlite or PostgreSQL, which are the supported databases",
  isRetryable: false
})

/** `ready` creates the tables, as the first operation does. */
const open = (options: Options) =>
  Effect.gen(function* () {
    const sql = (yield* SqlClient.SqlClient).withoutTransforms()
    const opened = sql.onDialectOrElse({
      sqlite: () => Effect.map(SqliteInbox.make(sql, options), (opened) => ({ ...opened, dialect: "sqlite" as const })),
      pg: () => Effect.map(PgInbox.make(options), (opened) => ({ ...opened, dialect: "pg" as const })),
      orElse: () => Effect.fail(unsupported)
    })
    return yield* opened
  })

type Opened = Effect.Success<ReturnType<typeof open>>

const servicesOf = ({ dialect, store }: Opened): Context.Context<InboxStore | SqlTransactions> =>
  Context.add(Context.make(InboxStore, store), SqlTransactions, dialect)

const openReady = (options: Options) => Effect.flatMap(open(options), (opened) => Effect.as(opened.ready, opened))

/**
 * Creates the store. See {@link layer}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  options: Options = {}
): Effect.Effect<InboxStore["Service"], StoreError, SqlClient.SqlClient | Scope.Scope> =>
  Effect.map(openReady(options), ({ store }) => store)

/**
 * Provides an `InboxStore` on the `SqlClient` of the program: `NodeSqlite.layer` of this package, or `PgClient.layer` of
 * `@effect/sql-pg`. The tables are created or migrated when the layer is built; several processes may start concurrently.
 *
 * Several processes can share one database: each partition has one owner at a time. PostgreSQL counts leases by its own
 * clock, so the clocks of the processes may differ.
 *
 * - In a SQLite file, the partitions of a process that was killed are claimed by the next process at once, before the
 *   end of the lease: each process has a lock on a file beside the database, which the operating system releases.
 *   Requires Node 22 or later.
 * - A process that stores an update wakes the other processes: by `NOTIFY` in PostgreSQL, for which each process that
 *   handles updates keeps one connection of its pool, and by the file system for a SQLite file.
 * - In PostgreSQL, each operation takes one round trip. The layer creates functions for them, beside its tables. Several
 *   commits that write the same state or change the same timer take a round trip each. Commits with statements of the
 *   author share a transaction and a round trip: the store writes the parameters of these statements as literals of the
 *   types that the client would give to them. If one of the commits is refused, the commits before and after share other
 *   transactions. A commit has a transaction of its own, with a round trip for each statement and four others, if it belongs to a
 *   group of updates, or if a statement has a parameter other than a number, text, boolean, `null` or `Date`, or a text with
 *   comments, backslashes, `$$`, or a placeholder that occurs twice.
 * - State and timers are written in the transaction of the commit. PostgreSQL counts timers by its own clock, and SQLite by
 *   the clock of the process.
 * - The number of updates is counted when the layer is built, and then kept up to date. The statistics include rows
 *   that are deleted by hand until the next start.
 * - An update is as durable as a commit of the database, which depends on `synchronous_commit` in PostgreSQL and on
 *   `synchronous` in SQLite. The defaults of both are safe. Claims in SQLite do not wait for the disk, because a power failure
 *   ends all leases.
 * - Concurrent writes of a process share transactions. In PostgreSQL, two transactions of a process commit at the same
 *   time if enough updates wait. Concurrent transactions never concern the same chat, state value or timer.
 * - In PostgreSQL, a partition key, a fingerprint or a user of more than 400 characters is stored as its beginning and its hash.
 *
 * Fails with a `StoreError` if the database cannot be reached or is neither SQLite nor PostgreSQL.
 *
 * **Example** (An inbox in PostgreSQL)
 *
 * ```ts
 * import { Inbox } from "@colloquy/core"
 * import { SqlInboxStore } from "@colloquy/node"
 * import { PgClient } from "@effect/sql-pg"
 * import { Layer, Redacted } from "effect"
 *
 * const inbox = Inbox.layer().pipe(
 *   Layer.provide(SqlInboxStore.layer({ prefix: "shop_bot" })),
 *   Layer.provide(PgClient.layer({ url: Redacted.make("postgres://bot@localhost/bot") }))
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options: Options = {}
): Layer.Layer<InboxStore | SqlTransactions, StoreError, SqlClient.SqlClient> =>
  Layer.effectContext(Effect.map(openReady(options), servicesOf))

/**
 * Like {@link layer}, with options from the configuration.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  options: Config.Wrap<Options> = {}
): Layer.Layer<InboxStore | SqlTransactions, StoreError | Settings.InvalidSettings, SqlClient.SqlClient> =>
  Layer.unwrap(Effect.map(Settings.unwrap<Options>(options), layer))

/**
 * Like {@link layer}, but the tables are created by the first operation, so that the layer itself does not touch the
 * database. Dies if the database is neither SQLite nor PostgreSQL.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerLazy = (
  options: Options = {}
): Layer.Layer<InboxStore | SqlTransactions, never, SqlClient.SqlClient> =>
  Layer.effectContext(Effect.map(Effect.orDie(open(options)), servicesOf))
