import type { Span } from "../../Markup.ts"
import { type Output, push, readInline } from "./inline.ts"
import { type FormattedText, normalize } from "./spans.ts"

/** A text that was read from markdown. */
export interface Parsed extends FormattedText {
  /**
   * The index in the source of each code unit of the text. The index of a line break is before the marks of the next
   * line.
   */
  readonly origins: ReadonlyArray<number>
  /** The blocks of code, each with its opening mark. */
  readonly fences: ReadonlyArray<{ readonly from: number; readonly to: number; readonly mark: string }>
  /** The starts of the blocks in the source. A block is read independently of the blocks before. */
  readonly blocks: ReadonlyArray<number>
  /**
   * The index from which literal text may become formatted when more text follows. The length of the text if there is
   * none.
   */
  readonly undecided: number
}

type Kind = "text" | "quote" | "heading"

interface Line {
  readonly kind: Kind
  /** The start of the content in the source. */
  readonly from: number
  readonly to: number
  readonly startsBlock: boolean
}

const fencePattern = /^ {0,3}(`{3,}|~{3,})([^`]*)$/
const quotePattern = /^(?: {0,3}>[ \t]?)+/
const headingPattern = /^ {0,3}#{1,6}[ \t]+(?=\S)/
const itemPattern = /^\s*(?:[-*+]|\d{1,9}[.)])\s/

const readLine = (source: string, from: number, to: number): Line => {
  const line = source.slice(from, to)
  const quote = quotePattern.exec(line)
  const start = quote === null ? 0 : quote[0].length
  const heading = headingPattern.exec(line.slice(start))
  if (heading !== null && quote === null)
    return { kind: "heading", from: from + heading[0].length, to, startsBlock: true }
  const content = line.slice(start)
  return {
    kind: quote === null ? "text" : "quote",
    from: from + start,
    to,
    startsBlock: content.trim() === "" || itemPattern.test(content)
  }
}

/** Whether a line at the end may become the mark of a block when more text follows. */
const mayBeMark = (line: string): boolean => /^ {0,3}(?:#{1,6}[ \t]*|`{1,2}|~{1,2}|>[ \t]?)$/.test(line)

/** Removes the dropped characters. Returns the new positions as well. */
const compact = ({ chars, isDropped, origins }: Output) => {
  const positions: Array<number> = []
  const kept: Array<number> = []
  let text = ""
  for (let i = 0; i < chars.length; i++) {
    positions.push(text.length)
    if (isDropped[i]) continue
    text += chars[i]
    kept.push(origins[i]!)
  }
  positions.push(text.length)
  return { text, origins: kept, positions }
}

/**
 * Reads the markdown of the platform, and the fenced blocks of code that language models write. If more text follows,
 * formatting that is open at the end is closed.
 *
 * @assumption markupSyntax
 */
export const parse = (source: string, isPartial: boolean): Parsed => {
  const out: Output = { chars: [], origins: [], isDropped: [], spans: [], undecided: Infinity }
  const fences: Array<{ from: number; to: number; mark: string }> = []
  const blocks: Array<number> = []
  let isFirst = true
  let quoteFrom = -1

  const breakLine = (origin: number): void => {
    if (!isFirst) push(out, "\n", Math.max(0, origin))
    isFirst = false
  }
  const endQuote = (): void => {
    if (quoteFrom >= 0 && quoteFrom < out.chars.length) {
      out.spans.push({ type: "quote", from: quoteFrom, to: out.chars.length })
    }
    quoteFrom = -1
  }

  /** Reads a block of code whose first line begins at `from`. Returns the start of the line after the block. */
  const readFence = (from: number, mark: string, lineEnd: number): number => {
    const closing = new RegExp(`^ {0,3}${mark[0]}{${mark.length},}\\s*$`)
    endQuote()
    const before = from - 1
    let start = lineEnd + 1
    let codeFrom = -1
    while (start <= source.length) {
      const next = source.indexOf("\n", start)
      const end = next < 0 ? source.length : next
      const line = source.slice(start, end)
      if (closing.test(line)) {
        start = end + 1
        break
      }
      const isHidden = next < 0 && ((isPartial && /^ {0,3}[`~]{1,2}$/.test(line)) || line === "")
      if (!isHidden) {
        breakLine(codeFrom < 0 ? before : start - 1)
        if (codeFrom < 0) codeFrom = out.chars.length
        for (let i = start; i < end; i++) push(out, source[i]!, i)
      }
      start = end + 1
    }
    if (codeFrom >= 0) {
      out.spans.push({ type: "monospaced", from: codeFrom, to: out.chars.length })
      fences.push({ from: codeFrom, to: out.chars.length, mark })
    }
    return start
  }

  for (let from = 0; from <= source.length;) {
    const next = source.indexOf("\n", from)
    const lineEnd = next < 0 ? source.length : next
    const text = source.slice(from, lineEnd)
    if (isPartial && next < 0 && mayBeMark(text)) break
    blocks.push(from)
    const fence = fencePattern.exec(text)
    if (fence !== null) {
      from = readFence(from, fence[1]!, lineEnd)
      continue
    }
    const first = readLine(source, from, lineEnd)
    const lines = [first]
    let end = lineEnd
    let mayGoOn = false
    while (end < source.length && first.kind !== "heading" && first.from < first.to) {
      const start = end + 1
      const following = source.indexOf("\n", start)
      const to = following < 0 ? source.length : following
      const line = readLine(source, start, to)
      const content = source.slice(start, to)
      if (isPartial && following < 0 && mayBeMark(content)) {
        mayGoOn = true
        break
      }
      if (line.kind !== first.kind || line.startsBlock || fencePattern.test(content)) break
      lines.push(line)
      end = to
    }
    if (first.kind !== "quote") endQuote()
    breakLine(from - 1)
    if (first.kind === "quote" && quoteFrom < 0) quoteFrom = out.chars.length
    const start = out.chars.length
    const content = { text: "", origins: new Array<number>() }
    lines.forEach((line, index) => {
      if (index > 0) {
        content.text += "\n"
        content.origins.push(lines[index - 1]!.to)
      }
      content.text += source.slice(line.from, line.to)
      for (let i = line.from; i < line.to; i++) content.origins.push(i)
    })
    readInline(content, out, isPartial && (mayGoOn || end === source.length))
    if (first.kind === "heading") out.spans.push({ type: "heading", from: start, to: out.chars.length })
    from = end + 1
  }
  endQuote()

  const { origins, positions, text } = compact(out)
  const moved = <A extends { readonly from: number; readonly to: number }>(range: A): A => ({
    ...range,
    from: positions[range.from]!,
    to: positions[range.to]!
  })
  const spans: ReadonlyArray<Span> = normalize(out.spans.map(moved))
  return { text, spans, origins, fences: fences.map(moved), blocks, undecided: positions[out.undecided] ?? text.length }
}
