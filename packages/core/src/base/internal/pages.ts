import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"

/** Emits the entries of all pages. `page` returns at most `limit` entries after an entry, and fewer on the last page. */
export const pages = <A, E, R>(
  limit: number,
  page: (after: A | undefined) => Effect.Effect<ReadonlyArray<A>, E, R>
): Stream.Stream<A, E, R> =>
  Stream.paginate(undefined as A | undefined, (after) =>
    Effect.map(page(after), (entries) => {
      const last = entries.length < limit ? Option.none() : Option.some(entries.at(-1))
      return [entries, last] as const
    })
  )
