import * as Backoff from "@colloquy/core/base/Backoff"
import type { StoreError } from "@colloquy/core/base/StoreError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Queue from "effect/Queue"
import * as RcRef from "effect/RcRef"
import type * as Scope from "effect/Scope"

const backoff = Backoff.make(Backoff.pauses.subscription)

interface Options<A, E> {
  /** Subscribes to the messages of all processes, until the scope closes. */
  readonly subscribe: Effect.Effect<Queue.Dequeue<A, E>, E, Scope.Scope>
  readonly toStoreError: (error: unknown) => StoreError
  /** Whether another process has sent a message. */
  readonly isForeign: (message: A) => boolean
}

/**
 * Receives messages until the scope closes. After a failure, subscribes again and calls `wake`, because messages may be
 * missing. Only the first failure in a row is logged.
 */
const receive = Effect.fnUntraced(function* <A, E>(
  { isForeign, subscribe, toStoreError }: Options<A, E>,
  wake: () => void
) {
  const subscribed = yield* Latch.make(false)
  let isFailing = false
  const subscribeOnce = Effect.gen(function* () {
    const messages = yield* subscribe
    yield* subscribed.open
    if (isFailing) wake()
    for (;;) {
      const all = yield* Queue.takeAll(messages)
      isFailing = false
      if (all.some(isForeign)) wake()
    }
  })
  const onFailure = (error: StoreError) =>
    Effect.suspend(() => {
      const isFirst = !isFailing
      isFailing = true
      return isFirst
        ? Effect.logWarning(`${error.message} Until it succeeds, updates of other processes are found by polling.`)
        : Effect.void
    })
  yield* Effect.scoped(subscribeOnce).pipe(
    Effect.catchDefect((defect) => Effect.fail(defect)),
    Effect.mapError(toStoreError),
    Effect.tapError(onFailure),
    Effect.retry(backoff),
    // The server runs in real time, also when the program runs with a test clock.
    Effect.provideService(Clock.Clock, Clock.Clock.defaultValue()),
    Effect.withTracerEnabled(false),
    Effect.forkScoped
  )
  return subscribed
})

/**
 * Returns a function that calls `wake` when another process has sent messages, until the scope closes. Messages that
 * arrive together cause one call. All listeners share a subscription, because a subscription takes one of few
 * connections. The subscription ends with the last listener.
 */
export const make = Effect.fnUntraced(function* <A, E>(options: Options<A, E>) {
  const listening = new Set<() => void>()
  const subscription = yield* RcRef.make({
    acquire: receive(options, () => listening.forEach((wake) => wake()))
  })
  return Effect.fnUntraced(function* (wake: () => void) {
    yield* Effect.acquireRelease(
      Effect.sync(() => listening.add(wake)),
      () => Effect.sync(() => listening.delete(wake))
    )
    const subscribed = yield* RcRef.get(subscription)
    yield* subscribed.await
  })
})
