/**
 * The store of an inbox in a SQLite database with a synchronous driver. The stores of `@colloquy/node` and `@colloquy/worker`
 * use this module; bots use it directly for other drivers, such as `bun:sqlite`.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { makeOperations } from "./internal/sqlite/operations.ts"
import { type BatchStore, InboxStore } from "./InboxStore.ts"
import { reasonOf, StoreError } from "../base/StoreError.ts"

/**
 * A value of a row, or of a parameter.
 *
 * @category models
 * @since 0.1.0
 */
export type Value = string | number | null

/**
 * A SQLite database.
 *
 * @category models
 * @since 0.1.0
 */
export interface Database {
  /** Executes one statement, and returns its rows as arrays of their columns. Statements should be prepared once for each text. */
  readonly all: <Row extends ReadonlyArray<unknown>>(sql: string, ...params: ReadonlyArray<Value>) => ReadonlyArray<Row>
  /**
   * Runs a function in a transaction, which is rolled back if the function throws. A transaction in a transaction is a
   * savepoint. If SQLite has ended the outer transaction as well, a savepoint throws a `StoreError`.
   */
  readonly transaction: <A>(run: () => A) => A
}

/**
 * `read`: the operation changes nothing. `lease`: a power failure may undo the operation. `write`: the operation is durable.
 *
 * @category models
 * @since 0.1.0
 */
export type OperationKind = "read" | "lease" | "write"

/**
 * Options of {@link makeUnsafe}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The names of the tables begin with this prefix. Default: `"colloquy_"`. */
  readonly prefix?: string | undefined
  /**
   * Runs an operation in a transaction, with the current time in Unix milliseconds. Default: at once, and each thrown error
   * becomes a `StoreError` that is not retryable.
   */
  readonly run?:
    | (<A>(operation: string, kind: OperationKind, body: (now: number) => A) => Effect.Effect<A, StoreError>)
    | undefined
  /** Returns the name under which an owner of leases is stored. Default: the name of the owner. */
  readonly ownerOf?: ((owner: string) => string) | undefined
  /**
   * Returns the beginnings of the stored names of owners whose leases have ended, because their processes are gone. Called by
   * each claim. While there are leases, an idle consumer then claims every 5 seconds. `undefined`: processes that are gone are
   * not found. Default: leases end by time.
   */
  readonly goneOwners?: (() => ReadonlyArray<string> | undefined) | undefined
  /** Called in a transaction, with the time from which on a claim can return something new. Default: not called. */
  readonly onWork?: ((at: number) => void) | undefined
  /** Executes a statement of the bot's author, and returns its rows. Default: `all` of the database. */
  readonly execute?: ((sql: string, params: ReadonlyArray<unknown>) => ReadonlyArray<unknown>) | undefined
  /** Converts the error of a statement of the bot's author to a `SqlError`. Default: the error itself. */
  readonly toSqlError?: ((cause: unknown) => unknown) | undefined
}

/**
 * A store whose tables may not exist yet.
 *
 * @category models
 * @since 0.1.0
 */
export interface SqliteInbox {
  /** The operations. `writeAll` and `enqueueAll` combine several operations in one transaction. */
  readonly store: BatchStore & InboxStore["Service"]
  /** Creates the tables unless they exist, and counts the updates. Call this function once, in a transaction. */
  readonly prepare: () => void
  /** Ends the leases of all owners whose stored name has this beginning. Call this function in a transaction. */
  readonly endLeases: (ownerPrefix: string) => void
  /** Returns the time from which on a claim can return something, in Unix milliseconds. 0: at once. */
  readonly nextWork: () => number | undefined
}

/** How often an idle consumer looks for processes that are gone, in milliseconds. */
const goneInterval = 5000

/** How many rows a transaction of a cleanup deletes at most. */
const cleanupChunk = 1000

const runAtOnce =
  ({ transaction }: Database): NonNullable<Options["run"]> =>
  (operation, _, body) =>
    Effect.clockWith((clock) =>
      Effect.try({
        try: () => transaction(() => body(clock.currentTimeMillisUnsafe())),
        catch: (cause) =>
          cause instanceof StoreError
            ? cause
            : new StoreError({ store: "inbox", operation, reason: reasonOf(cause), isRetryable: false, cause })
      })
    )

