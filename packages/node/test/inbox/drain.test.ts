import { Bot, Chat, Handler, Inbox, type Update, Updates } from "@colloquy/core"
import type * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { RedisInboxStore, SqlInboxStore } from "@colloquy/node"
import { Fixtures } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as databases from "../support/databases.ts"

const chats = 5

const received = (index: number): Inbox.Received => ({
  decoded: Result.succeed(
    Fixtures.botStarted({ chat_id: Chat.ChatId.make((index % chats) + 1), timestamp: Math.floor(index / chats) })
  )
})

/** Several instances of a serverless function receive requests at the same time, and share an inbox. */
const instances = <E>(store: Layer.Layer<InboxStore.InboxStore, E>) =>
  Effect.gen(function* () {
    const handled = new Map<number, Array<number>>()
    const handler = Handler.on("bot_started", ({ chat_id, timestamp }: Update.Of<"bot_started">) =>
      Effect.delay(
        Effect.sync(() => handled.set(chat_id, [...(handled.get(chat_id) ?? []), timestamp])),
        "2 millis"
      )
    )
    const instance = Layer.provideMerge(Updates.layer(Stream.empty), Layer.provide(Inbox.layer(), Layer.fresh(store)))
    const contexts = yield* Effect.forEach([0, 1, 2], () => Layer.build(Layer.fresh(instance)))
    const requests = 60
    const drains: Array<Fiber.Fiber<boolean, unknown>> = []
    for (let index = 0; index < requests; index++) {
      const context = contexts[index % 3]
      yield* Effect.provideContext(
        Inbox.Inbox.use(({ receive }) => receive([received(index)])),
        context
      )
      drains.push(yield* Effect.forkChild(Effect.provideContext(Bot.drain(handler), context)))
    }
    for (const fiber of drains) assert.isTrue(yield* Fiber.join(fiber))
    const { queued } = yield* Effect.provideContext(
      Inbox.Inbox.use(({ stats }) => stats),
      contexts[0]
    )
    assert.strictEqual(queued, 0)
    for (let chat = 1; chat <= chats; chat++) {
      assert.deepStrictEqual(
        handled.get(chat),
        Array.from({ length: requests / chats }, (_, index) => index)
      )
    }
  })

const missing = await databases.missing()

describe("Bot.drain in several processes", () => {
  it.live.skipIf(missing.PostgreSQL)("handles each update once and in order, on PostgreSQL", () => {
    const schema = databases.uniqueName("drain")
    const store = SqlInboxStore.layer({ prefix: `${schema}.bot` }).pipe(Layer.provide(databases.Postgres), Layer.orDie)
    return instances(store).pipe(Effect.scoped, Effect.provide(databases.postgresSchema(schema)))
  })

  it.live.skipIf(missing.Redis)("handles each update once and in order, on Redis", () => {
    const prefix = databases.uniqueName("drain")
    const store = RedisInboxStore.layer({ prefix }).pipe(Layer.provide(databases.redisClient), Layer.orDie)
    return instances(store).pipe(Effect.scoped, Effect.provide(databases.redisPrefix(`{${prefix}:`)))
  })
})
