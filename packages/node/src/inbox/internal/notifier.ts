import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** Notifications that follow each other within this time, in milliseconds, are combined. */
const interval = 5

/**
 * Returns a function that sends a notification: at once, or soon after the previous notification. Never fails, because
 * a process that misses a notification polls. Stops when the scope closes, after the last notification.
 */
export const make = (send: () => void): Effect.Effect<() => void, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => ({ timer: undefined as ReturnType<typeof setTimeout> | undefined, isDue: false })),
      (state) =>
        Effect.sync(() => {
          clearTimeout(state.timer)
          if (state.isDue) send()
        })
    ),
    (state) => {
      const sendNow = (): void => {
        state.isDue = false
        send()
        state.timer = setTimeout(() => {
          state.timer = undefined
          if (state.isDue) sendNow()
        }, interval)
      }
      return () => {
        if (state.timer === undefined) sendNow()
        else state.isDue = true
      }
    }
  )
