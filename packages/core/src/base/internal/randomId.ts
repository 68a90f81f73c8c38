import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

/** Returns an id that no other process has, for its leases and permits. */
export const randomId: Effect.Effect<string> = Effect.map(
  Effect.all([Random.nextInt, Random.nextInt]),
  ([first, second]) => first.toString(36) + second.toString(36)
)
