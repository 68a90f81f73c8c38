import type { MarkupType } from "@colloquy/core/model/Markup"
import { element, type MarkupElement, ordered, type Parsed } from "./markup.ts"

/** A piece of the text to come, or a run of delimiters of which `count` characters are still text. */
interface Node {
  text: string
  readonly run?: Run
}

interface Found {
  readonly kind: MarkupType
  readonly open: number
  readonly close: number
  readonly url?: string
}

const pairs: Record<string, MarkupType> = { "~": "strikethrough", "+": "underline", "^": "highlighted" }

const escapable = /[!-/:-@[-`{-~]/

const escaped = /\\([!-/:-@[-`{-~])/g

/** A character, and the characters after it with which no markup begins or ends. */
const plain = /[^][^\\`*_~+^[\]]*/y

const isSpace = (char: string): boolean => (char <= " " || char >= "\x7f" ? char === "" || /\s/.test(char) : false)

const isPunctuation = (char: string): boolean => /[\p{P}\p{S}]/u.test(char)

const before = (source: string, index: number): string => {
  const pair = index > 1 ? String.fromCodePoint(source.codePointAt(index - 2)!) : ""
  return pair.length === 2 ? pair : index > 0 ? source[index - 1] : ""
}

const after = (source: string, index: number): string =>
  index < source.length ? String.fromCodePoint(source.codePointAt(index)!) : ""

const runEnd = (source: string, from: number): number => {
  let end = from
  while (end < source.length && source[end] === source[from]) end++
  return end
}

const readRun = (source: string, from: number, end: number) => {
  const char = source[from]
  const left = before(source, from)
  const right = after(source, end)
  const opens = !isSpace(right) && (!isPunctuation(right) || isSpace(left) || isPunctuation(left))
  const closes = !isSpace(left) && (!isPunctuation(left) || isSpace(right) || isPunctuation(right))
  const inWord = char === "_"
  return {
    char,
    length: end - from,
    count: end - from,
    canOpen: opens && (!inWord || !closes || isPunctuation(left)),
    canClose: closes && (!inWord || !opens || isPunctuation(right))
  }
}

type Run = ReturnType<typeof readRun>

const maxDepth = 32

/** The destination that begins at `(`; parentheses nest to a fixed depth, which bounds how often a text is read. */
const readDestination = (source: string, from: number): { readonly url: string; readonly end: number } | undefined => {
  let depth = 0
  for (let i = from + 1; i < source.length; i++) {
    const char = source[i]
    if (isSpace(char) || char === "<") return undefined
    if (char === "\\" && escapable.test(source[i + 1] ?? "")) i++
    else if (char === ")" && depth-- === 0) {
      const url = source.slice(from + 1, i).replace(escaped, "$1")
      return url === "" ? undefined : { url, end: i + 1 }
    } else if (char === "(" && ++depth > maxDepth) return undefined
  }
  return undefined
}

/** Pairs the runs from `bottom` on, the innermost first, as CommonMark does. */
const pairRuns = (nodes: Array<Node>, runs: Array<number>, bottom: number, found: Array<Found>): void => {
  const pending = runs.splice(bottom)
  const previous = pending.map((_, i) => i - 1)
  const floor = new Map<string, number>()
  for (let c = 0; c < pending.length; c++) {
    const closer = nodes[pending[c]].run!
    while (closer.canClose && closer.count > 0) {
      const key = `${closer.char}${closer.canOpen}${closer.length % 3}`
      const lowest = floor.get(key) ?? -1
      let o = previous[c]
      while (o > lowest && !matches(nodes[pending[o]].run!, closer)) o = previous[o]
      if (o <= lowest) {
        floor.set(key, previous[c])
        break
      }
      const opener = nodes[pending[o]].run!
      const kind = pairs[closer.char]
      const used = kind !== undefined || (opener.count >= 2 && closer.count >= 2) ? 2 : 1
      opener.count -= used
      closer.count -= used
      found.push({ kind: kind ?? (used === 2 ? "strong" : "emphasized"), open: pending[o], close: pending[c] })
      previous[c] = opener.count > 0 ? o : previous[o]
    }
    if (closer.count === 0 || !closer.canOpen) {
      if (c + 1 < pending.length) previous[c + 1] = previous[c]
    }
  }
}

const matches = (opener: Run, closer: Run): boolean =>
  opener.char === closer.char &&
  opener.canOpen &&
  opener.count > 0 &&
  (pairs[closer.char] !== undefined ||
    !(opener.canClose || closer.canOpen) ||
    (opener.length + closer.length) % 3 !== 0 ||
    (opener.length % 3 === 0 && closer.length % 3 === 0))

const codeText = (source: string): string => {
  const padded = source.length > 2 && source.startsWith(" ") && source.endsWith(" ") && source.trim() !== ""
  return padded ? source.slice(1, -1) : source
}

/** Reads escapes, code, links and emphasis in one paragraph. */
const parseInline = (source: string): Parsed => {
  const nodes: Array<Node> = []
  const runs: Array<number> = []
  const found: Array<Found> = []
  const brackets: Array<{ readonly node: number; readonly runs: number }> = []
  // The backtick runs of each length, the next one last, so that an opening run finds its end without a scan.
  const ticks = Map.groupBy([...source.matchAll(/`+/g)].reverse(), ([run]) => run.length)
  let linked = 0
  let i = 0
  /** Returns the index of the new node. */
  const addText = (text: string): number => nodes.push({ text }) - 1
  const codeEnd = (length: number, from: number): number => {
    const starts = ticks.get(length) ?? []
    while (starts.length > 0 && starts.at(-1)!.index < from) starts.pop()
    return starts.at(-1)?.index ?? -1
  }
  while (i < source.length) {
    const char = source[i]
    if (char === "\\" && escapable.test(source[i + 1] ?? "")) {
      addText(source[i + 1])
      i += 2
    } else if (char === "`") {
      const from = runEnd(source, i)
      const end = codeEnd(from - i, from)
      if (end < 0) addText(source.slice(i, from))
      else {
        const open = addText("")
        addText(codeText(source.slice(from, end)))
        found.push({ kind: "monospaced", open, close: addText("") })
      }
      i = end < 0 ? from : end + from - i
    } else if (char === "*" || char === "_" || char in pairs) {
      const end = runEnd(source, i)
      if (char in pairs && end - i !== 2) addText(source.slice(i, end))
      else {
        runs.push(nodes.length)
        nodes.push({ text: "", run: readRun(source, i, end) })
      }
      i = end
    } else if (char === "[") {
      brackets.push({ node: addText(char), runs: runs.length })
      i++
    } else if (char === "]") {
      const bracket = brackets.pop()
      const inactive = brackets.length < linked
      linked = Math.min(linked, brackets.length)
      const target =
        bracket === undefined || inactive || source[i + 1] !== "(" ? undefined : readDestination(source, i + 1)
      if (bracket === undefined || target === undefined) {
        addText(char)
        i++
      } else {
        pairRuns(nodes, runs, bracket.runs, found)
        nodes[bracket.node].text = ""
        found.push({ kind: "link", open: bracket.node, close: addText(""), url: target.url })
        linked = brackets.length
        i = target.end
      }
    } else {
      plain.lastIndex = i
      addText(plain.exec(source)![0])
      i = plain.lastIndex
    }
  }
  pairRuns(nodes, runs, 0, found)
  return write(nodes, found)
}

