import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as Batcher from "../../src/internal/stores/batcher.ts"

const range = (count: number) => Array.from({ length: count }, (_, index) => index)

describe("a batcher", () => {
  it.effect("writes at once what came while it wrote", () =>
    Effect.gen(function* () {
      const batches: Array<ReadonlyArray<number>> = []
      const first = yield* Deferred.make<void>()
      const write = yield* Batcher.make<number, never>(
        (items) => Effect.suspend(() => (batches.push(items) === 1 ? Deferred.await(first) : Effect.void)),
        () => true
      )
      const writers = yield* Effect.forkChild(
        Effect.forEach(range(5), (item) => write([item, -item]), { concurrency: "unbounded", discard: true })
      )
      yield* Effect.yieldNow
      const late = yield* Effect.forkChild(write([100]))
      yield* Effect.yieldNow
      yield* Deferred.succeed(first, undefined)
      yield* Fiber.join(writers)
      yield* Fiber.join(late)
      assert.isBelow(batches.length, 6)
      assert.deepStrictEqual(batches.flat(), [...range(5).flatMap((item) => [item, -item]), 100])
    })
  )

  it.effect("lets a refused group fail alone, and the others succeed", () =>
    Effect.gen(function* () {
      const written: Array<number> = []
      const write = yield* Batcher.make<number, string>(
        (items) =>
          Effect.suspend(() => {
            if (items.includes(3)) return Effect.fail("3 is refused")
            written.push(...items)
            return Effect.void
          }),
        () => true
      )
      const exits = yield* Effect.forEach(range(5), (item) => Effect.exit(write([item])), { concurrency: "unbounded" })
      assert.deepStrictEqual(exits.map(Exit.isSuccess), [true, true, true, false, true])
      assert.deepStrictEqual(exits[3], Exit.fail("3 is refused"))
      assert.deepStrictEqual(written, [0, 1, 2, 4])
    })
  )

  it.effect("tells every caller of a failure that trying one by one would not mend, and writes on", () =>
    Effect.gen(function* () {
      let attempts = 0
      const write = yield* Batcher.make<number, string>(
        () => Effect.suspend(() => (++attempts === 1 ? Effect.fail("no connection") : Effect.void)),
        () => false
      )
      const exits = yield* Effect.forEach(range(3), (item) => Effect.exit(write([item])), { concurrency: "unbounded" })
      assert.deepStrictEqual(exits, Array(3).fill(Exit.fail("no connection")))
      yield* write([4])
      assert.strictEqual(attempts, 2)
    })
  )

  it.effect("writes on after a defect, of which its callers die", () =>
    Effect.gen(function* () {
      let attempts = 0
      const write = yield* Batcher.make<number, never>(
        () => Effect.suspend(() => (++attempts === 1 ? Effect.die("a defect") : Effect.void)),
        () => true
      )
      assert.deepStrictEqual(yield* Effect.exit(write([1])), Exit.die("a defect"))
      yield* write([2])
    })
  )

  it.effect("lets nobody wait for a write that will not come", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const write = yield* Scope.provide(
        Batcher.make<number, never>(
          () => Effect.never,
          () => true
        ),
        scope
      )
      const writing = yield* Effect.forkChild(write([1]))
      yield* Effect.yieldNow
      const waiting = yield* Effect.forkChild(write([2]))
      yield* Effect.yieldNow
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(Exit.isFailure(yield* Fiber.await(writing)))
      assert.isTrue(Exit.isFailure(yield* Fiber.await(waiting)))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(Effect.forkChild(write([3])).pipe(Effect.flatMap(Fiber.join)))))
    })
  )
})
