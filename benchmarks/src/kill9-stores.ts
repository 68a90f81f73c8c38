import type * as InboxStore from "@colloquy/core/InboxStore"
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

export const total = 10_000

export const chats = 200

export const concurrency = 16

/** Long enough for a slow machine, short enough for twenty kills. */
export const lease = "2 seconds"

/** A store with a unique name, and the effect that deletes its data. */
interface Store {
  readonly inbox: Layer.Layer<InboxStore.InboxStore, unknown>
  readonly clear: Effect.Effect<unknown, unknown>
}

const pg = PgClient.layer({ host: "127.0.0.1", port: 5432, username: "postgres", database: "test" })

const redis = NodeRedis.layer({ url: "redis://127.0.0.1:6379" })

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

const postgres = (name: string): Store => ({
  inbox: SqlInboxStore.layer({ prefix: name }).pipe(Layer.provide(pg)),
  clear: SqlClient.SqlClient.use((sql) =>
    Effect.forEach(
      ["updates", "partitions", "fingerprints", "markers", "migrations"],
      (table) => sql`DROP TABLE IF EXISTS ${sql(`${name}_inbox_${table}`)}`
    )
  ).pipe(Effect.provide(pg))
})

const inRedis = (name: string): Store => ({
  inbox: RedisInboxStore.layer({ prefix: name }).pipe(Layer.provide(redis)),
  clear: Redis.Redis.use((client) =>
    Effect.gen(function* () {
      let cursor = "0"
      do {
        const [next, keys] = yield* client.send<[string, Array<string>]>("SCAN", cursor, "MATCH", `{${name}:*`)
        if (keys.length > 0) yield* client.send("DEL", ...keys)
        cursor = next
      } while (cursor !== "0")
    })
  ).pipe(Effect.provide(redis))
})

export const stores = { sqlite, postgres, redis: inRedis }

export const isStore = (name: string | undefined): name is keyof typeof stores =>
  name !== undefined && Object.hasOwn(stores, name)