const write = (nodes: ReadonlyArray<Node>, found: ReadonlyArray<Found>): Parsed => {
  let text = ""
  const starts: Array<number> = []
  const ends: Array<number> = []
  for (const { run, text: literal } of nodes) {
    starts.push(text.length)
    text += run === undefined ? literal : run.char.repeat(run.count)
    ends.push(text.length)
  }
  const markup: Array<MarkupElement> = found.map(({ close, kind, open, url }) =>
    element(kind, ends[open], starts[close], url)
  )
  return { text, markup }
}

const readLine = (source: string) => {
  const marker = /^ {0,3}>[ \t]?/.exec(source)
  const content = marker === null ? source : source.slice(marker[0].length)
  const heading = /^ {0,3}#{1,6}[ \t](?=\s*\S)/.exec(content)
  return {
    content: heading === null ? content : content.slice(heading[0].length),
    quote: marker !== null,
    heading: heading !== null
  }
}

type Line = ReturnType<typeof readLine>

const continues = (a: Line, b: Line): boolean =>
  a.quote === b.quote && !a.heading && !b.heading && a.content.trim() !== "" && b.content.trim() !== ""

/**
 * Reads the platform's markdown: escapes, emphasis and links as in CommonMark, quotes and headings by line. A line
 * without `>` ends a quote. White space does not change.
 */
export const parseMarkdown = (source: string): Parsed => {
  const lines = source.split(/\r\n|\r|\n/).map(readLine)
  const markup: Array<MarkupElement> = []
  let text = ""
  let quoteFrom = -1
  const endQuote = (to: number) => {
    if (quoteFrom >= 0) markup.push(element("quote", quoteFrom, to))
    quoteFrom = -1
  }
  for (let i = 0; i < lines.length;) {
    const first = i
    const paragraph = [lines[i++].content]
    while (i < lines.length && continues(lines[i - 1], lines[i])) paragraph.push(lines[i++].content)
    if (!lines[first].quote) endQuote(text.length)
    if (first > 0) text += "\n"
    const from = text.length
    if (lines[first].quote && quoteFrom < 0) quoteFrom = from
    const inline = parseInline(paragraph.join("\n"))
    for (const found of inline.markup) markup.push({ ...found, from: found.from + from })
    text += inline.text
    if (lines[first].heading) markup.push(element("heading", from, text.length))
  }
  endQuote(text.length)
  return { text, markup: ordered(markup) }
}
