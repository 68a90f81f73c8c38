import * as Spans from "./spans.ts"

export type Render = (self: Spans.Spanned) => string

const smallestLimit = 16

const clusterReach = 64

const graphemeEnds = (text: string, from: number, reach: number): Array<number> => {
  const window = text.slice(from, from + reach + clusterReach)
  const ends: Array<number> = []
  for (const { index, segment } of new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(window)) {
    const end = index + segment.length
    if (end > reach) break
    ends.push(from + end)
  }
  return ends
}

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

/** White space at a cut is dropped, but only with the last line break: the indentation of the next line stays. */
const afterGap = (text: string, from: number): number => {
  const run = /\s*/y
  run.lastIndex = from
  const gap = run.exec(text)![0]
  return from + (gap.lastIndexOf("\n") + 1 || gap.length)
}

const beforeGap = (text: string, from: number, to: number): number => from + text.slice(from, to).trimEnd().length

const gapAt = (text: string, from: number, to: number): string => {
  const start = beforeGap(text, from, to)
  return text.slice(start, afterGap(text, start))
}

/** Ends in the order of preference: paragraph, line and word in the last half of the part, then any. */
function* preferred(text: string, from: number, ends: ReadonlyArray<number>): Generator<number> {
  const last = ends[ends.length - 1]
  const half = from + (last - from) / 2
  for (const separator of [/\n\s*\n/, /\n/, /\s/]) {
    for (let i = ends.length - 1; i >= 0 && ends[i] > half; i--) {
      const gap = gapAt(text, from, ends[i])
      if (separator.test(gap)) yield ends[i]
    }
  }
  for (let i = ends.length - 1; i >= 0; i--) yield ends[i]
}

export const split = (self: Spans.Spanned, options: { readonly limit: number; readonly render: Render }) => {
  const limit = Math.max(smallestLimit, Math.floor(options.limit))
  const { render } = options
  const { text } = self
  const roomy = { text, spans: self.spans.filter((span) => leavesRoom(span, limit, render)) }
  const plain = { text, spans: [] }

  const fits = (source: Spans.Spanned, from: number, to: number): boolean =>
    render(Spans.slice(source, from, beforeGap(text, from, to))).length <= limit

  const cut = (source: Spans.Spanned, from: number, ends: ReadonlyArray<number>): number => {
    let low = 0
    let high = ends.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (fits(source, from, ends[middle])) low = middle + 1
      else high = middle
    }
    if (low === 0) return from
    // A shorter text can be the longer source, so every end is tried before it is taken.
    for (const end of preferred(text, from, ends.slice(0, low))) if (fits(source, from, end)) return end
    return from
  }

  const parts: Array<Spans.Spanned> = []
  let from = 0
  while (from < text.length) {
    if (text.slice(from).trim() === "") break
    if (text.length - from <= limit && render(Spans.slice(roomy, from, text.length)).length <= limit) {
      parts.push(Spans.slice(roomy, from, text.length))
      break
    }
    const attempts = [
      [roomy, graphemeEnds(text, from, limit)],
      [roomy, codePointEnds(text, from, limit)],
      [plain, codePointEnds(text, from, limit)]
    ] as const
    let end = from
    for (const [source, ends] of attempts) {
      end = cut(source, from, ends)
      if (end === from) continue
      const part = Spans.slice(source, from, beforeGap(text, from, end))
      if (part.text !== "") parts.push(part)
      break
    }
    from = afterGap(text, beforeGap(text, from, end))
  }
  return parts
}

const leavesRoom = (span: Spans.Span, limit: number, render: Render): boolean =>
  span.url === undefined || render({ text: "x", spans: [{ ...span, from: 0, to: 1 }] }).length <= limit / 2
