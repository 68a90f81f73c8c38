import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"

/**
 * Runs an effect between two functions. `end` runs if `begin` has run, also if the fiber is interrupted before the effect
 * begins. `Effect.acquireUseRelease` has the same result, and takes more operations.
 */
export const bracket = <B extends {}, A, E, R>(
  begin: () => B,
  use: (begun: B) => Effect.Effect<A, E, R>,
  end: (begun: B, exit: Exit.Exit<A, E>) => Effect.Effect<void> | undefined
): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    let begun: B | undefined
    const used = Effect.suspend(() => use((begun = begin())))
    return Effect.onExitPrimitive(used, (exit) => (begun === undefined ? undefined : end(begun, exit)))
  })
