import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Backoff from "../../Backoff.ts"
import type { Inbox } from "../../Inbox.ts"
import type { Commit, Partition } from "../../InboxStore.ts"
import type { StoreError } from "../../StoreError.ts"
import { randomId } from "../stores/randomId.ts"

/** Updates that other processes enqueue do not open `wakeUp`, so a shared store is polled, less often while it is idle. */
const pollInterval = 1000
const idlePollInterval = 3000

/** A lease is renewed this often before it expires. With 3, the event loop may be busy for two thirds of the lease. */
const renewalsPerLease = 3

/** After a failure, leases are renewed again after this time, in milliseconds. */
const failedRenewalInterval = 1000

const storeBackoff = Backoff.make({ first: "200 millis", cap: "10 seconds" }).pipe(
  Schedule.setInputType<StoreError>(),
  Schedule.tap(({ input }) => Effect.logWarning(`${input.message} The operation is retried until it succeeds.`))
)

/** A commit without its owner. */
export type Change = Omit<Commit, "owner">

/** Returns the change that ends the lease of a partition. */
export const releaseOf = (partitionKey: string): Change => ({
  partitionKey,
  completed: [],
  failed: [],
  begun: [],
  release: true
})

/** A partition that this process has claimed. */
interface Held {
  /** The owner of the last claim. It changes when an expired lease is claimed again. */
  owner: string
  /** When the lease expires. It is not renewed after that, because another process may have claimed the partition. */
  until: number
  /** The commit that releases the partition, while it is running. */
  release: { readonly id: string | undefined } | undefined
  /** Whether the partition was claimed again after its release, so that the release must not be repeated. */
  isClaimedAgain: boolean
}

const makeHeld = (owner: string, until: number): Held => ({ owner, until, release: undefined, isClaimedAgain: false })

/**
 * Opens an inbox and claims partitions of it. The leases are renewed until the scope closes, which releases them.
 * Operations are retried while the store fails.
 */
