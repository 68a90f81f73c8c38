import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Backoff from "../../../base/Backoff.ts"
import { monoNow } from "./lease.ts"

/** An update whose partition was not given back for this time counts as a new one. */
const forgetAfter = 120_000

const firstWait = Duration.toMillis(Backoff.pauses.newerData.first)

const maxWait = Duration.toMillis(Backoff.pauses.newerData.cap)

/** How many updates are remembered at most. */
const maxRemembered = 10_000

/**
 * The updates whose partitions this process gives back, because the updates need data of a newer program. If no other
 * process claims a partition, this process claims the partition again, and keeps the partition for longer each time.
 */
export const makeHandBacks = (clock: Clock.Clock) => {
  const recent = new Map<string, { readonly wait: number; readonly at: number }>()
  const said = new Set<string>()

  return {
    /**
     * Returns the number of milliseconds for which the partition of an update is kept before this process gives the
     * partition back.
     */
    waitOf: (id: string): number => {
      const now = monoNow(clock)
      const last = recent.get(id)
      recent.delete(id)
      if (recent.size >= maxRemembered) recent.delete(recent.keys().next().value!)
      const isRecent = last !== undefined && now - last.at < forgetAfter
      const wait = isRecent ? Math.min(Math.max(firstWait, 2 * last.wait), maxWait) : 0
      recent.set(id, { wait, at: now })
      return wait
    },
    /** Logs once that a newer program wrote data. */
    say: (newer: string): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (said.has(newer)) return Effect.void
        said.add(newer)
        return Effect.logWarning(
          `${newer} Updates that need it wait for a process with the newer program. Start one, if none runs.`
        )
      })
  }
}
