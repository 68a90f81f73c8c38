/** Every order of some values. */
export const permutations = <A>(values: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  values.length < 2
    ? [values]
    : values.flatMap((value, at) =>
        permutations([...values.slice(0, at), ...values.slice(at + 1)]).map((rest) => [value, ...rest])
      )
