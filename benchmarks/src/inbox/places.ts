import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { NodeSqlite, RedisInboxStore, SqlInboxStore } from "@colloquy/node"
import * as NodeRedis from "@effect/platform-node/NodeRedis"
import { PgClient } from "@effect/sql-pg"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import * as SqlClient from "effect/sql/SqlClient"
import { randomBytes } from "node:crypto"
import { mkdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export type Store = "memory" | "sqlite" | "postgres" | "redis"

/** Where a run keeps its data, so that several processes can open the same store. */
export interface Place {
  readonly store: Store
  /** Unique to the run: the name of a directory, of a database, or of a prefix of keys. */
  readonly name: string
}

export const redisUrl = process.env["BENCH_REDIS_URL"] ?? "redis://127.0.0.1:6379"

export const postgresUrl = (database: string): string => `postgres://postgres@127.0.0.1:5432/${database}`

export const postgres = (database: string) =>
  PgClient.layer({ host: "127.0.0.1", port: 5432, username: "postgres", database })

const directoryOf = ({ name }: Place): string => join(tmpdir(), name)

const inDatabase = (place: Place, ddl: "CREATE DATABASE" | "DROP DATABASE IF EXISTS") =>
  SqlClient.SqlClient.use((sql) =>
    sql.unsafe(`${ddl} ${place.name}${ddl === "CREATE DATABASE" ? "" : " WITH (FORCE)"}`)
  ).pipe(Effect.provide(postgres("postgres")))

/** Deletes the keys that begin with the name of the place, with or without a hash tag, and those of groupmq. */
const deleteKeys = ({ name }: Place) =>
  Redis.Redis.use((client) =>
    Effect.gen(function* () {
      let cursor = "0"
      do {
        const [next, keys] = yield* client.send<[string, Array<string>]>(
          "SCAN",
          cursor,
          "MATCH",
          `*${name}*`,
          "COUNT",
          "1000"
        )
        if (keys.length > 0) yield* client.send("UNLINK", ...keys)
        cursor = next
      } while (cursor !== "0")
    })
  ).pipe(Effect.provide(NodeRedis.layer({ url: redisUrl })))

const backends: Readonly<
  Record<
    Store,
    {
      readonly open: (place: Place) => Effect.Effect<unknown, unknown>
      readonly layer: (place: Place) => Layer.Layer<InboxStore.InboxStore, unknown>
      readonly clear: (place: Place) => Effect.Effect<unknown, unknown>
    }
  >
> = {
  memory: { open: () => Effect.void, layer: () => InboxStore.layerMemory(), clear: () => Effect.void },
  sqlite: {
    open: (place) => Effect.sync(() => mkdirSync(directoryOf(place))),
    layer: (place) =>
      SqlInboxStore.layer().pipe(
        Layer.provide(NodeSqlite.layer({ filename: join(directoryOf(place), "inbox.sqlite") }))
      ),
    clear: (place) => Effect.sync(() => rmSync(directoryOf(place), { recursive: true, force: true }))
  },
  postgres: {
    open: (place) => inDatabase(place, "CREATE DATABASE"),
    layer: ({ name }) => SqlInboxStore.layer().pipe(Layer.provide(postgres(name))),
    clear: (place) => inDatabase(place, "DROP DATABASE IF EXISTS")
  },
  redis: {
    open: () => Effect.void,
    layer: ({ name }) =>
      RedisInboxStore.layer({ prefix: name }).pipe(Layer.provide(NodeRedis.layer({ url: redisUrl }))),
    clear: deleteKeys
  }
}

/** The store of a place. A store in memory is empty whenever the layer is built. */
export const layer = (place: Place): Layer.Layer<InboxStore.InboxStore, unknown> => backends[place.store].layer(place)

/** Runs a function with a place for a store, and deletes the data of the place. */
export const withPlace = async <A>(store: Store, use: (place: Place) => Promise<A>): Promise<A> => {
  const place = { store, name: `colloquy_bench_${randomBytes(4).toString("hex")}` }
  await Effect.runPromise(backends[store].open(place))
  try {
    return await use(place)
  } finally {
    await Effect.runPromise(backends[store].clear(place))
  }
}

/** The place that the arguments of a program name: `STORE NAME`. */
export const fromArguments = ([store = "", name = ""]: ReadonlyArray<string>): Place => {
  if (!Object.hasOwn(backends, store)) throw new Error(`There is no store ${store}`)
  return { store: store as Store, name }
}

export const toArguments = ({ name, store }: Place): ReadonlyArray<string> => [store, name]
