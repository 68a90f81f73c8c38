import { QueuedUpdate } from "@colloquy/core"
import * as InboxStore from "@colloquy/core/InboxStore"
import { assert } from "@effect/vitest"
import { Effect } from "effect"

type Store = InboxStore.InboxStore["Service"]

/** Returns integers from 0 to below `count`, the same ones for the same seed. */
const makeRandom = (seed: number) => (count: number) => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) | 0
  return Math.floor(((seed >>> 0) / 2 ** 32) * count)
}

const hour = 3_600_000

const now = 1_700_000_000_000

const update = (index: number, key: string) =>
  QueuedUpdate.fromStored({ fingerprint: `u${index}`, partitionKey: key, receivedAt: now, text: `{"update":${index}}` })

const failure = { error: "Error: \0 why 🙂", attempts: 2, failedAt: now + 1 }

const owners = ["one", "a|b", "1,2|one"]

/** The last one is longer than what databases index. */
const slots = ["a", "\0b", `${"long ".repeat(200)}🙂`]

/** What a claim returned, with fingerprints instead of the ids, which are different in each store. */
const describeClaim = (partitions: ReadonlyArray<InboxStore.Partition>) =>
  partitions.map(({ key, updates }) => ({
    key,
    updates: updates.map(({ attempts, crashes, journal, update }) => [
      update.fingerprint,
      update.text,
      attempts,
      crashes,
      journal?.toSorted(({ slot: a }, { slot: b }) => (a < b ? -1 : 1))
    ])
  }))

/**
 * Runs the same random operations on a store and on the store in memory, and compares all results. Leases last an hour, or
 * have expired when they begin. Updates are completed in any order, and by owners that have lost them. While leases have
 * expired, claims ask for all partitions: with fewer, some stores end all expired leases and others only those they return.
 */
