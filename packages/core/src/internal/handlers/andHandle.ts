import * as Effect from "effect/Effect"
import * as Handler from "../../Handler.ts"

/** What a handler gives for a value that an effect brings first. */
export const andHandle = <A, E, R, O extends Handler.Outcome>(
  value: Effect.Effect<A, E, R>,
  handler: (value: A) => O
): Effect.Effect<unknown, E | Effect.Error<O>, R | Effect.Services<O>> =>
  Effect.flatMap(
    value,
    (value) => (handler(value) ?? Handler.unhandled) as Effect.Effect<unknown, Effect.Error<O>, Effect.Services<O>>
  )
