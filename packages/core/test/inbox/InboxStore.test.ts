import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import { QueuedUpdate, StoreError } from "../../src/index.ts"
import * as InboxStore from "../../src/inbox/InboxStore.ts"

const update = (fingerprint: string) =>
  QueuedUpdate.fromStored({ fingerprint, partitionKey: "chat", receivedAt: 0, text: `"${fingerprint}"` })

const batch = (...fingerprints: ReadonlyArray<string>): InboxStore.Batch => ({
  updates: fingerprints.map(update),
  deadLetters: [],
  now: 0,
  duplicatesSince: 0
})

const unavailable = (operation: string) =>
  new StoreError.StoreError({ store: "inbox", operation, reason: "unavailable", isRetryable: true })

/** A store in memory that records its transactions, and waits for `latch` in each of them. */
const watched = Effect.fnUntraced(function* (refuses: (fingerprint: string) => boolean = () => false) {
  const memory = yield* InboxStore.InboxStore
  const runs: Array<ReadonlyArray<string>> = []
  const commits: Array<number> = []
  const latch = Latch.makeUnsafe(true)
  const store = yield* InboxStore.withWriteBatching({
    ...memory,
    enqueueAll: (batches) =>
      Effect.gen(function* () {
        const fingerprints = batches.flatMap(({ updates }) => updates.map(({ fingerprint }) => fingerprint))
        runs.push(fingerprints)
        yield* latch.await
        if (fingerprints.some(refuses)) return yield* unavailable("enqueue")
        return yield* Effect.forEach(batches, memory.enqueue)
      }),
    commit: (batch) => {
      commits.push(batch.length)
      return memory.commit(batch)
    }
  })
  return { store, runs, commits, latch }
})

const each = <A, E>(effects: ReadonlyArray<Effect.Effect<A, E>>): Effect.Effect<ReadonlyArray<Exit.Exit<A, E>>> =>
  Effect.forEach(effects, Effect.exit, { concurrency: "unbounded" })

