/**
 * Provides a `SqlClient` on a SQLite file, with `node:sqlite` of Node.
 *
 * @since 0.1.0
 */
import type * as Config from "effect/Config"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as SqlClient from "effect/sql/SqlClient"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import * as Settings from "@colloquy/core/client/Settings"
import * as Connection from "./internal/sqlite/connection.ts"
import * as Database from "./internal/sqlite/database.ts"
import { failure } from "./internal/sqlite/failure.ts"

/**
 * Options of {@link layer}.
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
  /**
   * The path of the file. The folder is created if it does not exist. `:memory:` is a database that exists as long as the
   * layer.
   */
  readonly filename: string
  /**
   * When SQLite waits for the disk. With `FULL`, a commit survives a power failure. With `NORMAL`, a commit survives
   * the end of the process, but a power failure can undo all commits since the last checkpoint (about 1,000 written
   * pages). With `OFF`, a power failure can corrupt the file. See the documentation of SQLite for `EXTRA`. Default:
   * `"FULL"`.
   */
  readonly synchronous?: "FULL" | "NORMAL" | "EXTRA" | "OFF" | undefined
  /** How long a statement waits while another connection writes. Default: 5 seconds. */
  readonly busyTimeout?: Duration.Input | undefined
  /** Whether foreign keys are enforced. Default: `true`. */
  readonly foreignKeys?: boolean | undefined
  /** Maximum number of prepared statements that are cached. Default: 128. */
  readonly cachedStatements?: number | undefined
}

const closed = (filename: string) =>
  new SqlError({
    reason: new ConnectionError({
      cause: new Error("closed"),
      message: `The database ${filename} is closed, because the layer that opened it was closed. Provide the layer to everything that uses it.`,
      operation: "open"
    })
  })

const openScoped = (settings: Database.ConnectionOptions) =>
  Effect.map(
    Effect.acquireRelease(
      Connection.whenFree(settings.busyTimeout)(
        Effect.try({ try: () => Database.open(settings), catch: failure(settings.filename, "open") })
      ),
      (database) => Effect.sync(() => database.close())
    ),
    (database) => Connection.make(settings, database)
  )

const makeClient = Effect.fnUntraced(function* (settings: Database.ConnectionOptions) {
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
    // Only streams use the acquirer. With a separate connection, a stream does not block other statements.
    acquirer: Database.inMemory(settings.filename) ? acquirers.acquirer : whileOpen(() => openScoped(settings)),
    driver: "node:sqlite",
    compiler: Statement.makeCompilerSqlite(),
    // Takes the write lock at once, because a transaction that reads first could fail at its first write.
    beginTransaction: "BEGIN IMMEDIATE",
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    prepareTransactionControls: true,
    spanAttributes: [
      ["db.system.name", "sqlite"],
      ["db.namespace", settings.filename]
    ]
  })
})

/**
 * Like {@link layer}, but the file is opened by the first statement. The layer itself does not fail: if the file cannot be
 * opened, the statement fails with a `SqlError`, and the next statement tries again.
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
  Layer.provide(Layer.effect(SqlClient.SqlClient, makeClient(Database.withDefaults(options))), Reactivity.layer)

/**
 * Creates a `SqlClient` that is closed with the scope. See {@link layer}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  options: Options
): Effect.Effect<SqlClient.SqlClient, SqlError, Scope.Scope | Reactivity.Reactivity> =>
  Effect.tap(makeClient(Database.withDefaults(options)), (sql) => sql`SELECT 1`.withoutTransform)

/**
 * Provides a `SqlClient` on a SQLite file, which is opened when the layer is built and closed with it. Fails with a
 * `SqlError` if the file cannot be opened; its message describes the solution.
 *
 * - The file is in WAL mode: readers and one writer do not block each other, in this process and in others.
 * - A transaction takes the write lock when it begins. For a transaction that only reads, provide
 *   `SqlClient.BeginTransaction` with `BEGIN`. Nested transactions are savepoints.
 * - Fibers share one connection. A stream of rows outside a transaction has a separate connection, so that the program
 *   can use the client while it consumes the stream. With `:memory:` there is only one connection, and the stream
 *   occupies it.
 * - Waiting for the lock of another connection does not block the event loop.
 * - An integer is read as a `number` if it is safe, and as a `bigint` otherwise. Parameters can be numbers, bigints and
 *   booleans (1 and 0). A `Uint8Array` is a blob. Other objects, such as dates, are rejected.
 * - A text with several statements is rejected, because SQLite would ignore all but the first.
 *
 * `node:sqlite` is loaded when the first file is opened. Node 22 then prints an experimental warning, unless the
 * process runs with `--disable-warning=ExperimentalWarning`; Node 24 prints nothing.
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
  Layer.provide(Layer.effect(SqlClient.SqlClient, make(options)), Reactivity.layer)

/**
 * Like {@link layer}, with options from the configuration.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  options: Config.Wrap<Options>
): Layer.Layer<SqlClient.SqlClient, SqlError | Settings.InvalidSettings> =>
  Layer.unwrap(Effect.map(Settings.unwrap<Options>(options), layer))
