import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import * as TestClock from "effect/testing/TestClock"
import { Outage, StoreError } from "../../src/index.ts"

const refused = new StoreError.StoreError({
  store: "inbox",
  operation: "claim",
  reason: "connect ECONNREFUSED",
  isRetryable: true
})

const isTemporary = ({ isRetryable }: StoreError.StoreError): boolean => isRetryable

/** An operation that fails until a time in milliseconds, and the times of its attempts. */
const until = (end: number) => {
  const times: Array<number> = []
  const operation = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    times.push(now)
    return now < end ? Effect.fail(refused) : Effect.succeed("done")
  })
  return { operation, times }
}

/** Runs an effect for two hours of virtual time. Returns its exit and its logs. */
const observed = Effect.fnUntraced(function* <A, E>(effect: Effect.Effect<A, E>, level: "Info" | "Debug" = "Info") {
  const logs: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => void logs.push(`${logLevel} ${String(message)}`))
  const fiber = yield* effect.pipe(
    Effect.provide(Logger.layer([logger])),
    Effect.provideService(References.MinimumLogLevel, level),
    Effect.forkChild({ startImmediately: true })
  )
  yield* TestClock.adjust("2 hours")
  return { exit: yield* Fiber.await(fiber), logs }
})

const errorOf = <A, E>(exit: Exit.Exit<A, E>) => Cause.squash((exit as Exit.Failure<A, E>).cause)

