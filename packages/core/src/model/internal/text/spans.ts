import type { MarkupType, Span } from "../../Markup.ts"

/** The part of a `Text` that is computed here. `Text` itself imports this file. */
export interface FormattedText {
  readonly text: string
  readonly spans: ReadonlyArray<Span>
}

/**
 * The element of HTML and the opening delimiter of markdown for each type of markup. Of spans that cover the same range,
 * the first type is the outermost.
 *
 * @assumption markupSyntax
 */
export const syntax: Record<MarkupType, { readonly tag: string; readonly delimiter: string }> = {
  quote: { tag: "blockquote", delimiter: "" },
  heading: { tag: "h1", delimiter: "" },
  link: { tag: "a", delimiter: "[" },
  user_mention: { tag: "a", delimiter: "[" },
  strong: { tag: "b", delimiter: "**" },
  emphasized: { tag: "i", delimiter: "_" },
  strikethrough: { tag: "s", delimiter: "~~" },
  underline: { tag: "u", delimiter: "++" },
  highlighted: { tag: "mark", delimiter: "^^" },
  monospaced: { tag: "code", delimiter: "`" }
}

const order: Record<string, number> = /* @__PURE__ */ Object.fromEntries(
  Object.keys(syntax).map((type, index) => [type, index])
)

export const isMarkupType = (type: string): type is MarkupType => Object.hasOwn(syntax, type)

export const isBlock = (type: MarkupType): boolean => type === "quote" || type === "heading"

export const isLink = (type: MarkupType): boolean => type === "link" || type === "user_mention"

// A span is always inside spans of a lower level: blocks enclose everything, and monospaced text encloses nothing.
const nestingLevel = (type: MarkupType): number => (isBlock(type) ? order[type] : type === "monospaced" ? 3 : 2)

export const hasSameFormat = (a: Span, b: Span): boolean =>
  a.type === b.type && a.url === b.url && a.user_id === b.user_id

const compare = (a: Span, b: Span): number => a.from - b.from || b.to - a.to || order[a.type] - order[b.type]

/** Sorts the spans, removes empty spans, and merges spans of the same format that touch. */
export const normalize = (spans: ReadonlyArray<Span>): ReadonlyArray<Span> => {
  const out: Array<Span> = []
  const lastIndex = new Map<string, number>()
  for (const span of spans.filter((span) => span.from < span.to).sort(compare)) {
    const key = `${span.type} ${span.user_id ?? ""} ${span.url ?? ""}`
    const index = lastIndex.get(key)
    if (index !== undefined && out[index].to >= span.from) {
      out[index] = { ...out[index], to: Math.max(out[index].to, span.to) }
    } else {
      lastIndex.set(key, out.length)
      out.push(span)
    }
  }
  return out.sort(compare)
}

/** Returns the parts of a link that no other link covers. Links do not nest: the inner link is kept. */
const outsideLinks = (spans: ReadonlyArray<Span>, link: Span): ReadonlyArray<Span> => {
  const parts: Array<Span> = []
  let from = link.from
  for (const inner of spans) {
    if (!isLink(inner.type)) continue
    if (inner.from > from) parts.push({ ...link, from, to: Math.min(inner.from, link.to) })
    from = Math.max(from, inner.to)
  }
  parts.push({ ...link, from })
  return parts
}

