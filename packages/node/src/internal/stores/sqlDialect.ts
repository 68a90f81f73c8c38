import type * as SqlClient from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"

type Columns = Readonly<Record<string, "BIGINT" | "TEXT">>

/** What differs between the databases. */
export interface Dialect {
  readonly integer: Fragment
  /**
   * Rows from a JSON text, as something to select from. It is one parameter, so that the statement is the same for any
   * number of rows.
   */
  readonly told: (json: string, columns: Columns) => Fragment
}

export const dialectOf = (sql: SqlClient.SqlClient): Dialect | undefined =>
  sql.onDialectOrElse<Dialect | undefined, Dialect, Dialect>({
    sqlite: () => ({
      integer: sql.literal("INTEGER"),
      told: (json, columns) => {
        const members = Object.keys(columns).map((name) => `value ->> '${name}' AS ${name}`)
        return sql`(SELECT ${sql.literal(members.join(", "))} FROM json_each(${json})) AS told`
      }
    }),
    pg: () => ({
      integer: sql.literal("BIGINT"),
      told: (json, columns) => {
        const typed = Object.entries(columns).map(([name, type]) => `${name} ${type}`)
        return sql`jsonb_to_recordset(CAST(CAST(${json} AS text) AS jsonb)) AS told(${sql.literal(typed.join(", "))})`
      }
    }),
    orElse: () => undefined
  })
