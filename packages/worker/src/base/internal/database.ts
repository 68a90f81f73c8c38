import { StoreError, type StoreName } from "@colloquy/core/base/StoreError"
import * as Effect from "effect/Effect"
import * as Rec from "effect/Record"
import type { DurableObjectStorage, Value } from "../DurableObjectStorage.ts"

/** The rows that a statement returns. */
export type Query = <Row extends Record<string, Value>>(query: string, ...values: Array<Value>) => Array<Row>

/** Permanent errors of SQLite. All other errors are temporary, for example a full disk or an overloaded object. */
const permanent = /SQLITE_(?:ERROR|PERM|READONLY|CORRUPT|NOTFOUND|TOOBIG|CONSTRAINT|MISMATCH|MISUSE|AUTH|RANGE|NOTADB)/

/** Whether the cause is a defect of this library or an invalid value. The storage throws other errors. */
const isDefect = (cause: unknown): boolean =>
  !(cause instanceof Error) || cause instanceof TypeError || cause instanceof RangeError || cause instanceof SyntaxError

/** Returns a function that runs an operation of a store in a transaction. Thrown errors become `StoreError`s. */
export const transactionsOf =
  (storage: DurableObjectStorage, store: StoreName) =>
  <A>(operation: string, run: () => A): Effect.Effect<A, StoreError> =>
    Effect.try({
      try: () => storage.transactionSync(run),
      catch: (cause) => {
        const reason = cause instanceof Error ? cause.message : String(cause)
        const isRetryable = !isDefect(cause) && !permanent.test(reason)
        return new StoreError({ store, operation, reason, isRetryable, cause })
      }
    })

/** The operations of a store, which return their results at once. */
type Operations<Store> = {
  readonly [Name in keyof Store]: Store[Name] extends (...args: infer Args) => Effect.Effect<infer A, StoreError>
    ? (...args: Args) => A
    : never
}

/**
 * Executes the migrations of a store that were not executed yet, in order. A migration is one statement or several, and is
 * never changed after a release.
 */
const migrate = (query: Query, store: StoreName, migrations: ReadonlyArray<string>): void => {
  query(
    "CREATE TABLE IF NOT EXISTS colloquy_migrations (store TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID"
  )
  const [row] = query<{ version: number }>("SELECT version FROM colloquy_migrations WHERE store = ?", store)
  const version = row?.version ?? 0
  for (const migration of migrations.slice(version)) query(migration)
  if (version < migrations.length) {
    query("INSERT OR REPLACE INTO colloquy_migrations (store, version) VALUES (?, ?)", store, migrations.length)
  }
}

/**
 * Creates the tables of a store, and returns the store. Each operation runs in a transaction. An error of an operation has its
 * name.
 */
export const openStore = <Store extends object>(
  storage: DurableObjectStorage,
  store: StoreName,
  migrations: ReadonlyArray<string>,
  operationsOf: (query: Query) => Operations<Store>
): Effect.Effect<Store, StoreError> => {
  const query: Query = (text, ...values) => storage.sql.exec<never>(text, ...values).toArray()
  const run = transactionsOf(storage, store)
  return run("migrate", () => {
    migrate(query, store, migrations)
    return Rec.map(
      operationsOf(query) as Readonly<Record<string, (...args: ReadonlyArray<unknown>) => unknown>>,
      (operation, name) =>
        (...args: ReadonlyArray<unknown>) =>
          run(name, () => operation(...args))
    ) as Store
  })
}

/** Encodes any text for the storage, which would replace half of a surrogate pair. Most texts do not change. */
export const encodeText = (text: string): string =>
  text.isWellFormed() && !text.startsWith("\u0001") ? text : `\u0001${JSON.stringify(text)}`

export const decodeText = (text: string): string =>
  text.startsWith("\u0001") ? String(JSON.parse(text.slice(1))) : text
