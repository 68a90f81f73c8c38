import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

/** Makes the name under which a process holds leases, which no other process has. */
export const makeLeaseOwner: Effect.Effect<string> = Effect.map(
  Effect.all([Random.nextInt, Random.nextInt]),
  ([first, second]) => first.toString(36) + second.toString(36)
)
