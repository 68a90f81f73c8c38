/**
 * Sends replies to its own chats as fast as the shared limits allow, from `go` until `stop`. Its parent may block its event
 * loop.
 */
import { BotApi, Chat, Messages, RateLimiter, RetryPolicy } from "@colloquy/core"
import { NodeBotHttpClient, RedisRateLimiterStore } from "@colloquy/node"
import * as NodeRedis from "@effect/platform-node/NodeRedis"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import { endWithParent, onParentMessage, tellParent } from "../processes.ts"

export interface Task {
  readonly url: string
  readonly redisUrl: string
  readonly prefix: string
  readonly share: number
  readonly firstChat: number
}

export type Command = { readonly run: "go" | "stop" } | { readonly run: "block"; readonly millis: number }

const task = JSON.parse(process.argv[2]) as Task

const concurrent = 60

const bot = BotApi.layer({ token: Redacted.make("token"), baseUrl: task.url }).pipe(
  Layer.provide([
    NodeBotHttpClient.layer(),
    RateLimiter.layer({ onUnavailable: { share: task.share } }).pipe(
      Layer.provide(RedisRateLimiterStore.layer({ prefix: task.prefix })),
      Layer.provide(NodeRedis.layer({ url: task.redisUrl }))
    )
  ])
)

const block = (millis: number) => {
  const until = performance.now() + millis
  while (performance.now() < until) continue
}

const command = (name: "go" | "stop") =>
  Effect.callback<void>((resume) => {
    const listener = (command: Command) => {
      if (command.run !== name) return
      process.off("message", listener)
      resume(Effect.void)
    }
    process.on("message", listener)
  })

onParentMessage((command: Command) => {
  if (command.run === "block") block(command.millis)
})
endWithParent()

const send = (index: number) =>
  RateLimiter.withPriority(
    Messages.send({ chat_id: Chat.ChatId.make(task.firstChat + index), text: "Hello" }),
    "reply"
  ).pipe(RetryPolicy.override(RetryPolicy.none), Effect.ignore)

const program = Effect.gen(function* () {
  // One request opens the store and a connection.
  yield* send(0)
  tellParent({ isReady: true })
  yield* command("go")
  let next = 0
  const sending = yield* Effect.forkChild(
    Effect.all(
      Array.from({ length: concurrent }, () => Effect.forever(Effect.suspend(() => send(next++ % 2000)))),
      { concurrency: "unbounded" }
    )
  )
  yield* command("stop")
  yield* Fiber.interrupt(sending)
}).pipe(Effect.provide([bot, Logger.layer([])]))

await Effect.runPromise(program)
process.disconnect()
