import { Inbox, LongPolling } from "@colloquy/core"
import { NodeSqlite, SqlInboxStore } from "@colloquy/node"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { bot } from "../src/analytics.ts"

const inbox = Inbox.layer().pipe(
  Layer.provideMerge(SqlInboxStore.layer({ prefix: "my_bot" })),
  Layer.provideMerge(NodeSqlite.layer({ filename: ":memory:" }))
)

// The clock is the TestClock.
const platform = LongPolling.layer().pipe(Layer.provideMerge(Layer.provideMerge(inbox, Emulator.layerBot())))

const stored = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ readonly characters: number }>`SELECT characters FROM my_bot_messages ORDER BY characters`
)

describe("the pipeline of analytics", () => {
  it.effect("stores each message once, although it is stopped while a batch waits", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const ben = yield* Emulator.user("Ben")
      const first = yield* Effect.forkScoped(bot)
      for (const text of ["a", "ab", "abc"]) yield* ann.send(text)
      yield* TestClock.adjust("1 second")
      yield* ben.send("abcd")
      yield* TestClock.adjust("500 millis")
      yield* Fiber.interrupt(first)
      yield* Effect.forkScoped(bot)
      yield* ann.send("abcde")
      yield* Effect.repeat(TestClock.adjust("1 second"), { times: 5 })
      assert.deepStrictEqual(
        (yield* stored).map(({ characters }) => characters),
        [1, 2, 3, 4, 5]
      )
      assert.strictEqual((yield* Inbox.Inbox.use(({ stats }) => stats)).queued, 0)
    }).pipe(Effect.provide(platform))
  )
})
