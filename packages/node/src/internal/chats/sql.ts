import type * as Row from "./row.ts"
import type * as SqlClient from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"

const types = {
  chat_id: "BIGINT",
  type: "TEXT",
  first_seen: "BIGINT",
  last_seen: "BIGINT",
  member_at: "BIGINT",
  gone_at: "BIGINT",
  title: "TEXT",
  title_at: "BIGINT",
  dialog_user: "TEXT",
  dialog_user_at: "BIGINT",
  rights: "TEXT",
  rights_at: "BIGINT"
} satisfies { readonly [K in keyof Row.Row]: string }

const names = Object.keys(types)

/** The columns of a {@link Row.Row}. */
export const columns = names.join(", ")

const typed = Object.entries(types)
  .map(([name, type]) => `${name} ${type}`)
  .join(", ")

/** `ChatRecord.combine` of the row that is there, `known`, and the one that is told, `excluded`. */
const combine = (least: string, greatest: string): string => {
  const gone = `${greatest}(known.gone_at, excluded.gone_at)`
  const dated = (name: string) => [
    `${name} = CASE WHEN excluded.${name}_at >= known.${name}_at AND excluded.${name}_at > ${gone} THEN excluded.${name}
      WHEN known.${name}_at > ${gone} THEN known.${name} END`,
    `${name}_at = ${greatest}(known.${name}_at, excluded.${name}_at)`
  ]
  return [
    "type = COALESCE(excluded.type, known.type)",
    `first_seen = ${least}(known.first_seen, excluded.first_seen)`,
    `last_seen = ${greatest}(known.last_seen, excluded.last_seen)`,
    `member_at = ${greatest}(known.member_at, excluded.member_at)`,
    `gone_at = ${gone}`,
    ...["title", "dialog_user", "rights"].flatMap(dated),
    `data = CASE WHEN known.data_at > ${gone} THEN known.data ELSE '{}' END`
  ].join(", ")
}

/** What differs between the databases. */
export interface Dialect {
  readonly integer: string
  /** Rows from a JSON text. It is one parameter, so that the statement is the same for any number of rows. */
  readonly told: (json: string) => Fragment
  readonly combine: string
}

export const dialectOf = (sql: SqlClient.SqlClient): Dialect | undefined =>
  sql.onDialectOrElse<Dialect | undefined, Dialect, Dialect>({
    sqlite: () => ({
      integer: "INTEGER",
      told: (json) =>
        sql`SELECT ${sql.literal(names.map((name) => `value ->> '${name}'`).join(", "))} FROM json_each(${json}) WHERE true`,
      combine: combine("MIN", "MAX")
    }),
    pg: () => ({
      integer: "BIGINT",
      told: (json) => sql`SELECT ${sql.literal(columns)}
        FROM jsonb_to_recordset(CAST(CAST(${json} AS text) AS jsonb)) AS told(${sql.literal(typed)})`,
      combine: combine("LEAST", "GREATEST")
    }),
    orElse: () => undefined
  })
