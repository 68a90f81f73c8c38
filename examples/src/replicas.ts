/**
 * One bot in several processes behind a load balancer. The processes share an inbox in PostgreSQL (`DATABASE_URL`) and the
 * rate limits in Redis (`REDIS_URL`). All processes have the same settings, `BOT_WEBHOOK_SECRET` included.
 */
import { Bot, Handler, Inbox, Messages, RateLimiter } from "@colloquy/core"
import { NodeBot, NodeMain, NodeWebhook, RedisRateLimiterStore, SqlInboxStore } from "@colloquy/node"
import { NodeRedis } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Config, Effect, Layer } from "effect"

// One process at a time handles the updates of a chat. If it stops or is killed, another process continues.
const bot = Bot.run(
  Handler.on("message_created", (update) => Messages.reply(update, `Handled by process ${process.pid}`))
)

const name = Config.String("BOT_NAME").pipe(Config.withDefault("my_bot"))

const inbox = Layer.unwrap(
  Effect.map(name, (prefix) => Inbox.layer().pipe(Layer.provide(SqlInboxStore.layer({ prefix }))))
).pipe(
  Layer.provide(PgClient.layerConfig({ url: Config.Redacted("DATABASE_URL") })),
  NodeBot.untilAvailable("PostgreSQL")
)

// While Redis is unavailable, each process sends at most half of the limits. This is right for two processes.
const limiter = RateLimiter.layer({ onUnavailable: { share: 0.5 } }).pipe(
  Layer.provide(RedisRateLimiterStore.layerConfig({ prefix: name })),
  Layer.provide(NodeRedis.layerConfig({ url: Config.String("REDIS_URL") }).pipe(NodeBot.untilAvailable("Redis")))
)

const client = NodeBot.layerClientConfig().pipe(Layer.provide(limiter))

// Each process subscribes the same URL with the same secret, so they may start and stop in any order.
// For the emulator only: BOT_WEBHOOK_INSECURE=true allows an http URL in BOT_WEBHOOK_URL.
const webhook = NodeWebhook.layerConfig({
  ...NodeWebhook.settings,
  updateTypes: Config.succeed(["message_created"])
}).pipe(Layer.provideMerge(Layer.merge(client, inbox)))

NodeMain.runMain(Effect.provide(bot, webhook))
