import type * as BroadcastStore from "@colloquy/core/broadcast/BroadcastStore"
import type * as ChatStore from "@colloquy/core/bot/ChatStore"
import * as Inbox from "@colloquy/core/inbox/Inbox"
import type { InboxStore, Row } from "@colloquy/core/inbox/InboxStore"
import * as NodeInbox from "@colloquy/node/inbox/NodeInbox"
import * as PostgresConnection from "@colloquy/node/base/PostgresConnection"
import * as NodeSqlite from "@colloquy/node/base/NodeSqlite"
import * as SqlBroadcastStore from "@colloquy/node/broadcast/SqlBroadcastStore"
import * as SqlChatStore from "@colloquy/node/bot/SqlChatStore"
import * as SqlInboxStore from "@colloquy/node/inbox/SqlInboxStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Redis from "effect/persistence/Redis"
import * as Redacted from "effect/Redacted"
import * as SqlClient from "effect/sql/SqlClient"
import type * as SqlError from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { type CommandFailed, failed, invalid, toFailure } from "./failure.ts"
import { codeOf } from "./network.ts"
import { prefix, Process, store, type StoreKind, variables, withSettings } from "./settings.ts"

/** After this time in the inbox, an update is late. In milliseconds. */
export const lateAfter = 300_000

/** The place where the bot stores its data. */
export interface Place {
  readonly kind: StoreKind
  readonly prefix: string
  /** The path of the SQLite file, or the URL of the server. */
  readonly at: string
}

/** A driver rejects another URL without naming the setting. The URL of PostgreSQL may contain a list of hosts. */
const checkUrl = (setting: string, url: string, pattern: RegExp, example: string): Effect.Effect<void, CommandFailed> =>
  pattern.test(url) && URL.canParse(url.replace(/,[^/?]*/, ""))
    ? Effect.void
    : Effect.fail(invalid(`${setting} must look like ${example}.`))

/** The place that the flags and the settings name. */
export const place = Effect.gen(function* () {
  const env = yield* variables
  const { cwd } = yield* Process
  const kind = Option.getOrElse(yield* store, () => (env["DATABASE_URL"] === undefined ? "sqlite" : "postgres"))
  const setting = kind === "postgres" ? "DATABASE_URL" : "REDIS_URL"
  const at = kind === "sqlite" ? resolve(cwd, yield* NodeInbox.filename) : env[setting]
  if (at === undefined) {
    return yield* invalid(`--store ${kind} needs the setting ${setting}. Set it in the environment or in .env.`)
  }
  return { kind, prefix: yield* prefix, at } satisfies Place
})

const missingFile = (file: string) =>
  failed(
    `There is no SQLite file ${file}. Run the command in the folder of the bot, set BOT_INBOX to the file of the bot, or ` +
      "choose --store postgres or --store redis. The data of a bot whose inbox is in memory cannot be read by another process."
  )

const connected = <Client, E>(client: Effect.Effect<Layer.Layer<Client, E>, CommandFailed>) =>
  Layer.catch(Layer.unwrap(client), (error) => Layer.effectContext(Effect.fail(toFailure(error))))

/** The SQL database of a place. A missing database is not created. */
export const sqlOf = ({ at, kind }: Place): Layer.Layer<SqlClient.SqlClient, CommandFailed> =>
  connected(
    Effect.gen(function* () {
      if (kind === "postgres") {
        yield* checkUrl("DATABASE_URL", at, /^postgres(ql)?:/, "postgres://user:password@host:5432/database")
        return PostgresConnection.layer({ url: Redacted.make(at), connectTimeout: "5 seconds", maxConnections: 2 })
      }
      return existsSync(at) ? NodeSqlite.layer({ filename: at }) : yield* missingFile(at)
    })
  )

