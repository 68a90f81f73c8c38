import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { withLock } from "../../src/base/internal/keyedLock.ts"

describe("withLock", () => {
  it.effect("runs one effect of an owner and a key at a time, also after an interruption", () =>
    Effect.gen(function* () {
      const [a, b] = [{}, {}]
      const running = new Set<string>()
      const start = (name: string, owner: object, key: string) => {
        const run = Effect.sync(() => running.add(name)).pipe(
          Effect.andThen(Effect.never),
          Effect.ensuring(Effect.sync(() => running.delete(name)))
        )
        return Effect.forkChild(withLock(owner, key, run), { startImmediately: true })
      }
      const first = yield* start("first", a, "x")
      const second = yield* start("second", a, "x")
      yield* start("other key", a, "y")
      yield* start("other owner", b, "x")
      assert.sameMembers([...running], ["first", "other key", "other owner"])
      yield* Fiber.interrupt(first)
      yield* Effect.yieldNow
      assert.sameMembers([...running], ["second", "other key", "other owner"])
      yield* start("third", a, "x")
      assert.notInclude([...running], "third")
      yield* Fiber.interrupt(second)
      yield* Effect.yieldNow
      assert.sameMembers([...running], ["third", "other key", "other owner"])
    })
  )
})
