/**
 * Who has been served by which broadcast, in a SQL database: a SQLite file or PostgreSQL.
 *
 * @since 0.1.0
 */
import * as BroadcastStore from "@colloquy/core/BroadcastStore"
import type { StoreError } from "@colloquy/core/StoreError"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import * as Row from "./internal/broadcast/row.ts"
import { type Dialect, dialectOf } from "./internal/stores/sqlDialect.ts"
import { ofSql } from "./internal/stores/failure.ts"

/**
 * What {@link layer} accepts: `table` is the name of the table of broadcasts, `colloquy_broadcasts` by default, in
 * PostgreSQL also with a schema, `bot.broadcasts`. The recipients stand in `<table>_records`, the migrations that ran in
 * `<table>_migrations`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly table?: string | undefined
}

const failure = ofSql("broadcasts")

const migrate = (sql: SqlClient.SqlClient, table: string, { integer }: Dialect) =>
  Migrator.make({})({
    table: `${table}_migrations`,
    loader: Migrator.fromRecord({
      "1_broadcasts": Effect.andThen(
        sql`CREATE TABLE ${sql(table)} (
          name TEXT NOT NULL PRIMARY KEY,
          status TEXT NOT NULL,
          started_at ${integer} NOT NULL,
          total ${integer},
          sent ${integer} NOT NULL DEFAULT 0,
          forbidden ${integer} NOT NULL DEFAULT 0,
          not_found ${integer} NOT NULL DEFAULT 0,
          failed ${integer} NOT NULL DEFAULT 0,
          owner TEXT NOT NULL,
          lease_until ${integer} NOT NULL
        )`,
        sql`CREATE TABLE ${sql(`${table}_records`)} (
          name TEXT NOT NULL,
          chat_id ${integer} NOT NULL,
          status TEXT NOT NULL,
          message_id TEXT,
          problem TEXT,
          at ${integer} NOT NULL,
          PRIMARY KEY (name, chat_id)
        )`
      )
    })
  })

const columnsOfRecord = {
  chat_id: "BIGINT",
  status: "TEXT",
  message_id: "TEXT",
  problem: "TEXT",
  at: "BIGINT"
} as const

const makeStore = Effect.fnUntraced(function* (table: string) {
  const sql = yield* SqlClient.SqlClient
  const dialect = dialectOf(sql)
  if (dialect === undefined) {
    return yield* failure("migrate")(
      new Error("SqlBroadcastStore speaks SQLite and PostgreSQL, and this is another database")
    )
  }
  yield* Effect.mapError(migrate(sql, table, dialect), failure("migrate"))

  const broadcasts = sql(table)
  const records = sql(`${table}_records`)
  const isNotOver = sql`status IN ('running', 'paused')`

  const changes = (statement: Effect.Effect<ReadonlyArray<object>, unknown>, operation: string) =>
    Effect.mapBoth(statement, { onFailure: failure(operation), onSuccess: (rows) => rows.length > 0 })

  const standing = (statement: Effect.Effect<ReadonlyArray<Row.Broadcast>, unknown>, operation: string) =>
    Effect.mapBoth(statement, {
      onFailure: failure(operation),
      onSuccess: (rows) => Option.map(Arr.head(rows), Row.toStanding)
    })

  const insert = (name: string, served: ReadonlyArray<BroadcastStore.RecipientRecord>) =>
    sql<{
      status: BroadcastStore.RecipientStatus
    }>`INSERT INTO ${records} (name, chat_id, status, message_id, problem, at)
      SELECT CAST(${name} AS TEXT), chat_id, status, message_id, problem, at
      FROM ${dialect.told(JSON.stringify(served.map(Row.fromRecord)), columnsOfRecord)} WHERE true
      ON CONFLICT (name, chat_id) DO NOTHING RETURNING status`

  const count = (name: string, statuses: ReadonlyArray<BroadcastStore.RecipientStatus>) => {
    const of = (status: BroadcastStore.RecipientStatus) => statuses.filter((other) => other === status).length
    return sql`UPDATE ${broadcasts} SET sent = sent + ${of("Sent")}, forbidden = forbidden + ${of("Forbidden")},
      not_found = not_found + ${of("NotFound")}, failed = failed + ${of("Failed")} WHERE name = ${name}`
  }

  /** Keeps a broadcast from being forgotten or counted by others until the transaction ends. */
  const lock = (name: string) =>
    Effect.map(sql`UPDATE ${broadcasts} SET name = name WHERE name = ${name} RETURNING name`, (rows) => rows.length > 0)

  return BroadcastStore.BroadcastStore.of({
    acquireLease: ({ create, leaseUntil, name, now, owner }) => {
      const isFree = sql`(${broadcasts}.owner = ${owner} OR ${broadcasts}.lease_until <= ${now})`
      return standing(
        create
          ? sql<Row.Broadcast>`INSERT INTO ${broadcasts} (name, status, started_at, owner, lease_until)
              VALUES (${name}, 'running', ${now}, ${owner}, ${leaseUntil})
              ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, lease_until = excluded.lease_until
              WHERE ${isFree} RETURNING *`
          : sql<Row.Broadcast>`UPDATE ${broadcasts} SET owner = ${owner}, lease_until = ${leaseUntil}
              WHERE name = ${name} AND ${isFree} RETURNING *`,
        "acquireLease"
      )
    },
    summary: (name) => standing(sql<Row.Broadcast>`SELECT * FROM ${broadcasts} WHERE name = ${name}`, "summary"),
    update: (name, { status, total }) =>
      changes(
        sql`UPDATE ${broadcasts} SET status = COALESCE(${status ?? null}, status),
          total = COALESCE(CAST(${total ?? null} AS ${dialect.integer}), total)
          WHERE name = ${name} AND ${isNotOver} RETURNING name`,
        "update"
      ),
    pending: (name, chats) =>
      sql<{ chat_id: number | bigint | string }>`SELECT chat_id FROM ${records} WHERE name = ${name} AND chat_id IN
        (SELECT chat_id FROM ${dialect.told(JSON.stringify(chats.map((chat_id) => ({ chat_id }))), { chat_id: "BIGINT" })})`.pipe(
        Effect.mapBoth({
          onFailure: failure("pending"),
          onSuccess: (rows) => {
            const served = new Set(rows.map(({ chat_id }) => Number(chat_id)))
            return chats.filter((chat_id) => !served.has(chat_id))
          }
        })
      ),
    addRecords: (name, served) =>
      Effect.gen(function* () {
        if (!(yield* lock(name))) return
        const added = yield* insert(name, served)
        yield* count(
          name,
          added.map(({ status }) => status)
        )
      }).pipe(sql.withTransaction, Effect.mapError(failure("addRecords"))),
    records: (name, { after, limit }) =>
      sql<Row.Row>`SELECT chat_id, status, message_id, problem, at FROM ${records}
        WHERE ${sql.and([sql`name = ${name}`, ...(after === undefined ? [] : [sql`chat_id > ${after}`])])}
        ORDER BY chat_id LIMIT ${limit}`.pipe(
        Effect.mapBoth({ onFailure: failure("records"), onSuccess: (rows) => rows.map(Row.toRecord) })
      ),
    remove: (name) =>
      sql`DELETE FROM ${broadcasts} WHERE name = ${name} RETURNING name`.pipe(
        Effect.tap(() => sql`DELETE FROM ${records} WHERE name = ${name}`),
        sql.withTransaction,
        (statements) => changes(statements, "remove")
      )
  })
})

/**
 * Keeps broadcasts in the database of the `SqlClient` that is provided: `NodeSqlite.layer` for a file, `PgClient.layer`
 * for PostgreSQL. The tables are made when the layer is built, and it is safe to start several processes at once.
 *
 * What became of a recipient is on disk, as far as the database is set to be durable, before it counts as served: in a
 * SQLite file by `NodeSqlite.layer` after every record.
 *
 * Fails with a `StoreError` when the database cannot be reached or is of another status.
 *
 * **Example** (One file)
 *
 * ```ts
 * import { SqlBroadcastStore, NodeSqlite } from "@colloquy/node"
 * import * as Layer from "effect/Layer"
 *
 * export const Broadcasts = SqlBroadcastStore.layer().pipe(
 *   Layer.provide(NodeSqlite.layer({ filename: "data/bot.sqlite" }))
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options: Options = {}
): Layer.Layer<BroadcastStore.BroadcastStore, StoreError, SqlClient.SqlClient> =>
  Layer.effect(BroadcastStore.BroadcastStore, makeStore(options.table ?? "colloquy_broadcasts"))
