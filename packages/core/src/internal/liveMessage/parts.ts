import type { MarkupType } from "../../Markup.ts"
import * as Platform from "../../Platform.ts"
import * as Html from "../text/html.ts"
import { parse, type Parsed } from "../text/parse.ts"
import { concat, type FormattedText, slice } from "../text/spans.ts"

/** How the source of a text is read. In a comment, links have to be shown as text. */
export type Format = "markdown" | "plain" | "comment"

/** What the source of a message holds: the text to show, or, if it is too long, its first part and the source of the rest. */
export interface Part {
  readonly text: FormattedText
  /** `undefined` if the text fits. */
  readonly rest: string | undefined
  /** The marks at the beginning of the rest that are not in the source. Default: none. */
  readonly reopened?: string | undefined
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

/** Shows the address of a link behind its text. */
const withAddresses = ({ spans, text }: FormattedText): FormattedText => {
  const parts: Array<FormattedText> = []
  const links = spans.filter(({ type }) => type === "link")
  const others = { text, spans: spans.filter(({ type }) => type !== "link" && type !== "user_mention") }
  let from = 0
  for (const link of links) {
    const to = Math.max(from, link.to)
    parts.push(slice(others, from, to))
    if (link.url !== undefined && !link.url.includes(text.slice(link.from, link.to).trim())) {
      parts.push({ text: ` (${link.url})`, spans: [] })
    }
    from = to
  }
  return concat([...parts, slice(others, from, text.length)])
}

const toShown = (text: FormattedText, format: Format): FormattedText =>
  format === "comment" ? withAddresses(text) : text

export const fits = (text: FormattedText, format: Format = "markdown"): boolean =>
  Html.render(toShown(text, format)).length <= limit

/** Returns the greatest end of a text that fits. */
const greatestEnd = (text: FormattedText, format: Format = "markdown"): number => {
  let low = 0
  let high = Math.min(limit, text.text.length)
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (fits(slice(text, 0, middle), format)) low = middle
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

/** The shortest text, with its markup, that ends before it is too long. */
const longEnough = 0.6 * limit

/** How much of what was added may be left for the next message: little at first, and more when the text is almost too long. */
const leftOf = (length: number): number => (length < 0.75 * limit ? 1 / 12 : length < 0.9 * limit ? 1 / 6 : 1 / 3)

const cutAt = (source: string, parsed: Parsed, end: number, window: string): Part => {
  const reopened = reopen(parsed, end)
  return {
    text: slice(parsed, 0, parsed.text.slice(0, end).trimEnd().length),
    rest: reopened + sourceAfter(window, parsed, end) + source.slice(window.length),
    reopened
  }
}

/**
 * Ends a long text before it is too long where a sentence ends that leaves little for the next message. What is shown then
 * stays in its message. `shown` is the length of the text that is shown: the less was added, the less may be left.
 */
const endEarly = (source: string, parsed: Parsed, shown: number): Part | undefined => {
  const rendered = Html.render(parsed).length
  if (rendered < longEnough) return undefined
  const { length } = parsed.text
  const from = Math.max(shown, length - Math.floor((length - shown) * leftOf(rendered)))
  const covered = coverOf(parsed)
  const end = bestEnd(parsed, from, length - 1, (end) => !covered[end] && qualityOf(parsed, end) >= 3)
  return end < 0 || parsed.text.slice(end).trim() === "" ? undefined : cutAt(source, parsed, end, source)
}

/**
 * Reads the source of a message. A text that is too long is cut at the end of a paragraph, a line or a sentence, between
 * words, or anywhere else, in this order of preference; inside of formatting or a block of code only if they alone are too
 * long. While a text grows, and `shown` is the length of what is shown, it may be cut before that.
 */
export const takePart = (source: string, format: Format, isComplete: boolean, shown?: number): Part => {
  const part = takeParsed(source, format, isComplete, shown)
  return format === "comment" ? { ...part, text: withAddresses(part.text) } : part
}

const takeParsed = (source: string, format: Format, isComplete: boolean, shown: number | undefined): Part => {
  const window = source.slice(0, windowLength)
  const parsed = read(window, format, !isComplete || window !== source)
  if (window === source && fits(parsed, format)) {
    const early = isComplete || shown === undefined ? undefined : endEarly(source, parsed, shown)
    return early ?? { text: parsed, rest: undefined }
  }
  const to = greatestEnd(parsed, format)
  const covered = coverOf(parsed)
  const outside = (end: number): boolean => !covered[end]
  const inText = (end: number): boolean => outside(end) && qualityOf(parsed, end) > 1
  const inCode = (end: number): boolean => parsed.text[end] === "\n"
  // What is shown stays in its message if possible.
  let end = bestEnd(parsed, Math.min(shown ?? to, to), to, (end) => outside(end) && qualityOf(parsed, end) >= 3)
  if (end < 0) end = bestEnd(parsed, to >> 1, to, inText)
  if (end < 0) end = bestEnd(parsed, 0, to >> 1, inText)
  if (end < 0) end = bestEnd(parsed, to >> 1, to, outside)
  if (end < 0) end = bestEnd(parsed, 0, to, inCode)
  if (end < 0) end = bestEnd(parsed, 0, to, () => true)
  return cutAt(source, parsed, end <= 0 ? Math.max(1, to) : end, window)
}

const ellipsis = "\u2026"

/** Shortens a text that is too long for a message. */
export const truncate = (text: FormattedText): FormattedText => {
  if (fits(text)) return text
  const end = Math.max(0, greatestEnd(text) - 1)
  return concat([slice(text, 0, isHighSurrogate(text.text, end - 1) ? end - 1 : end), { text: ellipsis, spans: [] }])
}
