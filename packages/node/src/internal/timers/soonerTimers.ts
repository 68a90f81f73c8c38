import type { TimerChange } from "@colloquy/core/HandlingStore"
import * as Effect from "effect/Effect"

/**
 * Runs `wake` after changes that set a timer which is due before those that other processes know of. A process reads when the next timer is
 * due after it was woken up, and after a timer was due, so timers that are due later need no message.
 */
export const make = (wake: Effect.Effect<void>) => {
  /** When the last timer that others were told of is due, in Unix milliseconds. */
  let toldOf = -Infinity

  const isSooner = (changes: ReadonlyArray<TimerChange>, now: number): boolean => {
    let next = Infinity
    for (const { set } of changes) {
      if (set !== undefined) next = Math.min(next, "at" in set.due ? set.due.at : now + set.due.after)
    }
    if (next === Infinity || (toldOf > now && next >= toldOf)) return false
    toldOf = next
    return true
  }

  return <A, E>(effect: Effect.Effect<A, E>, changes: ReadonlyArray<TimerChange> | undefined): Effect.Effect<A, E> =>
    changes === undefined || changes.length === 0
      ? effect
      : Effect.tap(effect, () =>
          Effect.clockWith((clock) => (isSooner(changes, clock.currentTimeMillisUnsafe()) ? wake : Effect.void))
        )
}

/** The timers that commits change, or `undefined` if there are none. */
export const changedBy = (
  commits: ReadonlyArray<{ readonly timers?: ReadonlyArray<TimerChange> | undefined }>
): ReadonlyArray<TimerChange> | undefined =>
  commits.every(({ timers }) => timers === undefined) ? undefined : commits.flatMap(({ timers = [] }) => timers)
