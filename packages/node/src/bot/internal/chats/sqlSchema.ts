import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { Dialect } from "../../../base/internal/stores/sql.ts"

export const migrations = (sql: SqlClient.SqlClient, table: string, { integer }: Dialect) => ({
  "1_create": Effect.asVoid(
    sql`CREATE TABLE ${sql(table)} (
      chat_id ${integer} NOT NULL PRIMARY KEY,
      type TEXT,
      first_seen ${integer} NOT NULL,
      last_seen ${integer} NOT NULL,
      member_at ${integer} NOT NULL,
      left_at ${integer} NOT NULL,
      title TEXT,
      title_at ${integer} NOT NULL,
      dialog_user TEXT,
      dialog_user_at ${integer} NOT NULL,
      rights TEXT,
      rights_at ${integer} NOT NULL
    )`
  )
})

/** The assignments of an upsert: `ChatRecord.combine` of the stored row, `known`, and the new row, `excluded`. */
export const combine = ({ greatest, least }: Dialect): string => {
  const left_at = `${greatest}(known.left_at, excluded.left_at)`
  const latestFact = (name: string) => [
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
    ...["title", "dialog_user", "rights"].flatMap(latestFact)
  ].join(", ")
}
