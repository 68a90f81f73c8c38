import * as Spans from "./spans.ts"

export interface Delimited extends Spans.Span {
  /** Emphasis in the middle of a word, where `_` is not read. */
  readonly star: boolean
}

interface Piece {
  readonly span: Spans.Span
  from: number
  to: number
}

type Class = "space" | "punctuation" | "unsure" | "word"

const isSpace = (char: string): boolean => /[\s\x85]/.test(char)

// Readers disagree about symbols and exotic spaces, so those are never relied on, neither as one nor as the other.
const classOf = (char: string): Class =>
  char === "" || /[\p{Zs}\t\n\f\r]/u.test(char)
    ? "space"
    : /[\p{P}$+<=>^`|~]/u.test(char)
      ? "punctuation"
      : /[\p{S}\p{C}\s]/u.test(char)
        ? "unsure"
        : "word"

const charAt = (text: string, index: number): string =>
  index < text.length ? String.fromCodePoint(text.codePointAt(index)!) : ""

const charBefore = (text: string, index: number): string => {
  if (index <= 0) return ""
  const pair = index > 1 ? charAt(text, index - 2) : ""
  return pair.length === 2 ? pair : text[index - 1]
}

const isApart = (outside: Class): boolean => outside === "space" || outside === "punctuation"

const isFlanking = (outside: Class, inside: Class): boolean =>
  inside !== "space" && (inside === "word" || isApart(outside))

const hasFlanks = (piece: Piece): boolean =>
  piece.span.kind !== "link" && piece.span.kind !== "user_mention" && piece.span.kind !== "monospaced"

const withoutBackticks = (line: string, span: Spans.Span): Array<Spans.Span> =>
  Array.from(line.slice(span.from, span.to).matchAll(/[^`]+/g), (match) => ({
    ...span,
    from: span.from + match.index,
    to: span.from + match.index + match[0].length
  }))

const trimmed = (line: string, span: Spans.Span): Piece => {
  let { from, to } = span
  while (from < to && isSpace(line[from])) from++
  while (from < to && (isSpace(line[to - 1]) || (span.kind === "monospaced" && line[to - 1] === "\\"))) to--
  return { span, from, to }
}

/**
 * The pieces of one line whose delimiters are read as delimiters there, in the order in which they open.
 *
 * A delimiter opens only before a character that is no space, and a punctuation mark after it needs a space or
 * punctuation before it; closing is the mirror image. A piece that breaks the rule is narrowed by a character when that
 * can help, and given up when it cannot. Emphasis is `_`, or `*` inside a word; `*` must not touch `**`.
 */
export const delimiters = (line: string, spans: ReadonlyArray<Spans.Span>): Array<Delimited> => {
  if (spans.length === 0) return []
  const readable = spans.flatMap((span) => (span.kind === "monospaced" ? withoutBackticks(line, span) : [span]))
  const pieces = Spans.nest(Spans.normalize(readable)).map((span) => trimmed(line, span))
  const opens = new Map<number, Array<Piece>>()
  const closes = new Map<number, Array<Piece>>()
  const dropped = new Set<Piece>()
  const pending = new Set<number>()

  const at = (map: Map<number, Array<Piece>>, position: number): Array<Piece> => {
    const found = map.get(position)
    if (found !== undefined) return found
    const empty: Array<Piece> = []
    map.set(position, empty)
    return empty
  }
  const remove = (map: Map<number, Array<Piece>>, position: number, piece: Piece) => {
    map.set(
      position,
      at(map, position).filter((other) => other !== piece)
    )
    pending.add(position)
  }
  const drop = (piece: Piece) => {
    dropped.add(piece)
    remove(opens, piece.from, piece)
    remove(closes, piece.to, piece)
  }
  const outside = (piece: Piece, side: "open" | "close"): Class => {
    if (side === "open") {
      const before = at(closes, piece.from).length + at(opens, piece.from).indexOf(piece)
      return before > 0 ? "punctuation" : classOf(charBefore(line, piece.from))
    }
    const here = at(closes, piece.to)
    const after = here.length - 1 - here.indexOf(piece) + at(opens, piece.to).length
    return after > 0 ? "punctuation" : classOf(charAt(line, piece.to))
  }
  const inside = (piece: Piece, side: "open" | "close"): Class => {
    const here = side === "open" ? at(opens, piece.from) : at(closes, piece.to)
    const innermost = side === "open" ? here[here.length - 1] : here[0]
    if (innermost !== piece) return "punctuation"
    return classOf(side === "open" ? charAt(line, piece.from) : charBefore(line, piece.to))
  }
  const isStar = (piece: Piece): boolean => !isApart(outside(piece, "open")) || !isApart(outside(piece, "close"))
  const touchesStrong = (piece: Piece): boolean =>
    [piece.from, piece.to].some((position) => {
      const tokens = [...at(closes, position), ...at(opens, position)]
      const index = tokens.indexOf(piece)
      return [tokens[index - 1], tokens[index + 1]].some((other) => other?.span.kind === "strong")
    })
  const narrow = (piece: Piece, side: "open" | "close") => {
    remove(side === "open" ? opens : closes, side === "open" ? piece.from : piece.to, piece)
    if (side === "open") {
      piece.from += charAt(line, piece.from).length
      while (piece.from < piece.to && isSpace(line[piece.from])) piece.from++
    } else {
      piece.to -= charBefore(line, piece.to).length
      while (piece.from < piece.to && isSpace(line[piece.to - 1])) piece.to--
    }
    if (piece.from >= piece.to) {
      dropped.add(piece)
      remove(side === "open" ? closes : opens, side === "open" ? piece.to : piece.from, piece)
    } else if (side === "open") {
      at(opens, piece.from).unshift(piece)
      pending.add(piece.from)
    } else {
      at(closes, piece.to).push(piece)
      pending.add(piece.to)
    }
  }
  const settle = (position: number): void => {
    const ending = at(closes, position)
    const starting = at(opens, position)
    const left = ending[ending.length - 1]
    const right = starting[0]
    if (left !== undefined && right !== undefined && Spans.sameMark(left.span, right.span)) {
      remove(closes, position, left)
      remove(opens, position, right)
      dropped.add(right)
      closes.set(
        right.to,
        at(closes, right.to).map((piece) => (piece === right ? left : piece))
      )
      left.to = right.to
      pending.add(right.to)
      return
    }
    for (const [side, piece] of [
      ...ending.map((piece) => ["close", piece] as const),
      ...starting.map((piece) => ["open", piece] as const)
    ]) {
      if (!hasFlanks(piece)) continue
      if (!isFlanking(outside(piece, side), inside(piece, side))) {
        const innermost = side === "open" ? starting[starting.length - 1] : ending[0]
        return innermost === piece ? narrow(piece, side) : drop(piece)
      }
      if (piece.span.kind === "emphasized" && isStar(piece) && touchesStrong(piece)) return drop(piece)
    }
  }

  for (const piece of pieces) {
    if (piece.from >= piece.to) {
      dropped.add(piece)
      continue
    }
    at(opens, piece.from).push(piece)
    at(closes, piece.to).unshift(piece)
    pending.add(piece.from).add(piece.to)
  }
  for (const position of pending) {
    pending.delete(position)
    settle(position)
  }
  return pieces
    .filter((piece) => !dropped.has(piece))
    .map((piece) => ({
      ...piece.span,
      from: piece.from,
      to: piece.to,
      star: piece.span.kind === "emphasized" && isStar(piece)
    }))
    .sort((a, b) => a.from - b.from)
}
