import type { MarkupType } from "../../../model/Markup.ts"
import * as Platform from "../../../base/Platform.ts"
import * as Html from "../../../model/internal/text/html.ts"
import { parse, type Parsed } from "../../../model/internal/text/parse.ts"
import { concat, type FormattedText, slice } from "../../../model/internal/text/spans.ts"

/** How the source of a text is read. In a comment, links have to be shown as text. */
export type Format = "markdown" | "plain" | "comment"

/** Where the next message begins. */
export interface Rest {
  /** Where its text begins in the source. */
  readonly at: number
  /** Where the source is read from: the block that contains `at`, so that formatting which is open there continues. */
  readonly from: number
  /** The text that precedes the source instead, if the block is very long. This text is not shown. */
  readonly reopened: string
}

/** The part of a source that one message shows, and the beginning of the next message if the source is too long. */
export interface Part {
  readonly text: FormattedText
  /** `undefined` if the text fits. */
  readonly rest: Rest | undefined
}

const limit = Platform.maxTextLength

/**
 * How much of the source is read: a part has at most `limit` visible characters, and markup of about the same length in most
 * sources.
 */
const windowLength = 6 * limit

/** How much of a block that earlier messages have shown is read again. */
const maxShown = 6 * limit

export const isHighSurrogate = (text: string, index: number): boolean => /[\ud800-\udbff]/.test(text[index] ?? "")

/** The indexes of a text that can have many thousands of characters. */
const indexesOf = ({ length }: string): ReadonlyArray<number> => {
  const indexes: Array<number> = []
  for (let index = 0; index < length; index++) indexes.push(index)
  return indexes
}

const readPlain = (source: string): Parsed => ({
  text: source,
  spans: [],
  origins: indexesOf(source),
  fences: [],
  blocks: [],
  undecided: source.length
})

/** Returns the text after an index. */
const after = (parsed: Parsed, index: number): Parsed => ({
  ...slice(parsed, index, parsed.text.length),
  origins: parsed.origins.slice(index),
  fences: parsed.fences.flatMap(({ from, mark, to }) =>
    to > index ? [{ from: Math.max(from, index) - index, to: to - index, mark }] : []
  ),
  blocks: parsed.blocks,
  undecided: Math.max(0, parsed.undecided - index)
})

/** Reads the text of a source from `at` on. */
const read = (source: string, at: number, format: Format, isPartial: boolean): Parsed => {
  // The rest of an emoji may follow.
  const whole = isPartial && isHighSurrogate(source, source.length - 1) ? source.slice(0, -1) : source
  const wellFormed = whole.toWellFormed()
  const parsed = format === "plain" ? readPlain(wellFormed) : parse(wellFormed, isPartial)
  const first = parsed.origins.findIndex((origin) => origin >= at)
  return at === 0 ? parsed : after(parsed, first < 0 ? parsed.text.length : first)
}

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

