import type { TimerChange } from "@colloquy/core/inbox/InboxStore"
import * as Effect from "effect/Effect"

/**
 * Runs `wake` after changes that set a timer which is due before the next timer that other processes know of. A process
 * reads the time of the next timer after each wake-up and after each due timer, so later timers need no message.
 */
export const make = (wake: Effect.Effect<void>) => {
  /** The due time of the last announced timer, in Unix milliseconds. */
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
