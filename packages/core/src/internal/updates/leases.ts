import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Backoff from "../../Backoff.ts"
import type { Inbox } from "../../Inbox.ts"
import type { Partition, Commit } from "../../InboxStore.ts"
import type { StoreError } from "../../StoreError.ts"
import { makeLeaseOwner } from "../stores/leaseOwner.ts"

/** Other processes that put updates in do not wake this one. */
const lookAgainAfter = "1 second"

const untilAvailable = Backoff.make({ first: "200 millis", cap: "10 seconds" }).pipe(
  Schedule.setInputType<StoreError>(),
  Schedule.tap(({ input }) => Effect.logWarning(`${input.message} It is tried again.`))
)

/**
 * Opens an inbox and takes updates out of it in a name of its own; the leases of what it holds are prolonged until the
 * scope closes. A store that cannot be reached is waited for.
 */
export const make = Effect.fnUntraced(function* (inbox: Inbox["Service"]) {
  const { store, leaseDuration: lease, wakeUp } = inbox
  yield* inbox.open
  const clock = yield* Clock.Clock
  // Nobody else waits for what this process holds where the store is its own.
  const leaseMillis = store.isShared ? Duration.toMillis(lease) : Infinity
  /** The partitions of a shared store that are held, and the names in which they were claimed. */
  const held = new Map<string, string>()
  let owner = yield* makeLeaseOwner
  let isClosed = false

  // A success costs nothing: the schedule is looked at after the first failure.
  const patiently = <A>(effect: Effect.Effect<A, StoreError>): Effect.Effect<A> =>
    Effect.catchCause(effect, (cause) => {
      // Nobody is there any more to wait for the store.
      const again = Effect.suspend(() => (isClosed ? Effect.interrupt : failed))
      const failed = Backoff.failedOnce(effect, cause)
      return Effect.retry(again, untilAvailable) as Effect.Effect<A>
    })

  const renew = (leaseUntil: number) =>
    Effect.forEach(new Set([owner, ...held.values()]), (name) => store.renew(name, leaseUntil), { discard: true })

  const prolong = Effect.suspend(() => renew(clock.currentTimeMillisUnsafe() + leaseMillis)).pipe(
    Effect.catch((error) => Effect.logWarning(error.message)),
    Effect.delay(leaseMillis / 3),
    Effect.forever
  )
  // What is still claimed when the scope closes is given back: a lease that has run out is nobody's.
  yield* Effect.addFinalizer(() => {
    isClosed = true
    return Effect.ignore(Effect.timeoutOption(renew(0), "5 seconds"))
  })
  if (store.isShared) yield* Effect.forkScoped(prolong)

  // A claim that failed may have been carried out: under a name that is not used any more, its lease runs out.
  const rename = Effect.map(makeLeaseOwner, (name) => {
    owner = name
  })

  /** Where a lease ran out before it could be prolonged, a partition that is held comes again: it stays with its holder. */
  const hold = (partitions: ReadonlyArray<Partition>): ReadonlyArray<Partition> =>
    partitions.filter(({ key }) => {
      const isNew = !held.has(key)
      held.set(key, owner)
      return isNew
    })

  return {
    /** Claims as many partitions as there is room for when it looks, with so many updates each. */
    claim: (room: () => number, updates: number): Effect.Effect<ReadonlyArray<Partition>> =>
      patiently(
        Effect.suspend(() => {
          wakeUp.closeUnsafe()
          const partitions = room()
          if (partitions < 1) return Effect.succeed([])
          const now = clock.currentTimeMillisUnsafe()
          const claim = store.claim({
            owner,
            now,
            leaseUntil: now + leaseMillis,
            maxPartitions: partitions,
            maxUpdates: updates
          })
          if (!store.isShared) return claim
          return Effect.map(
            Effect.tapError(claim, () => rename),
            hold
          )
        })
      ),
    commit: (key: string, update: Commit["completed"], release: boolean): Effect.Effect<void> => {
      const committing = store.commit([
        { owner: held.get(key) ?? owner, partitionKey: key, completed: update, release }
      ])
      // Before it is given back: it may be claimed again as soon as it is.
      if (release) held.delete(key)
      return patiently(committing)
    },
    /** Waits until there may be more to claim. */
    more: store.isShared ? Effect.timeoutOption(wakeUp.await, lookAgainAfter) : wakeUp.await,
    wake: () => void wakeUp.openUnsafe(),
    /** Starts a source. Whoever waits for more is woken when it has ended. */
    start: <E, R>(source: Effect.Effect<void, E, R>): Effect.Effect<Fiber.Fiber<void, E>, never, R | Scope.Scope> =>
      Effect.tap(Effect.forkScoped(source), (source) =>
        Effect.sync(() => source.addObserver(() => wakeUp.openUnsafe()))
      )
  }
})

export type Reader = Effect.Success<ReturnType<typeof make>>
