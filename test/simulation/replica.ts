/** A store in memory with a replica that lags behind: a failover loses the operations that the replica does not have yet. */
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import * as QueuedUpdate from "@colloquy/core/inbox/QueuedUpdate"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type { Process, World } from "./world/world.ts"

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
const skippedIds = 1000

/** Assigns ids, so that no update gets the id of an update that is lost: databases continue with ids above all earlier ids. */
const skipIds = Effect.fnUntraced(function* (store: Store, now: number) {
  const deadLetters = Array.from({ length: skippedIds }, (_, index) => ({
    update: QueuedUpdate.fromStored({ fingerprint: "", partitionKey: "", receivedAt: now, text: `${index}` }),
    error: ""
  }))
  const { length } = yield* store.deadLetters({ limit: skippedIds })
  yield* store.enqueue({ updates: [], deadLetters, now, duplicatesSince: Infinity })
  const all = yield* store.deadLetters({ limit: length + skippedIds })
  yield* store.drop(all.slice(length).map(({ id }) => id))
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
    enqueue: (batch) => write(({ enqueue }) => enqueue(batch)),
    claim: (claim) => write((store) => store.claim(claim)),
    commit: (commits) => write(({ commit }) => commit(commits)),
    renew: (owner, leaseDuration) => write(({ renew }) => renew(owner, leaseDuration)),
    release: (owner) => write(({ release }) => release(owner)),
    queuedAfter: (page) => read(({ queuedAfter }) => queuedAfter(page)),
    queued: (page) => read(({ queued }) => queued(page)),
    stats: read(({ stats }) => stats),
    marker: (source) => read(({ marker }) => marker(source)),
    deadLetters: (page) => read(({ deadLetters }) => deadLetters(page)),
    replay: (ids) => write(({ replay }) => replay(ids)),
    drop: (ids) => write(({ drop }) => drop(ids)),
    cleanup: (limits) => write(({ cleanup }) => cleanup(limits)),
    journal: { record: (records) => write(({ journal }) => journal.record(records)) },
    state: {
      get: (keys) => read(({ state }) => state.get(keys)),
      write: (writes) => write(({ state }) => state.write(writes)),
      page: (page) => read(({ state }) => state.page(page)),
      forget: (user) => write(({ state }) => state.forget(user)),
      cleanup: (before) => write(({ state }) => state.cleanup(before))
    },
    timers: {
      change: (changes) => write(({ timers }) => timers.change(changes)),
      untilNext: read(({ timers }) => timers.untilNext),
      isCancelled: (occurrence) => read(({ timers }) => timers.isCancelled(occurrence)),
      page: (page) => read(({ timers }) => timers.page(page)),
      forget: (user) => write(({ timers }) => timers.forget(user))
    }
  }

  return {
    store,
    promote: (since) => {
      log = log.filter(({ at }) => at <= since)
      current = makeStore()
      for (const { at, operate } of log) runAt(at, operate(current))
      write((store) => skipIds(store, world.now)).pipe(Effect.runSync)
    }
  }
}
