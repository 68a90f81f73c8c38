import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import { InboxStore, Letter, StoreError } from "../src/index.ts"

const letter = (fingerprint: string) =>
  Letter.fromStored({ fingerprint, key: "chat", receivedAt: 0, text: `"${fingerprint}"` })

const arrival = (...fingerprints: ReadonlyArray<string>): InboxStore.Arrival => ({
  letters: fingerprints.map(letter),
  unreadable: [],
  now: 0,
  duplicatesSince: 0
})

const unavailable = (operation: string) =>
  new StoreError.StoreError({ store: "inbox", operation, reason: "away", isRetryable: true })

/** A store in memory that records its transactions, and waits for `gate` in each of them. */
const watched = Effect.fnUntraced(function* (refuses: (fingerprint: string) => boolean = () => false) {
  const memory = yield* InboxStore.InboxStore
  const runs: Array<ReadonlyArray<string>> = []
  const settled: Array<number> = []
  const gate = Latch.makeUnsafe(true)
  const store = yield* InboxStore.withWriteBatching({
    ...memory,
    putAll: (arrivals) =>
      Effect.gen(function* () {
        const fingerprints = arrivals.flatMap(({ letters }) => letters.map(({ fingerprint }) => fingerprint))
        runs.push(fingerprints)
        yield* gate.await
        if (fingerprints.some(refuses)) return yield* unavailable("put")
        return yield* Effect.forEach(arrivals, memory.put)
      }),
    settle: (settlements) => {
      settled.push(settlements.length)
      return memory.settle(settlements)
    }
  })
  return { store, runs, settled, gate }
})

const each = <A, E>(effects: ReadonlyArray<Effect.Effect<A, E>>) =>
  Effect.forEach(effects, Effect.exit, { concurrency: "unbounded" })

describe("InboxStore.withWriteBatching", () => {
  it.effect("stores arrivals that come during a transaction in the next one, and counts the new letters of each", () =>
    Effect.gen(function* () {
      const { gate, runs, store } = yield* watched()
      gate.closeUnsafe()
      const first = yield* Effect.forkChild(store.put(arrival("a")), { startImmediately: true })
      while (runs.length === 0) yield* Effect.yieldNow
      const others = yield* Effect.forkChild(
        each([store.put(arrival("b", "c")), store.put(arrival("b")), store.put(arrival("d"))]),
        { startImmediately: true }
      )
      gate.openUnsafe()
      assert.strictEqual(yield* Fiber.join(first), 1)
      assert.deepStrictEqual(yield* Fiber.join(others), [Exit.succeed(2), Exit.succeed(0), Exit.succeed(1)])
      assert.deepStrictEqual(runs, [["a"], ["b", "c", "b", "d"]])
    }).pipe(Effect.provide(InboxStore.layerMemory))
  )

  it.effect("writes settlements in one transaction", () =>
    Effect.gen(function* () {
      const { settled, store } = yield* watched()
      yield* store.put(arrival("a"))
      const [{ letters }] = yield* store.claim({ owner: "one", now: 0, leaseUntil: 1, mailboxes: 1, letters: 1 })
      yield* each([
        store.settle([{ owner: "two", key: "chat", release: true }]),
        store.settle([{ owner: "one", key: "chat", letter: { id: letters[0].id }, release: true }])
      ])
      assert.deepStrictEqual(settled, [2])
      assert.strictEqual((yield* store.stats).waiting, 0)
    }).pipe(Effect.provide(InboxStore.layerMemory))
  )

  it.effect("fails only the arrival that cannot be stored", () =>
    Effect.gen(function* () {
      const { runs, store } = yield* watched((fingerprint) => fingerprint === "bad")
      const exits = yield* each(["a", "bad", "b"].map((fingerprint) => store.put(arrival(fingerprint))))
      assert.deepStrictEqual(exits, [Exit.succeed(1), Exit.fail(unavailable("put")), Exit.succeed(1)])
      assert.deepStrictEqual(runs, [["a", "bad", "b"], ["a"], ["bad"], ["b"]])
    }).pipe(Effect.provide(InboxStore.layerMemory))
  )

  it.effect("limits the size of a transaction", () =>
    Effect.gen(function* () {
      const { runs, store } = yield* watched()
      const big = { ...arrival("big"), letters: [Letter.fromStored({ ...letter("big"), text: "x".repeat(1_500_000) })] }
      const bigger = { ...big, letters: [Letter.fromStored({ ...big.letters[0], fingerprint: "bigger" })] }
      yield* each([store.put(big), store.put(bigger), store.put(arrival("a"))])
      assert.deepStrictEqual(runs, [["big"], ["bigger", "a"]])
    }).pipe(Effect.provide(InboxStore.layerMemory))
  )
})
