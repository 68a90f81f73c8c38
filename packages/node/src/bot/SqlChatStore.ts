/**
 * Stores the chats of a bot in an SQL database, SQLite or PostgreSQL.
 *
 * @since 0.1.0
 */
import * as ChatRecord from "@colloquy/core/bot/ChatRecord"
import * as ChatStore from "@colloquy/core/bot/ChatStore"
import type { StoreError } from "@colloquy/core/base/StoreError"
import * as WriteBatching from "@colloquy/core/base/WriteBatching"
import * as Settings from "@colloquy/core/client/Settings"
import * as Arr from "effect/Array"
import type * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import {
  type ChatRow,
  chatColumns,
  fromRecord,
  recordColumns,
  type RecordRow,
  toKnownChats
} from "./internal/chats/row.ts"
import { maxRows, visitSlices } from "./internal/chats/slices.ts"
import { maxValues, padded } from "./internal/chats/sqliteValues.ts"
import { combine, migrations } from "./internal/chats/sqlSchema.ts"
import { withStoreErrors } from "../base/internal/stores/operations.ts"
import { byTransaction, isRetryableSql, makeStore } from "../base/internal/stores/sql.ts"
import { encodeText } from "../base/internal/stores/values.ts"

/**
 * Options of {@link layer}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends ChatStore.Options {
  /**
   * The name of the table is this prefix, followed by `_chats`. Use a different prefix for each bot. In PostgreSQL, the
   * prefix may contain an existing schema, such as `bots.shop`. Default: `"colloquy"`.
   */
  readonly prefix?: string | undefined
}

/**
 * Creates the store. See {@link layer}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: (
  options?: Options
) => Effect.Effect<ChatStore.ChatStore["Service"], StoreError, SqlClient.SqlClient | Scope.Scope> = Effect.fnUntraced(
  function* (options: Options = {}) {
    const { dialect, migrate, sql, table, toStoreError } = yield* makeStore({
      store: "chats",
      prefix: options.prefix,
      migrations
    })
    yield* migrate

    const chats = sql(table)
    const isKnown = sql`member_at > left_at`
    const columns = sql.literal(Object.keys(recordColumns).join(", "))
    const assignments = sql.literal(combine(dialect))

    const rowsOf = (rows: ReadonlyArray<RecordRow>): Fragment => {
      const values = dialect.name === "sqlite" && rows.length <= maxValues ? padded(rows) : []
      return Arr.isReadonlyArrayNonEmpty(values)
        ? sql`${sql.insert(values)}`
        : // Without a WHERE, SQLite would read ON CONFLICT as the condition of a join.
          sql`(${columns}) SELECT ${columns} FROM ${dialect.rows(recordColumns, rows)} WHERE true`
    }

    const write = (records: ReadonlyArray<ChatRecord.ChatRecord>) =>
      sql`INSERT INTO ${chats} AS known ${rowsOf(ChatRecord.combineAll(records).map(fromRecord))}
        ON CONFLICT (chat_id) DO UPDATE SET ${assignments}`.pipe(Effect.asVoid)
    const writeBatched = yield* WriteBatching.make({
      write: (groups: ReadonlyArray<ReadonlyArray<ChatRecord.ChatRecord>>) =>
        Effect.as(
          write(groups.flat()),
          groups.map(() => {})
        ),
      splitOn: (error) => !isRetryableSql(error)
    })
    const upsert = byTransaction(sql, write, writeBatched)

    /** PostgreSQL executes a statement in another process, so its rows are not divided. */
    const visit = (
      after: number | undefined,
      rows: number,
      visitRange: (range: Fragment) => Effect.Effect<boolean, SqlError>
    ) =>
      dialect.name === "sqlite"
        ? visitSlices(sql, table, { after, rows }, visitRange)
        : visitRange(after === undefined ? sql`true` : sql`chat_id > ${after}`)

    const select = (where: Fragment, limit: number) =>
      sql<ChatRow>`SELECT ${sql.literal(chatColumns.join(", "))} FROM ${chats}
        WHERE ${where} ORDER BY chat_id LIMIT ${limit}`

    const selectPage = (where: Fragment, after: number | undefined, limit: number) =>
      Effect.suspend(() => {
        const found: Array<ChatRow> = []
        const page = visit(after, 4 * limit, (range) =>
          Effect.map(select(sql.and([where, range]), limit - found.length), (rows) => found.push(...rows) < limit)
        )
        return Effect.as(page, found)
      })

    const sum = (countIn: (range: Fragment) => Effect.Effect<number, SqlError>) =>
      Effect.suspend(() => {
        let total = 0
        const counted = visit(undefined, maxRows, (range) =>
          Effect.map(countIn(range), (count) => {
            total += count
            return true
          })
        )
        return Effect.map(counted, () => total)
      })

    const matching = ({ type, activeSince }: ChatStore.Filter) => [
      isKnown,
      ...(type === undefined ? [] : [sql`type = ${encodeText(type)}`]),
      ...(activeSince === undefined ? [] : [sql`last_seen >= ${activeSince}`])
    ]

    return yield* ChatStore.withCleanup(
      withStoreErrors<ChatStore.ChatStore["Service"]>(toStoreError, {
        upsert: (records) => (records.length === 0 ? Effect.void : upsert(records)),
        get: (chat_id) =>
          select(sql.and([isKnown, sql`chat_id = ${chat_id}`]), 1).pipe(
            Effect.flatMap(toKnownChats),
            Effect.map(Arr.head)
          ),
        page: (filter, after, limit) =>
          selectPage(sql.and(matching(filter)), Option.getOrUndefined(after), limit).pipe(
            Effect.flatMap(toKnownChats),
            Effect.map((found) => ({
              chats: found,
              next: found.length < limit ? Option.none() : Option.map(Arr.last(found), ({ chat_id }) => chat_id)
            }))
          ),
        count: (filter) =>
          sum((range) =>
            Effect.map(
              sql<{
                count: number | bigint
              }>`SELECT count(*) AS count FROM ${chats} WHERE ${sql.and([...matching(filter), range])}`,
              (rows) => Number(rows[0]!.count)
            )
          ),
        remove: (chat_id) =>
          Effect.map(
            sql`UPDATE ${chats} SET left_at = last_seen, title = NULL, dialog_user = NULL, rights = NULL
              WHERE ${isKnown} AND chat_id = ${chat_id} RETURNING chat_id`,
            (rows) => rows.length > 0
          ),
        cleanup: (before) =>
          sum((range) =>
            Effect.map(
              sql`DELETE FROM ${chats} WHERE NOT (${isKnown}) AND left_at < ${before} AND ${range} RETURNING chat_id`,
              (rows) => rows.length
            )
          )
      }),
      options
    )
  }
)