const sentenceEnd = /[.!?\u2026]["'\u201d\u2019)\]]*$/
const fullWidthEnd = /[\u3002\uff01\uff1f]["'\u201d\u2019)\]]*$/

/**
 * The rank of an end before the character at an index: after a paragraph, a line or a sentence, a word, or elsewhere.
 */
const qualityOf = ({ text }: Parsed, end: number): 4 | 3 | 2 | 1 => {
  const before = text.slice(Math.max(0, end - 8), end)
  if (text[end] === "\n") return /^\n\s*\n/.test(text.slice(end, end + 16)) ? 4 : 3
  if (fullWidthEnd.test(before)) return 3
  if (!/\s/.test(text[end] ?? "")) return 1
  return sentenceEnd.test(before) ? 3 : 2
}

/** Whether a span covers both sides of an index. */
const isCovered = ({ spans }: Parsed, index: number): boolean =>
  spans.some(({ from, to }) => from < index && index < to)

/** Returns the best allowed end, or -1. Later ends are preferred. */
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

/**
 * The markup that has to precede the rest, so that the rest is formatted as before, if a part ends inside of
 * formatting.
 */
const reopen = ({ fences, spans }: Parsed, end: number): string => {
  const fence = fences.find(({ from, to }) => from < end && end < to)
  if (fence !== undefined) return `${fence.mark}\n`
  const covering = spans.filter(({ from, to }) => from < end && end < to)
  const quote = covering.some(({ type }) => type === "quote") ? "> " : ""
  return quote + covering.map(({ type }) => delimiters[type] ?? "").join("")
}

/** Where the next message begins if a part ends at `end`. */
const restAfter = (parsed: Parsed, end: number): Rest => {
  const { blocks, origins, text } = parsed
  // White space at the cut is dropped, but not the indentation of the next line.
  const space = /^\s*/.exec(text.slice(end))![0]
  const next = end + (space.lastIndexOf("\n") + 1 || space.length)
  const at = origins[next - 1] + 1
  const from = blocks.findLast((block) => block <= at) ?? at
  if (at - from <= maxShown) return { at, from, reopened: "" }
  const first = origins[next] ?? at
  return { at: first, from: first, reopened: reopen(parsed, end) }
}

/** The shortest text, with its markup, that ends before the limit. */
const longEnough = 0.6 * limit

/**
 * The share of the added text that may be left for the next message: little at first, and more when the text is almost
 * too long.
 */
const leftOf = (length: number): number => (length < 0.75 * limit ? 1 / 12 : length < 0.9 * limit ? 1 / 6 : 1 / 3)

const cutAt = (parsed: Parsed, end: number): Part => ({
  text: slice(parsed, 0, parsed.text.slice(0, end).trimEnd().length),
  rest: restAfter(parsed, end)
})

/**
 * Ends a long text before the limit, at the end of a sentence that leaves little text for the next message. Shown text
 * then stays in its message. `shown` is the length of the shown text: the less text was added, the less text may be
 * left.
 */
const endEarly = (parsed: Parsed, shown: number): Part | undefined => {
  const rendered = Html.render(parsed).length
  if (rendered < longEnough) return undefined
  const { length } = parsed.text
  const from = Math.max(shown, length - Math.floor((length - shown) * leftOf(rendered)))
  const end = bestEnd(
    parsed,
    from,
    Math.min(length - 1, parsed.undecided),
    (end) => !isCovered(parsed, end) && qualityOf(parsed, end) >= 3
  )
  return end < 0 || parsed.text.slice(end).trim() === "" ? undefined : cutAt(parsed, end)
}

export interface ReadOptions {
  readonly format: Format
  readonly isComplete: boolean
  /** Where the text of the message begins in the source. Earlier messages have shown the text before. Default: 0. */
  readonly at?: number
  /** The length of the shown text, while the text grows. Default: the text is cut only if the text is too long. */
  readonly shown?: number | undefined
}

/**
 * Reads the source of a message. A text that is too long is cut at the end of a paragraph, a line or a sentence,
 * between words, or anywhere else, in this order of preference. Formatting or a block of code is cut only if it alone
 * is too long. While a text grows, and `shown` is the length of the shown text, the text may be cut before that.
 */
export const takePart = (source: string, options: ReadOptions): Part => {
  const part = takeParsed(source, options)
  return options.format === "comment" ? { ...part, text: withAddresses(part.text) } : part
}

const takeParsed = (source: string, { at = 0, format, isComplete, shown }: ReadOptions): Part => {
  const window = source.slice(0, at + windowLength)
  const parsed = read(window, at, format, !isComplete || window !== source)
  if (window === source && fits(parsed, format)) {
    const early = isComplete || shown === undefined ? undefined : endEarly(parsed, shown)
    return early ?? { text: parsed, rest: undefined }
  }
  const to = greatestEnd(parsed, format)
  const outside = (end: number): boolean => !isCovered(parsed, end)
  const inText = (end: number): boolean => outside(end) && qualityOf(parsed, end) > 1
  const inCode = (end: number): boolean => parsed.text[end] === "\n"
  const decided = Math.min(to, parsed.undecided)
  // Shown text stays in its message if possible.
  let end = bestEnd(parsed, Math.min(shown ?? to, to), decided, (end) => outside(end) && qualityOf(parsed, end) >= 3)
  if (end < 0) end = bestEnd(parsed, to >> 1, decided, inText)
  if (end < 0) end = bestEnd(parsed, to >> 1, to, inText)
  if (end < 0) end = bestEnd(parsed, 0, to >> 1, inText)
  if (end < 0) end = bestEnd(parsed, to >> 1, to, outside)
  if (end < 0) end = bestEnd(parsed, to >> 1, to, inCode)
  if (end < 0) end = bestEnd(parsed, to >> 1, to, () => true)
  return cutAt(parsed, end <= 0 ? Math.max(1, to) : end)
}

const ellipsis = "\u2026"

/** Shortens a text that is too long for a message. */
export const truncate = (text: FormattedText): FormattedText => {
  if (fits(text)) return text
  const end = Math.max(0, greatestEnd(text) - 1)
  return concat([slice(text, 0, isHighSurrogate(text.text, end - 1) ? end - 1 : end), { text: ellipsis, spans: [] }])
}
