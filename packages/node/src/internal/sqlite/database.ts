import type * as Duration from "effect/Duration"
import { mkdirSync } from "node:fs"
import { dirname } from "node:path"
import type { DatabaseSync, StatementSync } from "node:sqlite"

export interface Settings {
  readonly filename: string
  readonly synchronous: "FULL" | "NORMAL" | "EXTRA" | "OFF"
  readonly busyTimeout: Duration.Duration
  readonly foreignKeys: boolean
  readonly cachedStatements: number
}

export const inMemory = (filename: string) => filename === ":memory:" || filename === ""

// Loaded at the first opening: importing the module makes Node 22 print its warning of an experimental feature.
const driver = () => process.getBuiltinModule("node:sqlite")

/** Opens the file and sets the connection up; throws what the driver throws. */
export const open = (settings: Settings): DatabaseSync => {
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

/** SQLite prepares the first statement of a text and would drop the others in silence. */
export const prepare = (database: DatabaseSync, sql: string): StatementSync => {
  const statement = database.prepare(sql)
  const rest = sql.slice(statement.sourceSQL.length)
  if (!insignificant.test(rest)) {
    throw new SyntaxError(`One statement at a time: SQLite would not run what follows the first, ${rest.trim()}`)
  }
  statement.setReadBigInts(true)
  return statement
}

/** Keeps the statements used last, so that the same text is prepared once. */
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