/** Returns the parts of links that no earlier link of the list covers, in time proportional to their number. */
export const separateLinks = (links: ReadonlyArray<Span>): ReadonlyArray<Span> => {
  const positions = [...new Set(links.flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b)
  const indexes = new Map(positions.map((position, index) => [position, index]))
  const owners: Array<Span | undefined> = positions.map(() => undefined)
  // The index of an uncovered position at or after each position.
  const free = positions.map((_, index) => index)
  const findFree = (index: number): number => {
    let found = index
    while (free[found] !== found) found = free[found] = free[free[found]]
    return found
  }
  for (const link of links) {
    const end = indexes.get(link.to)!
    for (let index = findFree(indexes.get(link.from)!); index < end; index = findFree(index)) {
      owners[index] = link
      free[index] = index + 1
    }
  }
  return owners.flatMap((link, index) =>
    link === undefined ? [] : [{ ...link, from: positions[index], to: positions[index + 1] }]
  )
}

export const addSpan = (self: FormattedText, span: Span): FormattedText => ({
  text: self.text,
  spans: normalize([...self.spans, ...(isLink(span.type) ? outsideLinks(self.spans, span) : [span])])
})

/** Concatenates texts. A block gets the line breaks that are missing before and after it. */
export const concat = (parts: Iterable<FormattedText>): FormattedText => {
  const texts: Array<string> = []
  const spans: Array<Span> = []
  let offset = 0
  let endsLine = true
  let endsBlock = false
  for (const part of parts) {
    if (part.text === "") continue
    const startsBlock = part.spans.some((span) => span.from === 0 && isBlock(span.type))
    if (!endsLine && (startsBlock || (endsBlock && !part.text.startsWith("\n")))) {
      texts.push("\n")
      offset++
    }
    for (const span of part.spans) spans.push({ ...span, from: span.from + offset, to: span.to + offset })
    texts.push(part.text)
    offset += part.text.length
    endsLine = part.text.endsWith("\n")
    endsBlock = part.spans.some((span) => span.to === part.text.length && isBlock(span.type))
  }
  return { text: texts.join(""), spans: normalize(spans) }
}

/** Returns the parts of the spans inside a range, relative to its start. */
export const clip = (spans: ReadonlyArray<Span>, from: number, to: number): Array<Span> => {
  const out: Array<Span> = []
  for (const span of spans) {
    if (span.from < to && span.to > from) {
      out.push({ ...span, from: Math.max(span.from, from) - from, to: Math.min(span.to, to) - from })
    }
  }
  return out
}

export const slice = (self: FormattedText, from: number, to: number): FormattedText => ({
  text: self.text.slice(from, to),
  spans: clip(self.spans, from, to)
})

/** Returns the spans that touch a range. The ranges must not go back from call to call. */
export const makeSpansNear = (spans: ReadonlyArray<Span>) => {
  let next = 0
  let near: Array<Span> = []
  return (from: number, to: number): ReadonlyArray<Span> => {
    near = near.filter((span) => span.to > from)
    for (; next < spans.length && spans[next].from < to; next++) if (spans[next].to > from) near.push(spans[next])
    return near
  }
}

/** Whether the spans nest already, as most do. */
const isNested = (spans: ReadonlyArray<Span>): boolean => {
  const open: Array<Span> = []
  for (const span of spans) {
    while (open.length > 0 && open[open.length - 1].to <= span.from) open.pop()
    const outer = open.at(-1)
    if (outer !== undefined && (span.to > outer.to || nestingLevel(span.type) < nestingLevel(outer.type))) return false
    open.push(span)
  }
  return true
}

/**
 * Splits overlapping spans into spans that nest properly, in the order in which they open. A span is split where an
 * overlapping span has to enclose it.
 */
export const nest = (spans: ReadonlyArray<Span>): ReadonlyArray<Span> => {
  if (isNested(spans)) return spans
  const nested: Array<Span> = []
  const stack: Array<{ readonly span: Span; readonly index: number }> = []
  const positions = [...new Set(spans.flatMap((span) => [span.from, span.to]))].sort((a, b) => a - b)
  let next = 0
  for (const position of positions) {
    const opening: Array<Span> = []
    const close = () => {
      const { index, span } = stack.pop()!
      nested[index] = { ...nested[index], to: position }
      if (span.to > position) opening.push(span)
    }
    const firstEnded = stack.findIndex(({ span }) => span.to === position)
    while (firstEnded >= 0 && stack.length > firstEnded) close()
    while (next < spans.length && spans[next].from === position) opening.push(spans[next++])
    const lowestLevel = Math.min(...opening.map((span) => nestingLevel(span.type)))
    while (stack.length > 0 && nestingLevel(stack[stack.length - 1].span.type) > lowestLevel) close()
    opening.sort((a, b) => nestingLevel(a.type) - nestingLevel(b.type) || b.to - a.to || order[a.type] - order[b.type])
    for (const span of opening) {
      stack.push({ span, index: nested.length })
      nested.push({ ...span, from: position })
    }
  }
  return nested
}

/**
 * Writes the text of nested spans, with the marks at their ends. `text` is called with each range between two marks, and
 * with the spans that are open in the range.
 */
export const writeNested = <A extends Span>(
  nested: ReadonlyArray<A>,
  length: number,
  write: {
    readonly text: (from: number, to: number, open: ReadonlyArray<A>) => string
    readonly opening: (span: A) => string
    readonly closing: (span: A) => string
  }
): string => {
  let out = ""
  let written = 0
  const open: Array<A> = []
  const writeTo = (position: number) => {
    out += write.text(written, position, open)
    written = position
  }
  const closeUntil = (position: number) => {
    while (open.length > 0 && open[open.length - 1].to <= position) {
      writeTo(open[open.length - 1].to)
      out += write.closing(open.pop()!)
    }
  }
  for (const span of nested) {
    closeUntil(span.from)
    writeTo(span.from)
    out += write.opening(span)
    open.push(span)
  }
  closeUntil(length)
  writeTo(length)
  return out
}