describe("InboxStore.withWriteBatching", () => {
  it.effect("stores batches that arrive during a transaction in the next one, and counts the new updates of each", () =>
    Effect.gen(function* () {
      const { latch, runs, store } = yield* watched()
      latch.closeUnsafe()
      const first = yield* Effect.forkChild(store.enqueue(batch("a")), { startImmediately: true })
      while (runs.length === 0) yield* Effect.yieldNow
      const others = yield* Effect.forkChild(
        each([store.enqueue(batch("b", "c")), store.enqueue(batch("b")), store.enqueue(batch("d"))]),
        { startImmediately: true }
      )
      latch.openUnsafe()
      assert.strictEqual(yield* Fiber.join(first), 1)
      assert.deepStrictEqual(yield* Fiber.join(others), [Exit.succeed(2), Exit.succeed(0), Exit.succeed(1)])
      assert.deepStrictEqual(runs, [["a"], ["b", "c", "b", "d"]])
    }).pipe(Effect.provide(InboxStore.layerMemory))
  )

  it.effect("writes commits in one transaction", () =>
    Effect.gen(function* () {
      const { commits, store } = yield* watched()
      yield* store.enqueue(batch("a"))
      const [{ updates }] = yield* store.claim({
        owner: "one",
        leaseDuration: 1,
        maxPartitions: 1,
        maxUpdates: 1,
        begin: 0
      })
      const change = { partitionKey: "chat", completed: [], failed: [], begun: [], release: true }
      const results = yield* each<unknown, StoreError.StoreError>([
        store.commit([{ ...change, owner: "two" }]),
        store.commit([
          { ...change, owner: "one", release: false },
          { ...change, owner: "one", completed: [{ id: updates[0].id }] }
        ]),
        store.commit([{ ...change, owner: "one" }])
      ])
      assert.deepStrictEqual(
        results.map((exit) => (Exit.isSuccess(exit) ? exit.value : [])),
        [["leaseLost"], ["applied", "applied"], ["leaseLost"]]
      )
      assert.deepStrictEqual(commits, [4])
      assert.strictEqual((yield* store.stats).queued, 0)
    }).pipe(Effect.provide(InboxStore.layerMemory))
  )

  /** Begins a commit of one partition, and then others. Returns the partitions of the transactions that run at the same time. */
  const concurrent = Effect.fnUntraced(function* (
    options: Pick<InboxStore.BatchStore, "appliesInOrder" | "minConcurrentCommits">,
    first: InboxStore.Commit,
    others: ReadonlyArray<InboxStore.Commit>
  ) {
    const memory = yield* InboxStore.InboxStore
    const runs: Array<ReadonlyArray<string>> = []
    const latch = Latch.makeUnsafe()
    const store = yield* InboxStore.withWriteBatching({
      ...memory,
      ...options,
      enqueueAll: () => Effect.die("not used"),
      commit: (commits) => {
        runs.push(commits.map(({ partitionKey }) => partitionKey))
        return Effect.andThen(latch.await, memory.commit(commits))
      }
    })
    const running = yield* Effect.forkChild(store.commit([first]), { startImmediately: true })
    while (runs.length === 0) yield* Effect.yieldNow
    const waiting = yield* Effect.forkChild(each(others.map((other) => store.commit([other]))), {
      startImmediately: true
    })
    for (let turn = 0; turn < 10; turn++) yield* Effect.yieldNow
    const atOnce = runs.slice()
    latch.openUnsafe()
    yield* Fiber.join(running)
    assert.lengthOf(yield* Fiber.join(waiting), others.length)
    assert.deepStrictEqual(
      runs.flat().toSorted(),
      [first, ...others].map(({ partitionKey }) => partitionKey).toSorted()
    )
    return atOnce
  })

  const row = (key: string) => ({ key, row: undefined, revision: "1" })
  const of = (partitionKey: string, parts: Partial<InboxStore.Commit> = {}): InboxStore.Commit => ({
    owner: "one",
    partitionKey,
    completed: [],
    failed: [],
    begun: [],
    release: false,
    ...parts
  })
  const first = of("a", { rows: [row("x")] })

  for (const [what, other] of [
    ["partition", of("a")],
    ["row", of("b", { rows: [row("y"), row("x")] })],
    ["row beside it", of("b", { together: [of("e", { rows: [row("x")] })] })]
  ] as const) {
    it.effect(
      `applies commits that concern the same ${what} one after the other, and those of others at the same time`,
      () =>
        Effect.gen(function* () {
          const others = [other, of("c", { rows: [row("z")] }), of("d", { rows: [row("a")] })]
          const atOnce = yield* concurrent({ minConcurrentCommits: 2 }, first, others)
          assert.deepStrictEqual(atOnce, [["a"], ["c", "d"]])
        }).pipe(Effect.provide(InboxStore.layerMemory))
    )
  }

  it.effect(
    "applies all commits at the same time if the store applies them in order, and one after the other by default",
    () =>
      Effect.gen(function* () {
        const ordered = { minConcurrentCommits: 2, appliesInOrder: true }
        assert.deepStrictEqual(yield* concurrent(ordered, first, [first, of("b")]), [["a"], ["a", "b"]])
        assert.deepStrictEqual(yield* concurrent({}, first, [of("b"), of("c")]), [["a"]])
      }).pipe(Effect.provide(InboxStore.layerMemory))
  )

  it.effect("counts the updates that commits complete, not the commits", () =>
    Effect.gen(function* () {
      const completed = Array.from({ length: 3 }, (_, index) => ({ id: String(index) }))
      const options = { minConcurrentCommits: 3 }
      assert.deepStrictEqual(yield* concurrent(options, first, [of("b", { completed })]), [["a"], ["b"]])
      assert.deepStrictEqual(yield* concurrent(options, first, [of("b"), of("c")]), [["a"]])
    }).pipe(Effect.provide(InboxStore.layerMemory))
  )

  it.effect("stores batches, commits and rows in one transaction, and separately after a failure", () =>
    Effect.gen(function* () {
      const memory = yield* InboxStore.InboxStore
      const writes: Array<readonly [batches: number, commits: number, rows: number]> = []
      const store = yield* InboxStore.withWriteBatching({
        ...memory,
        enqueueAll: () => Effect.die("not used"),
        writeAll: (batches, commits, rows) =>
          Effect.gen(function* () {
            writes.push([batches.length, commits.length, rows.length])
            if (batches.some(({ updates }) => updates.some(({ fingerprint }) => fingerprint === "bad"))) {
              return yield* unavailable("enqueue")
            }
            const added = yield* Effect.forEach(batches, memory.enqueue)
            const written = yield* memory.write(rows)
            return { added, written, results: yield* memory.commit(commits) }
          })
      })
      const change = { owner: "one", partitionKey: "chat", completed: [], failed: [], begun: [], release: false }
      const recordOf = (id: string) => ({ rows: [], journal: { owner: "one", partitionKey: "chat", id } })
      const first = yield* each<unknown, StoreError.StoreError>([
        store.enqueue(batch("a", "b")),
        store.commit([change, change]),
        store.write([recordOf("0")]),
        store.enqueue(batch("c"))
      ])
      assert.deepStrictEqual(first, [
        Exit.succeed(2),
        Exit.succeed(["leaseLost", "leaseLost"]),
        Exit.succeed(["leaseLost"]),
        Exit.succeed(1)
      ])
      assert.deepStrictEqual(writes.splice(0), [[2, 2, 1]])
      const [claimed] = yield* memory.claim({
        owner: "one",
        leaseDuration: 1000,
        maxPartitions: 1,
        maxUpdates: 1,
        begin: 0
      })
      const second = yield* each<unknown, StoreError.StoreError>([
        store.commit([change]),
        store.write([recordOf("0"), recordOf(claimed!.updates[0]!.id)]),
        store.enqueue(batch("bad")),
        store.commit([change, change])
      ])
      assert.deepStrictEqual(second, [
        Exit.succeed(["applied"]),
        Exit.succeed(["leaseLost", "applied"]),
        Exit.fail(unavailable("enqueue")),
        Exit.succeed(["applied", "applied"])
      ])
      assert.deepStrictEqual(writes, [
        [1, 3, 2],
        [0, 1, 0],
        [0, 0, 2],
        [1, 0, 0],
        [0, 2, 0]
      ])
    }).pipe(Effect.provide(InboxStore.layerMemory))
  )

  it.effect("fails only the batch that cannot be stored", () =>
    Effect.gen(function* () {
      const { runs, store } = yield* watched((fingerprint) => fingerprint === "bad")
      const exits = yield* each(["a", "bad", "b"].map((fingerprint) => store.enqueue(batch(fingerprint))))
      assert.deepStrictEqual(exits, [Exit.succeed(1), Exit.fail(unavailable("enqueue")), Exit.succeed(1)])
      assert.deepStrictEqual(runs, [["a", "bad", "b"], ["a"], ["bad"], ["b"]])
    }).pipe(Effect.provide(InboxStore.layerMemory))
  )

  it.effect("limits the size of a transaction", () =>
    Effect.gen(function* () {
      const { runs, store } = yield* watched()
      const big = {
        ...batch("big"),
        updates: [QueuedUpdate.fromStored({ ...update("big"), text: "x".repeat(1_500_000) })]
      }
      const bigger = { ...big, updates: [QueuedUpdate.fromStored({ ...big.updates[0], fingerprint: "bigger" })] }
      yield* each([store.enqueue(big), store.enqueue(bigger), store.enqueue(batch("a"))])
      assert.deepStrictEqual(runs, [["big"], ["bigger", "a"]])
    }).pipe(Effect.provide(InboxStore.layerMemory))
  )
})
