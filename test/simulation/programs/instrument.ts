/** Records when handlers begin and end. */
import * as Handler from "@colloquy/core/inbox/Handler"
import * as Update from "@colloquy/core/model/Update"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Host } from "./program.ts"

/** Whether a handler failed because a newer version of the bot wrote what it has read. */
const isOfNewer = (cause: Cause.Cause<unknown>): boolean => Cause.pretty(cause).includes("written by a newer program")

/**
 * Runs a handler, and records it in the history. A handler whose process is killed does not end. No interruption comes between the
 * record of the beginning and the finalizer that records the end.
 */
export const recorded = <A, E, R>(
  { history, process }: Host,
  chat: string,
  subject: string,
  handler: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    let run: number | undefined
    const begun = Effect.suspend(() => {
      run = history.nextRun()
      history.add({ type: "began", process: process.name, chat, subject, run })
      return handler
    })
    return Effect.onExit(begun, (exit) =>
      Effect.sync(() => {
        if (run === undefined) return
        const outcome = Exit.isSuccess(exit)
          ? "success"
          : Cause.hasInterruptsOnly(exit.cause)
            ? "interrupted"
            : isOfNewer(exit.cause)
              ? "newer"
              : "failure"
        history.add({ type: "ended", process: process.name, chat, subject, run, outcome })
      })
    )
  })

/** The name of an update, as the auditor reads it from the text. */
const subjectOf = (update: Update.Update): string => {
  switch (update.update_type) {
    case "message_created":
      return Update.textOf(update) ?? ""
    case "message_callback":
      return `callback ${update.callback.callback_id}`
    case "colloquy_timer":
      return `timer ${update.name} ${update.key} ${update.value}`
    case "message_removed":
      return `message_removed ${update.message_id}`
    default:
      return `${update.update_type} ${Update.chatOf(update)} ${"timestamp" in update ? update.timestamp : undefined}`
  }
}

/** Records all updates that a handler handles. */
export const recordedHandler = <E, R>(host: Host, handler: Handler.Handler<E, R>) =>
  Handler.transform(handler, (handled, update) =>
    recorded(host, String(Update.chatOf(update) ?? ""), subjectOf(update), handled)
  )
