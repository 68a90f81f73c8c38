import type * as SqlClient from "effect/sql/SqlClient"
import type { Dialect } from "../../base/internal/stores/sql.ts"
import { toKeyRows } from "./sqlRows.ts"
import { tableNames } from "./sqlTables.ts"

/** The types of the columns of rows. */
export type Columns<A> = { readonly [K in keyof A]: "text" | "bigint" }

/** The tables of the inbox in SQLite, and the statements that several operations need. */
export const make = (sql: SqlClient.SqlClient, table: string, { rows }: Dialect) => {
  const names = tableNames(table)
  const partitions = sql(names.partitions)
  return {
    sql,
    rows,
    names,
    updates: sql(names.updates),
    partitions,
    counts: sql(names.counts),
    deletePartitions: (keys: ReadonlyArray<string>) =>
      sql`DELETE FROM ${partitions} WHERE partition_key IN (
      SELECT r.partition_key FROM ${rows({ partition_key: "text" }, toKeyRows(keys))}
    )`
  }
}

export type Tables = ReturnType<typeof make>
