import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"

/** Ends with the `npx` that started this process, because npm ends at a signal without forwarding the signal. */
export const npxEnded: Effect.Effect<void> = Effect.suspend(() => {
  if (process.env["npm_command"] !== "exec") return Effect.never
  const { ppid } = process
  return Effect.sync(() => process.ppid !== ppid).pipe(
    Effect.repeat({ until: (hasEnded) => hasEnded, schedule: Schedule.spaced("1 second") }),
    Effect.asVoid
  )
})
