import type { MarkupElement } from "@colloquy/core/model/Markup"

interface Span {
  readonly from: number
  readonly end: number
  readonly element: MarkupElement
}

/** Maximum number of spans of a text that are shown. */
const maxSpans = 500

const spansOf = (markup: ReadonlyArray<MarkupElement> | null | undefined): ReadonlyArray<Span> =>
  (markup ?? [])
    .flatMap((element) =>
      "from" in element && Number.isInteger(element.from) && Number.isInteger(element.length)
        ? [{ from: element.from, end: element.from + element.length, element }]
        : []
    )
    .filter(({ end, from }) => from >= 0 && end > from)
    .sort((a, b) => a.from - b.from || b.end - a.end)
    .slice(0, maxSpans)

/** Shows a text without markup of its own. `inside` are the elements around the text, outermost first. */
type Leaf<A> = (text: string, inside: ReadonlyArray<MarkupElement>) => A

type Wrap<A> = (element: MarkupElement, key: string, children: ReadonlyArray<A>) => A

const nestFrom = <A>(
  text: string,
  from: number,
  end: number,
  spans: ReadonlyArray<Span>,
  leaf: Leaf<A>,
  wrap: Wrap<A>,
  inside: ReadonlyArray<MarkupElement>
): ReadonlyArray<A> => {
  const [first, ...rest] = spans
  if (first === undefined) return from < end ? [leaf(text.slice(from, end), inside)] : []
  const start = Math.max(from, first.from)
  const stop = Math.min(end, first.end)
  if (stop <= start) return nestFrom(text, from, end, rest, leaf, wrap, inside)
  const within = rest.filter((span) => span.from < stop && span.end > start)
  const after = rest.filter((span) => span.end > stop)
  // A quote is a block, which ends its line.
  const next = first.element.type === "quote" && text[stop] === "\n" ? stop + 1 : stop
  return [
    ...(start > from ? [leaf(text.slice(from, start), inside)] : []),
    wrap(
      first.element,
      `${start}-${stop}-${spans.length}`,
      nestFrom(text, start, stop, within, leaf, wrap, [...inside, first.element])
    ),
    ...nestFrom(text, next, end, after, leaf, wrap, inside)
  ]
}

/**
 * Nests the markup of a text: the longest element that begins first is the outermost. An element that crosses another
 * is split.
 */
export const nest = <A>(
  text: string,
  markup: ReadonlyArray<MarkupElement> | null | undefined,
  leaf: Leaf<A>,
  wrap: Wrap<A>
): ReadonlyArray<A> => nestFrom(text, 0, text.length, spansOf(markup), leaf, wrap, [])
