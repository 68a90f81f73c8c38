import * as Arr from "effect/Array"

/** The number of rows of a statement is one of these, so that few statements have to be prepared. */
const insertSizes = [256, 128, 64, 32, 16, 8, 4, 2, 1]

/** Divides rows between `INSERT` statements. */
export const toInserts = <A>(values: ReadonlyArray<A>): ReadonlyArray<Arr.NonEmptyReadonlyArray<A>> => {
  const inserts: Array<Arr.NonEmptyReadonlyArray<A>> = []
  let rest = values
  for (const size of insertSizes) {
    for (; rest.length >= size; rest = rest.slice(size)) {
      const rows = rest.slice(0, size)
      if (Arr.isReadonlyArrayNonEmpty(rows)) inserts.push(rows)
    }
  }
  return inserts
}
