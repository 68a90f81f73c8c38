import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { StoreError } from "../../base/StoreError.ts"
import type { InboxStore } from "../InboxStore.ts"

/** The key of the row that exists while the inbox is paused. */
const key = "paused"

/** For this time, a process that claims does not read the row again. */
const validMillis = 1000

/** Whether the inbox is paused, for all processes that use the store. */
export const makePausing = (store: InboxStore["Service"], clock: Clock.Clock, nextRevision: () => string) => {
  let lastPaused = false
  let readAt = -Infinity

  const known = (isPaused: boolean): boolean => {
    lastPaused = isPaused
    readAt = clock.currentTimeMillisUnsafe()
    return isPaused
  }

  const read: Effect.Effect<boolean, StoreError> = Effect.suspend(() =>
    Effect.map(store.read([key]), ([row]) => known(row !== undefined))
  )

  return {
    read,
    /** The last state that was read. A busy process reads once in a second. */
    isPaused: Effect.suspend(() =>
      Math.abs(clock.currentTimeMillisUnsafe() - readAt) < validMillis ? Effect.succeed(lastPaused) : read
    ),
    set: (isPaused: boolean): Effect.Effect<void, StoreError> => {
      const row = isPaused ? { text: "true" } : undefined
      return Effect.suspend(() =>
        Effect.map(store.write([{ rows: [{ key, row, revision: nextRevision() }] }]), () => void known(isPaused))
      )
    }
  }
}

export type Pausing = ReturnType<typeof makePausing>
