import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type { UpdateJournal } from "../../../client/internal/journal/current.ts"

/**
 * Writes the unwritten entries of a journal. If the store refuses the write, the entries are written with the next
 * entry.
 */
export const flush = (journal: UpdateJournal): Effect.Effect<void> =>
  Effect.catchCause(journal.flush, (cause) =>
    Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logWarning("Answers were not recorded.", cause)
  )

/**
 * Writes journals in the next turn of the event loop. Journals whose acknowledgement is being written then are skipped.
 * Writes end when the scope closes.
 */
export const makeWriteSoon = Effect.fnUntraced(function* (context: Context.Context<never>) {
  const fork = Effect.runForkWith(context)
  const journals = new Set<UpdateJournal>()
  const writing = new Set<Fiber.Fiber<void>>()
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const fiber of writing) fiber.interruptUnsafe()
    })
  )
  const flushAll = Effect.suspend(() => {
    const written = [...journals]
    journals.clear()
    return Effect.forEach(written, flush, { discard: true, concurrency: "unbounded" })
  })
  return (journal: UpdateJournal): void => {
    journals.add(journal)
    if (journals.size > 1) return
    const fiber = fork(Effect.andThen(Effect.yieldNow, flushAll))
    writing.add(fiber)
    fiber.addObserver(() => writing.delete(fiber))
  }
})
