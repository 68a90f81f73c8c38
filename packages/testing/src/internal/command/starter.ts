import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"

/** Ends when `npx` has ended, if it started this process. npm ends at a signal without passing it on. */
export const npxEnded: Effect.Effect<void> = Effect.suspend(() => {
  if (process.env["npm_command"] !== "exec") return Effect.never
  const { ppid } = process
  return Effect.sync(() => process.ppid !== ppid).pipe(
    Effect.repeat({ until: (hasEnded) => hasEnded, schedule: Schedule.spaced("1 second") }),
    Effect.asVoid
  )
})
