import type * as Row from "./row.ts"
import type * as SqlClient from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import * as shared from "../stores/sqlDialect.ts"

const types = {
  chat_id: "BIGINT",
  type: "TEXT",
  first_seen: "BIGINT",
  last_seen: "BIGINT",
  member_at: "BIGINT",
  left_at: "BIGINT",
  title: "TEXT",
  title_at: "BIGINT",
  dialog_user: "TEXT",
  dialog_user_at: "BIGINT",
  rights: "TEXT",
  rights_at: "BIGINT"
} as const satisfies { readonly [K in keyof Row.Row]: string }

/** The columns of a {@link Row.Row}. */
export const columns = Object.keys(types).join(", ")

/** `ChatRecord.combine` of the row that is there, `known`, and the one that is told, `excluded`. */
const combine = (least: string, greatest: string): string => {
  const left_at = `${greatest}(known.left_at, excluded.left_at)`
  const dated = (name: string) => [
    `${name} = CASE WHEN excluded.${name}_at >= known.${name}_at AND excluded.${name}_at > ${left_at} THEN excluded.${name}
      WHEN known.${name}_at > ${left_at} THEN known.${name} END`,
    `${name}_at = ${greatest}(known.${name}_at, excluded.${name}_at)`
  ]
  return [
    "type = COALESCE(excluded.type, known.type)",
    `first_seen = ${least}(known.first_seen, excluded.first_seen)`,
    `last_seen = ${greatest}(known.last_seen, excluded.last_seen)`,
    `member_at = ${greatest}(known.member_at, excluded.member_at)`,
    `left_at = ${left_at}`,
    ...["title", "dialog_user", "rights"].flatMap(dated),
    `data = CASE WHEN known.data_at > ${left_at} THEN known.data ELSE '{}' END`
  ].join(", ")
}

/** What differs between the databases. */
export interface Dialect extends Pick<shared.Dialect, "integer"> {
  /** Rows from a JSON text, as something to insert. */
  readonly told: (json: string) => Fragment
  readonly combine: string
}

export const dialectOf = (sql: SqlClient.SqlClient): Dialect | undefined => {
  const dialect = shared.dialectOf(sql)
  return (
    dialect && {
      integer: dialect.integer,
      // SQLite takes an ON CONFLICT after a FROM for a join, unless a WHERE stands between.
      told: (json) => sql`SELECT ${sql.literal(columns)} FROM ${dialect.told(json, types)} WHERE true`,
      combine: sql.onDialectOrElse({
        sqlite: () => combine("MIN", "MAX"),
        orElse: () => combine("LEAST", "GREATEST")
      })
    }
  )
}
