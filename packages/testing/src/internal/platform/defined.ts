type Given<O> = { readonly [K in keyof O]: Exclude<O[K], null | undefined> }

/** The options that are given: absent and null are the same. */
export const defined = <O extends object>(options: O) =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value != null)) as Given<O>

/** The options that say something: null does. */
export const withoutUndefined = <O extends object>(options: O): O =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as O