describe("Outage.retry", () => {
  it.effect("pauses longer and longer, up to 10 seconds, and tells each attempt in one short line", () =>
    Effect.gen(function* () {
      const { operation, times } = until(60_000)
      const { exit, logs } = yield* observed(Outage.make("The inbox").retry(operation, isTemporary))
      assert.deepStrictEqual(exit, Exit.succeed("done"))
      const pauses = times.slice(1).map((at, index) => at - times[index]!)
      for (const [index, pause] of pauses.entries()) {
        const nominal = Math.min(10_000, 200 * 2 ** index)
        assert.isAtLeast(pause, nominal * 0.8)
        assert.isAtMost(pause, nominal * 1.2 + 1)
      }
      assert.strictEqual(logs.length, times.length)
      assert.match(
        logs[0]!,
        /^Warn The inbox is unavailable\. Attempt 1 failed, and the next one follows in 0\.2 seconds\. .*ECONNREFUSED/
      )
      for (const [index, line] of logs.slice(1, -1).entries()) {
        const expected = `Warn The inbox is still unavailable. Attempt ${index + 2} failed, and the next one follows in `
        assert.isTrue(line.startsWith(expected), line)
        assert.notInclude(line, "ECONNREFUSED")
      }
      const elapsed = (times.at(-1)! - times[0]!) / 1000
      assert.include(logs.at(-1)!, "Info The inbox is available again after ")
      assert.closeTo(Number.parseFloat(logs.at(-1)!.split(" ").at(-2)!), elapsed, 0.1)
    })
  )

  it.effect("logs the cause of every attempt at the level Debug", () =>
    Effect.gen(function* () {
      const { operation, times } = until(5000)
      const { logs } = yield* observed(Outage.make("The inbox").retry(operation, isTemporary), "Debug")
      assert.lengthOf(
        logs.filter((line) => line.includes("ECONNREFUSED")),
        times.length - 1
      )
    })
  )

  it.effect("gives up after 10 minutes, with the cause and the solution", () =>
    Effect.gen(function* () {
      const { operation, times } = until(Infinity)
      const { exit, logs } = yield* observed(Outage.make("The inbox").retry(operation, isTemporary))
      const error = errorOf(exit) as Outage.GaveUp
      assert.instanceOf(error, Outage.GaveUp)
      assert.strictEqual(times.at(-1), 600_000)
      assert.strictEqual(error.attempts, times.length)
      assert.match(error.message, /^The inbox was unavailable for 10m, in \d+ attempts, so the bot ends\./)
      assert.match(error.message, /BOT_GIVE_UP_AFTER sets the time\. The last failure: .*ECONNREFUSED/)
      assert.notInclude(logs.join(), "available again")
    })
  )

  it.effect("takes the time from the setting, and from the reference before the setting", () =>
    Effect.gen(function* () {
      const provider = ConfigProvider.fromUnknown({ BOT_GIVE_UP_AFTER: "3 seconds" })
      const set = until(Infinity)
      yield* observed(
        Effect.provideService(
          Outage.make("The inbox").retry(set.operation, isTemporary),
          ConfigProvider.ConfigProvider,
          provider
        )
      )
      assert.strictEqual(set.times.at(-1), 3000)
      const given = until(Infinity)
      const begun = yield* Clock.currentTimeMillis
      yield* observed(
        Outage.make("The inbox")
          .retry(given.operation, isTemporary)
          .pipe(
            Effect.provideService(ConfigProvider.ConfigProvider, provider),
            Effect.provideService(Outage.GiveUpAfter, Duration.seconds(7))
          )
      )
      assert.strictEqual(given.times.at(-1)! - begun, 7000)
    })
  )

  it.effect("fails with the first failure if the time is zero", () =>
    Effect.gen(function* () {
      const { operation, times } = until(Infinity)
      const { exit, logs } = yield* observed(
        Effect.provideService(Outage.make("The inbox").retry(operation, isTemporary), Outage.GiveUpAfter, Duration.zero)
      )
      assert.strictEqual(errorOf(exit), refused)
      assert.lengthOf(times, 1)
      assert.deepStrictEqual(logs, [])
    })
  )

  it.effect("does not repeat a permanent failure, at the first attempt or later", () =>
    Effect.gen(function* () {
      const denied = new StoreError.StoreError({ ...refused, reason: "permission denied", isRetryable: false })
      for (const failures of [[denied], [refused, refused, denied]]) {
        const left = [...failures]
        const operation = Effect.suspend(() => Effect.fail(left.shift()!))
        const { exit } = yield* observed(Outage.make("The inbox").retry(operation, isTemporary))
        assert.strictEqual(errorOf(exit), denied)
        assert.lengthOf(left, 0)
      }
    })
  )

  it.effect("tells each attempt once for all operations that wait at the same time, and the end once", () =>
    Effect.gen(function* () {
      const outage = Outage.make("The inbox")
      const all = Array.from({ length: 64 }, () => until(20_000))
      const { logs } = yield* observed(
        Effect.forEach(all, ({ operation }) => outage.retry(operation, isTemporary), { concurrency: "unbounded" })
      )
      const attempts = Math.max(...all.map(({ times }) => times.length - 1))
      assert.lengthOf(logs, attempts + 1)
      assert.lengthOf(
        logs.filter((line) => line.includes("available again")),
        1
      )
    })
  )

  it.effect("says nothing more when an operation that waits is interrupted", () =>
    Effect.gen(function* () {
      const { operation } = until(Infinity)
      const { logs } = yield* observed(
        Effect.timeoutOption(Outage.make("The inbox").retry(operation, isTemporary), "5 seconds")
      )
      assert.isNotEmpty(logs)
      assert.notInclude(logs.join(), "available again")
    })
  )

  it.effect("measures the time by the monotonic clock", () =>
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const ahead: Clock.Clock = Object.assign(Object.create(clock), {
        currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() * 100
      })
      const { operation, times } = until(Infinity)
      yield* observed(Effect.provideService(Outage.make("The inbox").retry(operation, isTemporary), Clock.Clock, ahead))
      assert.isAbove(times.length, 60)
    })
  )
})

describe("Outage.errorIn", () => {
  it("finds the error with which a bot ends among the defects of a cause, and no other", () => {
    assert.strictEqual(Outage.errorIn(Cause.die(refused)), refused)
    assert.strictEqual(Outage.errorIn(Cause.die(new Error("a defect"))), undefined)
    assert.strictEqual(Outage.errorIn(Cause.fail(refused)), undefined)
  })
})
