import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import { BroadcastAlreadyRunning, type Status } from "../Broadcast.ts"
import { BroadcastStore } from "../BroadcastStore.ts"
import type { StoreError } from "../../base/StoreError.ts"
import { randomId } from "../../base/internal/randomId.ts"
import * as Outage from "../../client/Outage.ts"
import { monoNow } from "../../inbox/internal/consumer/lease.ts"

/** How long a killed process keeps a broadcast from others, in milliseconds. */
const leaseDuration = 20_000

/**
 * A runner that has not renewed its lease for this time renews the lease before sending, because the lease may soon
 * expire.
 */
const maxLeaseAge = leaseDuration / 2

/** How soon a runner notices that another process paused, resumed or cancelled the broadcast. */
const renewInterval = "1 second"

export type LeaseError = BroadcastAlreadyRunning | Outage.OutageError

const untilLeaseExpires = Schedule.spaced(renewInterval).pipe(
  Schedule.upTo({ duration: leaseDuration + 1000 }),
  Schedule.setInputType<LeaseError>()
)

/** Retries an operation of the store while the store is away. All operations of a broadcast are idempotent. */
export type RetryStore = <A>(self: Effect.Effect<A, StoreError>) => Effect.Effect<A, Outage.OutageError>

/** Acquires the lease of a broadcast until the scope closes. */
export const acquire = Effect.fnUntraced(function* (name: string) {
  const store = yield* BroadcastStore
  const clock = yield* Clock.Clock
  const owner = yield* randomId
  const running = yield* Latch.make(false)
  const ended = yield* Latch.make(false)
  const outage = Outage.make("The store of the broadcasts")
  const retryStore: RetryStore = (self) => outage.retry(self, ({ isRetryable }) => isRetryable)
  let renewedAt = { wall: -Infinity, mono: -Infinity }

  const end = Effect.andThen(ended.open, running.open)

  const acquireLease = (create: boolean) =>
    Effect.suspend(() => {
      const now = { wall: clock.currentTimeMillisUnsafe(), mono: monoNow(clock) }
      return Effect.map(store.acquireLease({ name, owner, leaseDuration, create }), (summary) => {
        if (Option.isSome(summary)) renewedAt = now
        return summary
      })
    }).pipe(retryStore)

  const apply = (status: Status) =>
    status === "cancelled" || status === "finished" ? end : status === "paused" ? running.close : running.open

  const renew = Effect.fnUntraced(function* (create: boolean) {
    const summary = yield* acquireLease(create)
    if (Option.isSome(summary)) return yield* apply(summary.value.status)
    const isRemoved = !create && Option.isNone(yield* retryStore(store.summary(name)))
    return isRemoved ? yield* end : yield* new BroadcastAlreadyRunning({ broadcastName: name })
  })

  const release = Effect.ignore(store.acquireLease({ name, owner, leaseDuration: 0, create: false }))

  const first = Effect.catchTag(renew(true), "BroadcastAlreadyRunning", () =>
    Effect.logInfo(
      `The broadcast "${name}" has a runner, which may have been killed. This one starts if the lease of the other expires.`
    ).pipe(
      Effect.andThen(
        Effect.retry(renew(true), {
          schedule: untilLeaseExpires,
          while: ({ _tag }) => _tag === "BroadcastAlreadyRunning"
        })
      )
    )
  )
  yield* Effect.acquireRelease(first, () => release, { interruptible: true })

  /** Both clocks are compared, as for the leases of the inbox. */
  const isCertain = () =>
    clock.currentTimeMillisUnsafe() - renewedAt.wall < maxLeaseAge && monoNow(clock) - renewedAt.mono < maxLeaseAge

  const mayContinue: Effect.Effect<boolean, LeaseError> = Effect.gen(function* () {
    yield* running.await
    if (ended.isOpen()) return false
    if (isCertain()) return true
    yield* renew(false)
    return yield* mayContinue
  })

  return {
    owner,
    retryStore,
    /**
     * The lease that the client confirms between the permit of a request and the request: the wait for the permit can
     * be long.
     */
    callLease: {
      // After the end, and after an error that `keepRenewing` fails with too, the caller is interrupted.
      confirm: Effect.interruptible(
        Effect.flatMap(
          Effect.orElseSucceed(mayContinue, () => false),
          (mayContinue) => (mayContinue ? Effect.void : Effect.never)
        )
      ),
      isHeld: () => running.isOpen() && !ended.isOpen() && isCertain(),
      interruptsWait: true
    },
    /** Waits while the broadcast is paused. Returns `false` when the broadcast has ended. */
    mayContinue,
    /** Waits until the broadcast has ended. */
    ended: ended.await,
    /** Ends the broadcast for this runner. */
    end,
    /** Renews the lease, and applies the changes of other processes to the broadcast. */
    keepRenewing: Effect.forever(Effect.andThen(Effect.sleep(renewInterval), renew(false))),
    /** Marks the broadcast as finished. */
    finish: Effect.andThen(
      renew(false),
      Effect.suspend(() =>
        ended.isOpen() ? Effect.void : Effect.asVoid(retryStore(store.update(name, { status: "finished" })))
      )
    )
  }
})

/** The right of one runner to send a broadcast. */
export type Lease = Effect.Success<ReturnType<typeof acquire>>
