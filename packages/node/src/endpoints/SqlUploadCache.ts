/**
 * An upload cache in an SQL database, SQLite or PostgreSQL, which several processes can share.
 *
 * @since 0.1.0
 */
import type { StoreError } from "@colloquy/core/base/StoreError"
import { UploadCache } from "@colloquy/core/endpoints/UploadCache"
import * as Settings from "@colloquy/core/client/Settings"
import type * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as SqlClient from "effect/sql/SqlClient"
import { withStoreErrors } from "../base/internal/stores/operations.ts"
import { makeStore } from "../base/internal/stores/sql.ts"

/**
 * Options of {@link layer}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * The name of the table is this prefix, followed by `_uploads`. Use a different prefix for each bot. In PostgreSQL,
   * the prefix may contain an existing schema, such as `bots.shop`. Default: `"colloquy"`.
   */
  readonly prefix?: string | undefined
}

/**
 * Creates the cache. See {@link layer}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: (options?: Options) => Effect.Effect<UploadCache["Service"], StoreError, SqlClient.SqlClient> =
  Effect.fnUntraced(function* (options: Options = {}) {
    const { migrate, sql, toStoreError, ...names } = yield* makeStore({
      store: "uploads",
      prefix: options.prefix,
      migrations: (sql, table) => ({
        "1_create": sql`CREATE TABLE ${sql(table)} (content TEXT PRIMARY KEY, attachment TEXT NOT NULL)`
      })
    })
    yield* migrate
    const table = sql(names.table)
    return withStoreErrors<UploadCache["Service"]>(toStoreError, {
      get: (key) =>
        Effect.map(
          sql<{ readonly attachment: string }>`SELECT attachment FROM ${table} WHERE content = ${key}`,
          ([row]) => Option.fromUndefinedOr(row?.attachment)
        ),
      set: (key, attachment) =>
        Effect.asVoid(
          sql`INSERT INTO ${table} (content, attachment) VALUES (${key}, ${attachment})
            ON CONFLICT (content) DO UPDATE SET attachment = EXCLUDED.attachment`
        ),
      remove: (key, attachment) =>
        Effect.asVoid(sql`DELETE FROM ${table} WHERE content = ${key} AND attachment = ${attachment}`)
    })
  })

/**
 * Provides an `UploadCache` on the `SqlClient` of the program: `NodeSqlite.layer` of this package, or `PgClient.layer` of
 * `@effect/sql-pg`. The table is created when the layer is built; several processes may start concurrently. Entries are kept
 * until they are removed.
 *
 * Fails with a `StoreError` if the database cannot be reached or is neither SQLite nor PostgreSQL.
 *
 * **Example** (A cache in PostgreSQL)
 *
 * ```ts
 * import { SqlUploadCache } from "@colloquy/node"
 * import { PgClient } from "@effect/sql-pg"
 * import { Layer, Redacted } from "effect"
 *
 * const cache = SqlUploadCache.layer({ prefix: "shop_bot" }).pipe(
 *   Layer.provide(PgClient.layer({ url: Redacted.make("postgres://bot@127.0.0.1/bot") }))
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: Options): Layer.Layer<UploadCache, StoreError, SqlClient.SqlClient> =>
  Layer.effect(UploadCache, make(options))

/**
 * Like {@link layer}, with options from the configuration.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  options: Config.Wrap<Options> = {}
): Layer.Layer<UploadCache, StoreError | Settings.InvalidSettings, SqlClient.SqlClient> =>
  Layer.effect(UploadCache, Effect.flatMap(Settings.unwrap<Options>(options), make))
