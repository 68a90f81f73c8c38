import type { Span } from "../../Markup.ts"
import { type FormattedText, slice } from "./spans.ts"

type Render = (self: FormattedText) => string

const minLimit = 16

/** How far a grapheme may extend past the limit and still be recognized as one. */
const graphemeMargin = 64

/** Returns the ends of the graphemes within `reach` code units. */
const graphemeEnds = (text: string, from: number, reach: number): Array<number> => {
  const window = text.slice(from, from + reach + graphemeMargin)
  const ends: Array<number> = []
  for (const { index, segment } of new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(window)) {
    const end = index + segment.length
    if (end > reach) break
    ends.push(from + end)
  }
  return ends
}

/** Returns the ends of the code points within `reach` code units. */
const codePointEnds = (text: string, from: number, reach: number): Array<number> => {
  const ends: Array<number> = []
  let end = from
  for (const char of text.slice(from, from + reach + 1)) {
    end += char.length
    if (end - from > reach) break
    ends.push(end)
  }
  return ends
}

/** Skips the white space at a cut, but keeps the indentation of the next line. */
const skipSpace = (text: string, from: number): number => {
  const run = /\s*/y
  run.lastIndex = from
  const space = run.exec(text)![0]
  return from + (space.lastIndexOf("\n") + 1 || space.length)
}

const notSpace = /\S/g

const isBlankFrom = (text: string, from: number): boolean => {
  notSpace.lastIndex = from
  return !notSpace.test(text)
}

const trimEnd = (text: string, from: number, to: number): number => from + text.slice(from, to).trimEnd().length

const spaceAt = (text: string, from: number, to: number): string => {
  const start = trimEnd(text, from, to)
  return text.slice(start, skipSpace(text, start))
}

/** Yields the ends in the order of preference: after a paragraph, a line, a word in the second half, then any. */
function* preferredEnds(text: string, from: number, ends: ReadonlyArray<number>): Generator<number> {
  const last = ends[ends.length - 1]
  const half = from + (last - from) / 2
  for (const separator of [/\n\s*\n/, /\n/, /\s/]) {
    for (let i = ends.length - 1; i >= 0 && ends[i] > half; i--) {
      if (separator.test(spaceAt(text, from, ends[i]))) yield ends[i]
    }
  }
  for (let i = ends.length - 1; i >= 0; i--) yield ends[i]
}

/** Whether the markup of a span takes at most half of the limit. Other spans are dropped. */
const leavesHalf = (span: Span, limit: number, render: Render): boolean =>
  span.url === undefined || render({ text: "x", spans: [{ ...span, from: 0, to: 1 }] }).length <= limit / 2

export const split = (self: FormattedText, options: { readonly limit: number; readonly render: Render }) => {
  const limit = Math.max(minLimit, Math.floor(options.limit))
  const { render } = options
  const { text } = self
  const formatted = { text, spans: self.spans.filter((span) => leavesHalf(span, limit, render)) }
  const plain = { text, spans: [] }

  const fits = (source: FormattedText, from: number, to: number): boolean =>
    render(slice(source, from, trimEnd(text, from, to))).length <= limit

  /** Returns the best end of the part that starts at `from`, or `from` if no end fits. */
  const findEnd = (source: FormattedText, from: number, ends: ReadonlyArray<number>): number => {
    let low = 0
    let high = ends.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (fits(source, from, ends[middle])) low = middle + 1
      else high = middle
    }
    if (low === 0) return from
    // A shorter text can have longer markup, so each end is checked before it is used.
    for (const end of preferredEnds(text, from, ends.slice(0, low))) if (fits(source, from, end)) return end
    return from
  }

  const parts: Array<FormattedText> = []
  let from = 0
  while (from < text.length) {
    if (isBlankFrom(text, from)) break
    if (text.length - from <= limit && render(slice(formatted, from, text.length)).length <= limit) {
      parts.push(slice(formatted, from, text.length))
      break
    }
    // A part has at most `limit` characters, so it is looked for with the spans of these.
    const near = { text, spans: formatted.spans.filter((span) => span.from < from + limit && span.to > from) }
    const attempts = [
      [near, graphemeEnds(text, from, limit)],
      [near, codePointEnds(text, from, limit)],
      [plain, codePointEnds(text, from, limit)]
    ] as const
    let end = from
    for (const [source, ends] of attempts) {
      end = findEnd(source, from, ends)
      if (end === from) continue
      const part = slice(source, from, trimEnd(text, from, end))
      if (part.text !== "") parts.push(part)
      break
    }
    from = skipSpace(text, trimEnd(text, from, end))
  }
  return parts
}
