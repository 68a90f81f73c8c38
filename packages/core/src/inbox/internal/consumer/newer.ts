import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"

/** The key of the mark of an error about data that a newer program wrote. The value of the mark is the message. */
export const NewerTypeId = "~@colloquy/core/internal/updates/Newer"

/**
 * Dies because a newer program wrote data. The update is not at fault, so the update is left to a process with the
 * newer program.
 */
export const newer = (what: string, version: number, own: number): Effect.Effect<never> => {
  const message = `${what} was written by a newer program, in version ${version}. This one has version ${own}.`
  return Effect.die(Object.assign(new Error(message), { [NewerTypeId]: message }))
}

const descriptionOf = (error: unknown): string | undefined => {
  const found = Predicate.hasProperty(error, NewerTypeId) ? error[NewerTypeId] : undefined
  return typeof found === "string" ? found : undefined
}

/** Returns the message about data of a newer program, if a handler failed because of such data. */
export const newerIn = (cause: Cause.Cause<unknown>): string | undefined => {
  for (const reason of cause.reasons) {
    const error = Cause.isFailReason(reason) ? reason.error : Cause.isDieReason(reason) ? reason.defect : undefined
    const found = descriptionOf(error)
    if (found !== undefined) return found
  }
  return undefined
}
