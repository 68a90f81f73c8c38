import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { monoNow } from "./held.ts"

/** A partition that was not given back for this time is given back at once. */
const forgetAfter = 120_000

const firstWait = 1000

const maxWait = 30_000

/** How many partitions are remembered at most. */
const maxRemembered = 10_000

/**
 * The partitions that this process gives back, because a newer program wrote what their updates need. If no other process claims
 * them, this one does: it keeps them for longer each time before it gives them back.
 */
export const makeHandBacks = (clock: Clock.Clock) => {
  const recent = new Map<string, { readonly wait: number; readonly at: number }>()
  const said = new Set<string>()

  return {
    /** Returns for how many milliseconds a partition is kept before it is given back. */
    waitOf: (key: string): number => {
      const now = monoNow(clock)
      const last = recent.get(key)
      recent.delete(key)
      if (recent.size >= maxRemembered) recent.delete(recent.keys().next().value!)
      const isRecent = last !== undefined && now - last.at < forgetAfter
      const wait = isRecent ? Math.min(Math.max(firstWait, 2 * last.wait), maxWait) : 0
      recent.set(key, { wait, at: now })
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
