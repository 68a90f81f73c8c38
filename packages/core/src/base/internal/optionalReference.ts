import * as Context from "effect/Context"

/** A reference that has no value unless an effect provides one. */
export const optionalReference = <A>(key: string): Context.Reference<A | undefined> =>
  Context.Reference<A | undefined>(key, { defaultValue: () => undefined })
