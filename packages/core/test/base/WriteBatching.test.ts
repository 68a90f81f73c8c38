import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Scope from "effect/Scope"
import * as Random from "effect/Random"
import * as TestClock from "effect/testing/TestClock"
import * as WriteBatching from "../../src/base/WriteBatching.ts"

interface Setup {
  readonly weigh?: (item: string) => number
  readonly maxWeight?: number
  readonly minConcurrentWeight?: number
  readonly keysOf?: (item: string) => ReadonlyArray<string>
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

/** 200 calls with random keys, at random times, whose writes take random times and fail at random. Some callers are interrupted. */
const runAtRandom = Effect.gen(function* () {
  const below = (limit: number) => Random.nextIntBetween(0, limit, { halfOpen: true })
  const keys = yield* Effect.forEach(Array.from({ length: 200 }), () =>
    Effect.map(Effect.all([below(12), below(12), below(12)]), (all) => all.slice(all[0] % 4).map(String))
  )
  const writing = new Set<ReadonlyArray<number>>()
  const written = new Set<number>()
  const interrupted = new Set<number>()
  const resumed = new Map<number, ReadonlyArray<Exit.Exit<number, string>>>()
  const seen = { maxWriting: 0, common: 0, order: Array.from({ length: 12 }, () => Array<number>()) }
  yield* Effect.scoped(
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const write = yield* WriteBatching.make<number, number, string>({
        maxWeight: 20,
        minConcurrentWeight: 3,
        keysOf: (item) => keys[item]!,
        write: (items) =>
          Effect.gen(function* () {
            const own = new Set(items.flatMap((item) => keys[item]!))
            for (const others of writing) {
              if (others.some((item) => keys[item]!.some((key) => own.has(key)))) seen.common++
            }
            writing.add(items)
            seen.maxWriting = Math.max(seen.maxWriting, writing.size)
            yield* Effect.sleep(yield* below(10))
            writing.delete(items)
            if ((yield* below(6)) === 0) return yield* Effect.fail("failed")
            for (const item of items) {
              written.add(item)
              for (const key of new Set(keys[item])) seen.order[Number(key)]!.push(item)
            }
            return items
          })
      })
      const callers = yield* Effect.forEach(keys, (_, item) =>
        Effect.gen(function* () {
          yield* Effect.sleep(yield* below(4))
          const caller = yield* Effect.onExit(write(item), (exit) =>
            Effect.sync(() => resumed.set(item, [...(resumed.get(item) ?? []), exit]))
          ).pipe(Effect.forkIn(scope, { startImmediately: true }))
          if ((yield* below(10)) > 0) return caller
          interrupted.add(item)
          return yield* Effect.forkIn(Effect.andThen(Effect.sleep(3), Fiber.interrupt(caller)), scope)
        })
      ).pipe(Effect.forkChild)
      yield* TestClock.adjust("1 minute")
      for (const caller of yield* Fiber.join(callers)) yield* Fiber.await<unknown, unknown>(caller)
    })
  )
  return { interrupted, resumed, seen, written }
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

  it.effect("does not write items with a common key at the same time, and keeps their order", () =>
    Effect.gen(function* () {
      const { all, batches, blocking, latch } = yield* recording({
        minConcurrentWeight: 3,
        keysOf: (item) => keys[item]!
      })
      const keys: Record<string, ReadonlyArray<string>> = {
        a: ["1"],
        b: ["2", "1"],
        c: ["2"],
        d: ["3"],
        e: ["3"],
        f: []
      }
      const first = yield* blocking
      const others = yield* Effect.forkChild(all("bcdef"), { startImmediately: true })
      for (let turn = 0; turn < 10; turn++) yield* Effect.yieldNow
      assert.deepStrictEqual(batches, [["a"], ["d", "e", "f"]])
      latch.openUnsafe()
      assert.strictEqual(yield* Fiber.join(first), "A")
      assert.deepStrictEqual(yield* Fiber.join(others), ["B", "C", "D", "E", "F"].map(Exit.succeed))
      assert.deepStrictEqual(batches, [["a"], ["d", "e", "f"], ["b", "c"]])
    })
  )

