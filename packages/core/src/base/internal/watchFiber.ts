import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"

/** Returns the defects of an exit, or `undefined` if the exit has none. */
export const defectsOf = (exit: Exit.Exit<unknown, unknown>): Cause.Cause<never> | undefined =>
  Exit.isFailure(exit) && Cause.hasDies(exit.cause)
    ? Cause.fromReasons(exit.cause.reasons.filter(Cause.isDieReason))
    : undefined

/** Calls a function with the defects of a fiber whose result nobody waits for, so that the fiber does not end unnoticed. */
export const watchFiber = <A, E>(
  fiber: Fiber.Fiber<A, E>,
  onDefect: (cause: Cause.Cause<never>) => void
): Fiber.Fiber<A, E> => {
  fiber.addObserver((exit) => {
    const defects = defectsOf(exit)
    if (defects !== undefined) onDefect(defects)
  })
  return fiber
}