/**
 * Provides a `ChatStore` on the `SqlClient` of the program: `NodeSqlite.layer` of this package, or `PgClient.layer` of
 * `@effect/sql-pg`. The table is created when the layer is built; several processes may start concurrently.
 *
 * `upsert` returns when the chats are as durable as the settings of the database make a commit. With
 * `NodeSqlite.layer`, the chats are on disk. Concurrent upserts share statements. Inside a transaction of the same
 * `SqlClient`, an upsert is part of the transaction.
 *
 * Fails with a `StoreError` if the database cannot be reached or is neither SQLite nor PostgreSQL.
 *
 * **Example** (Chats in a SQLite file)
 *
 * ```ts
 * import { Bot, ChatStore, type Update } from "@colloquy/core"
 * import { NodeSqlite, SqlChatStore } from "@colloquy/node"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * const Chats = SqlChatStore.layer().pipe(Layer.provide(NodeSqlite.layer({ filename: "data/bot.sqlite" })))
 *
 * const handle = ChatStore.track((update: Update.Update) => Effect.log(update.update_type))
 *
 * export const bot = Bot.run(handle).pipe(Effect.provide(Chats))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: Options): Layer.Layer<ChatStore.ChatStore, StoreError, SqlClient.SqlClient> =>
  Layer.effect(ChatStore.ChatStore, make(options))

/**
 * Like {@link layer}, with options from the configuration.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  options: Config.Wrap<Options> = {}
): Layer.Layer<ChatStore.ChatStore, StoreError | Settings.InvalidSettings, SqlClient.SqlClient> =>
  Layer.effect(ChatStore.ChatStore, Effect.flatMap(Settings.unwrap<Options>(options), make))