/** The Redis of a place. */
export const redisOf = ({ at }: Place): Layer.Layer<Redis.Redis, CommandFailed> =>
  connected(
    Effect.gen(function* () {
      yield* checkUrl("REDIS_URL", at, /^rediss?:/, "redis://user:password@host:6379")
      const NodeRedis = yield* Effect.promise(() => import("@effect/platform-node/NodeRedis"))
      return NodeRedis.layer({ url: at, socket: { connectTimeout: 5000, reconnectStrategy: false } })
    })
  )

const isMissingTable = ({ reason: { cause } }: SqlError.SqlError): boolean =>
  codeOf(cause) === "42P01" || (cause instanceof Error && cause.message.startsWith("no such table"))

/** Whether the tables of a store exist. */
const hasTable = (place: Place, table: string) =>
  SqlClient.SqlClient.use((sql) =>
    sql`SELECT 1 FROM ${sql(`${place.prefix}_${table}`)} WHERE 1 = 0`.pipe(
      Effect.as(true),
      Effect.catchIf(isMissingTable, () => Effect.succeed(false)),
      Effect.mapError(toFailure)
    )
  )

const tables = { inbox: "inbox_updates", chats: "chats", broadcasts: "broadcasts" } as const

const missingTable = ({ kind, prefix, at }: Place, what: string) =>
  failed(
    `The ${kind === "sqlite" ? `file ${at}` : "database"} has no ${what} of a bot with the prefix "${prefix}". Set --prefix to ` +
      `that of the bot; a bot that keeps its ${what} in memory or elsewhere has nothing to read here.`
  )

type Make<A, R> = (options: { readonly prefix: string }) => Layer.Layer<A, unknown, R>

/** A store of the bot: in Redis, by a module that is loaded on demand, or in a SQL database that has its tables. */
const storeOf = <A>(
  name: keyof typeof tables,
  load: () => Promise<{ readonly layer: Make<A, Redis.Redis> }>,
  layerSql: Make<A, SqlClient.SqlClient>
) =>
  Layer.unwrap(
    Effect.map(place, (place): Layer.Layer<A, unknown> => {
      if (place.kind === "redis") {
        const loaded = Effect.map(Effect.promise(load), ({ layer }) => layer({ prefix: place.prefix }))
        return Layer.provide(Layer.unwrap(loaded), redisOf(place))
      }
      const existing = Effect.flatMap(hasTable(place, tables[name]), (exists) =>
        exists ? Effect.succeed(layerSql({ prefix: place.prefix })) : Effect.fail(missingTable(place, name))
      )
      return Layer.provide(Layer.unwrap(existing), sqlOf(place))
    })
  )

const pageSize = 500

/** The rows in the inbox whose keys begin with a prefix. */
export const rowsOf = (prefix: string, by: "key" | "due") =>
  Stream.unwrap(
    Inbox.Inbox.useSync(({ store }) =>
      Stream.paginate(undefined as Row | undefined, (after) =>
        Effect.map(store.rows({ prefix, by, after, limit: pageSize }), (page) => [
          page,
          page.length < pageSize ? Option.none() : Option.some(page.at(-1))
        ])
      )
    )
  )

/** The inbox of the bot. */
export const inbox = Inbox.layer().pipe(
  Layer.provide(storeOf<InboxStore>("inbox", () => import("@colloquy/node/inbox/RedisInboxStore"), SqlInboxStore.layer))
)

/** Runs an effect with the settings and the inbox of the bot. */
export const onInbox = <A, E, R>(effect: Effect.Effect<A, E, R>) => withSettings(Effect.provide(effect, inbox))

/** The chats of the bot. */
export const chats = storeOf<ChatStore.ChatStore>(
  "chats",
  () => import("@colloquy/node/bot/RedisChatStore"),
  SqlChatStore.layer
)

/** The broadcasts of the bot. */
export const broadcasts = storeOf<BroadcastStore.BroadcastStore>(
  "broadcasts",
  () => import("@colloquy/node/broadcast/RedisBroadcastStore"),
  SqlBroadcastStore.layer
)
