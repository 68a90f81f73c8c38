import { isArrayNonEmpty, type NonEmptyReadonlyArray } from "effect/Array"
import * as Cause from "effect/Cause"
import * as Channel from "effect/Channel"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Pull from "effect/Pull"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Delivery } from "../../Deliveries.ts"
import * as Handler from "../../Handler.ts"
import { isNotHandledCause } from "../handlers/notHandled.ts"
import type { Queued } from "../kernel/delivery.ts"
import * as pool from "./pool.ts"
import { acknowledged, MappedDelivery, settleAll } from "./settlement.ts"
import { makeWaiter } from "./waiter.ts"

/** Passes deliveries to a pool whenever the pool is free. */
const feed = <A, E, R>(
  pull: Pull.Pull<NonEmptyReadonlyArray<Delivery<A>>, E, void, R>,
  { add, whenFree }: { readonly add: (deliveries: ReadonlyArray<Delivery<A>>) => void; whenFree: Effect.Effect<void> }
): Pull.Pull<never, E, void, R> =>
  Effect.forever(Effect.andThen(whenFree, Effect.map(pull, add)), { disableYield: true })

/** Interrupts an effect when another process has claimed the chat of its update. */
export const whileHeld = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  updates: ReadonlyArray<Queued>
): Effect.Effect<A, E, R> => {
  if (updates.every(({ handling }) => handling.lease === undefined)) return effect
  const lost = Effect.callback<never>((resume) => {
    const onLost = () => resume(Effect.interrupt)
    if (updates.some(({ isLost }) => isLost)) return onLost()
    for (const update of updates) update.watch(onLost)
    return Effect.sync(() => {
      for (const update of updates) update.unwatch(onLost)
    })
  })
  return Effect.raceFirst(effect, lost)
}

/** Runs a handler for each delivery, and acknowledges the delivery. */
export const runForEach = <A, E, R, E2, R2>(
  self: Stream.Stream<Delivery<A>, E, R>,
  handler: Handler.Handler<E2, R2, A>,
  options: pool.HandleOptions & { readonly shutdownTimeout: Duration.Duration | undefined }
): Effect.Effect<void, E, R | R2> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { shutdownTimeout } = options
      // Only this fiber pulls, so the lock of `Stream.toPull` is not needed.
      const pull = yield* Channel.toPullScoped(Stream.toChannel(self), yield* Effect.scope)
      const workers = yield* pool.make<A, unknown, E2 | Handler.NotHandled, R2>({
        ...options,
        handle: (value) => Effect.suspend(() => handler(value) ?? Handler.notHandled),
        isDeclined: isNotHandledCause,
        onHandled: (deliveries) => settleAll(deliveries, acknowledged)
      })
      const fed = Pull.catchDone(feed(pull, workers), () => workers.whenIdle)
      const consumed = Effect.raceFirst(fed, workers.died)
      yield* Effect.onExit(consumed, (exit) => {
        if (Exit.isSuccess(exit)) return Effect.void
        return shutdownTimeout === undefined ? workers.stopNow : workers.stop(shutdownTimeout)
      })
    })
  )

/** Applies an effect to each delivery, and emits the results in the order in which they are there. */
export const mapEffect = <A, E, R, B, E2, R2>(
  self: Stream.Stream<Delivery<A>, E, R>,
  f: (value: A) => Effect.Effect<B, E2, R2>,
  options: pool.HandleOptions
): Stream.Stream<Delivery<B>, E, R | R2> =>
  Stream.transformPull(self, (pull, scope) =>
    Effect.gen(function* () {
      let results: Array<Delivery<B>> = []
      let end: Exit.Exit<void, E> | undefined
      const emitted = makeWaiter(() => results.length > 0 || end !== undefined)
      // Results that nobody takes do not accumulate.
      const taken = makeWaiter(() => results.length < options.concurrency)

      const workers = yield* pool.make<A, B, E2, R2>({
        ...options,
        handle: (value) => Effect.suspend(() => f(value)),
        onResult: (delivery, result) => void results.push(new MappedDelivery(delivery, result)),
        onHandled: () => {
          emitted.wake()
          return Effect.void
        }
      })
      yield* Effect.addFinalizer(() => workers.stopNow)
      const whenFree = Effect.andThen(taken.until, workers.whenFree)
      const all = Pull.catchDone(feed(pull, { add: workers.add, whenFree }), () => workers.whenIdle)
      const fed = Effect.exit(Effect.raceFirst(all, workers.died)) as Effect.Effect<Exit.Exit<void, E>>
      yield* Effect.forkScoped(
        Effect.map(fed, (exit) => {
          end = exit
          emitted.wake()
        })
      )

      const pullResults: Pull.Pull<NonEmptyReadonlyArray<Delivery<B>>, E> = Effect.suspend(() => {
        const next = results
        if (isArrayNonEmpty(next)) {
          results = []
          taken.wake()
          return Effect.succeed(next)
        }
        if (end !== undefined) return Exit.isFailure(end) ? Effect.failCause(end.cause) : Cause.done()
        return Effect.andThen(emitted.until, pullResults)
      })
      return pullResults
    }).pipe(Effect.provideService(Scope.Scope, scope))
  )
