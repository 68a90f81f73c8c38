import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { optionalReference } from "../../base/internal/optionalReference.ts"
import type { Prediction, RehearsedState } from "../Rehearsal.ts"
import { newerIn } from "./consumer/newer.ts"

/** Receives what would be done with stored data, in place of doing it. Default: none, outside of rehearsals. */
export const CurrentRehearsal = optionalReference<(prediction: Prediction) => void>(
  "@colloquy/core/Rehearsal/CurrentRehearsal"
)

/** Runs an effect that handles stored data. In a rehearsal, the prediction of the effect runs in its place. */
export const rehearsedBy = <A, E, R, E2, R2>(
  handled: Effect.Effect<A, E, R>,
  predict: Effect.Effect<Prediction, E2, R2>
): Effect.Effect<A | void, E | E2, R | R2> =>
  Effect.withFiber((fiber): Effect.Effect<A | void, E | E2, R | R2> => {
    const conclude = fiber.getRef(CurrentRehearsal)
    return conclude === undefined ? handled : Effect.map(predict, conclude)
  })

/** The data are as the program expects them. */
export const continues: Effect.Effect<Prediction> = Effect.succeed({ outcome: "continues" })

/** The value belongs to a chat, and the program looks for the value of a user, or the reverse. */
export const belongsElsewhere: Prediction = {
  outcome: "unhandled",
  detail: "the program has such values for something else, such as a chat in place of a user"
}

const missingService = /^Service not found: (.*?)(?: \(|$)/

/** The message of the failure of a rehearsal. */
export const predictionOf = (cause: Cause.Cause<unknown>): Prediction => {
  const newer = newerIn(cause)
  if (newer !== undefined) return { outcome: "newer", detail: newer }
  const error = Cause.squash(cause)
  const detail = error instanceof Error ? error.message : String(error)
  const service = missingService.exec(detail)?.[1]
  if (service !== undefined) return { outcome: "unknown", detail: `the service ${service} is missing` }
  // The emulator answers in place of the platform, so the failure of a call says nothing about the program.
  if (Predicate.hasProperty(error, "endpoint")) {
    return { outcome: "unknown", detail: `the call ${String(error.endpoint)} outside of a step failed` }
  }
  const isStale = ["StaleState", "StaleScene", "MalformedTimer", "MalformedPayload"].some((tag) =>
    Predicate.isTagged(error, tag)
  )
  return { outcome: isStale ? "stale" : "fails", detail }
}

/** States are no parts of a bot, so a tool puts a list under this key before it imports a program. */
export const statesKey = Symbol.for("@colloquy/core/Rehearsal/states")

/** Adds a state to the list of a tool, if there is one. */
export const announce = (state: RehearsedState): void => {
  const list: unknown = Reflect.get(globalThis, statesKey)
  if (Array.isArray(list)) list.push(state)
}
