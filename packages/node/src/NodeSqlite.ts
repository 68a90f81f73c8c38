/**
 * SQLite in one file, on Node's own `node:sqlite`: the `SqlClient` of an embedded store.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as SqlClient from "effect/sql/SqlClient"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import * as Connection from "./internal/sqlite/connection.ts"
import * as Database from "./internal/sqlite/database.ts"
import { failure } from "./internal/sqlite/failure.ts"

/**
 * What {@link layer} accepts.
 *
 * - `filename`: the path of the file, whose folder is made when it is missing, or `:memory:` for a database that lives
 *   as long as the layer.
 * - `synchronous`: `FULL` by default, so that what is committed survives the loss of power. With `NORMAL` it survives
 *   the end of the process, and the last commits may be gone after the loss of power. `EXTRA` and `OFF` as SQLite says.
 * - `busyTimeout`: how long a statement waits while another connection writes, 5 seconds by default.
 * - `foreignKeys`: whether foreign keys are enforced, true by default.
 * - `cachedStatements`: how many prepared statements are kept, 128 by default.
 *
 * **Example** (Options for a file that another process also writes)
 *
 * ```ts
 * import type { NodeSqlite } from "@colloquy/node"
 *
 * export const options: NodeSqlite.Options = { filename: "data/bot.sqlite", busyTimeout: "20 seconds" }
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly filename: string
  readonly synchronous?: "FULL" | "NORMAL" | "EXTRA" | "OFF" | undefined
  readonly busyTimeout?: Duration.Input | undefined
  readonly foreignKeys?: boolean | undefined
  readonly cachedStatements?: number | undefined
}

const toSettings = (options: Options): Database.Settings => ({
  filename: options.filename,
  synchronous: options.synchronous ?? "FULL",
  busyTimeout: Duration.fromInputUnsafe(options.busyTimeout ?? "5 seconds"),
  foreignKeys: options.foreignKeys ?? true,
  cachedStatements: options.cachedStatements ?? 128
})

const closed = (filename: string) =>
  new SqlError({
    reason: new ConnectionError({
      cause: new Error("closed"),
      message: `${filename} was closed with the layer that opened it. Provide the layer to all that uses it.`,
      operation: "open"
    })
  })

const openScoped = (settings: Database.Settings) =>
  Effect.map(
    Effect.acquireRelease(
      Connection.whenFree(settings.busyTimeout)(
        Effect.try({ try: () => Database.open(settings), catch: failure(settings.filename, "open") })
      ),
      (database) => Effect.sync(() => database.close())
    ),
    (database) => Connection.make(settings, database)
  )

const make = Effect.fnUntraced(function* (settings: Database.Settings) {
  const semaphore = yield* Semaphore.make(1)
  const scope = yield* Effect.scope
  let ended = false
  let opened: Connection.SqliteConnection | undefined
  yield* Effect.addFinalizer(() => Effect.sync(() => (ended = true)))
  const whileOpen = <A, R>(effect: () => Effect.Effect<A, SqlError, R>) =>
    Effect.suspend(() => (ended ? Effect.fail(closed(settings.filename)) : effect()))
  const openOnce = openScoped(settings).pipe(
    Effect.provideService(Scope.Scope, scope),
    Effect.tap((connection) => Effect.sync(() => (opened = connection)))
  )
  const connection = whileOpen(() => (opened === undefined ? openOnce : Effect.succeed(opened)))
  const acquirers = SqlClient.makeSqliteAcquirers({
    connection,
    semaphore,
    isTransaction: ({ database }) => database.isTransaction
  })
  return yield* SqlClient.make({
    ...acquirers,
    // Only streams lease: on a connection of its own, a stream does not keep the others waiting while it is read.
    acquirer: Database.inMemory(settings.filename) ? acquirers.acquirer : whileOpen(() => openScoped(settings)),
    driver: "node:sqlite",
    compiler: Statement.makeCompilerSqlite(),
    // Takes the lock for writing at once: a transaction that reads first and writes later could be refused by then.
    beginTransaction: "BEGIN IMMEDIATE",
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    prepareTransactionControls: true,
    spanAttributes: [
      ["db.system.name", "sqlite"],
      ["db.namespace", settings.filename]
    ]
  })
})

const layerOf = (options: Options) => Layer.effect(SqlClient.SqlClient, make(toSettings(options)))

/**
 * Provides a `SqlClient` that opens its file at first use. Until then nothing is touched, and the layer itself does not
 * fail: a file that cannot be opened is the `SqlError` of each statement, and the next statement tries again.
 *
 * Otherwise like {@link layer}.
 *
 * **Example** (A bot that may never need its file)
 *
 * ```ts
 * import { NodeSqlite } from "@colloquy/node"
 * import * as Effect from "effect/Effect"
 * import * as SqlClient from "effect/sql/SqlClient"
 *
 * export const program = Effect.gen(function* () {
 *   const sql = yield* SqlClient.SqlClient
 *   return yield* sql`SELECT sqlite_version() AS version`
 * }).pipe(Effect.provide(NodeSqlite.layerLazy({ filename: ":memory:" })))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerLazy = (options: Options): Layer.Layer<SqlClient.SqlClient> =>
  Layer.provide(layerOf(options), Reactivity.layer)

const opened = Layer.effectDiscard(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT 1`.withoutTransform))

/**
 * Provides a `SqlClient` on a SQLite file, opened when the layer is built and closed with it. Fails with a `SqlError`
 * that says what to do when the file cannot be opened.
 *
 * - The file is in WAL mode: readers and one writer do not wait for each other, in this process and in others.
 * - A transaction takes the lock for writing when it begins. One that only reads can begin by `BEGIN`, given as
 *   `SqlClient.BeginTransaction`. Transactions nest by savepoints.
 * - Fibers take turns at one connection. A stream of rows outside a transaction has a connection of its own, so what is
 *   done for each row may use the client. With `:memory:` there is one connection, which the stream keeps until it ends.
 * - Waiting for the lock of another connection leaves the event loop free.
 * - An integer is read as a `number` where that is exact and as a `bigint` beyond 2^53; both are bound exactly, as are
 *   booleans, as 1 and 0. A `Uint8Array` is a blob. Other objects, dates too, are refused.
 * - A text holds one statement: SQLite would drop a second one in silence, so it is refused.
 *
 * `node:sqlite` is loaded at the first opening. Node 22 prints that the module is experimental, unless it is started
 * with `--disable-warning=ExperimentalWarning`; Node 24 prints nothing.
 *
 * **Example** (A table in a file)
 *
 * ```ts
 * import { NodeSqlite } from "@colloquy/node"
 * import * as Effect from "effect/Effect"
 * import * as SqlClient from "effect/sql/SqlClient"
 *
 * export const program = Effect.gen(function* () {
 *   const sql = yield* SqlClient.SqlClient
 *   yield* sql`CREATE TABLE IF NOT EXISTS notes (chat_id INTEGER NOT NULL, note TEXT NOT NULL)`
 *   yield* sql`INSERT INTO notes ${sql.insert({ chat_id: -42, note: "asked for the price" })}`
 *   return yield* sql<{ note: string }>`SELECT note FROM notes WHERE chat_id = ${-42}`
 * }).pipe(Effect.provide(NodeSqlite.layer({ filename: ":memory:" })))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<SqlClient.SqlClient, SqlError> =>
  Layer.provideMerge(opened, layerLazy(options))
