import { Inbox, RateLimiter } from "@colloquy/core"
import { NodeBot, NodeInbox, PostgresConnection, RedisRateLimiterStore, SqlInboxStore } from "@colloquy/node"
import { NodeRedis } from "@effect/platform-node"
import { Config, Layer } from "effect"

const postgres = Layer.provideMerge(Inbox.layer(), SqlInboxStore.layer()).pipe(
  Layer.provideMerge(PostgresConnection.layerConfig({ url: Config.Redacted("DATABASE_URL") })),
  NodeBot.untilAvailable("PostgreSQL")
)

const sqlite = Layer.merge(NodeInbox.layerConfig(), NodeInbox.layerSqlConfig())

/** The inbox, and its database for tables of your own. Without `DATABASE_URL`, as in `npm start`, a SQLite file. */
export const inbox: Layer.Layer<Layer.Success<typeof sqlite>, Layer.Error<typeof postgres | typeof sqlite>> = process
  .env["DATABASE_URL"] === undefined
  ? sqlite
  : postgres

const memory = RateLimiter.layerMemory()

const redis = RateLimiter.layer().pipe(
  Layer.provide(RedisRateLimiterStore.layer()),
  Layer.provide(NodeRedis.layerConfig({ url: Config.String("REDIS_URL") })),
  NodeBot.untilAvailable("Redis")
)

/** The rate limiter. All processes of the bot share the limits in Redis. Without `REDIS_URL`, each has its own limits. */
export const limiter: Layer.Layer<Layer.Success<typeof memory>, Layer.Error<typeof memory | typeof redis>> = process
  .env["REDIS_URL"] === undefined
  ? memory
  : redis
