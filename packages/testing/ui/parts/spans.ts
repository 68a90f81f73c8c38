import type { MarkupElement } from "@colloquy/core/model/Markup"

type Elements = ReadonlyArray<MarkupElement>

interface Span {
  readonly from: number
  readonly end: number
  readonly element: MarkupElement
}

/** Maximum number of spans of a text that are shown. */
const maxSpans = 500

const spansOf = (markup: Elements | null | undefined): ReadonlyArray<Span> =>
  (markup ?? [])
    .flatMap((element) =>
      "from" in element && Number.isInteger(element.from) && Number.isInteger(element.length)
        ? [{ from: element.from, end: element.from + element.length, element }]
        : []
    )
    .filter(({ end, from }) => from >= 0 && end > from)
    .sort((a, b) => a.from - b.from || b.end - a.end)
    .slice(0, maxSpans)

/**
 * Nests the markup of a text: the longest element that begins first is the outermost. An element that crosses another
 * is split. `leaf` shows a text without markup of its own, given the elements around the text, outermost first.
 */
export const nest = <A>(
  text: string,
  markup: Elements | null | undefined,
  leaf: (text: string, inside: Elements) => A,
  wrap: (element: MarkupElement, key: string, children: ReadonlyArray<A>) => A
): ReadonlyArray<A> => {
  const nestFrom = (from: number, end: number, spans: ReadonlyArray<Span>, inside: Elements): ReadonlyArray<A> => {
    const [first, ...rest] = spans
    if (first === undefined) return from < end ? [leaf(text.slice(from, end), inside)] : []
    const { element } = first
    const start = Math.max(from, first.from)
    const stop = Math.min(end, first.end)
    if (stop <= start) return nestFrom(from, end, rest, inside)
    const within = rest.filter((span) => span.from < stop && span.end > start)
    const after = rest.filter((span) => span.end > stop)
    // A quote is a block, which ends its line.
    const next = element.type === "quote" && text[stop] === "\n" ? stop + 1 : stop
    return [
      ...(start > from ? [leaf(text.slice(from, start), inside)] : []),
      wrap(element, `${start}-${stop}-${spans.length}`, nestFrom(start, stop, within, [...inside, element])),
      ...nestFrom(next, end, after, inside)
    ]
  }
  return nestFrom(0, text.length, spansOf(markup), [])
}
