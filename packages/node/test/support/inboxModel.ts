import { QueuedUpdate } from "@colloquy/core"
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
const slots = ["a", "\0b", `${"long ".repeat(190)}🙂`]

const rowKeys = ["cart", "\0 other"].flatMap((name) =>
  ["chat:1", "user:2", "user:22"].flatMap((scope) => [`state/${name}/${scope}`, `timer/${name}/${scope}`])
)

const prefixes = ["", "state/", "state/cart/", "timer/\0 other/", "timer/\0 other/user:2"]

const users = [undefined, "user:2", "user:22"]

/** Rows that never become due have other due times in each store. */
const describeRow = ({ dueAt, expiresAt, key, revision, text }: InboxStore.Row) => ({
  key,
  text,
  revision,
  expiresAt,
  dueAt: dueAt && Math.min(dueAt, 0)
})

const byKey = (a: InboxStore.Row, b: InboxStore.Row) => (a.key < b.key ? -1 : 1)

/** What a claim returned, with fingerprints instead of the ids, which are different in each store. */
const describeClaim = (partitions: ReadonlyArray<InboxStore.Partition>) =>
  partitions.map(({ key, updates }) => ({
    key,
    updates: updates.map(({ attempts, crashes, journal, update }) => [
      update.fingerprint,
      update.text,
      attempts,
      crashes,
      journal?.toSorted(byKey).map(describeRow)
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

    /** The revisions as they were read last, which may be long ago, by the keys. */
    const revisions = new Map<string, string | undefined>()

    const read = Effect.suspend(() => {
      const keys = some(rowKeys)
      return Effect.map(
        same((store) => Effect.map(store.read(keys), (rows) => rows.map((row) => row && describeRow(row)))),
        (rows) => keys.forEach((key, index) => revisions.set(key, rows[index]?.revision))
      )
    })

    const conditionOf = (revision: string | undefined): Pick<InboxStore.RowWrite, "expected" | "otherwise"> =>
      random(3) === 0 ? {} : { expected: revision ?? null, otherwise: pick([undefined, "conflict", "skip"]) }

    /** Rows that are due, each at another time, and others that never are. */
    const rowOf = (): InboxStore.RowContent => {
      const index = count++
      const due: InboxStore.Due = {
        time: random(3) === 0 ? { after: 10 ** 12 } : { at: index - 10 ** 9 },
        partitionKey: `chat ${random(4)}`
      }
      return {
        text: `{"row":${index}}\0`,
        ...(random(2) === 0 ? { expiresAt: now + random(9) } : {}),
        user: pick(users),
        ...(random(2) === 0 ? { due } : {})
      }
    }

    const rowsOf = (isConditional: boolean): ReadonlyArray<InboxStore.RowWrite> =>
      some(some(rowKeys)).map((key) => ({
        key,
        row: random(4) === 0 ? undefined : rowOf(),
        revision: `r${count++}`,
        ...(isConditional ? conditionOf(revisions.get(key)) : {})
      }))

    const changeRows = Effect.suspend(() => {
      const writes = Array.from({ length: random(3) }, () => ({ rows: rowsOf(true) }))
      return Effect.andThen(
        same((store) => store.write(writes)),
        same((store) => Effect.map(store.untilNext, (wait) => wait && wait > 0))
      )
    })

    const readPages = Effect.suspend(() => {
      const prefix = pick(prefixes)
      const by = pick(["key", "due"] as const)
      const limit = 1 + random(4)
      const pages = (store: Store) =>
        Effect.gen(function* () {
          const rows: Array<InboxStore.Row> = []
          for (;;) {
            const page = yield* store.rows({ prefix, by, after: rows.at(-1), limit })
            rows.push(...page)
            if (page.length < limit) return rows.map(describeRow)
          }
        })
      return same((store) =>
        Effect.map(pages(store), (rows) =>
          by === "due" ? rows.filter(({ dueAt }) => dueAt !== 0) : rows.toSorted(byKey)
        )
      )
    })

    const removeRows = Effect.suspend(() => {
      const prefix = pick(prefixes)
      const rowsBefore = now + random(9)
      return random(3) === 0
        ? same((store) => store.forget({ user: "user:2", prefix }))
        : same((store) => store.cleanup({ fingerprintsBefore: 0, deadLettersBefore: 0, rowsBefore }))
    })

    const enqueue = Effect.suspend(() => {
      const updates = Array.from({ length: 1 + random(6) }, () => {
        const isDuplicate = count > 0 && random(6) === 0
        return update(isDuplicate ? random(count) : count++, `chat ${random(4)}`)
      })
      const deadLetters = random(8) === 0 ? [{ update: update(count++, ""), error: "malformed" }] : []
      const rows = random(4) === 0 ? rowsOf(false) : []
      return same((store) => store.enqueue({ updates, deadLetters, rows, now, duplicatesSince: now - 1 }))
    })

    const claim = Effect.gen(function* () {
      const isShort = random(3) === 0
      const request = {
        owner: pick(owners),
        leaseDuration: isShort ? 0 : hour,
        maxPartitions: hasExpired ? 100 : random(4),
        maxUpdates: 1 + random(6),
        begin: random(3),
        maxDue: random(4)
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
          rows: random(3) === 0 ? rowsOf(true) : []
        }
      })
      return same((store, isMemory) =>
        store.commit(
          commits.map(({ begun, completed, failed, key, owner, release, rows }) => ({
            owner,
            partitionKey: key,
            completed: completed.map(({ failure, fingerprint }) => ({ id: idOf(fingerprint, isMemory), failure })),
            failed: failed.map((fingerprint) => idOf(fingerprint, isMemory)),
            begun: begun.map((fingerprint) => idOf(fingerprint, isMemory)),
            rows,
            release
          }))
        )
      )
    })

    /** The last revisions of rows of journals, by their keys in any journal. */
    const recorded = new Map<string, string>()

    const record = Effect.suspend(() => {
      if (seen.length === 0) return Effect.void
      const records = Array.from({ length: 1 + random(4) }, () => {
        const { fingerprints, key } = seen[Math.max(0, seen.length - 1 - random(3))]!
        const rows = some(slots).map((slot): InboxStore.RowWrite => {
          const condition = conditionOf(random(2) === 0 ? undefined : recorded.get(slot))
          const revision = `j${count++}`
          recorded.set(slot, revision)
          return { key: slot, row: random(4) === 0 ? undefined : { text: `${count++}\0` }, revision, ...condition }
        })
        return { owner: pick(owners), partitionKey: key, fingerprint: pick(fingerprints), rows }
      })
      return same((store, isMemory) =>
        store.write(
          records.map(({ fingerprint, owner, partitionKey, rows }) => ({
            rows,
            journal: { owner, partitionKey, id: idOf(fingerprint, isMemory) }
          }))
        )
      )
    })

    const renew = Effect.suspend(() => {
      const owner = pick(owners)
      return same((store) => Effect.map(store.renew(owner, hour), (keys) => keys.toSorted()))
    })

    const release = Effect.suspend(() => {
      const owner = pick(owners)
      return same((store) => Effect.map(store.renew(owner, 0), (keys) => keys.toSorted()))
    })

    const changeDeadLetters = Effect.gen(function* () {
      const [stored, inMemory] = yield* both((store) => store.updates({ of: "deadLetters", limit: 1000 }))
      const describe = (all: typeof stored) => all.map(({ id: _, update, ...rest }) => [update.fingerprint, rest])
      assert.deepStrictEqual(describe(stored), describe(inMemory))
      const chosen = inMemory.flatMap((_, index) => (random(3) === 0 ? [index] : []))
      const isReplayed = random(2) === 0
      yield* same((store, isMemory) => {
        const chosenIds = chosen.map((index) => (isMemory ? inMemory : stored)[index]!.id)
        return store.takeDeadLetters({ ids: chosenIds, replay: isReplayed })
      })
    })

    const handling: ReadonlyArray<Effect.Effect<void, unknown>> = [
      record,
      record,
      record,
      changeRows,
      changeRows,
      read,
      readPages,
      removeRows
    ]
    const operations = [enqueue, enqueue, claim, claim, claim, commit, commit, commit, commit, renew, release]
    for (let step = 0; step < steps; step++) {
      yield* random(20) === 0
        ? changeDeadLetters
        : pick<Effect.Effect<void, unknown>>(random(3) === 0 ? handling : operations)
      yield* same((store) => Effect.map(store.stats, ({ deadLetters, queued }) => [queued, deadLetters]))
    }
    // What is left comes once, in order.
    yield* Effect.forEach(owners, (owner) =>
      same((store) => Effect.map(store.renew(owner, 0), (keys) => keys.toSorted()))
    )
    const rest = { owner: "rest", leaseDuration: hour, maxPartitions: 100, maxUpdates: 100_000, begin: 0 }
    yield* same((store) => Effect.map(store.claim(rest), describeClaim))
  })
