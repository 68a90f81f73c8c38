/** A store in memory with a replica that lags behind: a failover loses the operations that the replica does not have yet. */
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import * as QueuedUpdate from "@colloquy/core/inbox/QueuedUpdate"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import { epoch, type World } from "../../packages/testing/src/simulation/internal/world/world.ts"
import type { Process } from "../../packages/testing/src/simulation/internal/world/process.ts"

type Store = InboxStore.InboxStore["Service"]

/** An operation that the store has applied, which the replica applies as well. */
interface Applied {
  readonly at: number
  readonly operate: (store: Store) => Effect.Effect<unknown, unknown>
}

export interface Replicated {
  readonly store: Store
  /** The replica takes the place of the store, without the operations after a virtual time. */
  readonly promote: (since: number) => void
}

const makeStore = (): Store => Effect.runSync(InboxStore.makeMemory)

/** More than the ids that a replica can lack. */
const skippedIds = 200

/** Assigns ids, so that no update gets the id of an update that is lost: databases continue with ids above all earlier ids. */
const skipIds = Effect.fnUntraced(function* (store: Store, now: number) {
  const deadLetters = Array.from({ length: skippedIds }, (_, index) => ({
    update: QueuedUpdate.fromStored({ fingerprint: "", partitionKey: "", receivedAt: now, text: `${index}` }),
    error: ""
  }))
  const page = { of: "deadLetters", limit: 2 * skippedIds } as const
  const { length } = yield* store.updates(page)
  yield* store.enqueue({ updates: [], deadLetters, now, duplicatesSince: Infinity })
  const all = yield* store.updates(page)
  yield* store.takeDeadLetters({ ids: all.slice(length).map(({ id }) => id), replay: false })
})

export const makeReplicated = (world: World, process: Process): Replicated => {
  let current = makeStore()
  let log: Array<Applied> = []

  /** Operations of the store in memory are one step. */
  const runAt = <A, E>(at: number, operation: Effect.Effect<A, E>): Exit.Exit<A, E> => {
    const now = at + process.skew
    const clock = Context.get(world.services(process), Clock.Clock)
    const stopped: Clock.Clock = {
      ...clock,
      currentTimeMillisUnsafe: () => now,
      currentTimeMillis: Effect.succeed(now)
    }
    return Effect.runSyncExit(Effect.provideService(operation, Clock.Clock, stopped))
  }

  const read = <A, E>(operation: (store: Store) => Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.suspend(() => runAt(world.now, operation(current)))

  const write = <A, E>(operate: (store: Store) => Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.suspend(() => {
      log.push({ at: world.now, operate })
      return runAt(world.now, operate(current))
    })

  const store: Store = {
    isShared: false,
    executesStatements: false,
    enqueue: (batch) => write(({ enqueue }) => enqueue(batch)),
    claim: (claim) => write((store) => store.claim(claim)),
    commit: (commits) => write(({ commit }) => commit(commits)),
    renew: (owner, leaseDuration) => write(({ renew }) => renew(owner, leaseDuration)),
    write: (writes) => write((store) => store.write(writes)),
    read: (keys) => read((store) => store.read(keys)),
    rows: (page) => read(({ rows }) => rows(page)),
    forget: (rows) => write(({ forget }) => forget(rows)),
    updates: (page) => read(({ updates }) => updates(page)),
    takeDeadLetters: (letters) => write(({ takeDeadLetters }) => takeDeadLetters(letters)),
    stats: read(({ stats }) => stats),
    cleanup: (limits) => write(({ cleanup }) => cleanup(limits)),
    untilNext: read(({ untilNext }) => untilNext)
  }

  return {
    store,
    promote: (since) => {
      const { now } = world
      // No later failover loses the ids that are skipped, because other updates would get the ids of lost updates then.
      const skip: Applied = { at: epoch, operate: (store) => skipIds(store, now) }
      log = [...log.filter(({ at }) => at <= since), skip]
      current = makeStore()
      for (const { at, operate } of log) runAt(at, operate(current))
    }
  }
}
