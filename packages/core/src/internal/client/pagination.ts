import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"

/** Streams the elements of a list whose pages have the marker of the next page. */
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
  /** Number of pages in a row without a new element. */
  readonly idle: number
  /** The ids of elements that the next page can repeat, with their times. */
  readonly seen: ReadonlyMap<string, number>
}

/**
 * Streams the elements of a list backwards in time, latest first. Pages overlap by the millisecond of the oldest element,
 * so that no element of that millisecond is lost, and repeated elements are dropped. It does not matter whether the
 * platform includes the end of the requested time.
 */
export const byTime = <Item, E, R>(options: {
  readonly count: number
  readonly from: number | undefined
  readonly timeOf: (item: Item) => number
  readonly idOf: (item: Item) => string
  readonly fetch: (before: number | undefined) => Effect.Effect<ReadonlyArray<Item>, E, R>
}): Stream.Stream<Item, E, R> => {
  const { count, from, timeOf, idOf, fetch } = options
  const start: Position = { before: from, idle: 0, seen: new Map() }

  const next = ({ before, idle, seen }: Position, length: number, fresh: ReadonlyArray<Item>) => {
    if (fresh.length === 0) {
      // A full page of repeated elements is of one of two milliseconds. Both are skipped, and no more.
      return idle === 2 || length < count || before === undefined || before === 0
        ? Option.none()
        : Option.some({ before: before - 1, idle: idle + 1, seen })
    }
    const end = Math.min(...fresh.map(timeOf)) + 1
    const given = [...seen, ...fresh.map((item) => [idOf(item), timeOf(item)] as const)]
    return Option.some({
      before: Math.min(before ?? end, end),
      idle: 0,
      seen: new Map(given.filter(([, time]) => time <= end))
    })
  }

  return Stream.paginate(start, (position) =>
    Effect.map(fetch(position.before), (items) => {
      const fresh = items.filter((item) => !position.seen.has(idOf(item)))
      return [fresh, next(position, items.length, fresh)]
    })
  )
}
