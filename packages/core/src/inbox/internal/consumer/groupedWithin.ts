import { isArrayNonEmpty, type NonEmptyReadonlyArray } from "effect/Array"
import type * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Pull from "effect/Pull"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Delivery } from "../../Deliveries.ts"
import { Group, settleable } from "./settlement.ts"

/** A process died while such a delivery was handled, or its group conflicted. */
const isUngrouped = (delivery: Delivery<unknown, never>): boolean =>
  settleable(delivery).updates.some(({ isUngrouped }) => isUngrouped)

/**
 * Makes one delivery of several, as `Stream.groupedWithin` does with elements. The operator takes deliveries from the
 * arrays that are pulled, because a queue and a sink in between take more time than all other parts of the stream if
 * updates arrive one by one.
 */
export const groupedWithin = <A, S, E, R>(
  self: Stream.Stream<Delivery<A, S>, E, R>,
  size: number,
  duration: Duration.Duration
): Stream.Stream<Delivery<NonEmptyReadonlyArray<A>, S>, E, R> =>
  Stream.transformPull(self, (pull, scope) =>
    Effect.gen(function* () {
      const fork = Effect.runForkWith(yield* Effect.context<never>())
      /** The last array, and how many of its deliveries are in groups. */
      let pulled: ReadonlyArray<Delivery<A, S>> = []
      let taken = 0
      /** The deliveries of the next group. */
      let parts: Array<Delivery<A, S>> = []
      let end: Cause.Cause<E | Cause.Done> | undefined
      /** Pulls the next array. The pull continues when the time of a group is over. */
      let pulling: Fiber.Fiber<NonEmptyReadonlyArray<Delivery<A, S>>, E | Cause.Done> | undefined

      /** Returns whether the group is complete. */
      const fill = (): boolean => {
        if (parts.length === 0 && taken < pulled.length) parts.push(pulled[taken++]!)
        const [first] = parts
        if (first === undefined) return false
        if (parts.length === 1 && isUngrouped(first)) return true
        const last = Math.min(taken + size - parts.length, pulled.length)
        while (taken < last) parts.push(pulled[taken++]!)
        return parts.length === size
      }

      const onPulled = (exit: Exit.Exit<NonEmptyReadonlyArray<Delivery<A, S>>, E | Cause.Done>): void => {
        pulling = undefined
        taken = 0
        if (Exit.isSuccess(exit)) pulled = exit.value
        else {
          pulled = []
          end = exit.cause
        }
      }

      const receive = Effect.suspend(() => Effect.map(Fiber.await((pulling ??= fork(pull))), onPulled))

      const complete: Effect.Effect<void> = Effect.suspend(() =>
        fill() || end !== undefined ? Effect.void : Effect.andThen(receive, complete)
      )

      const completeInTime = Effect.raceFirst(complete, Effect.sleep(duration))

      const emit = Effect.suspend((): Pull.Pull<NonEmptyReadonlyArray<Delivery<NonEmptyReadonlyArray<A>, S>>, E> => {
        const group = parts
        const isEmitted = isArrayNonEmpty(group) && (end === undefined || Pull.isDoneCause(end))
        if (!isEmitted) return end === undefined ? next : Effect.failCause(end)
        parts = []
        return Effect.succeed([new Group(group)])
      })

      const next: typeof emit = Effect.suspend(() => {
        if (fill() || end !== undefined) return emit
        return parts.length === 0 ? Effect.andThen(receive, next) : Effect.andThen(completeInTime, emit)
      })

      const interrupt = Effect.suspend(() => (pulling === undefined ? Effect.void : Fiber.interrupt(pulling)))
      return yield* Effect.as(Scope.addFinalizer(scope, interrupt), next)
    })
  )
