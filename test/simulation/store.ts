/** The port of the store, as a process reaches it: through a network, with faults, and shared with other processes. */
import { type Commit, InboxStore } from "@colloquy/core/InboxStore"
import { StoreError } from "@colloquy/core/StoreError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { Simulation } from "./platform.ts"
import { epoch, type Process } from "./world/world.ts"

type Store = InboxStore["Service"]

export interface Database {
  readonly process: Process
  /** The store without faults. */
  readonly store: Store
  /** The store as a process reaches it. */
  readonly storeOf: (process: Process) => Store
}

/** Operations after which another process may be able to claim something. */
const wakes = new Set(["enqueue", "commit", "release", "replay", "timers.change"])

/** The documented fields of a commit: the consumer passes objects that know more. */
const fieldsOf = ({ begun, completed, failed, owner, partitionKey, release, timers, writes }: Commit): Commit => ({
  owner,
  partitionKey,
  completed: completed.map(({ failure, id }) => (failure === undefined ? { id } : { id, failure })),
  failed: [...failed],
  begun: [...begun],
  writes,
  timers,
  release
})

/** Makes a store reachable for several processes. */
export const makeDatabase = (simulation: Simulation, store: Store, process: Process): Database => {
  const { history, plan, strikes, world } = simulation
  const listeners = new Map<Process, Set<() => void>>()

  const wakeOthers = (from: Process) => {
    for (const [listener, callbacks] of listeners) {
      if (listener === from || !listener.isAlive || strikes("lostWake", listener)) continue
      for (const wake of callbacks) {
        const woken = Effect.andThen(
          Effect.sleep(world.dice.int(plan.latency + 1)),
          Effect.sync(() => world.schedule(listener, wake))
        )
        world.fork(process, Context.empty(), woken)
      }
    }
  }

  const failed = (operation: string) =>
    new StoreError({ store: "inbox", operation, reason: "simulated", isRetryable: true })

  const storeOf = (from: Process): Store => {
    /** Carries out an operation in the process of the database. */
    const carriedOut = <A>(operation: string, request: unknown, effect: Effect.Effect<A, StoreError>) =>
      Effect.suspend(() => {
        const sentAt = world.now - epoch
        const applied = Effect.gen(function* () {
          yield* Effect.sleep(world.dice.int(plan.latency + 1))
          if (strikes("storeSlow", from, operation)) yield* Effect.sleep(world.dice.int(4000))
          if (strikes("storeBefore", from, operation)) return yield* failed(operation)
          const result = yield* effect
          history.add({ type: "store", process: from.name, operation, sentAt, request, result })
          if (wakes.has(operation)) wakeOthers(from)
          yield* Effect.sleep(world.dice.int(plan.latency + 1))
          if (strikes("storeAfter", from, operation)) return yield* failed(operation)
          if (strikes("storeSlow", from, operation)) yield* Effect.sleep(world.dice.int(4000))
          return result
        })
        return world.remotely(from, process, Context.empty(), applied)
      })

    const listen = (wake: () => void) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const callbacks = listeners.get(from) ?? new Set()
          listeners.set(from, callbacks.add(wake))
        }),
        () => Effect.sync(() => listeners.get(from)?.delete(wake))
      )

    const { journal, state, timers } = store
    return InboxStore.of({
      isShared: true,
      listen,
      ...(store.untilClaimable === undefined
        ? {}
        : { untilClaimable: carriedOut("untilClaimable", undefined, store.untilClaimable) }),
      enqueue: (batch) => carriedOut("enqueue", batch, store.enqueue(batch)),
      claim: (claim) => carriedOut("claim", claim, store.claim(claim)),
      commit: (commits) => carriedOut("commit", commits.map(fieldsOf), store.commit(commits)),
      renew: (owner, leaseDuration) => carriedOut("renew", { owner, leaseDuration }, store.renew(owner, leaseDuration)),
      release: (owner) => carriedOut("release", owner, store.release(owner)),
      queuedAfter: (page) => carriedOut("queuedAfter", page, store.queuedAfter(page)),
      queued: (page) => carriedOut("queued", page, store.queued(page)),
      stats: carriedOut("stats", undefined, store.stats),
      marker: (source) => carriedOut("marker", source, store.marker(source)),
      deadLetters: (page) => carriedOut("deadLetters", page, store.deadLetters(page)),
      replay: (ids) => carriedOut("replay", ids, store.replay(ids)),
      drop: (ids) => carriedOut("drop", ids, store.drop(ids)),
      cleanup: (limits) => carriedOut("cleanup", limits, store.cleanup(limits)),
      journal: {
        record: (records) =>
          carriedOut(
            "journal.record",
            records.map(({ entries, id, owner, partitionKey }) => ({ owner, partitionKey, id, entries: [...entries] })),
            journal.record(records)
          )
      },
      state: {
        get: (keys) => carriedOut("state.get", keys, state.get(keys)),
        write: (writes) => carriedOut("state.write", writes, state.write(writes)),
        page: (page) => carriedOut("state.page", page, state.page(page)),
        forget: (user) => carriedOut("state.forget", user, state.forget(user)),
        cleanup: (before) => carriedOut("state.cleanup", before, state.cleanup(before))
      },
      timers: {
        change: (changes) => carriedOut("timers.change", changes, timers.change(changes)),
        untilNext: carriedOut("timers.untilNext", undefined, timers.untilNext),
        isCancelled: (occurrence) => carriedOut("timers.isCancelled", occurrence, timers.isCancelled(occurrence)),
        page: (page) => carriedOut("timers.page", page, timers.page(page)),
        forget: (user) => carriedOut("timers.forget", user, timers.forget(user))
      }
    })
  }
  return { process, store, storeOf }
}
