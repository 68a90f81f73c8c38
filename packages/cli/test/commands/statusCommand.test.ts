import { Bot, Command, Conversation, Handler, Inbox, LongPolling } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { stripVTControlCharacters } from "node:util"
import * as Databases from "../../../node/test/support/databases.ts"
import { layerOf } from "../../../node/test/support/inboxLayers.ts"
import { makeBot } from "../support/bots.ts"
import { objects, run } from "../support/run.ts"

const missing: Readonly<Record<string, boolean>> = await Databases.missing()

const Order = Conversation.make(
  "order/pizza",
  { of: "userInChat", timeout: "10 minutes" },
  Effect.fn(function* (talk) {
    yield* talk.ask("address", { say: "Where to?", read: Schema.String })
  })
)

const bot = Bot.make(
  Command.make("order").on(Order.start),
  Order,
  Handler.on("bot_started", () => Effect.die(new Error("mistake")))
)

describe("colloquy status", () => {
  for (const kind of ["SQLite", "PostgreSQL", "Redis"]) {
    it.live.skipIf(missing[kind]!)(`says what a bot with ${kind} does now`, () =>
      Effect.gen(function* () {
        const { colloquy, place } = yield* makeBot(kind)
        const [before] = objects(yield* colloquy("status"))
        assert.deepInclude(before, { queued: 0, dead_letters: 0, conversations: [], processes: [] })
        yield* Effect.gen(function* () {
          const running = yield* Effect.forkChild(Bot.run(bot, { retry: Schedule.recurs(0) }))
          const person = yield* Emulator.user("Anna")
          yield* person.start()
          yield* person.send("/order")
          yield* person.reply
          const status = yield* Effect.repeat(
            Effect.map(colloquy("status"), (ran) => objects(ran)[0]),
            { until: ({ log }) => log.entries === 2, schedule: Schedule.spaced("50 millis") }
          )
          assert.deepInclude(status, { queued: 0, dead_letters: 1, calls_per_second_limit: 30 })
          assert.deepStrictEqual(status.log.outcomes, { handled: 1, unhandled: 0, failed: 0, dead: 1 })
          assert.deepStrictEqual(status.conversations, [{ conversation: "order/pizza", question: "address", count: 1 }])
          assert.strictEqual(status.processes.length, 1)
          assert.strictEqual(status.processes[0].handled, 2)
          assert.strictEqual(status.processes[0].is_busy, true)
          yield* Fiber.interrupt(running)
        }).pipe(
          Effect.provide(
            LongPolling.layer().pipe(
              Layer.provideMerge(Layer.provide(Inbox.layer(), layerOf(kind, place))),
              Layer.provideMerge(Emulator.layerBot({ limits: false }))
            )
          )
        )
        // The process has ended.
        assert.deepStrictEqual(objects(yield* colloquy("status"))[0].processes, [])
        if (kind !== "SQLite") return
        const lines: Array<string> = []
        const env = { BOT_INBOX: place }
        const watching = run(["status", "--watch", "--interval", "100 millis"], env, "/", lines, undefined, () => 24)
        const fiber = yield* Effect.forkChild(watching)
        yield* Effect.repeat(
          Effect.sync(() => lines.length),
          { until: (length) => length >= 2, schedule: Schedule.spaced("20 millis") }
        )
        yield* Fiber.interrupt(fiber)
        const screen = stripVTControlCharacters(lines[1]!.replace("\u001B[H\u001B[2J", "")).split("\n")
        assert.include(screen, "dead letters  1")
        assert.include(screen, "  order/piz…  address  1")
        assert.isTrue(screen.every(({ length }) => length <= 24))
        const invalid = yield* colloquy("status", "--interval", "soon")
        assert.deepStrictEqual([invalid.code, invalid.out], [2, ""])
      }).pipe(Effect.scoped)
    )
  }
})
