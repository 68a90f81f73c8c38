import type { Span } from "../../Markup.ts"
import { type FormattedText, makeSpansNear, slice } from "./spans.ts"

type Ends = ReturnType<typeof makeEnds>

type Render = (self: FormattedText) => string

const minLimit = 16

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" })

/** The length up to which a grapheme may extend past the limit and still be recognized. */
const graphemeMargin = 64

/** Yields the ends of the graphemes within `reach` code units. */
function* graphemeEnds(text: string, from: number, reach: number): Generator<number> {
  const window = text.slice(from, from + reach + graphemeMargin)
  for (const { index, segment } of graphemes.segment(window)) {
    const end = index + segment.length
    if (end > reach) return
    yield from + end
  }
}

/** Yields the ends of the code points within `reach` code units. */
function* codePointEnds(text: string, from: number, reach: number): Generator<number> {
  let end = from
  for (const char of text.slice(from, from + reach + 1)) {
    end += char.length
    if (end - from > reach) return
    yield end
  }
}

/** Ends that are computed on demand. */
const makeEnds = (source: Iterator<number>) => {
  const ends: Array<number> = []
  let isComplete = false
  const extend = () => {
    const { done, value } = source.next()
    if (done) isComplete = true
    else ends.push(value)
  }
  return {
    ends,
    /** Returns the index of the last end at or before a position, otherwise of the first end. -1 if there is no end. */
    indexAt: (position: number): number => {
      while (!isComplete && (ends.length === 0 || ends[ends.length - 1] < position)) extend()
      const last = ends.findLastIndex((end) => end <= position)
      return Math.max(last, Math.min(0, ends.length - 1))
    },
    isLast: (index: number): boolean => {
      if (index === ends.length - 1 && !isComplete) extend()
      return index === ends.length - 1
    }
  }
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

  const lengthOf = (source: FormattedText, from: number, to: number): number =>
    render(slice(source, from, trimEnd(text, from, to))).length

  /** Returns the best end of the part that starts at `from`, or `from` if no end fits. `guess` is close to the result. */
  const findEnd = (source: FormattedText, from: number, { ends, indexAt, isLast }: Ends, guess: number): number => {
    let [low, lowLength] = [-1, 0]
    let [high, highLength] = [Infinity, Infinity]
    let index = indexAt(guess)
    // Between an end that fits and an end that does not, the next guess assumes that the markup is spread evenly.
    for (let step = 0; index >= 0; step++) {
      const length = lengthOf(source, from, ends[index])
      if (length <= limit) [low, lowLength] = [index, length]
      else [high, highLength] = [index, length]
      if (high - low <= 1 || (high === Infinity && isLast(low))) break
      if (high === Infinity) {
        const part = ends[low] - from
        index = Math.max(low + 1, indexAt(from + Math.ceil(part * Math.min(4, (limit / lowLength) * 1.05))))
      } else {
        const share = step % 3 === 2 ? 0.5 : (limit - lowLength) / (highLength - lowLength)
        index = Math.min(high - 1, Math.max(low + 1, low + Math.round((high - low) * share)))
      }
    }
    if (low < 0) return from
    // A shorter text can have longer markup, so each end is checked before its use.
    for (const end of preferredEnds(text, from, ends.slice(0, low + 1))) {
      if (end === ends[low] || lengthOf(source, from, end) <= limit) return end
    }
    return from
  }

  const spansNear = makeSpansNear(formatted.spans)

  const parts: Array<FormattedText> = []
  let from = 0
  let usual = limit
  while (from < text.length) {
    if (isBlankFrom(text, from)) break
    // A part has at most `limit` characters, so only the spans of these characters matter.
    const near = { text, spans: spansNear(from, from + limit) }
    if (text.length - from <= limit && render(slice(near, from, text.length)).length <= limit) {
      parts.push(slice(near, from, text.length))
      break
    }
    const attempts = [
      [near, graphemeEnds],
      [near, codePointEnds],
      [plain, codePointEnds]
    ] as const
    let end = from
    for (const [source, endsOf] of attempts) {
      end = findEnd(source, from, makeEnds(endsOf(text, from, limit)), from + usual)
      if (end === from) continue
      const part = slice(source, from, trimEnd(text, from, end))
      if (part.text !== "") parts.push(part)
      usual = Math.min(limit, end - from)
      break
    }
    from = skipSpace(text, trimEnd(text, from, end))
  }
  return parts
}
