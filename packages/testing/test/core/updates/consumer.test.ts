import { LongPolling, Messages, RateLimiter, Updates } from "@colloquy/core"
import { Emulator, Fixtures, TestUpdates } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as TestClock from "effect/testing/TestClock"

/** Handlers that are still running when the test ends. */
const bots = {
  "replies and then sleeps": Updates.run(
    Updates.on("message_created", (update) =>
      Effect.andThen(Messages.reply(update, "Hello"), Effect.sleep("5 seconds"))
    )
  ),
  "has a long time to stop": Updates.run(
    Updates.on("message_created", (update) => Effect.andThen(Messages.reply(update, "Hello"), Effect.never)),
    { shutdownTimeout: "1 hour" }
  ),
  "waits in the rate limiter": Updates.run(
    Updates.on("message_created", (update) =>
      Effect.forEach([1, 2, 3, 4, 5], () => Messages.reply(update, "Hello"), { discard: true })
    )
  ),
  "waits for its next attempt": Updates.run(
    Updates.on("message_created", (update) => Effect.andThen(Messages.reply(update, "Hello"), Effect.fail("not yet")))
  ),
  "cannot be interrupted": Updates.run(
    Updates.on("message_created", (update) =>
      Effect.andThen(Messages.reply(update, "Hello"), Effect.uninterruptible(Effect.sleep("1 hour")))
    )
  ),
  "sleeps after its interruption": Updates.run(
    Updates.on("message_created", (update) =>
      Effect.andThen(
        Messages.reply(update, "Hello"),
        Effect.onInterrupt(Effect.never, () => Effect.sleep("1 hour"))
      )
    )
  ),
  "runs onDeadLetter": Updates.run(
    Updates.on("message_created", (update) => Effect.andThen(Messages.reply(update, "Hello"), Effect.die("broken"))),
    { retry: Schedule.recurs(0), onDeadLetter: () => Effect.never }
  )
}

const platform = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot({ clientLimits: RateLimiter.defaults })))

describe("consumer", () => {
  for (const [name, bot] of Object.entries(bots)) {
    it.effect(`ends a test with its assertion while a handler ${name}`, () =>
      Effect.gen(function* () {
        const conversation = Effect.gen(function* () {
          const ann = yield* Emulator.user("Ann")
          yield* ann.send("Good morning")
          assert.strictEqual((yield* ann.reply).body?.text, "You said: Good morning")
        })
        const start = performance.now()
        const exit = yield* conversation.pipe(Effect.raceFirst(bot), Effect.provide(platform), Effect.exit)
        assert.isBelow(performance.now() - start, 1000)
        assert.isTrue(Exit.isFailure(exit))
        assert.include(Cause.pretty((exit as Exit.Failure<void, unknown>).cause), "expected 'Hello' to equal 'You said")
      })
    )
  }

  it.effect("ends a test of given updates while a handler sleeps", () =>
    Effect.gen(function* () {
      const bot = Updates.run(() => Effect.sleep("5 seconds"))
      yield* Effect.yieldNow.pipe(Effect.raceFirst(bot), Effect.provide(TestUpdates.layer([Fixtures.messageCreated()])))
    })
  )

  it.effect("waits for handlers if ImmediateShutdown is false", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const bot = Updates.run(() =>
        Effect.andThen(
          Effect.sleep("5 seconds"),
          Effect.sync(() => void log.push("handled"))
        )
      ).pipe(Effect.provideService(Updates.ImmediateShutdown, false))
      const fiber = yield* Effect.forkChild(bot, { startImmediately: true })
      const ann = yield* Emulator.user("Ann")
      yield* ann.send("Good morning")
      yield* TestClock.adjust("1 second")
      yield* Effect.raceFirst(Fiber.interrupt(fiber), Effect.forever(TestClock.adjust("1 second")))
      assert.deepStrictEqual(log, ["handled"])
    }).pipe(Effect.provide(platform))
  )
})
