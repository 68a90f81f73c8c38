import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Backoff from "../../Backoff.ts"
import type { Inbox } from "../../Inbox.ts"
import type { Commit, Partition } from "../../InboxStore.ts"
import type { StoreError } from "../../StoreError.ts"
import { makeLeaseOwner } from "../stores/leaseOwner.ts"

/** Updates that other processes enqueue do not open `wakeUp`, so a shared store is polled. */
const pollInterval = "1 second"

const pauses = Backoff.make({ first: "200 millis", cap: "10 seconds" }).pipe(
  Schedule.setInputType<StoreError>(),
  Schedule.tap(({ input }) => Effect.logWarning(`${input.message} The operation is retried until it succeeds.`))
)

/**
 * Opens an inbox and claims partitions of it. The leases are renewed until the scope closes, which releases them.
 * Operations are retried while the store fails.
 */
export const make = Effect.fnUntraced(function* ({ leaseDuration, open, store, wakeUp }: Inbox["Service"]) {
  yield* open
  const clock = yield* Clock.Clock
  // Without other processes, no lease has to end before this process does.
  const leaseMillis = store.isShared ? Duration.toMillis(leaseDuration) : Infinity
  /** The owners of the claimed partitions, by key. Empty if the store is not shared. */
  const owners = new Map<string, string>()
  let owner = yield* makeLeaseOwner
  let isClosed = false

  const retryForever = <A>(effect: Effect.Effect<A, StoreError>): Effect.Effect<A> =>
    Effect.catchCause(effect, (cause) => {
      const retried = Backoff.failedOnce(effect, cause)
      // After the scope has closed, nothing waits for the result.
      const attempt = Effect.suspend(() => (isClosed ? Effect.interrupt : retried))
      return Effect.retry(attempt, pauses) as Effect.Effect<A>
    })

  const renewAll = (leaseUntil: number) =>
    Effect.forEach(new Set([owner, ...owners.values()]), (name) => store.renew(name, leaseUntil), { discard: true })

  const keepRenewing = Effect.suspend(() => renewAll(clock.currentTimeMillisUnsafe() + leaseMillis)).pipe(
    Effect.catch((error) => Effect.logWarning(`The leases of the inbox were not renewed. ${error.message}`)),
    Effect.delay(leaseMillis / 3),
    Effect.forever
  )
  yield* Effect.addFinalizer(() => {
    isClosed = true
    return Effect.ignore(Effect.timeoutOption(renewAll(0), "5 seconds"))
  })
  if (store.isShared) yield* Effect.forkScoped(keepRenewing)

  // A failed claim may have been executed. Its leases expire because the owner is not used, and so not renewed, any more.
  const changeOwner = Effect.map(makeLeaseOwner, (name) => {
    owner = name
  })

  /** A partition whose lease expired can be claimed again while this process still handles it. It is not handled twice. */
  const withoutHeld = (partitions: ReadonlyArray<Partition>): ReadonlyArray<Partition> =>
    partitions.filter(({ key }) => {
      const isNew = !owners.has(key)
      owners.set(key, owner)
      return isNew
    })

  return {
    /** Claims partitions. `maxPartitions` is read at each attempt. */
    claim: (maxPartitions: () => number, maxUpdates: number): Effect.Effect<ReadonlyArray<Partition>> =>
      retryForever(
        Effect.suspend(() => {
          wakeUp.closeUnsafe()
          const max = maxPartitions()
          if (max < 1) return Effect.succeed([])
          const now = clock.currentTimeMillisUnsafe()
          const claim = store.claim({ owner, now, leaseUntil: now + leaseMillis, maxPartitions: max, maxUpdates })
          if (!store.isShared) return claim
          return Effect.map(
            Effect.tapError(claim, () => changeOwner),
            withoutHeld
          )
        })
      ),
    commit: (partitionKey: string, completed: Commit["completed"], release: boolean): Effect.Effect<void> => {
      const commit = store.commit([{ owner: owners.get(partitionKey) ?? owner, partitionKey, completed, release }])
      // The partition can be claimed again before the commit returns.
      if (release) owners.delete(partitionKey)
      return retryForever(commit)
    },
    /** Waits until there may be partitions to claim. */
    waitForMore: store.isShared ? Effect.timeoutOption(wakeUp.await, pollInterval) : wakeUp.await,
    wake: () => void wakeUp.openUnsafe(),
    /** Runs a source. Its end opens `wakeUp`. */
    forkSource: <E, R>(
      source: Effect.Effect<void, E, R>
    ): Effect.Effect<Fiber.Fiber<void, E>, never, R | Scope.Scope> =>
      Effect.tap(Effect.forkScoped(source), (fiber) => Effect.sync(() => fiber.addObserver(() => wakeUp.openUnsafe())))
  }
})

export type Leases = Effect.Success<ReturnType<typeof make>>