export const compareWithMemory = (store: Store, seed: number, steps: number) =>
  Effect.gen(function* () {
    const memory = yield* InboxStore.makeMemory
    const random = makeRandom(seed)
    const pick = <A>(all: ReadonlyArray<A>): A => all[random(all.length)]!
    const some = <A>(all: ReadonlyArray<A>): ReadonlyArray<A> => all.filter(() => random(3) === 0)
    /** The ids of an update in both stores, by fingerprint. */
    const ids = new Map<string, { readonly stored: string; readonly inMemory: string }>()
    const seen: Array<{ readonly key: string; readonly fingerprints: ReadonlyArray<string> }> = []
    let count = 0
    let hasExpired = false

    const both = <A, B>(use: (store: Store, isMemory: boolean) => Effect.Effect<A, B>) =>
      Effect.all([use(store, false), use(memory, true)])

    const same = <A, B>(use: (store: Store, isMemory: boolean) => Effect.Effect<A, B>) =>
      Effect.map(both(use), ([stored, inMemory]) => {
        assert.deepStrictEqual(stored, inMemory)
        return inMemory
      })

    const idOf = (fingerprint: string, isMemory: boolean): string =>
      isMemory ? ids.get(fingerprint)!.inMemory : ids.get(fingerprint)!.stored

    const enqueue = Effect.suspend(() => {
      const updates = Array.from({ length: 1 + random(6) }, () => {
        const isDuplicate = count > 0 && random(6) === 0
        return update(isDuplicate ? random(count) : count++, `chat ${random(4)}`)
      })
      const deadLetters = random(8) === 0 ? [{ update: update(count++, ""), error: "malformed" }] : []
      return same((store) => store.enqueue({ updates, deadLetters, now, duplicatesSince: now - 1 }))
    })

    const claim = Effect.gen(function* () {
      const isShort = random(3) === 0
      const request = {
        owner: pick(owners),
        leaseDuration: isShort ? 0 : hour,
        maxPartitions: hasExpired ? 100 : random(4),
        maxUpdates: 1 + random(6),
        begin: random(3)
      }
      const [stored, inMemory] = yield* both((store) => store.claim(request))
      assert.deepStrictEqual(describeClaim(stored), describeClaim(inMemory))
      hasExpired = isShort && stored.length > 0
      stored.forEach(({ key, updates }, index) => {
        updates.forEach(({ id, update }, place) => {
          ids.set(update.fingerprint, { stored: id, inMemory: inMemory[index]!.updates[place]!.id })
        })
        seen.push({ key, fingerprints: updates.map(({ update }) => update.fingerprint) })
      })
    })

    const commit = Effect.suspend(() => {
      if (seen.length === 0) return Effect.void
      const commits = Array.from({ length: 1 + random(3) }, () => {
        const { fingerprints, key } = seen[Math.max(0, seen.length - 1 - random(5))]!
        const isInOrder = random(2) === 0
        const completed = isInOrder ? fingerprints.slice(0, 1 + random(fingerprints.length)) : some(fingerprints)
        return {
          owner: pick(owners),
          key,
          completed: (random(4) === 0 ? completed.toReversed() : completed).map((fingerprint) => ({
            fingerprint,
            failure: random(5) === 0 ? failure : undefined
          })),
          failed: some(some(fingerprints)),
          begun: some(fingerprints),
          release: random(3) === 0
        }
      })
      return same((store, isMemory) =>
        store.commit(
          commits.map(({ begun, completed, failed, key, owner, release }) => ({
            owner,
            partitionKey: key,
            completed: completed.map(({ failure, fingerprint }) => ({ id: idOf(fingerprint, isMemory), failure })),
            failed: failed.map((fingerprint) => idOf(fingerprint, isMemory)),
            begun: begun.map((fingerprint) => idOf(fingerprint, isMemory)),
            release
          }))
        )
      )
    })

    const record = Effect.suspend(() => {
      if (seen.length === 0 || store.journal === undefined) return Effect.void
      const records = Array.from({ length: 1 + random(4) }, () => {
        const { fingerprints, key } = seen[Math.max(0, seen.length - 1 - random(3))]!
        const entries = Array.from({ length: random(4) }, () => ({
          slot: pick(slots),
          state: pick(["started", "started", "done", "removed"] as const),
          text: `${count++}\0`
        }))
        return { owner: pick(owners), partitionKey: key, fingerprint: pick(fingerprints), entries }
      })
      return same((store, isMemory) =>
        store.journal!.record(
          records.map(({ fingerprint, ...record }) => ({ ...record, id: idOf(fingerprint, isMemory) }))
        )
      )
    })

    const renew = Effect.suspend(() => {
      const owner = pick(owners)
      return same((store) => Effect.map(store.renew(owner, hour), (keys) => keys.toSorted()))
    })

    const release = Effect.suspend(() => {
      const owner = pick(owners)
      return same((store) => store.release(owner))
    })

    const changeDeadLetters = Effect.gen(function* () {
      const [stored, inMemory] = yield* both((store) => store.deadLetters({ limit: 1000 }))
      const describe = (all: typeof stored) => all.map(({ id: _, update, ...rest }) => [update.fingerprint, rest])
      assert.deepStrictEqual(describe(stored), describe(inMemory))
      const chosen = inMemory.flatMap((_, index) => (random(3) === 0 ? [index] : []))
      const isReplayed = random(2) === 0
      yield* same((store, isMemory) => {
        const chosenIds = chosen.map((index) => (isMemory ? inMemory : stored)[index]!.id)
        return isReplayed ? store.replay(chosenIds) : store.drop(chosenIds)
      })
    })

    const operations = [
      enqueue,
      enqueue,
      claim,
      claim,
      claim,
      commit,
      commit,
      commit,
      commit,
      record,
      record,
      record,
      renew,
      release
    ]
    for (let step = 0; step < steps; step++) {
      yield* random(20) === 0 ? changeDeadLetters : pick(operations)
      yield* same((store) => Effect.map(store.stats, ({ deadLetters, queued }) => [queued, deadLetters]))
    }
    // What is left comes once, in order.
    yield* Effect.forEach(owners, (owner) => same((store) => store.release(owner)))
    const rest = { owner: "rest", leaseDuration: hour, maxPartitions: 100, maxUpdates: 100_000, begin: 0 }
    yield* same((store) => Effect.map(store.claim(rest), describeClaim))
  })
