import { QueuedUpdate } from "@colloquy/core"
import type { StateKey, TimerChange } from "@colloquy/core/inbox/InboxStore"
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
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

const stateKeys: ReadonlyArray<StateKey> = ["chat:1", "chat:1/user:2", "user:2", "user:22", "bot"].flatMap((scope) =>
  ["cart", "\0 other"].map((name) => ({ scope, name }))
)

const nameOf = ({ name, scope }: StateKey) => `${name} of ${scope}`

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

    /** The revisions in both stores as they were read last, which may be long ago. */
    const revisions = new Map<string, { readonly stored: string | undefined; readonly inMemory: string | undefined }>()

    const readState = Effect.suspend(() => {
      const keys = some(stateKeys)
      return Effect.map(
        both((store) => store.state.get(keys)),
        ([stored, inMemory]) => {
          const describe = (values: typeof stored) =>
            values.map((value) => value && { ...value, revision: value.revision.length > 0 })
          assert.deepStrictEqual(describe(stored), describe(inMemory))
          keys.forEach((key, index) =>
            revisions.set(nameOf(key), { stored: stored[index]?.revision, inMemory: inMemory[index]?.revision })
          )
        }
      )
    })

    const writesOf = () => {
      const changes = Array.from({ length: random(3) }, () => ({
        key: pick(stateKeys),
        value:
          random(4) === 0
            ? undefined
            : { text: `${count++}\0`, version: random(3), expiresAt: random(2) === 0 ? undefined : now + random(9) }
      }))
      const number = count++
      return (isMemory: boolean) =>
        changes.map(({ key, value }, index) => {
          const revision = revisions.get(nameOf(key))
          const expected = isMemory ? revision?.inMemory : revision?.stored
          return { ...key, value, expected, revision: `r${number}.${index}` }
        })
    }

    /** The name and key of timers, by the fingerprints of their updates. */
    const timerOf = new Map<string, Pick<TimerChange, "key" | "name">>()
    const users = [undefined, "user:2", "user:22"]

    /** Timers that are due, each at another time, and others that never are. */
    const timersOf = () =>
      Array.from({ length: random(3) }, (): TimerChange => {
        const index = count++
        const set = {
          due: random(3) === 0 ? { after: 10 ** 12 } : { at: index - 10 ** 9 },
          partitionKey: `chat ${random(4)}`,
          fingerprint: `u${index}`,
          text: `{"timer":${index}}`,
          user: pick(users)
        }
        const timer = { name: pick(["reminder", "\0 other"]), key: `${random(3)}` }
        timerOf.set(set.fingerprint, timer)
        return { ...timer, set: random(4) === 0 ? undefined : set }
      })

    /** Ends the handling of updates that were timers, some of which recur. */
    const endsOf = (fingerprints: ReadonlyArray<string>) =>
      fingerprints.flatMap((fingerprint) => {
        const timer = timerOf.get(fingerprint)
        if (timer === undefined) return []
        const [next] = random(2) === 0 ? timersOf() : []
        if (next?.set !== undefined) timerOf.set(next.set.fingerprint, timer)
        return [{ ...timer, fingerprint, set: next?.set }]
      })

    const changeState = Effect.suspend(() => {
      const writes = writesOf()
      return Effect.andThen(
        readState,
        same((store, isMemory) => store.state.write(writes(isMemory)))
      )
    })

    const pageState = Effect.suspend(() => {
      const { name } = pick(stateKeys)
      const page = { name, after: pick([undefined, "chat:1", "user:2"]), limit: 10 }
      return same((store) =>
        Effect.map(store.state.page(page), (values) => values.map(({ revision: _, ...value }) => value))
      )
    })

    const removeState = Effect.suspend(() => {
      const before = now + random(9)
      return random(3) === 0
        ? same((store) => store.state.forget("user:2"))
        : same((store) => store.state.cleanup(before))
    })

    const changeTimers = Effect.suspend(() => {
      const changes = timersOf()
      return Effect.andThen(
        same((store) => store.timers.change(changes)),
        same((store) => Effect.map(store.timers.untilNext, (wait) => wait && wait > 0))
      )
    })

    const readTimers = Effect.gen(function* () {
      yield* same((store) =>
        Effect.map(store.timers.page({ limit: 1000 }), (found) =>
          found.flatMap(({ dueAt, partitionKey, text }) => (dueAt < 0 ? [{ dueAt, partitionKey, text }] : []))
        )
      )
      const fingerprints = some([...ids.keys()])
      yield* same((store, isMemory) =>
        Effect.forEach(fingerprints, (fingerprint) => store.timers.isCancelled(idOf(fingerprint, isMemory)))
      )
      if (random(4) === 0) yield* same((store) => store.timers.forget("user:2"))
    })

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
        begin: random(3),
        maxTimers: random(4)
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
          release: random(3) === 0,
          writes: random(3) === 0 ? writesOf() : () => [],
          timers: random(3) === 0 ? timersOf() : [],
          ends: endsOf(completed)
        }
      })
      return same((store, isMemory) =>
        store.commit(
          commits.map(({ begun, completed, ends, failed, key, owner, release, timers, writes }) => ({
            owner,
            partitionKey: key,
            completed: completed.map(({ failure, fingerprint }) => ({ id: idOf(fingerprint, isMemory), failure })),
            failed: failed.map((fingerprint) => idOf(fingerprint, isMemory)),
            begun: begun.map((fingerprint) => idOf(fingerprint, isMemory)),
            writes: writes(isMemory),
            timers: [
              ...ends.map(({ fingerprint, ...end }) => ({ ...end, occurrence: idOf(fingerprint, isMemory) })),
              ...timers
            ],
            release
          }))
        )
      )
    })

    const record = Effect.suspend(() => {
      if (seen.length === 0) return Effect.void
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
        store.journal.record(
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

    const handling: ReadonlyArray<Effect.Effect<void, unknown>> = [
      record,
      record,
      record,
      changeState,
      readState,
      pageState,
      removeState,
      changeTimers,
      readTimers
    ]
    const operations = [enqueue, enqueue, claim, claim, claim, commit, commit, commit, commit, renew, release]
    for (let step = 0; step < steps; step++) {
      yield* random(20) === 0
        ? changeDeadLetters
        : pick<Effect.Effect<void, unknown>>(random(3) === 0 ? handling : operations)
      yield* same((store) => Effect.map(store.stats, ({ deadLetters, queued }) => [queued, deadLetters]))
    }
    // What is left comes once, in order.
    yield* Effect.forEach(owners, (owner) => same((store) => store.release(owner)))
    const rest = { owner: "rest", leaseDuration: hour, maxPartitions: 100, maxUpdates: 100_000, begin: 0 }
    yield* same((store) => Effect.map(store.claim(rest), describeClaim))
  })
