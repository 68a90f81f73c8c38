import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"

/** The elements of a list whose pages lead on by a marker, fetched as they are pulled. */
export const byMarker = <Item, E, R>(
  fetch: (
    marker: bigint | undefined
  ) => Effect.Effect<{ readonly items: ReadonlyArray<Item>; readonly marker: bigint | null | undefined }, E, R>
): Stream.Stream<Item, E, R> =>
  Stream.paginate(undefined as bigint | undefined, (current) =>
    Effect.map(fetch(current), ({ items, marker }) => [
      items,
      marker == null || marker === current || items.length === 0 ? Option.none() : Option.some(marker)
    ])
  )

interface Position {
  readonly before: number | undefined
  readonly seen: ReadonlySet<string>
}

/**
 * The elements of a list that is read backwards in time, latest first. Pages overlap by the millisecond of the oldest
 * element, so that none of the same time is lost; what was given already is left out.
 */
export const byTime = <Item, E, R>(options: {
  readonly count: number
  readonly from: number | undefined
  readonly timeOf: (item: Item) => number
  readonly idOf: (item: Item) => string
  readonly fetch: (before: number | undefined) => Effect.Effect<ReadonlyArray<Item>, E, R>
}): Stream.Stream<Item, E, R> => {
  const { count, from, timeOf, idOf, fetch } = options
  const start: Position = { before: from, seen: new Set() }

  const next = ({ before, seen }: Position, items: ReadonlyArray<Item>, fresh: ReadonlyArray<Item>) => {
    if (fresh.length === 0) {
      return items.length < count || before === undefined ? Option.none() : Option.some({ before: before - 1, seen })
    }
    const oldest = Math.min(...fresh.map(timeOf))
    const kept = [...items, ...fresh].filter((item) => timeOf(item) === oldest).map(idOf)
    return Option.some({ before: oldest + 1, seen: new Set(kept) })
  }

  return Stream.paginate(start, (position) =>
    Effect.map(fetch(position.before), (items) => {
      const fresh = items.filter((item) => !position.seen.has(idOf(item)))
      return [fresh, next(position, items, fresh)]
    })
  )
}
