/** The stores of the inbox of a soak run: SQLite in a file, PostgreSQL and Redis on their standard ports. */
import type * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { NodeSqlite, RedisInboxStore, SqlInboxStore } from "@colloquy/node"
import * as NodeRedis from "@effect/platform-node/NodeRedis"
import { PgClient } from "@effect/sql-pg"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import * as SqlClient from "effect/sql/SqlClient"
import { readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A store with a unique name, and the effect that deletes its data. */
interface Store {
  readonly inbox: Layer.Layer<InboxStore.InboxStore, unknown>
  readonly clear: Effect.Effect<unknown, unknown>
}

const sqlite = (name: string): Store => {
  const filename = join(tmpdir(), `${name}.sqlite`)
  return {
    inbox: SqlInboxStore.layer().pipe(Layer.provide(NodeSqlite.layer({ filename }))),
    clear: Effect.sync(() => {
      // A process that was killed leaves its lock file.
      const files = readdirSync(tmpdir()).filter((file) => file.startsWith(`${name}.sqlite`))
      for (const file of files) rmSync(join(tmpdir(), file), { force: true })
    })
  }
}

const client = PgClient.layer({ host: "127.0.0.1", port: 5432, username: "postgres", database: "test" })

const pg = (name: string): Store => ({
  inbox: SqlInboxStore.layer({ prefix: name }).pipe(Layer.provide(client)),
  clear: SqlClient.SqlClient.use((sql) =>
    Effect.gen(function* () {
      const tables = yield* sql<{ tablename: string }>`SELECT tablename FROM pg_tables
        WHERE starts_with(tablename, ${`${name}_`})`
      for (const { tablename } of tables) yield* sql`DROP TABLE ${sql(tablename)}`
    })
  ).pipe(Effect.provide(client))
})

const redisClient = NodeRedis.layer({ url: "redis://127.0.0.1:6379" })

const redis = (name: string): Store => ({
  inbox: RedisInboxStore.layer({ prefix: name }).pipe(Layer.provide(redisClient)),
  clear: Redis.Redis.use((client) =>
    Effect.gen(function* () {
      let cursor = "0"
      do {
        const [next, keys] = yield* client.send<[string, Array<string>]>("SCAN", cursor, "MATCH", `{${name}:*`)
        if (keys.length > 0) yield* client.send("DEL", ...keys)
        cursor = next
      } while (cursor !== "0")
    })
  ).pipe(Effect.provide(redisClient))
})

export const stores = { sqlite, pg, redis }

export type StoreName = keyof typeof stores

export const isStore = (name: string): name is StoreName => Object.hasOwn(stores, name)
