import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Check } from "./check.ts"

/** The states of the checks of a name. Several checks have one name, for example one for each subscription. */
const statesOf = (checks: ReadonlyArray<Check>): ReadonlyMap<string, string> => {
  const states = new Map<string, string>()
  for (const { name, status } of checks.toSorted((a, b) => a.status.localeCompare(b.status))) {
    states.set(name, `${states.get(name) ?? ""} ${status}`)
  }
  return states
}

/**
 * Runs checks for ever, and passes those on whose name has other states than before. Details are not compared, because
 * they have numbers that change all the time.
 */
export const watch = <E, R, E2, R2>(
  checks: Effect.Effect<ReadonlyArray<Check>, E, R>,
  interval: Duration.Duration,
  onChange: (checks: ReadonlyArray<Check>, at: number) => Effect.Effect<void, E2, R2>
): Effect.Effect<never, E | E2, R | R2> =>
  Effect.gen(function* () {
    let known: ReadonlyMap<string, string> = new Map()
    for (;;) {
      const found = yield* checks
      const states = statesOf(found)
      const changed = found.filter(({ name }) => states.get(name) !== known.get(name))
      known = states
      if (changed.length > 0) yield* onChange(changed, yield* Clock.currentTimeMillis)
      yield* Effect.sleep(interval)
    }
  })

/** Returns checks that also have the results of other checks, which run once a day. */
export const withDaily = <E, R, E2, R2>(
  checks: Effect.Effect<ReadonlyArray<Check>, E, R>,
  daily: Effect.Effect<ReadonlyArray<Check>, E2, R2>
) =>
  Effect.map(Effect.cachedWithTTL(daily, "24 hours"), (cached) =>
    Effect.zipWith(checks, cached, (first, second) => [...first, ...second])
  )
