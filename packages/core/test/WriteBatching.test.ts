import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as WriteBatching from "../src/WriteBatching.ts"

interface Setup {
  readonly weigh?: (item: string) => number
  readonly maxWeight?: number
  readonly minConcurrentWeight?: number
  readonly splitOn?: (error: string) => boolean
  readonly fails?: (items: ReadonlyArray<string>) => boolean
}

/** A writer that records its batches, and waits for `latch` in each of them. The result of an item is its upper case. */
const recording = Effect.fnUntraced(function* ({ fails = () => false, ...options }: Setup = {}) {
  const batches: Array<ReadonlyArray<string>> = []
  const latch = Latch.makeUnsafe(true)
  const write = yield* WriteBatching.make<string, string, string>({
    ...options,
    write: (items) =>
      Effect.gen(function* () {
        batches.push(items)
        yield* latch.await
        return fails(items) ? yield* Effect.fail(`failed: ${items.join()}`) : items.map((item) => item.toUpperCase())
      })
  })
  const starting = (item: string) => Effect.forkChild(write(item), { startImmediately: true })
  const all = (items: string) =>
    Effect.forEach([...items], (item) => Effect.exit(write(item)), { concurrency: "unbounded" })
  /** Starts a batch that waits for the latch. */
  const blocking = Effect.gen(function* () {
    latch.closeUnsafe()
    const fiber = yield* starting("a")
    while (batches.length === 0) yield* Effect.yieldNow
    return fiber
  })
  return { all, batches, blocking, latch, starting, write }
})

