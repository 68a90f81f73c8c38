import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { withTimeLimit } from "../../../src/base/internal/stores/timeLimit.ts"

const limited = (millis: number) => withTimeLimit(Duration.millis(millis), () => "too late" as const)

describe("withTimeLimit", () => {
  it.effect("returns the result of an effect that ends in time, also if it ends at once", () =>
    Effect.gen(function* () {
      const ended = yield* Deferred.make<number>()
      const waiting = yield* Effect.forkChild(limited(60_000)(Deferred.await(ended)), { startImmediately: true })
      yield* Deferred.succeed(ended, 1)
      assert.strictEqual(yield* Fiber.join(waiting), 1)
      assert.strictEqual(yield* limited(60_000)(Effect.succeed(2)), 2)
      assert.deepStrictEqual(yield* Effect.exit(limited(60_000)(Effect.fail("no"))), Exit.fail("no"))
    })
  )

  it.effect("fails after the limit in real time, and interrupts the effect", () =>
    Effect.gen(function* () {
      const interrupted = yield* Deferred.make<void>()
      const endless = Effect.onInterrupt(Effect.never, () => Deferred.succeed(interrupted, undefined))
      assert.strictEqual(yield* Effect.flip(limited(20)(endless)), "too late")
      yield* Deferred.await(interrupted)
    })
  )

  it.effect("does not wait for an effect that cannot be interrupted", () =>
    Effect.gen(function* () {
      const ended = yield* Deferred.make<void>()
      const error = yield* Effect.flip(limited(20)(Effect.uninterruptible(Deferred.await(ended))))
      assert.strictEqual(error, "too late")
      yield* Deferred.succeed(ended, undefined)
    })
  )

  it.effect("interrupts the effect with its caller, and waits for its finalizers", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const endless = Effect.onInterrupt(Effect.never, () => Effect.sync(() => void log.push("interrupted")))
      const waiting = yield* Effect.forkChild(limited(60_000)(endless), { startImmediately: true })
      yield* Fiber.interrupt(waiting)
      assert.deepStrictEqual(log, ["interrupted"])
    })
  )
})
