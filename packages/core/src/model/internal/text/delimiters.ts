import type { Span } from "../../Markup.ts"
import { hasSameFormat, isLink, nest, normalize } from "./spans.ts"

export interface DelimitedSpan extends Span {
  /** Whether the delimiter of `emphasized` is `*`: inside a word, `_` is not read as a delimiter. */
  readonly usesStar: boolean
}

/** A span whose ends can still be moved. */
interface Draft {
  readonly span: Span
  open: number
  close: number
}

const none: ReadonlyArray<Draft> = []

type Side = "open" | "close"

type CharClass = "space" | "punctuation" | "unsure" | "word"

const isSpace = (char: string): boolean => (char <= " " || char >= "\x7f") && /[\s\x85]/.test(char)

// Parsers disagree about symbols and unusual spaces, so such characters are neither punctuation nor letters here.
const classify = (char: string): CharClass =>
  char === "" || /[\p{Zs}\t\n\f\r]/u.test(char)
    ? "space"
    : /[\p{P}$+<=>^`|~]/u.test(char)
      ? "punctuation"
      : /[\p{S}\p{C}\s]/u.test(char)
        ? "unsure"
        : "word"

const asciiClasses = Array.from({ length: 128 }, (_, code) => classify(String.fromCharCode(code)))

// Most characters are ASCII or letters, and three regular expressions take most of the time of rendering.
const classOf = (char: string): CharClass => asciiClasses[char.charCodeAt(0)] ?? classify(char)

const charAt = (text: string, index: number): string =>
  index < text.length ? String.fromCodePoint(text.codePointAt(index)!) : ""

const charBefore = (text: string, index: number): string => {
  if (index <= 0) return ""
  const pair = index > 1 ? charAt(text, index - 2) : ""
  return pair.length === 2 ? pair : text[index - 1]
}

const isBoundary = (outside: CharClass): boolean => outside === "space" || outside === "punctuation"

/** The rule of CommonMark for a delimiter that can open or close. */
const isFlanking = (outside: CharClass, inside: CharClass): boolean =>
  inside !== "space" && (inside === "word" || isBoundary(outside))

const mustFlank = ({ span }: Draft): boolean => !isLink(span.type) && span.type !== "monospaced"

/** Monospaced text cannot contain a backtick. */
const splitAtBackticks = (line: string, span: Span): Array<Span> =>
  Array.from(line.slice(span.from, span.to).matchAll(/[^`]+/g), (match) => ({
    ...span,
    from: span.from + match.index,
    to: span.from + match.index + match[0].length
  }))

const trimmedDraft = (line: string, span: Span): Draft => {
  let { from, to } = span
  while (from < to && isSpace(line[from])) from++
  while (from < to && (isSpace(line[to - 1]) || (span.type === "monospaced" && line[to - 1] === "\\"))) to--
  return { span, open: from, close: to }
}

/**
 * Returns the spans of a line whose delimiters a parser reads as delimiters, in the order in which they open.
 *
 * A delimiter opens only before a character that is not a space; if a punctuation mark follows, a space or punctuation
 * must precede the delimiter. Closing is the mirror image. A span that breaks the rule is narrowed by one character at
 * a time where that can help, and dropped otherwise. `emphasized` uses `_`, or `*` inside a word, where the `*` must
 * not touch `**`.
 *
 * Each change can affect the other delimiters at its position, so positions are checked until none is pending.
 */
