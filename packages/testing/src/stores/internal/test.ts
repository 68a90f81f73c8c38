import * as Effect from "effect/Effect"

/** Returns a test case with a title. */
export const test = <E extends Effect.Effect<unknown, unknown, unknown>>(
  name: string,
  body: () => Generator<E, void, never>
) => ({ name, effect: Effect.gen(body) })
