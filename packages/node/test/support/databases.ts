import * as NodeRedis from "@effect/platform-node/NodeRedis"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import type * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import { mkdtemp, rm } from "node:fs/promises"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    const end = (isUp: boolean) => {
      socket.destroy()
      resolve(isUp)
    }
    socket.on("connect", () => end(true)).on("error", () => end(false))
  })

/** Whether to skip the tests of a database, because nothing listens on its port. In CI they are never skipped. */
export const isMissing = async (name: string, port: number): Promise<boolean> => {
  const missing = !(await answers(port)) && process.env["CI"] !== "true"
  if (missing) console.warn(`The tests of ${name} are skipped: nothing answers on 127.0.0.1:${port}.`)
  return missing
}

/** Returns a name that no other test uses. */
export const uniqueName = (prefix = "t"): string => `${prefix}_${process.pid}_${crypto.randomUUID().slice(0, 8)}`

export const postgresOptions = { host: "127.0.0.1", username: "postgres", database: "test" }

export const Postgres = PgClient.layer(postgresOptions)

/** A client and a schema that is dropped when the scope ends. */
export const postgresSchema = (schema: string) =>
  Layer.effectDiscard(
    Effect.flatMap(SqlClient.SqlClient, (sql) =>
      Effect.acquireRelease(sql`CREATE SCHEMA ${sql(schema)}`, () =>
        Effect.orDie(sql`DROP SCHEMA ${sql(schema)} CASCADE`)
      )
    )
  ).pipe(Layer.provideMerge(Postgres))

/** A folder that is deleted when the scope ends. */
export const temporaryFolder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "store-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true }))
)

export const redisUrl = "redis://127.0.0.1:6379"

export const redisClient = NodeRedis.layer({ url: redisUrl })

/** A Redis client that deletes the keys with a prefix when the scope ends. */
export const redisPrefix = (prefix: string) =>
  Layer.effectDiscard(
    Effect.flatMap(Redis.Redis, (redis) =>
      Effect.addFinalizer(() =>
        redis.send<Array<string>>("KEYS", `${prefix}*`).pipe(
          Effect.flatMap((keys) => (keys.length === 0 ? Effect.void : redis.send("DEL", ...keys))),
          Effect.orDie
        )
      )
    )
  ).pipe(Layer.provideMerge(redisClient))

/** Removes the tables and functions of a prefix when the scope ends. */
export const pgTables = (prefix: string) =>
  Layer.effectDiscard(
    Effect.acquireRelease(SqlClient.SqlClient, (sql) =>
      Effect.orDie(
        Effect.gen(function* () {
          const tables = yield* sql<{ name: string }>`
            SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND starts_with(tablename, ${prefix})`
          for (const { name } of tables) yield* sql`DROP TABLE ${sql(name)}`
          const functions = yield* sql<{ name: string }>`
            SELECT proname AS name FROM pg_proc
            WHERE pronamespace = 'public'::regnamespace AND starts_with(proname, ${prefix})`
          for (const { name } of functions) yield* sql`DROP FUNCTION ${sql(name)}`
        })
      )
    )
  )

/** A client that does not wait for the disk at a commit. */
export const hastyPostgres = PgClient.layer({ ...postgresOptions, startupParameters: { synchronous_commit: "off" } })

/** The same with one connection. */
export const onlyConnection = PgClient.layer({
  ...postgresOptions,
  startupParameters: { synchronous_commit: "off" },
  maxConnections: 1
})

/** The databases that are not available. */
export const missing = async () => ({
  SQLite: false,
  PostgreSQL: await isMissing("PostgreSQL", 5432),
  Redis: await isMissing("Redis", 6379)
})

/** Creates an empty location for a store: a file, or a prefix. It is deleted when the scope ends. */
export const places = (what: string): Readonly<Record<string, Effect.Effect<string, unknown, Scope.Scope>>> => ({
  SQLite: Effect.map(temporaryFolder, (folder) => join(folder, "bot.sqlite")),
  PostgreSQL: Effect.suspend(() => {
    const schema = uniqueName(what)
    return Effect.as(Layer.build(postgresSchema(schema)), `${schema}.${what}`)
  }),
  Redis: Effect.suspend(() => {
    const prefix = uniqueName(what)
    return Effect.as(Layer.build(redisPrefix(`{${prefix}:`)), prefix)
  })
})
