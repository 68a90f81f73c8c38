/**
 * The cache of uploads in a table, shared by all processes that use the database.
 *
 * @since 0.1.0
 */
import type { StoreError } from "@colloquy/core/StoreError"
import { UploadCache } from "@colloquy/core/UploadCache"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as SqlClient from "effect/sql/SqlClient"
import { ofSql } from "./internal/stores/failure.ts"

/**
 * The name of the table, `colloquy_uploads` unless told.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly table?: string | undefined
}

const failing = (operation: string) => Effect.mapError(ofSql("uploads")(operation))

/** Where several processes make the table at once, some of them fail and find it made. */
const atOnce = Schedule.spaced("100 millis").pipe(Schedule.upTo({ times: 5 }))

/**
 * A cache on the `SqlClient` of the program, for PostgreSQL and SQLite. It makes its table where it is missing.
 *
 * **Example**
 *
 * ```ts
 * import { SqlUploadCache } from "@colloquy/node"
 * import { PgClient } from "@effect/sql-pg"
 * import { Layer, Redacted } from "effect"
 *
 * const cache = SqlUploadCache.layer().pipe(
 *   Layer.provide(PgClient.layer({ url: Redacted.make("postgres://bot@127.0.0.1/bot") }))
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options = {}): Layer.Layer<UploadCache, StoreError, SqlClient.SqlClient> =>
  Layer.effect(
    UploadCache,
    Effect.gen(function* () {
      const sql = (yield* SqlClient.SqlClient).withoutTransforms()
      const table = sql(options.table ?? "colloquy_uploads")
      yield* sql`CREATE TABLE IF NOT EXISTS ${table} (content TEXT PRIMARY KEY, attachment TEXT NOT NULL)`.pipe(
        Effect.retry(atOnce),
        failing("migrate")
      )
      return UploadCache.of({
        get: (key) =>
          sql<{ readonly attachment: string }>`SELECT attachment FROM ${table} WHERE content = ${key}`.pipe(
            Effect.map(([row]) => Option.fromUndefinedOr(row?.attachment)),
            failing("get")
          ),
        set: (key, attachment) =>
          sql`INSERT INTO ${table} (content, attachment) VALUES (${key}, ${attachment})
            ON CONFLICT (content) DO UPDATE SET attachment = EXCLUDED.attachment`.pipe(Effect.asVoid, failing("set")),
        remove: (key, attachment) =>
          sql`DELETE FROM ${table} WHERE content = ${key} AND attachment = ${attachment}`.pipe(
            Effect.asVoid,
            failing("remove")
          )
      })
    })
  )