describe("WriteBatching", () => {
  it.effect("writes the items that arrived during a batch in the next one, with a result for each item", () =>
    Effect.gen(function* () {
      const { all, batches, blocking, latch } = yield* recording()
      const first = yield* blocking
      const others = yield* Effect.forkChild(all("bcd"), { startImmediately: true })
      latch.openUnsafe()
      assert.strictEqual(yield* Fiber.join(first), "A")
      assert.deepStrictEqual(yield* Fiber.join(others), ["B", "C", "D"].map(Exit.succeed))
      assert.deepStrictEqual(batches, [["a"], ["b", "c", "d"]])
    })
  )

  it.effect("writes calls of the same iteration of the event loop in one batch", () =>
    Effect.gen(function* () {
      const { all, batches } = yield* recording()
      yield* all("abc")
      assert.deepStrictEqual(batches, [["a", "b", "c"]])
    })
  )

  it.effect("writes a batch of enough weight while another one is being written, and no third one", () =>
    Effect.gen(function* () {
      const { all, batches, blocking, latch, starting } = yield* recording({ minConcurrentWeight: 2 })
      const first = yield* blocking
      const second = yield* starting("b")
      for (let turn = 0; turn < 10; turn++) yield* Effect.yieldNow
      assert.deepStrictEqual(batches, [["a"]])
      const third = yield* starting("c")
      while (batches.length < 2) yield* Effect.yieldNow
      const others = yield* Effect.forkChild(all("de"), { startImmediately: true })
      for (let turn = 0; turn < 10; turn++) yield* Effect.yieldNow
      assert.deepStrictEqual(batches, [["a"], ["b", "c"]])
      latch.openUnsafe()
      assert.deepStrictEqual(yield* Effect.forEach([first, second, third], Fiber.join), ["A", "B", "C"])
      assert.deepStrictEqual(yield* Fiber.join(others), ["D", "E"].map(Exit.succeed))
      assert.deepStrictEqual(batches, [["a"], ["b", "c"], ["d", "e"]])
    })
  )

  it.effect("divides items that arrive together into two batches if both have enough weight", () =>
    Effect.gen(function* () {
      const { all, batches } = yield* recording({ minConcurrentWeight: 2 })
      assert.deepStrictEqual(yield* all("abcd"), ["A", "B", "C", "D"].map(Exit.succeed))
      assert.deepStrictEqual(batches, [
        ["a", "b"],
        ["c", "d"]
      ])
    })
  )

  it.effect("writes at most two batches at a time, however much is queued", () =>
    Effect.gen(function* () {
      const { all, batches, latch } = yield* recording({ minConcurrentWeight: 1, maxWeight: 1 })
      latch.closeUnsafe()
      const fiber = yield* Effect.forkChild(all("abcd"), { startImmediately: true })
      for (let turn = 0; turn < 10; turn++) yield* Effect.yieldNow
      assert.deepStrictEqual(batches, [["a"], ["b"]])
      latch.openUnsafe()
      assert.deepStrictEqual(yield* Fiber.join(fiber), ["A", "B", "C", "D"].map(Exit.succeed))
    })
  )

  it.effect("writes both batches before the scope closes", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { batches, latch, starting } = yield* Scope.provide(recording({ minConcurrentWeight: 2 }), scope)
      latch.closeUnsafe()
      const fibers = yield* Effect.forEach([..."abcd"], starting)
      while (batches.length < 2) yield* Effect.yieldNow
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      latch.openUnsafe()
      yield* Fiber.join(closing)
      assert.deepStrictEqual(yield* Effect.forEach(fibers, Fiber.join), ["A", "B", "C", "D"])
    })
  )

  it.effect("fails only the item that cannot be written", () =>
    Effect.gen(function* () {
      const { all, batches } = yield* recording({ fails: (items) => items.includes("c") })
      const exits = yield* all("abcde")
      assert.deepStrictEqual(exits, [
        Exit.succeed("A"),
        Exit.succeed("B"),
        Exit.fail("failed: c"),
        Exit.succeed("D"),
        Exit.succeed("E")
      ])
      assert.deepStrictEqual(batches.slice(1), [["a"], ["b"], ["c"], ["d"], ["e"]])
    })
  )

  it.effect("stops after two failures in a row, and fails the remaining items", () =>
    Effect.gen(function* () {
      const { all, batches } = yield* recording({ fails: () => true })
      const exits = yield* all("abcd")
      assert.deepStrictEqual(
        exits,
        ["a", "b", "b", "b"].map((item) => Exit.fail(`failed: ${item}`))
      )
      assert.deepStrictEqual(batches, [["a", "b", "c", "d"], ["a"], ["b"]])
    })
  )

  it.effect("fails the whole batch after an error that does not split it, and continues with the next", () =>
    Effect.gen(function* () {
      let isConnected = false
      const { all, batches, write } = yield* recording({ fails: () => !isConnected, splitOn: () => false })
      assert.deepStrictEqual(yield* all("abc"), Array(3).fill(Exit.fail("failed: a,b,c")))
      isConnected = true
      assert.strictEqual(yield* write("d"), "D")
      assert.deepStrictEqual(batches, [["a", "b", "c"], ["d"]])
    })
  )

  it.effect("passes a defect to the caller, and goes on with the next batch", () =>
    Effect.gen(function* () {
      let attempts = 0
      const write = yield* WriteBatching.make<string, void, never>({
        write: () => Effect.suspend(() => (++attempts === 1 ? Effect.die("a defect") : Effect.succeed([undefined])))
      })
      assert.deepStrictEqual(yield* Effect.exit(write("a")), Exit.die("a defect"))
      yield* write("b")
    })
  )

  it.effect("limits the weight of a batch, and writes a heavier item alone", () =>
    Effect.gen(function* () {
      const weights: Record<string, number> = { a: 9, b: 2, c: 3, d: 1 }
      const { all, batches } = yield* recording({ weigh: (item) => weights[item]!, maxWeight: 5 })
      yield* all("abcd")
      assert.deepStrictEqual(batches, [["a"], ["b", "c"], ["d"]])
    })
  )

  it.effect("does not write an item whose caller was interrupted before its batch", () =>
    Effect.gen(function* () {
      const { batches, blocking, latch, starting } = yield* recording()
      const first = yield* blocking
      const second = yield* starting("b")
      const third = yield* starting("c")
      yield* Fiber.interrupt(second)
      latch.openUnsafe()
      yield* Fiber.join(first)
      yield* Fiber.join(third)
      assert.deepStrictEqual(batches, [["a"], ["c"]])
    })
  )

  it.effect("closes after the queued items have been written, even if their callers were interrupted", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { batches, blocking, latch, starting } = yield* Scope.provide(recording(), scope)
      const first = yield* blocking
      const second = yield* starting("b")
      yield* Fiber.interrupt(first)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      yield* Effect.yieldNow
      assert.isUndefined(closing.pollUnsafe())
      latch.openUnsafe()
      yield* Fiber.join(closing)
      assert.strictEqual(yield* Fiber.join(second), "B")
      assert.deepStrictEqual(batches, [["a"], ["b"]])
    })
  )

  it.effect("interrupts a batch that hangs and all callers 5 seconds after the scope closed, and later calls", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { blocking, starting, write } = yield* Scope.provide(recording(), scope)
      const callers = [yield* blocking, yield* starting("b")]
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(closing)
      for (const caller of callers) assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(caller)))
      const late = yield* Effect.forkChild(write("c"))
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(late)))
    })
  )
})
