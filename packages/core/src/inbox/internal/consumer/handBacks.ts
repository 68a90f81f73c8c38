import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { monoNow } from "./held.ts"

/** An update whose partition was not given back for this time counts as a new one. */
const forgetAfter = 120_000

const firstWait = 1000

const maxWait = 30_000

/** How many updates are remembered at most. */
const maxRemembered = 10_000

/**
 * The updates whose partitions this process gives back, because a newer program wrote what they need. If no other process claims
 * a partition, this one does: it keeps the partition for longer each time before it gives the partition back.
 */
export const makeHandBacks = (clock: Clock.Clock) => {
  const recent = new Map<string, { readonly wait: number; readonly at: number }>()
  const said = new Set<string>()

  return {
    /** Returns for how many milliseconds the partition of an update is kept before it is given back. */
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
    /** Says once what a newer program wrote. */
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
