import type { Database, OperationKind } from "@colloquy/core/inbox/SqliteInboxStore"
import type { DatabaseSync, StatementSync } from "node:sqlite"
import type { SqliteConnection } from "../../../base/internal/sqlite/connection.ts"
import { sqlToStoreError } from "../../../base/internal/stores/sql.ts"

const begins: Readonly<Record<OperationKind, string>> = {
  read: "BEGIN",
  lease: "BEGIN IMMEDIATE",
  write: "BEGIN IMMEDIATE"
}

/** The synchronous use of a connection. The connection is known from its first use on. */
export const make = () => {
  let connection: SqliteConnection | undefined
  let database: DatabaseSync
  const statements = new Map<string, StatementSync>()

  const prepare = (sql: string): StatementSync => {
    const statement = database.prepare(sql)
    statement.setReturnArrays(true)
    statements.set(sql, statement)
    return statement
  }

  const all: Database["all"] = (sql, ...params) =>
    (statements.get(sql) ?? prepare(sql)).all(...params) as unknown as ReadonlyArray<never>

  const nested = <A>(run: () => A): A => {
    all("SAVEPOINT colloquy")
    try {
      const result = run()
      all("RELEASE colloquy")
      return result
    } catch (cause) {
      // After some errors, such as a full disk, SQLite has rolled back the whole transaction.
      if (!database.isTransaction) throw sqlToStoreError("inbox")("commit")(cause)
      all("ROLLBACK TO colloquy")
      all("RELEASE colloquy")
      throw cause
    }
  }

  const outer = <A>(run: () => A, kind: OperationKind): A => {
    all(begins[kind])
    try {
      const result = run()
      all("COMMIT")
      return result
    } catch (cause) {
      if (database.isTransaction) all("ROLLBACK")
      throw cause
    }
  }

  const transaction = <A>(run: () => A, kind: OperationKind = "write"): A => {
    if (database.isTransaction) return nested(run)
    const { synchronous } = connection!.settings
    if (kind !== "lease" || (synchronous !== "FULL" && synchronous !== "EXTRA")) return outer(run, kind)
    // The commit does not wait for the disk.
    database.exec("PRAGMA synchronous = NORMAL")
    try {
      return outer(run, kind)
    } finally {
      database.exec(`PRAGMA synchronous = ${synchronous}`)
    }
  }

  return {
    use: (used: SqliteConnection): void => {
      if (connection === used) return
      connection = used
      database = used.database
      statements.clear()
    },
    all,
    transaction,
    /** Executes a statement of the author. */
    execute: (sql: string, params: ReadonlyArray<unknown>) => connection!.all(sql, params)
  }
}
