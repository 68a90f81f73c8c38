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

/** The start of a page: a time, or the marker of the page before. */
interface Start {
  readonly before: number | undefined
  readonly marker: bigint | undefined
}

interface Page<Item> {
  readonly items: ReadonlyArray<Item>
  readonly marker?: bigint | null | undefined
}

interface Position extends Start {
  /** Number of pages in a row without a new element. */
  readonly idle: number
  /** The ids of elements that the next page can repeat, with their times. */
  readonly seen: ReadonlyMap<string, number>
  /** The millisecond after the oldest element. */
  readonly oldest: number
}

/** Numbers elements with the same id by their order, because elements without an id can be equal. */
const withIds = <Item>(items: ReadonlyArray<Item>, idOf: (item: Item) => string) => {
  const counts = new Map<string, number>()
  return items.map((item) => {
    const id = idOf(item)
    const count = counts.get(id) ?? 0
    counts.set(id, count + 1)
    return { item, id: `${id} ${count}` }
  })
}

/**
 * Streams the elements of a list backwards in time, latest first, by the marker of the page if present. Pages that are
 * requested by time overlap by the millisecond of the oldest element, so that no element of that millisecond is lost,
 * and repeated elements are dropped. The result does not depend on whether the platform includes the end of the
 * requested time.
 */
export const byTime = <Item, E, R>(options: {
  readonly count: number
  readonly from: number | undefined
  readonly timeOf: (item: Item) => number
  readonly idOf: (item: Item) => string
  readonly fetch: (start: Start) => Effect.Effect<Page<Item>, E, R>
}): Stream.Stream<Item, E, R> => {
  const { count, from, timeOf, idOf, fetch } = options
  const start: Position = { before: from, marker: undefined, idle: 0, seen: new Map(), oldest: Infinity }

  const next = (
    { before, idle, marker, oldest, seen }: Position,
    page: Page<Item>,
    fresh: ReadonlyArray<{ readonly item: Item; readonly id: string }>
  ): Option.Option<Position> => {
    const end = Math.min(oldest, ...fresh.map(({ item }) => timeOf(item) + 1))
    if (fresh.length === 0) {
      // The platform ignored the marker.
      if (marker !== undefined && page.items.length > 0) {
        return Option.some({ before: Math.min(before ?? end, end), marker: undefined, idle, seen, oldest })
      }
      // A full page of repeated elements is of one of two milliseconds. Only these two milliseconds are skipped.
      return marker !== undefined || idle === 2 || page.items.length < count || before === undefined || before === 0
        ? Option.none()
        : Option.some({ before: before - 1, marker: undefined, idle: idle + 1, seen, oldest })
    }
    // The list has markers, and this was its last page.
    if (marker !== undefined && page.marker == null) return Option.none()
    const known = [...seen, ...fresh.map(({ id, item }) => [id, timeOf(item)] as const)]
    const position = { idle: 0, oldest: end, seen: new Map(known.filter(([, time]) => time <= end)) }
    return Option.some(
      page.marker == null
        ? { ...position, before: Math.min(before ?? end, end), marker: undefined }
        : { ...position, before, marker: page.marker }
    )
  }

  return Stream.paginate(start, (position) =>
    Effect.map(fetch(position), (page) => {
      const fresh = withIds(page.items, idOf).filter(({ id }) => !position.seen.has(id))
      return [fresh.map(({ item }) => item), next(position, page, fresh)]
    })
  )
}
