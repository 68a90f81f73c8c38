/** The port of the store, as a process reaches it: through a network, with faults, and shared with other processes. */
import type { BroadcastStore } from "@colloquy/core/broadcast/BroadcastStore"
import type { Commit, InboxStore, Write } from "@colloquy/core/inbox/InboxStore"
import type { RateLimiterStore } from "@colloquy/core/client/RateLimiterStore"
import { StoreError, type StoreName } from "@colloquy/core/base/StoreError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { epoch } from "../world/world.ts"
import type { Process } from "../world/process.ts"
import { type Machine, simulated } from "./machine.ts"
import { remoteOf } from "./remote.ts"

type Store = InboxStore["Service"]

/** The stores without faults, and the process that they are in. */
export interface Stores {
  readonly process: Process
  readonly store: Store
  readonly broadcasts: BroadcastStore["Service"]
  readonly permits: RateLimiterStore["Service"]
}

/** Whether another process may be able to claim something after an operation. */
const isWaking = (operation: string, request: unknown): boolean => {
  if (operation === "renew") return (request as { readonly leaseDuration: number }).leaseDuration === 0
  if (operation !== "write") return ["enqueue", "commit", "takeDeadLetters"].includes(operation)
  return (request as ReadonlyArray<Write>).some(({ rows }) => rows.some(({ row }) => row?.due !== undefined))
}

/** The documented fields of a commit: the consumer passes objects that know more. */
const fieldsOf = (commit: Commit): Commit => ({
  owner: commit.owner,
  partitionKey: commit.partitionKey,
  completed: commit.completed.map(({ failure, id }) => (failure === undefined ? { id } : { id, failure })),
  failed: [...commit.failed],
  begun: [...commit.begun],
  rows: commit.rows,
  statements: commit.statements,
  together: commit.together?.map(fieldsOf),
  release: commit.release
})

/** The way from a process to the services in the process of the database. */
export type Call = <A, E>(
  operation: string,
  request: unknown,
  effect: Effect.Effect<A, E>
) => Effect.Effect<A, E | StoreError>

/** Runs an operation as one step, so that nothing happens between its change of the store and its record. */
const atOnce = <A, E>(operation: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.contextWith((context: Context.Context<never>) => Effect.runSyncExitWith(context)(operation))

const inboxOf = (store: Store, call: Call, listen: Store["listen"]): Store => ({
  // Each other operation has one argument or none, which is its request.
  ...remoteOf(store, (operation, [request], effect) => call(operation, request, effect)),
  isShared: true,
  listen,
  // The consumer changes the owner of a commit that it repeats.
  commit: (commits) => {
    const sent = commits.map(fieldsOf)
    return call("commit", sent, store.commit(sent))
  },
  renew: (owner, leaseDuration) => call("renew", { owner, leaseDuration }, store.renew(owner, leaseDuration))
})

/** Makes stores reachable for several processes. */
export const makeDatabase = ({ history, plan, strikes, world }: Machine, stores: Stores) => {
  const listeners = new Map<Process, Set<() => void>>()

  const wakeOthers = (from: Process) => {
    for (const [listener, callbacks] of listeners) {
      if (listener === from || !listener.isAlive || world.now < listener.cutUntil || strikes("lostWake", listener))
        continue
      for (const wake of callbacks) {
        const woken = Effect.andThen(
          Effect.sleep(world.dice.int(plan.latency + 1)),
          Effect.sync(() => world.schedule(listener, wake))
        )
        world.fork(stores.process, Context.empty(), woken)
      }
    }
  }

  const listenOf = (from: Process) => (wake: () => void) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const callbacks = listeners.get(from) ?? new Set()
        listeners.set(from, callbacks.add(wake))
      }),
      () => Effect.sync(() => listeners.get(from)?.delete(wake))
    )

  // Operations are applied in the order in which they are recorded. A transaction in SQLite ends some tasks before its caller
  // continues. The stores in memory need one task.
  const inOrder = plan.store === "sqlite" ? Semaphore.makeUnsafe(1).withPermits(1) : atOnce

  /** How a process reaches something in the process of the database. */
  const callOf =
    (from: Process, name: StoreName): Call =>
    (operation, request, effect) =>
      Effect.suspend(() => {
        const failed = () => new StoreError({ store: name, operation, reason: simulated, isRetryable: true })
        const sentAt = world.now - epoch
        const applied = Effect.gen(function* () {
          yield* Effect.sleep(world.dice.int(plan.latency + 1))
          if (world.now < from.cutUntil) return yield* failed()
          if (strikes("storeSlow", from, operation)) yield* Effect.sleep(world.dice.int(4000))
          if (strikes("storeBefore", from, operation)) return yield* failed()
          const recorded = Effect.map(effect, (result) => {
            if (name !== "inbox") return result
            history.add({ type: "store", process: from.name, operation, sentAt, request, result })
            if (isWaking(operation, request)) wakeOthers(from)
            return result
          })
          if (strikes("storeLate", from, operation)) {
            world.fork(stores.process, Context.empty(), Effect.delay(inOrder(recorded), world.dice.int(20_000)))
            return yield* failed()
          }
          const result = yield* inOrder(recorded)
          yield* Effect.sleep(world.dice.int(plan.latency + 1))
          if (world.now < from.cutUntil) return yield* failed()
          if (strikes("storeAfter", from, operation)) return yield* failed()
          if (strikes("storeSlow", from, operation)) yield* Effect.sleep(world.dice.int(4000))
          return result
        })
        return world.remotely(from, stores.process, Context.empty(), applied)
      })

  return {
    ...stores,
    /** The stores as a process reaches them. */
    storeOf: (from: Process) =>
      inboxOf(stores.store, callOf(from, "inbox"), plan.isSilent === true ? undefined : listenOf(from)),
    broadcastsOf: (from: Process) => remoteOf(stores.broadcasts, callOf(from, "broadcasts")),
    permitsOf: (from: Process) => remoteOf(stores.permits, callOf(from, "rateLimiter")),
    callOf
  }
}

export type Database = ReturnType<typeof makeDatabase>
