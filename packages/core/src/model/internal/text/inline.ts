import type { MarkupType, Span } from "../../Markup.ts"
import { linkFormat } from "./markup.ts"

/** Source text without the marks of its blocks. `origins` has the index in the source of each code unit. */
export interface Content {
  readonly text: string
  readonly origins: ReadonlyArray<number>
}

/** Visible characters and spans, of which delimiters are removed at the end. */
export interface Output {
  readonly chars: Array<string>
  readonly origins: Array<number>
  readonly isDropped: Array<boolean>
  readonly spans: Array<Span>
  /** The index of the first literal character that may become formatted when more text follows. */
  undecided: number
}

/** Adds a character, with its index in the source. */
export const push = ({ chars, isDropped, origins }: Output, char: string, origin: number): void => {
  chars.push(char)
  origins.push(origin)
  isDropped.push(false)
}

interface Opener {
  readonly char: string
  readonly length: number
  /** Index of its first character in the output. */
  readonly at: number
  readonly startsWord: boolean
}

const maxLabel = 1000
const maxUrl = 2048

const pairs: Record<string, MarkupType> = { "~": "strikethrough", "+": "underline", "^": "highlighted" }

const escapable = /[!-/:-@[-`{-~]/

const isSpace = (char: string): boolean => char === "" || /\s/.test(char)

const isPunctuation = (char: string): boolean => /[\p{P}\p{S}]/u.test(char)

const typeOf = ({ char, length }: Opener): MarkupType => pairs[char] ?? (length === 2 ? "strong" : "emphasized")

const runLength = (text: string, from: number): number => {
  let end = from
  while (text[end] === text[from]) end++
  return end - from
}

/** Returns the index of the bracket that closes the bracket at `from`, or -1. */
const closingBracket = (text: string, from: number): number => {
  let depth = 0
  for (let i = from; i < text.length && i < from + maxLabel; i++) {
    if (text[i] === "\\") i++
    else if (text[i] === "[") depth++
    else if (text[i] === "]" && --depth === 0) return i
  }
  return -1
}

const destination = /\(\s*<?((?:[^\s()<>]|\((?:[^\s()<>])*\))*)>?(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/y

/** The start of a destination that may continue after the end of the text. */
const openDestination =
  /\(\s*(?:(?=\S)<?(?:[^\s()<>]|\([^\s()<>]*\))*(?:\([^\s()<>]*|>?(?:\s+(?=\S)(?:"[^"]*(?:"\s*)?|'[^']*(?:'\s*)?)|\s*)))?$/y

const autolink = /<(https?:\/\/[^\s<>]+)>/y

const matchAt = (pattern: RegExp, text: string, index: number): RegExpExecArray | null => {
  pattern.lastIndex = index
  return pattern.exec(text)
}

/** Writes visible characters and spans to the output. */
const makeWriter = ({ origins, text }: Content, out: Output, isPartial: boolean) => {
  const write = (char: string, at: number): void => push(out, char, origins[at]!)
  const writeRange = (from: number, to: number): void => {
    for (let i = from; i < to; i++) write(text[i]!, i)
  }
  const drop = (from: number, length: number): void => {
    for (let i = from; i < from + length; i++) out.isDropped[i] = true
  }
  const leaveUndecided = (index: number): void => {
    if (isPartial) out.undecided = Math.min(out.undecided, index)
  }
  const addSpan = (span: Span): void => {
    if (span.from < span.to) out.spans.push(span)
  }

  const writeCode = (from: number, to: number): void => {
    const isPadded = to - from > 2 && text[from] === " " && text[to - 1] === " "
    const start = out.chars.length
    writeRange(isPadded ? from + 1 : from, isPadded ? to - 1 : to)
    addSpan({ type: "monospaced", from: start, to: out.chars.length })
  }

  return { write, writeRange, writeCode, drop, leaveUndecided, addSpan }
}

/**
 * Reads escapes, code, links and emphasis. If more text follows, formatting that is open at the end is closed, and a
 * delimiter at the end is left out, because its role is not known yet.
 */
export const readInline = ({ origins, text }: Content, out: Output, isPartial: boolean): void => {
  const openers: Array<Opener> = []
  const { addSpan, drop, leaveUndecided, write, writeCode, writeRange } = makeWriter({ origins, text }, out, isPartial)

  const writeLink = (from: number, to: number, url: string): void => {
    const start = out.chars.length
    readInline({ text: text.slice(from, to), origins: origins.slice(from, to) }, out, false)
    const format = linkFormat(url)
    if (format !== undefined) addSpan({ ...format, from: start, to: out.chars.length })
  }

  /** Reads code at a backtick. Returns the index after the code. */
  const readCode = (at: number): number => {
    const length = runLength(text, at)
    const from = at + length
    for (let i = text.indexOf("`", from); i >= 0; i = text.indexOf("`", i)) {
      const closing = runLength(text, i)
      if (closing === length) {
        writeCode(from, i)
        return i + closing
      }
      i += closing
    }
    if (!isPartial) writeRange(at, from)
    else {
      writeCode(from, text.length - /`*$/.exec(text.slice(from))![0].length)
      return text.length
    }
    return from
  }

  /** Reads a link or an image at a bracket. Returns the index after the link or image. */
  const readLink = (at: number): number => {
    const end = closingBracket(text, at)
    if (end > 0 && text[end + 1] === "(") {
      const found = matchAt(destination, text, end + 1)
      if (found !== null && found[1]!.length <= maxUrl) {
        writeLink(at + 1, end, found[1]!)
        return end + 1 + found[0].length
      }
      if (isPartial && matchAt(openDestination, text, end + 1) !== null) {
        leaveUndecided(out.chars.length)
        writeLink(at + 1, end, "")
        return text.length
      }
    }
    const isOpen = end < 0 ? text.length < at + maxLabel : end + 1 === text.length
    if (isOpen) leaveUndecided(out.chars.length)
    write("[", at)
    return at + 1
  }

  const close = (char: string, available: number): number => {
    const same = (length?: number) =>
      openers.findLastIndex(
        (opener) => opener.char === char && opener.length <= available && opener.length >= (length ?? 0)
      )
    const exact = available === 2 ? same(2) : -1
    const index = exact >= 0 ? exact : same()
    if (index < 0) return 0
    const opener = openers[index]!
    openers.length = index
    drop(opener.at, opener.length)
    addSpan({ type: typeOf(opener), from: opener.at + opener.length, to: out.chars.length })
    return opener.length
  }

  /** Reads a run of delimiters. Returns the index after the run. */
  const readRun = (at: number): number => {
    const char = text[at]!
    const length = runLength(text, at)
    const end = at + length
    if (isPartial && end === text.length && length <= 3) return end
    const isPair = char in pairs
    if (isPair ? length !== 2 : length > 3) {
      writeRange(at, end)
      return end
    }
    const before = at === 0 ? "" : text.slice(0, at).at(-1)!
    const after = end < text.length ? String.fromCodePoint(text.codePointAt(end)!) : ""
    const startsWord = isSpace(before) || isPunctuation(before)
    const endsWord = isSpace(after) || isPunctuation(after)
    const opens = !isSpace(after) && (!isPunctuation(after) || startsWord)
    const closes = !isSpace(before) && (!isPunctuation(before) || endsWord)
    const isInWord = char === "_" && opens && closes
    const canOpen = opens && (!isInWord || isPunctuation(before))
    const canClose = closes && (!isInWord || isPunctuation(after))
    let left = length
    while (canClose && left > 0) {
      const used = close(char, left)
      if (used === 0) break
      left -= used
    }
    const first = end - left
    if (canOpen && left === length) {
      for (const size of left === 3 ? [2, 1] : [left]) {
        openers.push({ char, length: size, at: out.chars.length, startsWord })
        for (let i = 0; i < size; i++) write(char, first)
      }
    } else writeRange(first, end)
    return end
  }

  for (let i = 0; i < text.length;) {
    const char = text[i]!
    if (char === "\\" && (escapable.test(text[i + 1] ?? "") || (isPartial && i + 1 === text.length))) {
      if (i + 1 < text.length) write(text[i + 1]!, i)
      i += 2
    } else if (char === "`") i = readCode(i)
    else if (char === "[" || (char === "!" && text[i + 1] === "[")) {
      const at = char === "[" ? i : i + 1
      const length = out.chars.length
      const end = readLink(at)
      // Without a link, the exclamation mark is text.
      if (at > i && out.chars[length] === "[" && end === at + 1) {
        out.chars[length] = "!"
        out.origins[length] = origins[i]!
        write("[", at)
      }
      i = end
    } else if (char === "<" && matchAt(autolink, text, i) !== null) {
      const [link, url] = matchAt(autolink, text, i)!
      const start = out.chars.length
      writeRange(i + 1, i + 1 + url!.length)
      const format = linkFormat(url!)
      if (format !== undefined) addSpan({ ...format, from: start, to: out.chars.length })
      i += link.length
    } else if (char === "*" || char === "_" || char in pairs) i = readRun(i)
    else {
      write(char, i)
      i++
    }
  }

  if (!isPartial) return
  for (const opener of openers) {
    if (!opener.startsWord) {
      leaveUndecided(opener.at)
      continue
    }
    drop(opener.at, opener.length)
    addSpan({ type: typeOf(opener), from: opener.at + opener.length, to: out.chars.length })
  }
}
