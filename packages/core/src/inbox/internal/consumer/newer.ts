import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"

/** The key of the mark of an error about something that a newer program wrote. Its value says what. */
export const NewerTypeId = "~@colloquy/core/internal/updates/Newer"

/** Dies because a newer program wrote something. The update is no mistake, so it is left to a process with that program. */
export const newer = (what: string, version: number, own: number): Effect.Effect<never> => {
  const message = `${what} was written by a newer program, in version ${version}. This one has version ${own}.`
  return Effect.die(Object.assign(new Error(message), { [NewerTypeId]: message }))
}

const descriptionOf = (error: unknown): string | undefined => {
  const found = Predicate.hasProperty(error, NewerTypeId) ? error[NewerTypeId] : undefined
  return typeof found === "string" ? found : undefined
}

/** Returns what a newer program wrote, if that is why a handler failed. */
export const newerIn = (cause: Cause.Cause<unknown>): string | undefined => {
  for (const reason of cause.reasons) {
    const found = Cause.isFailReason(reason)
      ? descriptionOf(reason.error)
      : Cause.isDieReason(reason)
        ? descriptionOf(reason.defect)
        : undefined
    if (found !== undefined) return found
  }
  return undefined
}
