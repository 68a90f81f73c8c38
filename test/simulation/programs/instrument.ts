/** Records when handlers begin and end. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Host } from "./program.ts"

/** Runs a handler, and records it in the history. A handler whose process is killed does not end. */
export const recorded = <A, E, R>(
  { history, process }: Host,
  chat: string,
  subject: string,
  handler: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const run = history.nextRun()
    history.add({ type: "began", process: process.name, chat, subject, run })
    return Effect.onExit(handler, (exit) =>
      Effect.sync(() => {
        const outcome = Exit.isSuccess(exit)
          ? "success"
          : Cause.hasInterruptsOnly(exit.cause)
            ? "interrupted"
            : "failure"
        history.add({ type: "ended", process: process.name, chat, subject, run, outcome })
      })
    )
  })