  it.effect("counts only items that do not wait for another batch as the weight of a concurrent one", () =>
    Effect.gen(function* () {
      const { all, batches, blocking, latch, starting } = yield* recording({
        minConcurrentWeight: 2,
        keysOf: (item) => [item.toLowerCase()]
      })
      const first = yield* blocking
      const others = yield* Effect.forkChild(all("AAAb"), { startImmediately: true })
      for (let turn = 0; turn < 10; turn++) yield* Effect.yieldNow
      assert.deepStrictEqual(batches, [["a"]])
      const last = yield* starting("c")
      while (batches.length < 2) yield* Effect.yieldNow
      assert.deepStrictEqual(batches, [["a"], ["b", "c"]])
      latch.openUnsafe()
      yield* Fiber.join(first)
      assert.strictEqual(yield* Fiber.join(last), "C")
      assert.deepStrictEqual(yield* Fiber.join(others), ["A", "A", "A", "B"].map(Exit.succeed))
      assert.deepStrictEqual(batches, [["a"], ["b", "c"], ["A", "A", "A"]])
    })
  )

  it.effect("does not write items with a key of a batch that is written again one by one", () =>
    Effect.gen(function* () {
      const latches = new Map([..."abcd"].map((item) => [item, Latch.makeUnsafe()]))
      const writes: Array<string> = []
      const write = yield* WriteBatching.make<string, void, string>({
        minConcurrentWeight: 2,
        keysOf: (item) => [item.toLowerCase()],
        write: (items) =>
          Effect.gen(function* () {
            writes.push(items.join(""))
            if (items.length > 1) return yield* Effect.fail("several")
            yield* latches.get(items[0]!)!.await
            return [undefined]
          })
      })
      const start = (items: string) =>
        Effect.forEach([...items], (item) => Effect.forkChild(write(item), { startImmediately: true }))
      const first = yield* start("ab")
      while (writes.length < 2) yield* Effect.yieldNow
      latches.set("A", Latch.makeUnsafe(true))
      latches.set("B", Latch.makeUnsafe(true))
      const others = yield* start("BAcd")
      while (writes.length < 4) yield* Effect.yieldNow
      assert.deepStrictEqual(writes, ["ab", "a", "cd", "c"])
      for (const latch of latches.values()) latch.openUnsafe()
      yield* Fiber.joinAll([...first, ...others])
      assert.deepStrictEqual(writes.filter((items) => /a|b/i.test(items)).join(" "), "ab a b BA B A")
    })
  )

  it.effect("keeps the order of each key, and resumes every caller once, whatever the store does", () =>
    Effect.gen(function* () {
      for (let seed = 0; seed < 50; seed++) {
        const { interrupted, resumed, seen, written } = yield* Random.withSeed(runAtRandom, `run ${seed}`)
        assert.isBelow(seen.maxWriting, 3)
        assert.strictEqual(seen.common, 0)
        for (const [item, exits] of resumed) {
          if (!interrupted.has(item))
            assert.deepStrictEqual(exits, [written.has(item) ? Exit.succeed(item) : Exit.fail("failed")])
        }
        for (const orderOfKey of seen.order)
          assert.deepStrictEqual(
            orderOfKey,
            orderOfKey.toSorted((a, b) => a - b)
          )
        assert.strictEqual(resumed.size, 200)
        assert.isAbove(seen.maxWriting, 1)
      }
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

  it.effect("dies with the exception of the function `write`", () =>
    Effect.gen(function* () {
      const write = yield* WriteBatching.make<string, string, never>({
        write: () => {
          throw new Error("a defect")
        }
      })
      const exit = yield* Effect.exit(write("a"))
      assert.isTrue(Exit.isFailure(exit) && Cause.pretty(exit.cause).includes("a defect"))
    })
  )
})
