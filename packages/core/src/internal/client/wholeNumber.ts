import * as Effect from "effect/Effect"

/** An option of a program that must be a whole number above 0: any other is a mistake in the code. */
export const wholeNumber = (of: string, name: string, value: number): Effect.Effect<void> =>
  Number.isInteger(value) && value > 0
    ? Effect.void
    : Effect.die(new RangeError(`${of}: \`${name}\` must be a whole number above 0`))
