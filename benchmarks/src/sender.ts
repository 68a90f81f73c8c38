/**
 * Sends messages to several users concurrently when its parent asks for it, and reports the time in milliseconds.
 * With a prefix, the limit is shared through Redis.
 */
import { BotApi, Messages, RateLimiter, User } from "@colloquy/core"
import { NodeBot, NodeBotHttpClient, RedisRateLimiterStore } from "@colloquy/node"
import * as NodeRedis from "@effect/platform-node/NodeRedis"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { once } from "node:events"

export interface Task {
  readonly url: string
  readonly users: ReadonlyArray<number>
  readonly sends: number
  readonly prefix?: string
}

const task = JSON.parse(process.argv[2]) as Task

const shared = (prefix: string) =>
  BotApi.layer({ token: Redacted.make("token"), baseUrl: task.url }).pipe(
    Layer.provide([
      NodeBotHttpClient.layer(),
      RateLimiter.layer().pipe(
        Layer.provide(RedisRateLimiterStore.layer({ prefix })),
        Layer.provide(NodeRedis.layer({ url: process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379" }))
      )
    ])
  )

const bot: Layer.Layer<BotApi.BotApi, unknown> =
  task.prefix === undefined ? NodeBot.layer({ token: "token", baseUrl: task.url }) : shared(task.prefix)

const sending = Effect.gen(function* () {
  yield* Effect.promise(() => {
    process.send?.({ isReady: true })
    return once(process, "message")
  })
  const start = performance.now()
  yield* Effect.forEach(
    Array.from({ length: task.sends }, (_, index) => User.UserId.make(task.users[index % task.users.length])),
    (user_id) => Messages.send({ user_id, text: "Hello" }),
    { concurrency: "unbounded", discard: true }
  )
  return performance.now() - start
})

process.send?.({ millis: await Effect.runPromise(Effect.provide(sending, bot)) })
process.disconnect()
