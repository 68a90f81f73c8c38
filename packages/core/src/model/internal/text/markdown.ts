import type { MarkupType, Span } from "../../Markup.ts"
import { type DelimitedSpan, delimitedSpans } from "./delimiters.ts"
import { clip, type FormattedText, isBlock, makeSpansNear, syntax, writeNested } from "./spans.ts"

const verticalSpace = /[\n\v\f\r\x85\u2028\u2029]/

const entity = /&(?:#\d+|#x[\da-f]+|[a-z][a-z\d]*);/iy

const startsEntity = (text: string, index: number): boolean => {
  entity.lastIndex = index
  return entity.test(text)
}

const startsLine = (line: string, index: number): boolean => {
  let i = index - 1
  while (i >= 0 && /\s|\x85/.test(line[i])) {
    if (verticalSpace.test(line[i])) return true
    i--
  }
  return i < 0
}

/**
 * Whether a character would be read as markup. `isBesideDelimiter`: the output has a delimiter next to the character.
 */
const isSpecial = (line: string, i: number, char: string, isBesideDelimiter: boolean, isHeading: boolean): boolean => {
  switch (char) {
    case "\\":
    case "`":
    case "*":
    case "_":
    case "[":
    case "]":
      return true
    case "+":
    case "~":
    case "^":
      return isBesideDelimiter || line[i - 1] === char || line[i + 1] === char
    case "!":
      return isBesideDelimiter
    case "#":
      return isHeading || startsLine(line, i)
    case ">":
      return startsLine(line, i)
    case "<":
      return /[a-z/!?]/i.test(line[i + 1] ?? "")
    case "&":
      return startsEntity(line, i)
    default:
      return false
  }
}

interface Neighbors {
  readonly delimiterBefore: boolean
  readonly delimiterAfter: boolean
}

/**
 * Escapes `line[from, to)` as plain text.
 *
 * @assumption markdownEscapes
 */
const escapeRange = (line: string, from: number, to: number, neighbors: Neighbors, isHeading: boolean): string => {
  let out = ""
  for (let i = from; i < to; i++) {
    const isBesideDelimiter = (neighbors.delimiterBefore && i === from) || (neighbors.delimiterAfter && i === to - 1)
    out += isSpecial(line, i, line[i], isBesideDelimiter, isHeading) ? `\\${line[i]}` : line[i]
  }
  return out
}

const escapeUrl = (url: string): string =>
  url.replace(/[()]|&/g, (char, index: number) =>
    char === "(" ? "%28" : char === ")" ? "%29" : startsEntity(url, index) ? "\\&" : char
  )

const openingOf = (span: DelimitedSpan): string => (span.usesStar ? "*" : syntax[span.type].delimiter)

const closingOf = (span: DelimitedSpan): string =>
  span.url === undefined ? openingOf(span) : `](${escapeUrl(span.url)})`

const renderLine = (line: string, spans: ReadonlyArray<Span>, isHeading: boolean): string => {
  let delimiterBefore = false
  return writeNested(delimitedSpans(line, spans), line.length, {
    text: (from, to, open) => {
      const neighbors = { delimiterBefore, delimiterAfter: open.length > 0 || to < line.length }
      delimiterBefore = true
      return open.some(({ type }) => type === "monospaced")
        ? line.slice(from, to)
        : escapeRange(line, from, to, neighbors, isHeading)
    },
    opening: openingOf,
    closing: closingOf
  })
}

/** @assumption markdownQuoteEnd */
export const render = (self: FormattedText): string => {
  const spansNear = makeSpansNear(self.spans)
  let from = 0
  return self.text
    .split("\n")
    .map((line) => {
      const to = from + line.length
      // A block can cover an empty line.
      const near = spansNear(from, Math.max(to, from + 1))
      const isIn = (type: MarkupType) => near.some((span) => span.type === type && span.from <= from)
      const isHeading = isIn("heading") && line.trim() !== ""
      const prefix = (isIn("quote") ? (line === "" ? ">" : "> ") : "") + (isHeading ? "# " : "")
      const inline = near.filter((span) => !isBlock(span.type))
      const rendered = prefix + renderLine(line, clip(inline, from, to), isHeading)
      from = to + 1
      return rendered
    })
    .join("\n")
}
