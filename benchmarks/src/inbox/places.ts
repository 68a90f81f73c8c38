import { ChatStore, Inbox } from "@colloquy/core"
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { NodeSqlite, RedisChatStore, RedisInboxStore, SqlChatStore, SqlInboxStore } from "@colloquy/node"
import * as NodeRedis from "@effect/platform-node/NodeRedis"
import { PgClient } from "@effect/sql-pg"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
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

export const redisUrl = "redis://127.0.0.1:6379"

export const postgresUrl = (database: string): string => `postgres://postgres@127.0.0.1:5432/${database}`

export const postgres = (database: string) =>
  PgClient.layer({ host: "127.0.0.1", port: 5432, username: "postgres", database })

/** A file in the directory of a place for SQLite. */
export const fileOf = ({ name }: Place, file: string): string => join(tmpdir(), name, file)

const redis = NodeRedis.layer({ url: redisUrl })

const sqlite = (place: Place, file: string) => NodeSqlite.layer({ filename: fileOf(place, file) })

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
  ).pipe(Effect.provide(redis))

const backends: Readonly<
  Record<
    Store,
    {
      readonly open: (place: Place) => Effect.Effect<unknown, unknown>
      readonly inbox: (place: Place) => Layer.Layer<InboxStore.InboxStore, unknown>
      readonly chats: (place: Place) => Layer.Layer<ChatStore.ChatStore, unknown>
      readonly clear: (place: Place) => Effect.Effect<unknown, unknown>
    }
  >
> = {
  memory: {
    open: () => Effect.void,
    inbox: () => InboxStore.layerMemory,
    chats: () => ChatStore.layerMemory,
    clear: () => Effect.void
  },
  sqlite: {
    open: (place) => Effect.sync(() => mkdirSync(fileOf(place, "."))),
    inbox: (place) => Layer.provide(SqlInboxStore.layer(), sqlite(place, "inbox.sqlite")),
    chats: (place) => Layer.provide(SqlChatStore.layer(), sqlite(place, "chats.sqlite")),
    clear: (place) => Effect.sync(() => rmSync(fileOf(place, "."), { recursive: true, force: true }))
  },
  postgres: {
    open: (place) => inDatabase(place, "CREATE DATABASE"),
    inbox: ({ name }) => Layer.provide(SqlInboxStore.layer(), postgres(name)),
    chats: ({ name }) => Layer.provide(SqlChatStore.layer(), postgres(name)),
    clear: (place) => inDatabase(place, "DROP DATABASE IF EXISTS")
  },
  redis: {
    open: () => Effect.void,
    inbox: ({ name }) => Layer.provide(RedisInboxStore.layer({ prefix: name }), redis),
    chats: ({ name }) => Layer.provide(RedisChatStore.layer({ prefix: name }), redis),
    clear: deleteKeys
  }
}

/** The store of a place. A store in memory is empty whenever the layer is built. */
export const layer = (place: Place): Layer.Layer<InboxStore.InboxStore, unknown> => backends[place.store].inbox(place)

/** The inbox of a place, without logging. */
export const layerInbox = (place: Place, options?: Inbox.Options): Layer.Layer<Inbox.Inbox, unknown> =>
  Inbox.layer(options).pipe(Layer.provide(layer(place)), Layer.provideMerge(Logger.layer([])))

/**
 * The same, with a client for the database of the inbox, whose statements the commits of the inbox can execute. Only on SQLite
 * and PostgreSQL.
 */
export const layerRows = (
  place: Place,
  options?: Inbox.Options
): Layer.Layer<Inbox.Inbox | InboxStore.SqlTransactions | SqlClient.SqlClient, unknown> =>
  Inbox.layer(options).pipe(
    Layer.provideMerge(SqlInboxStore.layer()),
    Layer.provideMerge(place.store === "sqlite" ? sqlite(place, "inbox.sqlite") : postgres(place.name)),
    Layer.provideMerge(Logger.layer([]))
  )

/** The chats of a place. */
export const layerChats = (place: Place): Layer.Layer<ChatStore.ChatStore, unknown> =>
  backends[place.store].chats(place)

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
