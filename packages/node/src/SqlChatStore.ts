/**
 * The chats that a bot knows, in a SQL database: a SQLite file or PostgreSQL.
 *
 * @since 0.1.0
 */
import * as ChatRecord from "@colloquy/core/ChatRecord"
import * as ChatStore from "@colloquy/core/ChatStore"
import type { StoreError } from "@colloquy/core/StoreError"
import * as WriteBatching from "@colloquy/core/WriteBatching"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import type { Fragment, Statement } from "effect/sql/Statement"
import * as Row from "./internal/chats/row.ts"
import * as Sql from "./internal/chats/sql.ts"
import { ofSql } from "./internal/stores/failure.ts"

/**
 * What {@link layer} accepts, besides what every store accepts: `table` is the name of the table, `colloquy_chats` by
 * default, in PostgreSQL also with a schema, `bot.chats`. The migrations that ran stand in `<table>_migrations`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends ChatStore.Options {
  readonly table?: string | undefined
}

const failure = ofSql("chats")

const migrate = (sql: SqlClient.SqlClient, table: string, { integer }: Sql.Dialect) =>
  Migrator.make({})({
    table: `${table}_migrations`,
    loader: Migrator.fromRecord({
      "1_chats": Effect.asVoid(
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
          rights_at ${integer} NOT NULL,
          data TEXT NOT NULL DEFAULT '{}',
          data_at ${integer} NOT NULL DEFAULT 0
        )`
      )
    })
  })

const makeStore = Effect.fnUntraced(function* (table: string) {
  const sql = yield* SqlClient.SqlClient
  const dialect = Sql.dialectOf(sql)
  if (dialect === undefined) {
    return yield* failure("migrate")(
      new Error("SqlChatStore speaks SQLite and PostgreSQL, and this is another database")
    )
  }
  yield* Effect.mapError(migrate(sql, table, dialect), failure("migrate"))

  const chats = sql(table)
  const isKnown = sql`member_at > left_at`

  const write = (records: ReadonlyArray<ChatRecord.ChatRecord>) => {
    const rows = JSON.stringify(ChatRecord.combineAll(records).map(Row.fromRecord))
    return sql`INSERT INTO ${chats} AS known (${sql.literal(Sql.columns)}) ${dialect.told(rows)}
      ON CONFLICT (chat_id) DO UPDATE SET ${sql.literal(dialect.combine)}`.pipe(
      Effect.asVoid,
      Effect.mapError(failure("upsert"))
    )
  }
  const writeBatched = yield* WriteBatching.make({
    write: (groups: ReadonlyArray<ReadonlyArray<ChatRecord.ChatRecord>>) =>
      Effect.as(
        write(groups.flat()),
        groups.map(() => {})
      ),
    splitOn: ({ isRetryable }) => !isRetryable
  })

  const select = (operation: string, where: Fragment, limit: number) =>
    sql<Row.Known>`SELECT chat_id, type, first_seen, last_seen, title, dialog_user, rights, data
      FROM ${chats} WHERE ${where} ORDER BY chat_id LIMIT ${limit}`.pipe(
      Effect.mapError(failure(operation)),
      Effect.flatMap((rows) => Effect.try({ try: () => rows.map(Row.toEntry), catch: failure(operation) }))
    )

  const matching = ({ type, activeSince }: ChatStore.Filter) => [
    isKnown,
    ...(type === undefined ? [] : [sql`type = ${type}`]),
    ...(activeSince === undefined ? [] : [sql`last_seen >= ${activeSince}`])
  ]

  /** How many rows a statement returned, which says how many it changed. */
  const changes = (operation: string, statement: Statement<object>) =>
    Effect.mapBoth(statement, { onFailure: failure(operation), onSuccess: (rows) => rows.length })

  return ChatStore.ChatStore.of({
    upsert: (records) =>
      records.length === 0
        ? Effect.void
        : Effect.flatMap(Effect.serviceOption(sql.transactionService), (transaction) =>
            // The batch runs on another connection, which would wait for the transaction of its caller.
            Option.isSome(transaction) ? write(records) : writeBatched(records)
          ),
    get: (chat_id) => Effect.map(select("get", sql.and([isKnown, sql`chat_id = ${chat_id}`]), 1), Arr.head),
    page: (filter, after, limit) =>
      select(
        "page",
        sql.and([...matching(filter), ...Option.toArray(after).map((id) => sql`chat_id > ${id}`)]),
        limit
      ).pipe(
        Effect.map((found) => ({
          chats: found,
          next: found.length < limit ? Option.none() : Option.map(Arr.last(found), ({ chat_id }) => chat_id)
        }))
      ),
    count: (filter) =>
      sql<{ count: number | bigint }>`SELECT count(*) AS count FROM ${chats} WHERE ${sql.and(matching(filter))}`.pipe(
        Effect.mapBoth({ onFailure: failure("count"), onSuccess: (rows) => Number(rows[0]!.count) })
      ),
    remove: (chat_id) =>
      Effect.map(
        changes(
          "remove",
          sql`UPDATE ${chats} SET left_at = last_seen, title = NULL, dialog_user = NULL, rights = NULL, data = '{}'
            WHERE ${isKnown} AND chat_id = ${chat_id} RETURNING chat_id`
        ),
        (count) => count > 0
      ),
    compareAndSetData: (chat_id, expected, next) =>
      Effect.map(
        changes(
          "compareAndSetData",
          sql`UPDATE ${chats} SET data = ${JSON.stringify(next)}, data_at = last_seen
            WHERE ${isKnown} AND chat_id = ${chat_id} AND data = ${JSON.stringify(expected)} RETURNING chat_id`
        ),
        (count) => count > 0
      ),
    cleanup: (before) =>
      changes("cleanup", sql`DELETE FROM ${chats} WHERE NOT (${isKnown}) AND left_at < ${before} RETURNING chat_id`)
  })
})

/**
 * Keeps the chats in the database of the `SqlClient` that is provided: `NodeSqlite.layer` for a file, `PgClient.layer`
 * for PostgreSQL. The table is made when the layer is built, and it is safe to start several processes at once.
 *
 * What is learnt is on disk, as far as the database is set to be durable, when the update goes on: in a SQLite file by
 * `NodeSqlite.layer` after every write. Updates that are handled at the same time are written in one go. Within a
 * transaction of the same `SqlClient`, what is learnt is part of the transaction.
 *
 * Fails with a `StoreError` when the database cannot be reached or is of another kind.
 *
 * **Example** (One file)
 *
 * ```ts
 * import { ChatStore, Updates } from "@colloquy/core"
 * import { NodeSqlite, SqlChatStore } from "@colloquy/node"
 * import * as Layer from "effect/Layer"
 * import * as Stream from "effect/Stream"
 *
 * const Chats = SqlChatStore.layer().pipe(Layer.provide(NodeSqlite.layer({ filename: "data/bot.sqlite" })))
 *
 * export const updates = Updates.stream.pipe(ChatStore.track, Stream.provide(Chats))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options = {}): Layer.Layer<ChatStore.ChatStore, StoreError, SqlClient.SqlClient> =>
  Layer.effect(
    ChatStore.ChatStore,
    Effect.flatMap(makeStore(options.table ?? "colloquy_chats"), (store) => ChatStore.make(store, options))
  )
