import { InboxStore, withWriteBatching } from "@colloquy/core/inbox/InboxStore"
import * as SqliteInboxStore from "@colloquy/core/inbox/SqliteInboxStore"
import { StoreError } from "@colloquy/core/base/StoreError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as SqlClient from "effect/sql/SqlClient"
import type { Connection } from "effect/sql/SqlConnection"
import { type SqliteConnection, whenFree } from "../../../base/internal/sqlite/connection.ts"
import { failure } from "../../../base/internal/sqlite/failure.ts"
import { byTransaction, sqlToStoreError } from "../../../base/internal/stores/sql.ts"
import * as Notifier from "../notifier.ts"
import * as ProcessLock from "../processLock.ts"
import type { Options } from "../../SqlInboxStore.ts"
import * as SqlOperations from "../sqlOperations.ts"
import * as SqliteDatabase from "./database.ts"

const toStoreError = sqlToStoreError("inbox")

const isSqlite = (connection: Connection): connection is SqliteConnection => "database" in connection

const noConnection = "the SqlClient is not of NodeSqlite, which is the supported client for SQLite"

/** The processes that share a file: their locks, and messages about new work. */
const makeProcesses = Effect.fnUntraced(function* (table: string) {
  let lock: ReturnType<typeof ProcessLock.make>
  const gone: Array<ProcessLock.GoneProcess> = []
  // The finalizer runs after the last writes of batches, so that these writes have the lock.
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const { keep } of gone) keep()
      lock?.close()
    })
  )
  const notify = yield* Notifier.make(() => lock?.wakeOthers())
  /** The earliest time of new work of which other processes know, in Unix milliseconds. */
  let toldOf = -Infinity

  return {
    lock: (file: string): void => {
      lock = ProcessLock.make(file, table)
    },
    /** The name of an owner begins with the id of its process, so that other processes detect its end. */
    ownerOf: (owner: string): string => (lock === undefined ? owner : `${lock.id}:${owner}`),
    gone: (): ReadonlyArray<string> | undefined => {
      if (lock === undefined) return undefined
      gone.push(...lock.findGone())
      return gone.map(({ id }) => `${id}:`)
    },
    forgetGone: (): void => {
      for (const { remove } of gone.splice(0)) remove()
    },
    /** Wakes the other processes, unless they know of earlier work. They read the time of the next work after each wake-up. */
    tell: (at: number, now: number): void => {
      if (at === Infinity || (at > now && toldOf > now && at >= toldOf)) return
      if (at > now) toldOf = at
      notify()
    },
    watch: (wake: () => void) => lock?.watch(wake)
  }
})

/** The store on the connection of a client of `NodeSqlite`. `ready` creates the tables, as the first operation does. */
export const make = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, options: Options) {
  const { prefix = "colloquy" } = options
  const processes = yield* makeProcesses(`${prefix}_inbox`)
  const database = SqliteDatabase.make()
  let workAt = Infinity

  /** Waits for other users of the connection and for other processes, and executes an operation in one turn. */
  const transact = <A>(operation: string, kind: SqliteInboxStore.OperationKind, body: (now: number) => A) => {
    const toError = toStoreError(operation)
    const on = (connection: Connection) =>
      Effect.clockWith((clock) => {
        if (!isSqlite(connection)) return Effect.fail(toError(new Error(noConnection)))
        database.use(connection)
        const { busyTimeout, filename } = connection.settings
        const attempt = Effect.try({
          try: () => {
            workAt = Infinity
            const now = clock.currentTimeMillisUnsafe()
            const result = database.transaction(() => body(now), kind)
            if (operation === "claim") processes.forgetGone()
            else processes.tell(workAt, now)
            return result
          },
          catch: (cause) => (cause instanceof StoreError ? cause : failure(filename, "execute")(cause))
        })
        return Effect.mapError(whenFree(busyTimeout)(attempt), toError)
      })
    return Effect.contextWith((context: Context.Context<never>) => {
      const transaction = Context.getOption(context, sql.transactionService)
      return Option.isSome(transaction)
        ? on(transaction.value[0])
        : Effect.scoped(Effect.flatMap(Effect.mapError(sql.reserve, toError), on))
    })
  }

  const { ready, run } = yield* SqlOperations.make(
    options,
    Effect.suspend(() => prepare)
  )

  const inbox = SqliteInboxStore.makeUnsafe(database, {
    prefix: `${prefix}_inbox_`,
    run: (operation, kind, body) => run(operation, transact(operation, kind, body)),
    ownerOf: processes.ownerOf,
    goneOwners: processes.gone,
    onWork: (at) => {
      workAt = Math.min(workAt, at)
    },
    execute: database.execute
  })

  const findFile = transact("migrate", "write", () => {
    inbox.prepare()
    const files = database.all<[number, string, string | null]>("PRAGMA database_list")
    return files.find(([, name]) => name === "main")?.[2]
  })
  const prepare = Effect.map(findFile, (file) => {
    if (file) processes.lock(file)
  })

  const { enqueue: _, ...operations } = inbox.store
  const store = yield* withWriteBatching(operations)
  return {
    ready,
    store: InboxStore.of({
      ...store,
      write: byTransaction(sql, operations.write, store.write),
      listen: (wake) =>
        Effect.asVoid(
          Effect.acquireRelease(
            Effect.map(ready, () => processes.watch(wake)),
            (close) => Effect.sync(() => close?.())
          )
        )
    })
  }
})
