import type * as SqlClient from "effect/sql/SqlClient"
import type { Dialect } from "../../base/internal/stores/sql.ts"
import * as sqliteJournals from "./journal/sqliteJournals.ts"
import * as sqlJournals from "./journal/sqlJournals.ts"
import * as sqliteClaim from "./sqliteClaim.ts"
import * as sqliteCommit from "./sqliteCommit.ts"
import * as sqliteEnqueue from "./sqliteEnqueue.ts"
import * as sqliteTables from "./sqliteTables.ts"
import type { Engine } from "./sqlEngine.ts"
import * as sqliteStates from "./state/sqliteStates.ts"
import * as sqliteTimers from "./timers/sqliteTimers.ts"

/** The operations of the inbox in SQLite, each of which runs in a transaction. */
export const make = (sql: SqlClient.SqlClient, table: string, dialect: Dialect): Engine => {
  const states = sqliteStates.make(sql, table, dialect)
  const timers = sqliteTimers.make(sql, table, dialect)
  const journals = { ...sqlJournals.make(sql, table, dialect), ...sqliteJournals.make(sql, table, dialect) }
  const tables = sqliteTables.make(sql, table, dialect)
  const { append, enqueue } = sqliteEnqueue.make(tables)
  return {
    enqueue,
    claim: sqliteClaim.make(tables, { append, journals, timers }),
    commit: sqliteCommit.make(tables, { journals, states, timers }),
    record: journals.record,
    writeState: states.write,
    changeTimers: timers.change
  }
}