export const delimitedSpans = (line: string, spans: ReadonlyArray<Span>): Array<DelimitedSpan> => {
  if (spans.length === 0) return []
  const renderable = line.includes("`")
    ? normalize(spans.flatMap((span) => (span.type === "monospaced" ? splitAtBackticks(line, span) : [span])))
    : spans
  const drafts = nest(renderable)
    .map((span) => trimmedDraft(line, span))
    .filter(({ close, open }) => open < close)
  // The drafts that open or close at a position, in the order of their delimiters.
  const ends = { open: new Map<number, Array<Draft>>(), close: new Map<number, Array<Draft>>() }
  const dropped = new Set<Draft>()
  const pending = new Set<number>()

  const at = (side: Side, position: number): ReadonlyArray<Draft> => ends[side].get(position) ?? none
  const add = (draft: Draft, side: Side, isFirst: boolean) => {
    const position = draft[side]
    const found = ends[side].get(position)
    if (found === undefined) ends[side].set(position, [draft])
    else if (isFirst) found.unshift(draft)
    else found.push(draft)
    pending.add(position)
  }
  const remove = (draft: Draft, side: Side) => {
    const position = draft[side]
    const others = at(side, position).filter((other) => other !== draft)
    ends[side].set(position, others)
    pending.add(position)
  }
  const drop = (draft: Draft) => {
    dropped.add(draft)
    remove(draft, "open")
    remove(draft, "close")
  }
  const classOutside = (draft: Draft, side: Side): CharClass => {
    const opening = at("open", draft[side])
    const closing = at("close", draft[side])
    if (side === "open") {
      const before = closing.length + opening.indexOf(draft)
      return before > 0 ? "punctuation" : classOf(charBefore(line, draft.open))
    }
    const after = closing.length - 1 - closing.indexOf(draft) + opening.length
    return after > 0 ? "punctuation" : classOf(charAt(line, draft.close))
  }
  const classInside = (draft: Draft, side: Side): CharClass => {
    const innermost = at(side, draft[side]).at(side === "open" ? -1 : 0)
    if (innermost !== draft) return "punctuation"
    return classOf(side === "open" ? charAt(line, draft.open) : charBefore(line, draft.close))
  }
  const needsStar = (draft: Draft): boolean =>
    !isBoundary(classOutside(draft, "open")) || !isBoundary(classOutside(draft, "close"))
  const touchesStrong = (draft: Draft): boolean =>
    [draft.open, draft.close].some((position) => {
      const delimiters = [...at("close", position), ...at("open", position)]
      const index = delimiters.indexOf(draft)
      return [delimiters[index - 1], delimiters[index + 1]].some((other) => other?.span.type === "strong")
    })
  const narrow = (draft: Draft, side: Side) => {
    remove(draft, side)
    if (side === "open") {
      draft.open += charAt(line, draft.open).length
      while (draft.open < draft.close && isSpace(line[draft.open])) draft.open++
    } else {
      draft.close -= charBefore(line, draft.close).length
      while (draft.open < draft.close && isSpace(line[draft.close - 1])) draft.close--
    }
    if (draft.open < draft.close) add(draft, side, side === "open")
    else {
      dropped.add(draft)
      remove(draft, side === "open" ? "close" : "open")
    }
  }
  /** Merges two drafts of the same format that touch at a position. Returns whether drafts were merged. */
  const mergeAt = (position: number): boolean => {
    const left = at("close", position).at(-1)
    const right = at("open", position)[0]
    if (left === undefined || right === undefined || !hasSameFormat(left.span, right.span)) return false
    remove(left, "close")
    remove(right, "open")
    dropped.add(right)
    left.close = right.close
    const closing = at("close", left.close).map((draft) => (draft === right ? left : draft))
    ends.close.set(left.close, closing)
    pending.add(left.close)
    return true
  }
  /** Changes a draft whose delimiter would be read as text. Returns whether the draft was changed. */
  const correct = (draft: Draft, side: Side, innermost: Draft): boolean => {
    if (!mustFlank(draft)) return false
    if (!isFlanking(classOutside(draft, side), classInside(draft, side))) {
      if (innermost === draft) narrow(draft, side)
      else drop(draft)
      return true
    }
    if (draft.span.type !== "emphasized" || !needsStar(draft) || !touchesStrong(draft)) return false
    drop(draft)
    return true
  }
  /** Makes at most one change at a position. A change makes the position pending again. */
  const resolve = (position: number): void => {
    if (mergeAt(position)) return
    const closing = at("close", position)
    const opening = at("open", position)
    for (const draft of closing) if (correct(draft, "close", closing[0])) return
    for (const draft of opening) if (correct(draft, "open", opening[opening.length - 1])) return
  }

  for (const draft of drafts) {
    add(draft, "open", false)
    add(draft, "close", true)
  }
  for (const position of pending) {
    pending.delete(position)
    resolve(position)
  }
  return drafts
    .filter((draft) => !dropped.has(draft))
    .map((draft) => ({
      ...draft.span,
      from: draft.open,
      to: draft.close,
      usesStar: draft.span.type === "emphasized" && needsStar(draft)
    }))
    .sort((a, b) => a.from - b.from)
}
