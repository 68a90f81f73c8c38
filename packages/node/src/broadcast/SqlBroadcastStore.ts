/**
 * Stores the progress of broadcasts in an SQL database, SQLite or PostgreSQL.
 *
 * @since 0.1.0
 */
import type * as Broadcast from "@colloquy/core/broadcast/Broadcast"
import * as BroadcastStore from "@colloquy/core/broadcast/BroadcastStore"
import type { StoreError } from "@colloquy/core/base/StoreError"
import * as Settings from "@colloquy/core/client/Settings"
import * as Clock from "effect/Clock"
import type * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { type BroadcastRow, fromBegun, fromRecord, toBegun, toRecord, toSummary } from "./internal/row.ts"
import { type Acquire, acquireFromGone, ownerIn } from "./internal/owner.ts"
import { migrations, recordColumns } from "./internal/sqlSchema.ts"
import { withStoreErrors } from "../base/internal/stores/operations.ts"
import { makeStore, withTransaction } from "../base/internal/stores/sql.ts"

/**
 * Options of {@link layer}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * The names of the tables are this prefix, followed by `_broadcasts` and `_broadcasts_records`. Use a different
   * prefix for each bot. In PostgreSQL, the prefix may contain an existing schema, such as `bots.shop`. Default:
   * `"colloquy"`.
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
) => Effect.Effect<BroadcastStore.BroadcastStore["Service"], StoreError, SqlClient.SqlClient> = Effect.fnUntraced(
  function* (options: Options = {}) {
    const { dialect, migrate, sql, table, toStoreError } = yield* makeStore({
      store: "broadcasts",
      prefix: options.prefix,
      migrations
    })
    const clock = yield* Clock.Clock
    yield* migrate

    const broadcasts = sql(table)
    const records = sql(`${table}_records`)

    const isChanged = (statement: Effect.Effect<ReadonlyArray<object>, SqlError>) =>
      Effect.map(statement, (rows) => rows.length > 0)

    const summaryOf = (statement: Effect.Effect<ReadonlyArray<BroadcastRow>, SqlError>) =>
      Effect.flatMap(statement, ([row]) => (row === undefined ? Effect.succeedNone : Effect.asSome(toSummary(row))))

    const insert = (name: string, added: ReadonlyArray<Broadcast.RecipientRecord>) =>
      sql<{
        status: Broadcast.RecipientStatus
      }>`INSERT INTO ${records} (name, chat_id, status, message_id, problem, at)
        SELECT CAST(${name} AS TEXT), chat_id, status, message_id, problem, at
        FROM ${dialect.rows(recordColumns, added.map(fromRecord))} WHERE true
        ON CONFLICT (name, chat_id) DO NOTHING RETURNING status`

    const count = (name: string, added: ReadonlyArray<{ readonly status: Broadcast.RecipientStatus }>) => {
      const of = (status: Broadcast.RecipientStatus) => added.filter((record) => record.status === status).length
      return sql`UPDATE ${broadcasts} SET sent = sent + ${of("Sent")}, forbidden = forbidden + ${of("Forbidden")},
        not_found = not_found + ${of("NotFound")}, failed = failed + ${of("Failed")} WHERE name = ${name}`
    }

    /** Keeps other transactions from removing or counting the broadcast. Returns whether it exists. */
    const lock = (name: string) =>
      isChanged(sql`UPDATE ${broadcasts} SET name = name WHERE name = ${name} RETURNING name`)

    const acquireLease: Acquire = ({ create, leaseDuration, name, owner }) => {
      const now = dialect.now(clock.currentTimeMillisUnsafe())
      const leaseUntil = sql`${now} + ${leaseDuration}`
      return summaryOf(
        create
          ? sql<BroadcastRow>`INSERT INTO ${broadcasts} (name, status, started_at, owner, lease_until)
              VALUES (${name}, 'running', ${now}, ${owner}, ${leaseUntil})
              ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, lease_until = excluded.lease_until
              WHERE ${broadcasts}.owner = ${owner} OR ${broadcasts}.lease_until <= ${now} RETURNING *`
          : sql<BroadcastRow>`UPDATE ${broadcasts} SET lease_until = ${leaseUntil}
              WHERE name = ${name} AND owner = ${owner} RETURNING *`
      )
    }

    const ownerOf = (name: string) =>
      Effect.map(sql<{ owner: string }>`SELECT owner FROM ${broadcasts} WHERE name = ${name}`, ([row]) => row?.owner)

    return withStoreErrors<BroadcastStore.BroadcastStore["Service"]>(toStoreError, {
      acquireLease: acquireFromGone((request) => Effect.suspend(() => acquireLease(request)), ownerOf),
      summary: (name) => summaryOf(sql<BroadcastRow>`SELECT * FROM ${broadcasts} WHERE name = ${name}`),
      list: (limit) =>
        Effect.flatMap(
          sql<BroadcastRow>`SELECT * FROM ${broadcasts} ORDER BY started_at DESC, name LIMIT ${limit}`,
          Effect.forEach(toSummary)
        ),
      update: (name, { status, total }) =>
        isChanged(
          sql`UPDATE ${broadcasts} SET status = COALESCE(${status ?? null}, status),
            total = COALESCE(CAST(${total ?? null} AS ${dialect.integer}), total)
            WHERE name = ${name} AND status IN ('running', 'paused') RETURNING name`
        ),
      pending: (name, chats) => {
        const asked = dialect.rows(
          { chat_id: "bigint" },
          chats.map((chat_id) => ({ chat_id }))
        )
        return Effect.map(
          sql<{ chat_id: number | bigint }>`SELECT chat_id FROM ${records}
            WHERE name = ${name} AND chat_id IN (SELECT chat_id FROM ${asked})`,
          (rows) => {
            const recorded = new Set(rows.map(({ chat_id }) => Number(chat_id)))
            return chats.filter((chat_id) => !recorded.has(chat_id))
          }
        )
      },
      begin: ({ name, owner, recipients }) =>
        Effect.asVoid(
          sql`UPDATE ${broadcasts} SET begun = ${fromBegun(recipients)}
            WHERE name = ${name} AND owner = ${ownerIn(owner)}`
        ),
      begun: (name) =>
        Effect.flatMap(sql<{ begun: unknown }>`SELECT begun FROM ${broadcasts} WHERE name = ${name}`, ([row]) =>
          toBegun(row?.begun)
        ),
      addRecords: (name, added) =>
        Effect.gen(function* () {
          if (!(yield* lock(name))) return
          yield* count(name, yield* insert(name, added))
        }).pipe(withTransaction(sql)),
      records: (name, { after, limit }) =>
        Effect.flatMap(
          sql`SELECT chat_id, status, message_id, problem, at FROM ${records}
            WHERE ${sql.and([sql`name = ${name}`, ...(after === undefined ? [] : [sql`chat_id > ${after}`])])}
            ORDER BY chat_id LIMIT ${limit}`,
          Effect.forEach(toRecord)
        ),
      remove: (name) =>
        sql`DELETE FROM ${broadcasts} WHERE name = ${name} RETURNING name`.pipe(
          Effect.tap(() => sql`DELETE FROM ${records} WHERE name = ${name}`),
          withTransaction(sql),
          isChanged
        )
    })
  }
)

/**
 * Provides a `BroadcastStore` on the `SqlClient` of the program: `NodeSqlite.layer` of this package, or `PgClient.layer`
 * of `@effect/sql-pg`. The tables are created when the layer is built; several processes may start concurrently.
 *
 * The result of a recipient is as durable as the settings of the database make a commit, before the result counts. With
 * `NodeSqlite.layer`, the result is on disk.
 *
 * Fails with a `StoreError` if the database cannot be reached or is neither SQLite nor PostgreSQL.
 *
 * **Example** (Broadcasts in a SQLite file)
 *
 * ```ts
 * import { NodeSqlite, SqlBroadcastStore } from "@colloquy/node"
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
export const layer = (options?: Options): Layer.Layer<BroadcastStore.BroadcastStore, StoreError, SqlClient.SqlClient> =>
  Layer.effect(BroadcastStore.BroadcastStore, make(options))

/**
 * Like {@link layer}, with options from the configuration.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  options: Config.Wrap<Options> = {}
): Layer.Layer<BroadcastStore.BroadcastStore, StoreError | Settings.InvalidSettings, SqlClient.SqlClient> =>
  Layer.effect(BroadcastStore.BroadcastStore, Effect.flatMap(Settings.unwrap<Options>(options), make))
