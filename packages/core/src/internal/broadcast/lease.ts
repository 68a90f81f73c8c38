import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Backoff from "../../Backoff.ts"
import { BroadcastAlreadyRunning } from "../../Broadcast.ts"
import { BroadcastStore, type Status } from "../../BroadcastStore.ts"
import type { StoreError } from "../../StoreError.ts"
import { makeLeaseOwner } from "../stores/leaseOwner.ts"

/** Whoever is killed keeps a broadcast from others for so long, in milliseconds. */
const lease = 20_000

/** Who has not prolonged the lease for so long sends nothing before it has: somebody else may send soon. */
const freshness = lease / 2

/** How soon a pause, a resumption or a cancellation by another process is noticed. */
const lookEvery = "1 second"

export type HoldError = BroadcastAlreadyRunning | StoreError

/** So long a new runner waits for the lease of one that was killed. */
const untilLeasesEnd = Schedule.spaced(lookEvery).pipe(
  Schedule.upTo({ duration: lease + 1000 }),
  Schedule.setInputType<HoldError>()
)

const untilItAnswers = Backoff.make({ first: "100 millis", cap: "5 seconds" }).pipe(
  Schedule.upTo({ duration: "1 minute" })
)

/** A store that is away is waited for, for a minute: what it is told can be told again. */
export const waitingForStore: <A, R>(self: Effect.Effect<A, StoreError, R>) => Effect.Effect<A, StoreError, R> =
  Effect.retry({
    schedule: untilItAnswers,
    while: ({ isRetryable }) => isRetryable
  })

/** A broadcast in the hands of one runner. */
export interface Hold {
  /** Waits while it is paused, and says whether it goes on. */
  readonly goesOn: Effect.Effect<boolean, HoldError>
  /** Waits for its end. */
  readonly ended: Effect.Effect<void>
  /** Ends it for this runner. */
  readonly end: Effect.Effect<void>
  /** Notices what others do to it, and keeps it in these hands. */
  readonly watch: Effect.Effect<never, HoldError>
  readonly finish: Effect.Effect<void, HoldError>
}

export const make: (name: string) => Effect.Effect<Hold, HoldError, BroadcastStore | Scope.Scope> = Effect.fnUntraced(
  function* (name: string) {
    const store = yield* BroadcastStore
    const clock = yield* Clock.Clock
    const owner = yield* makeLeaseOwner
    const gate = yield* Latch.make(false)
    const over = yield* Latch.make(false)
    let isOver = false
    let heldAt = -Infinity

    const end = Effect.suspend(() => {
      isOver = true
      return Effect.andThen(over.open, gate.open)
    })

    const acquire = (create: boolean) =>
      Effect.suspend(() => {
        const now = clock.currentTimeMillisUnsafe()
        return Effect.map(store.acquireLease({ name, owner, now, leaseUntil: now + lease, create }), (standing) => {
          if (Option.isSome(standing)) heldAt = now
          return standing
        })
      }).pipe(waitingForStore)

    const obey = (status: Status) =>
      status === "cancelled" || status === "finished" ? end : status === "paused" ? gate.close : gate.open

    const look = Effect.fnUntraced(function* (create: boolean) {
      const standing = yield* acquire(create)
      if (Option.isSome(standing)) return yield* obey(standing.value.status)
      const isForgotten = !create && Option.isNone(yield* waitingForStore(store.summary(name)))
      return isForgotten ? yield* end : yield* new BroadcastAlreadyRunning({ name })
    })

    const giveBack = Effect.ignore(store.acquireLease({ name, owner, now: 0, leaseUntil: 0, create: false }))

    const begin = Effect.catchTag(look(true), "BroadcastAlreadyRunning", () =>
      Effect.logInfo(`The broadcast ${name} was being sent elsewhere a moment ago: waiting whether that goes on.`).pipe(
        Effect.andThen(
          Effect.retry(look(true), {
            schedule: untilLeasesEnd,
            while: ({ _tag }) => _tag === "BroadcastAlreadyRunning"
          })
        )
      )
    )
    yield* Effect.acquireRelease(begin, () => giveBack, { interruptible: true })

    const goesOn: Effect.Effect<boolean, HoldError> = Effect.gen(function* () {
      yield* gate.await
      if (isOver) return false
      if (clock.currentTimeMillisUnsafe() - heldAt < freshness) return true
      yield* look(false)
      return yield* goesOn
    })

    return {
      goesOn,
      ended: over.await,
      end,
      watch: Effect.forever(Effect.andThen(Effect.sleep(lookEvery), look(false))),
      finish: Effect.andThen(
        look(false),
        Effect.suspend(() =>
          isOver ? Effect.void : Effect.asVoid(waitingForStore(store.update(name, { status: "finished" })))
        )
      )
    }
  }
)