export const make = Effect.fnUntraced(function* ({ leaseDuration, open, store, wakeUp }: Inbox["Service"]) {
  yield* open
  const clock = yield* Clock.Clock
  // Without other processes, no lease has to end before this process does.
  const leaseMillis = store.isShared ? Duration.toMillis(leaseDuration) : Infinity
  /** The claimed partitions by key. Empty if the store is not shared. */
  const held = new Map<string, Held>()
  let owner = yield* randomId
  let pollDelay = pollInterval
  let isClosed = false

  const retryForever = <A>(effect: Effect.Effect<A, StoreError>): Effect.Effect<A> =>
    Effect.catchCause(effect, (cause) => {
      const retried = Backoff.failedOnce(effect, cause)
      // After the scope has closed, nothing waits for the result.
      const attempt = Effect.suspend(() => (isClosed ? Effect.interrupt : retried))
      return Effect.retry(attempt, storeBackoff) as Effect.Effect<A>
    })

  const forOwners = <A>(use: (owner: string) => Effect.Effect<A, StoreError>) => {
    const owners = new Set([owner])
    for (const partition of held.values()) owners.add(partition.owner)
    return Effect.forEach(owners, use, { discard: true })
  }

  const keepRenewing = Effect.gen(function* () {
    const interval = leaseMillis / renewalsPerLease
    let isFailing = false
    for (;;) {
      yield* Effect.sleep(isFailing ? Math.min(failedRenewalInterval, interval) : interval)
      if (held.size === 0) continue
      const now = clock.currentTimeMillisUnsafe()
      const renewed = yield* Effect.result(forOwners((name) => store.renew(name, leaseMillis)))
      if (Result.isSuccess(renewed)) {
        for (const partition of held.values()) if (partition.until > now) partition.until = now + leaseMillis
      }
      if (Result.isFailure(renewed) && !isFailing) {
        yield* Effect.logWarning(`The leases of the inbox were not renewed. ${renewed.failure.message}`)
      }
      isFailing = Result.isFailure(renewed)
    }
  })
  yield* Effect.addFinalizer(() => {
    isClosed = true
    return Effect.ignore(Effect.timeoutOption(forOwners(store.release), "5 seconds"))
  })
  if (store.isShared) yield* Effect.forkScoped(keepRenewing)

  // A failed claim may have been executed. Its leases expire because the owner is not used, and so not renewed, any more.
  const changeOwner = Effect.map(randomId, (name) => {
    owner = name
  })

  /**
   * The claimed partitions without those that this process is still handling: their leases expired, for example while the
   * store was unavailable. What is being handled continues under the new owner, and so does a commit that is being retried.
   */
  const withoutHeld = (
    partitions: ReadonlyArray<Partition>,
    newOwner: string,
    until: number
  ): ReadonlyArray<Partition> =>
    partitions.filter(({ key, updates }) => {
      const partition = held.get(key)
      // If the partition was released, but the result of the commit is not known yet, its completed update is gone.
      const isHeld =
        partition !== undefined &&
        (partition.release === undefined ||
          (partition.release.id !== undefined && partition.release.id === updates[0]?.id))
      if (isHeld) {
        partition.owner = newOwner
        return false
      }
      if (partition !== undefined) partition.isClaimedAgain = true
      held.set(key, makeHeld(newOwner, until))
      return true
    })

  const commitShared = ({ partitionKey, release, ...change }: Change): Effect.Effect<void> => {
    const partition = held.get(partitionKey) ?? makeHeld(owner, 0)
    if (release) partition.release = { id: change.completed[0]?.id }
    const commit = Effect.suspend(() =>
      partition.isClaimedAgain
        ? Effect.void
        : store.commit([{ owner: partition.owner, partitionKey, release, ...change }])
    )
    return Effect.map(retryForever(commit), () => {
      if (release && held.get(partitionKey) === partition) held.delete(partitionKey)
    })
  }

  return {
    /** Claims partitions. `maxPartitions` is read at each attempt. */
    claim: (maxPartitions: () => number, maxUpdates: number): Effect.Effect<ReadonlyArray<Partition>> =>
      retryForever(
        Effect.suspend(() => {
          wakeUp.closeUnsafe()
          const max = maxPartitions()
          if (max < 1) return Effect.succeed([])
          const now = clock.currentTimeMillisUnsafe()
          const name = owner
          const claim = store.claim({
            owner: name,
            leaseDuration: leaseMillis,
            maxPartitions: max,
            maxUpdates,
            begin: 1
          })
          if (!store.isShared) return claim
          return Effect.map(
            Effect.tapError(claim, () => changeOwner),
            (partitions) => {
              if (partitions.length > 0) pollDelay = pollInterval
              return withoutHeld(partitions, name, now + leaseMillis)
            }
          )
        })
      ),
    commit: (change: Change): Effect.Effect<void> =>
      store.isShared ? commitShared(change) : Effect.asVoid(retryForever(store.commit([{ owner, ...change }]))),
    /** Whether the lease of a claimed partition has not expired. */
    isHeld: (partitionKey: string): boolean =>
      !store.isShared || (held.get(partitionKey)?.until ?? 0) > clock.currentTimeMillisUnsafe(),
    /** Waits until there may be partitions to claim. */
    waitForMore: store.isShared
      ? Effect.map(
          Effect.suspend(() => Effect.timeoutOption(wakeUp.await, pollDelay)),
          (woken) => {
            pollDelay = Option.isSome(woken) ? pollInterval : Math.min(2 * pollDelay, idlePollInterval)
          }
        )
      : wakeUp.await,
    wake: () => void wakeUp.openUnsafe(),
    /** Runs a source. Its end opens `wakeUp`. */
    forkSource: <E, R>(
      source: Effect.Effect<void, E, R>
    ): Effect.Effect<Fiber.Fiber<void, E>, never, R | Scope.Scope> =>
      Effect.tap(Effect.forkScoped(source), (fiber) => Effect.sync(() => fiber.addObserver(() => wakeUp.openUnsafe())))
  }
})

export type Leases = Effect.Success<ReturnType<typeof make>>
