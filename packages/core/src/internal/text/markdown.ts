import { delimiters, type Delimited } from "./delimiters.ts"
import * as Spans from "./spans.ts"

const verticalSpace = /[\n\v\f\r\x85\u2028\u2029]/

const entity = /&(?:#\d+|#x[\da-f]+|[a-z][a-z\d]*);/iy

const startsEntity = (text: string, index: number): boolean => {
  entity.lastIndex = index
  return entity.test(text)
}

const writeUrl = (url: string): string =>
  url.replace(/[()]|&/g, (char, index: number) =>
    char === "(" ? "%28" : char === ")" ? "%29" : startsEntity(url, index) ? "\\&" : char
  )

interface Edges {
  readonly before: boolean
  readonly after: boolean
}

/**
 * Writes `line[from, to)` so that it reads as itself. `edges` says on which sides delimiters stand: a character that is
 * harmless alone (`+`, `~`, `^`, `!`) is not harmless beside them.
 */
const writePlain = (line: string, from: number, to: number, edges: Edges, heading: boolean): string => {
  let out = ""
  for (let i = from; i < to; i++) {
    const edge = (edges.before && i === from) || (edges.after && i === to - 1)
    out += isSpecial(line, i, line[i], edge, heading) ? `\\${line[i]}` : line[i]
  }
  return out
}

const isSpecial = (line: string, i: number, char: string, edge: boolean, heading: boolean): boolean => {
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
      return edge || line[i - 1] === char || line[i + 1] === char
    case "!":
      return edge
    case "#":
      return heading || startsLine(line, i)
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

const startsLine = (line: string, index: number): boolean => {
  let i = index - 1
  while (i >= 0 && /\s|\x85/.test(line[i])) {
    if (verticalSpace.test(line[i])) return true
    i--
  }
  return i < 0
}

const opening: Record<Spans.Kind, string> = {
  quote: "",
  heading: "",
  link: "[",
  user_mention: "[",
  strong: "**",
  emphasized: "_",
  strikethrough: "~~",
  underline: "++",
  highlighted: "^^",
  monospaced: "`"
}

const openingOf = (piece: Delimited): string => (piece.star ? "*" : opening[piece.kind])

const closingOf = (piece: Delimited): string =>
  piece.url === undefined ? openingOf(piece) : `](${writeUrl(piece.url)})`

const writeLine = (line: string, spans: ReadonlyArray<Spans.Span>, heading: boolean): string => {
  let out = ""
  let written = 0
  const stack: Array<Delimited> = []
  let before = false
  const writeTo = (position: number, after = true) => {
    if (stack.some((piece) => piece.kind === "monospaced")) out += line.slice(written, position)
    else out += writePlain(line, written, position, { before, after }, heading)
    written = position
    before = after
  }
  const closeUntil = (position: number) => {
    while (stack.length > 0 && stack[stack.length - 1].to <= position) {
      writeTo(stack[stack.length - 1].to)
      out += closingOf(stack.pop()!)
    }
  }
  for (const piece of delimiters(line, spans)) {
    closeUntil(piece.from)
    writeTo(piece.from)
    out += openingOf(piece)
    stack.push(piece)
  }
  closeUntil(line.length)
  writeTo(line.length, false)
  return out
}

/** Whether a span of a kind covers a position; positions must not decrease. */
const covering = (spans: ReadonlyArray<Spans.Span>, kind: Spans.Kind) => {
  const blocks = spans.filter((span) => span.kind === kind)
  let next = 0
  return (position: number): boolean => {
    while (next < blocks.length && blocks[next].to <= position) next++
    return next < blocks.length && blocks[next].from <= position
  }
}

export const render = (self: Spans.Spanned): string => {
  const isQuote = covering(self.spans, "quote")
  const isHeading = covering(self.spans, "heading")
  const inline = self.spans.filter((span) => !Spans.isBlock(span.kind))
  let from = 0
  let active: Array<Spans.Span> = []
  let next = 0
  return self.text
    .split("\n")
    .map((line) => {
      const to = from + line.length
      while (next < inline.length && inline[next].from < to) active.push(inline[next++])
      active = active.filter((span) => span.to > from)
      const heading = isHeading(from) && line.trim() !== ""
      const prefix = (isQuote(from) ? (line === "" ? ">" : "> ") : "") + (heading ? "# " : "")
      const spans = Spans.clip(active, from, to)
      from = to + 1
      return prefix + writeLine(line, spans, heading)
    })
    .join("\n")
}
