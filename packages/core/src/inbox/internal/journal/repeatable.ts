import * as Effect from "effect/Effect"
import { CurrentUpdate } from "../consumer/currentUpdate.ts"

/** Makes a repetition of an effect after a failure, in the same attempt, the same calls as the first run. */
export const repeatable = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  const self: Effect.Effect<A, E, R> = Effect.withFiber((fiber) => {
    const journal = fiber.getRef(CurrentUpdate)?.journal
    return journal === undefined ? effect : journal.scope("handler", self, effect)
  })
  return self
}
