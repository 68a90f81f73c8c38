import type { MarkupType } from "../../Markup.ts"
import * as Platform from "../../Platform.ts"
import * as Html from "../text/html.ts"
import { parse, type Parsed } from "../text/parse.ts"
import { concat, type FormattedText, slice } from "../text/spans.ts"

/** How the source of a text is read. */
export type Format = "markdown" | "plain"

/** What the source of a message holds: the text to show, or, if it is too long, its first part and the source of the rest. */
export interface Part {
  readonly text: FormattedText
  /** `undefined` if the text fits. */
  readonly rest: string | undefined
}

const limit = Platform.maxTextLength

/** A part has at most `limit` visible characters, and markup of about the same length in most sources. */
const windowLength = 3 * limit

const readPlain = (source: string): Parsed => ({
  text: source,
  spans: [],
  origins: Array.from({ length: source.length }, (_, index) => index),
  fences: []
})

const read = (source: string, format: Format, isPartial: boolean): Parsed =>
  format === "plain" ? readPlain(source) : parse(source, isPartial)

export const fits = (text: FormattedText): boolean => Html.render(text).length <= limit

/** Returns the greatest end of a text that fits. */
const greatestEnd = (text: FormattedText): number => {
  let low = 0
  let high = Math.min(limit, text.text.length)
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (fits(slice(text, 0, middle))) low = middle
    else high = middle - 1
  }
  return low
}

const isHighSurrogate = (text: string, index: number): boolean => /[\ud800-\udbff]/.test(text[index] ?? "")

const sentenceEnd = /[.!?\u2026]["'\u201d\u2019)\]]*$/
const fullWidthEnd = /[\u3002\uff01\uff1f]["'\u201d\u2019)\]]*$/

/** How good it is to end a part before the character at an index: after a paragraph, a line or a sentence, a word, or else. */
const qualityOf = ({ text }: Parsed, end: number): 4 | 3 | 2 | 1 => {
  const before = text.slice(Math.max(0, end - 8), end)
  if (text[end] === "\n") return /^\n\s*\n/.test(text.slice(end, end + 16)) ? 4 : 3
  if (fullWidthEnd.test(before)) return 3
  if (!/\s/.test(text[end] ?? "")) return 1
  return sentenceEnd.test(before) ? 3 : 2
}

/** For each index of the text, whether a span covers both of its sides. */
const coverOf = ({ spans, text }: Parsed): ReadonlyArray<boolean> => {
  const covered = Array.from({ length: text.length + 1 }, () => false)
  for (const { from, to } of spans) covered.fill(true, from + 1, to)
  return covered
}

/** Returns the best end of those that are allowed, or -1. Later ones are preferred. */
const bestEnd = (parsed: Parsed, from: number, to: number, isAllowed: (end: number) => boolean): number => {
  let best = -1
  let quality = 0
  for (let end = to; end > from; end--) {
    if (!isAllowed(end) || isHighSurrogate(parsed.text, end - 1)) continue
    const found = qualityOf(parsed, end)
    if (found > quality) [best, quality] = [end, found]
    if (quality === 4 || (quality === 3 && end < from + (to - from) / 2)) break
  }
  return best
}

const delimiters: { readonly [Type in MarkupType]?: string } = {
  strong: "**",
  emphasized: "*",
  strikethrough: "~~",
  underline: "++",
  highlighted: "^^"
}

/** What has to precede the rest, so that it is formatted as before, if a part ends inside of formatting. */
const reopen = ({ fences, spans }: Parsed, end: number): string => {
  const fence = fences.find(({ from, to }) => from < end && end < to)
  if (fence !== undefined) return `${fence.mark}\n`
  return spans.map(({ from, to, type }) => (from < end && end < to ? (delimiters[type] ?? "") : "")).join("")
}

const sourceAfter = (source: string, parsed: Parsed, end: number): string => {
  const { origins, text } = parsed
  // White space at the cut is dropped, but not the indentation of the next line.
  const space = /^\s*/.exec(text.slice(end))![0]
  const skipped = space.lastIndexOf("\n") >= 0 ? space.lastIndexOf("\n") + 1 : space.length
  const last = end + skipped - 1
  const next = skipped > 0 ? (origins[last] ?? source.length - 1) + 1 : (origins[end] ?? source.length)
  return source.slice(next)
}

/**
 * Reads the source of a message. A text that is too long is cut at the end of a paragraph, a line or a sentence, between
 * words, or anywhere else, in this order of preference; inside of formatting or a block of code only if they alone are too
 * long.
 */
export const takePart = (source: string, format: Format, isComplete: boolean): Part => {
  const window = source.slice(0, windowLength)
  const parsed = read(window, format, !isComplete || window !== source)
  if (window === source && fits(parsed)) return { text: parsed, rest: undefined }
  const to = greatestEnd(parsed)
  const covered = coverOf(parsed)
  const outside = (end: number): boolean => !covered[end]
  const inText = (end: number): boolean => outside(end) && qualityOf(parsed, end) > 1
  const inCode = (end: number): boolean => parsed.text[end] === "\n"
  let end = bestEnd(parsed, to >> 1, to, inText)
  if (end < 0) end = bestEnd(parsed, 0, to >> 1, inText)
  if (end < 0) end = bestEnd(parsed, to >> 1, to, outside)
  if (end < 0) end = bestEnd(parsed, 0, to, inCode)
  if (end < 0) end = bestEnd(parsed, 0, to, () => true)
  if (end <= 0) end = Math.max(1, to)
  const rest = sourceAfter(window, parsed, end) + source.slice(windowLength)
  return { text: slice(parsed, 0, parsed.text.slice(0, end).trimEnd().length), rest: reopen(parsed, end) + rest }
}

const ellipsis = "\u2026"

/** Shortens a text that is too long for a message. */
export const truncate = (text: FormattedText): FormattedText => {
  if (fits(text)) return text
  const end = Math.max(0, greatestEnd(text) - 1)
  return concat([slice(text, 0, isHighSurrogate(text.text, end - 1) ? end - 1 : end), { text: ellipsis, spans: [] }])
}
