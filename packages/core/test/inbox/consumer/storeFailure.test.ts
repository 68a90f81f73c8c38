import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as Schedule from "effect/Schedule"
import * as TestClock from "effect/testing/TestClock"
import { Bot, Handler, Inbox, Messages, StoreError, type Updates } from "../../../src/index.ts"
import { inboxOver, inTime, source, started } from "../../support/deliveries.ts"
import { chat_id, message } from "../../support/fixtures.ts"
import { ok, scripted } from "../../support/scripted.ts"

const failed = (operation: string, isRetryable: boolean) =>
  new StoreError.StoreError({ store: "inbox", operation, reason: "no", isRetryable })

const permanent = {
  "as an error": Effect.fail(failed("getState", false)),
  "as a defect": Effect.die(failed("record", false))
}

/** Runs an effect on an inbox with one update. */
const withUpdate = <A, E>(effect: Effect.Effect<A, E, Updates.Updates | Inbox.Inbox>) =>
  Effect.provide(
    effect,
    Layer.provideMerge(
      source([started(1, 1)]),
      inboxOver(() => ({ isShared: true }))
    )
  )

const failedUpdates = Effect.map(Metric.snapshot, (metrics) =>
  metrics.find(({ id }) => id === "colloquy_updates_failed_total")
)

describe("A failure of the inbox while an update is handled", () => {
  it.effect("does not count as a failed attempt if it is temporary", () =>
    Effect.gen(function* () {
      const attempts: Array<number> = []
      const handle = () =>
        Effect.gen(function* () {
          if (attempts.push(yield* Handler.CurrentAttempt) <= 20) return yield* failed("getState", true)
        })
      yield* inTime(Bot.run(handle))
      const { stats } = yield* Inbox.Inbox
      assert.deepInclude(yield* stats, { queued: 0, deadLetters: 0 })
      assert.deepStrictEqual(
        attempts,
        Array.from({ length: 21 }, () => 1)
      )
      assert.isUndefined(yield* failedUpdates)
    }).pipe(withUpdate, Effect.provideService(Metric.MetricRegistry, new Map()))
  )

  for (const [what, failure] of Object.entries(permanent)) {
    it.effect(`ends the bot, and does not count as a failed attempt, if it is permanent: ${what}`, () =>
      Effect.gen(function* () {
        const attempts: Array<number> = []
        const handle = () =>
          Effect.gen(function* () {
            if (attempts.push(yield* Handler.CurrentAttempt) === 1) return yield* failure
          })
        const error = yield* Effect.flip(inTime(Bot.run(handle)))
        assert.instanceOf(error, StoreError.StoreError)
        const { stats } = yield* Inbox.Inbox
        assert.deepInclude(yield* stats, { queued: 1, deadLetters: 0 })
        yield* inTime(Bot.run(handle))
        assert.deepInclude(yield* stats, { queued: 0, deadLetters: 0 })
        assert.deepStrictEqual(attempts, [1, 1])
        assert.isUndefined(yield* failedUpdates)
      }).pipe(withUpdate, Effect.provideService(Metric.MetricRegistry, new Map()))
    )
  }

  it.effect("does not count as a failed attempt when the handler times out because its journal is not written", () =>
    Effect.gen(function* () {
      let isDown = true
      const platform = scripted(ok({ message: message() }))
      const modified = inboxOver((store) => ({
        isShared: true,
        write: (writes) => Effect.suspend(() => (isDown ? Effect.fail(failed("write", true)) : store.write(writes)))
      }))
      const handle = () => Messages.send({ chat_id, text: "Hello" })
      yield* Effect.gen(function* () {
        const { stats } = yield* Inbox.Inbox
        const fiber = yield* Effect.forkChild(Bot.run(handle), { startImmediately: true })
        for (let minutes = 0; minutes < 9; minutes++) yield* TestClock.adjust("1 minute")
        assert.deepInclude(yield* stats, { queued: 1, deadLetters: 0 })
        isDown = false
        yield* inTime(Fiber.join(fiber))
        assert.deepInclude(yield* stats, { queued: 0, deadLetters: 0 })
      }).pipe(Effect.provide([Layer.provideMerge(source([started(1, 1)]), modified), platform.layer()]))
      assert.lengthOf(platform.journal, 1)
    })
  )
})

describe("A dead letter that the inbox refuses at first", () => {
  it.effect("is told of when it is stored, and `onDeadLetter` runs once", () => {
    const logs: Array<string> = []
    const logger = Logger.make(({ message }) => void logs.push(String(message)))
    const told = () => logs.filter((text) => text.includes("The update is now a dead letter")).length
    return Effect.gen(function* () {
      let isDown = true
      let notified = 0
      const modified = inboxOver((store) => ({
        isShared: true,
        commit: (commits) =>
          Effect.suspend(() => {
            const isDead = commits.some(({ completed }) => completed.some(({ failure }) => failure !== undefined))
            return isDead && isDown ? Effect.fail(failed("commit", true)) : store.commit(commits)
          })
      }))
      const run = Bot.run(() => Effect.fail("no"), {
        retry: Schedule.recurs(0),
        onDeadLetter: () => Effect.sync(() => void notified++)
      })
      yield* Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(run, { startImmediately: true })
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(told(), 0)
        isDown = false
        yield* inTime(Fiber.join(fiber))
        assert.strictEqual(told(), 1)
        assert.strictEqual(notified, 1)
        const { stats } = yield* Inbox.Inbox
        assert.deepInclude(yield* stats, { queued: 0, deadLetters: 1 })
      }).pipe(Effect.provide(Layer.provideMerge(source([started(1, 1)]), modified)))
    }).pipe(Effect.provide(Logger.layer([logger])))
  })
})
