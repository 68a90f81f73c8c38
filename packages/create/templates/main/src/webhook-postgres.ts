import { Inbox, RateLimiter } from "@colloquy/core"
import { NodeBot, NodeInbox, NodeMain, NodeWebhook, SqlInboxStore } from "@colloquy/node"
import { PgClient } from "@effect/sql-pg"
import { Config, Effect, Layer } from "effect"
import { bot } from "./bot.ts"

const database = PgClient.layerConfig({ url: Config.Redacted("DATABASE_URL") })

const postgres = Inbox.layer().pipe(
  Layer.provide(SqlInboxStore.layer()),
  Layer.provide(database),
  NodeBot.untilAvailable("PostgreSQL")
)

const sqlite = NodeInbox.layerConfig()

type InboxError = Layer.Error<typeof postgres | typeof sqlite>

// Without a database, as in `npm start`, the inbox is a SQLite file.
const inbox: Layer.Layer<Inbox.Inbox, InboxError> = process.env["DATABASE_URL"] === undefined ? sqlite : postgres

const client = NodeBot.layerClientConfig().pipe(Layer.provideMerge(RateLimiter.layerMemory()))

const platform = NodeWebhook.layerConfig().pipe(Layer.provideMerge(Layer.merge(client, inbox)))

NodeMain.runMain(Effect.provide(bot, platform))