/**
 * Creates a store for a driver of SQLite. {@link make} and {@link layer} are simpler if the driver has no needs of its own.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeUnsafe = (database: Database, options: Options = {}): SqliteInbox => {
  const run = options.run ?? runAtOnce(database)
  const goneOwners = options.goneOwners ?? (() => undefined)
  const operations = makeOperations(database, {
    prefix: options.prefix ?? "colloquy_",
    ownerOf: options.ownerOf ?? ((owner) => owner),
    onWork: options.onWork ?? (() => {}),
    execute: options.execute ?? ((sql, params) => database.all(sql, ...(params as ReadonlyArray<Value>))),
    toSqlError: options.toSqlError ?? ((cause) => cause)
  })
  const read = <A>(operation: string, body: (now: number) => A) => run(operation, "read", body)
  const write = <A>(operation: string, body: (now: number) => A) => run(operation, "write", body)

  const cleanup = (deleteSome: (before: number, limit: number) => number, before: number) =>
    Effect.repeat(
      Effect.tap(
        write("cleanup", () => deleteSome(before, cleanupChunk)),
        Effect.yieldNow
      ),
      {
        while: (deleted) => deleted === cleanupChunk
      }
    )

  const store: SqliteInbox["store"] = {
    isShared: true,
    executesStatements: true,
    enqueue: (batch) => write("enqueue", () => operations.enqueue([batch])[0]!),
    enqueueAll: (batches) => write("enqueue", () => operations.enqueue(batches)),
    writeAll: (batches, commits, writes) =>
      write(batches.length > 0 ? "enqueue" : commits.length > 0 ? "commit" : "write", (now) => ({
        added: batches.length > 0 ? operations.enqueue(batches) : [],
        written: operations.write(writes, now),
        results: commits.length > 0 ? operations.commit(commits, now) : []
      })),
    claim: (claim) =>
      run("claim", "lease", (now) => {
        goneOwners()?.forEach(operations.endLeases)
        return operations.claim(claim, now)
      }),
    commit: (commits) => write("commit", (now) => operations.commit(commits, now)),
    renew: (owner, leaseDuration) => run("renew", "lease", (now) => operations.renew(owner, leaseDuration, now)),
    write: (writes) => write("write", (now) => operations.write(writes, now)),
    read: (keys) => read("read", () => operations.read(keys)),
    rows: (page) => read("rows", () => operations.rows(page)),
    forget: (rows) => write("forget", () => operations.forget(rows)),
    updates: (page) => read("updates", () => operations.updates(page)),
    takeDeadLetters: ({ ids, replay }) =>
      write("takeDeadLetters", (now) => operations.takeDeadLetters(ids, replay, now)),
    stats: read("stats", operations.stats),
    cleanup: ({ deadLettersBefore, fingerprintsBefore, rowsBefore }) =>
      cleanup(operations.cleanups.fingerprints, fingerprintsBefore).pipe(
        Effect.andThen(cleanup(operations.cleanups.deadLetters, deadLettersBefore)),
        Effect.andThen(cleanup(operations.cleanups.rows, rowsBefore)),
        Effect.asVoid
      ),
    untilNext: read("untilNext", (now) => {
      const at = operations.nextWork()
      if (at === undefined) return undefined
      const wait = Math.max(0, at - now)
      return wait > goneInterval && operations.hasLeases() && goneOwners() !== undefined ? goneInterval : wait
    })
  }
  return { store, prepare: operations.prepare, endLeases: operations.endLeases, nextWork: operations.nextWork }
}

/**
 * Creates the store, and its tables unless they exist.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  database: Database,
  options?: Pick<Options, "prefix">
): Effect.Effect<InboxStore["Service"], StoreError> =>
  Effect.suspend(() => {
    const { prepare, store } = makeUnsafe(database, options)
    return Effect.as(runAtOnce(database)("prepare", "write", prepare), store)
  })

/**
 * Provides an `InboxStore` in a SQLite database whose driver is synchronous. The driver has to wait for the locks of other
 * processes by itself (`PRAGMA busy_timeout`).
 *
 * **Example** (The driver of Bun)
 *
 * ```ts
 * import * as SqliteInboxStore from "@colloquy/core/inbox/SqliteInboxStore"
 *
 * // The class `Database` of `bun:sqlite`.
 * interface BunDatabase {
 *   readonly query: (sql: string) => {
 *     readonly values: (...params: ReadonlyArray<SqliteInboxStore.Value>) => Array<never>
 *   }
 *   readonly transaction: <A>(run: () => A) => { readonly immediate: () => A }
 * }
 *
 * const store = (database: BunDatabase) =>
 *   SqliteInboxStore.layer({
 *     all: (sql, ...params) => database.query(sql).values(...params),
 *     transaction: (run) => database.transaction(run).immediate()
 *   })
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (database: Database, options?: Pick<Options, "prefix">): Layer.Layer<InboxStore, StoreError> =>
  Layer.effect(InboxStore, make(database, options))
