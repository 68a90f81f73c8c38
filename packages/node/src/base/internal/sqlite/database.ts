import * as Duration from "effect/Duration"
import { mkdirSync } from "node:fs"
import { dirname } from "node:path"
import type { DatabaseSync, StatementSync } from "node:sqlite"
import type { Options } from "../../NodeSqlite.ts"

export const withDefaults = (options: Options) => ({
  filename: options.filename,
  synchronous: options.synchronous ?? "FULL",
  busyTimeout: Duration.fromInputUnsafe(options.busyTimeout ?? "5 seconds"),
  foreignKeys: options.foreignKeys ?? true,
  cachedStatements: options.cachedStatements ?? 128
})

export type ConnectionOptions = Readonly<ReturnType<typeof withDefaults>>

export const inMemory = (filename: string) => filename === ":memory:" || filename === ""

// An import of the module would make Node 22 print its warning of an experimental feature at once.
const driver = () => process.getBuiltinModule("node:sqlite")

/** Opens the file and configures the connection. Throws the errors of the driver. */
export const open = (settings: ConnectionOptions): DatabaseSync => {
  if (!inMemory(settings.filename)) mkdirSync(dirname(settings.filename), { recursive: true })
  const database = new (driver().DatabaseSync)(settings.filename, {
    enableForeignKeyConstraints: settings.foreignKeys
  })
  try {
    database.exec("PRAGMA journal_mode = WAL")
    database.exec(`PRAGMA synchronous = ${settings.synchronous}`)
    return database
  } catch (cause) {
    database.close()
    throw cause
  }
}

const insignificant = /^(?:\s|;|--[^\n]*(?:\n|$)|\/\*(?:[^*]|\*(?!\/))*\*\/)*$/

/** SQLite would prepare the first statement of a text and ignore the others. */
export const prepare = (database: DatabaseSync, sql: string): StatementSync => {
  const statement = database.prepare(sql)
  const rest = sql.slice(statement.sourceSQL.length)
  if (!insignificant.test(rest)) {
    throw new SyntaxError(
      `The text contains more than one statement. SQLite would ignore everything after the first one: ${rest.trim()}. Execute the statements one by one.`
    )
  }
  statement.setReadBigInts(true)
  statement.setReturnArrays(true)
  return statement
}

/** Caches the most recently used statements, so that the same text is prepared once. */
export const makeCache = (database: DatabaseSync, capacity: number): ((sql: string) => StatementSync) => {
  const statements = new Map<string, StatementSync>()
  return (sql) => {
    const known = statements.get(sql)
    const statement = known ?? prepare(database, sql)
    if (known !== undefined) statements.delete(sql)
    statements.set(sql, statement)
    if (statements.size > capacity) statements.delete(statements.keys().next().value!)
    return statement
  }
}
