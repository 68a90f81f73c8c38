/**
 * One bot in several processes, behind a load balancer: they share an inbox in PostgreSQL (`DATABASE_URL`) and the
 * platform's limits in Redis (`REDIS_URL`). Run as many as you like with the same settings, `BOT_WEBHOOK_SECRET` included.
 */
import { Inbox, Messages, RateLimiter, Updates } from "@colloquy/core"
import { NodeBot, NodeMain, NodeWebhook, RedisRateLimiterStore, SqlInboxStore } from "@colloquy/node"
import { NodeRedis } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Config, Effect, Layer } from "effect"

// A chat belongs to one process at a time; when that one stops or is killed, another takes it over.
const bot = Updates.run(
  Updates.on("message_created", (update) => Messages.reply(update, `Process ${process.pid} is at your service`))
)

const name = Config.String("BOT_NAME").pipe(Config.withDefault("my_bot"))

const inbox = Layer.unwrap(
  Effect.map(name, (prefix) => Inbox.layer().pipe(Layer.provide(SqlInboxStore.layer({ prefix }))))
).pipe(Layer.provide(PgClient.layerConfig({ url: Config.Redacted("DATABASE_URL") })))

// While Redis is unavailable, each process sends at most half of the limits. This is right for two processes.
const limiter = RateLimiter.layer({ onUnavailable: { share: 0.5 } }).pipe(
  Layer.provide(RedisRateLimiterStore.layerConfig({ prefix: name })),
  Layer.provide(NodeRedis.layerConfig({ url: Config.String("REDIS_URL") }))
)

const client = NodeBot.layerClientConfig().pipe(Layer.provide(limiter))

// Each subscribes the same address with the same secret, so it does not matter which is the first or the last.
// BOT_WEBHOOK_INSECURE=true takes http://127.0.0.1 as BOT_WEBHOOK_URL: for the emulator only.
const webhook = NodeWebhook.layerConfig({
  ...NodeWebhook.settings,
  updateTypes: Config.succeed(["message_created"])
}).pipe(Layer.provideMerge(Layer.merge(client, inbox)))

NodeMain.runMain(Effect.provide(bot, webhook))
