import type { MarkupType } from "@colloquy/core/model/Markup"
import { element, type MarkupElement, ordered, type Parsed } from "./markup.ts"

const kinds = new Map<string, MarkupType>([
  ["i", "emphasized"],
  ["em", "emphasized"],
  ["b", "strong"],
  ["strong", "strong"],
  ["del", "strikethrough"],
  ["s", "strikethrough"],
  ["ins", "underline"],
  ["u", "underline"],
  ["a", "link"],
  ["pre", "monospaced"],
  ["code", "monospaced"],
  ["mark", "highlighted"],
  ["blockquote", "quote"],
  ["h1", "heading"]
])

const attribute = `\\s+([a-z][a-z-]*)(?:\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'=<>\`]+)))?`

const tag = new RegExp(`<(/?)([a-z][a-z0-9]*)((?:${attribute})*)\\s*/?>`, "iy")

const entities: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'", nbsp: "\u00a0" }

const unescape = (source: string): string =>
  source.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(lt|gt|amp|quot|apos|nbsp));/gi, (all, decimal, hex, name) => {
    if (name !== undefined) return entities[name] ?? all
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number.parseInt(decimal, 10)
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : all
  })

const hrefOf = (attributes: string): string | undefined => {
  for (const [, name, double, single, bare] of attributes.matchAll(new RegExp(attribute, "gi"))) {
    if (name.toLowerCase() === "href") return unescape(double ?? single ?? bare ?? "")
  }
  return undefined
}

interface Token {
  readonly source: string
  readonly name?: string
  readonly url?: string | undefined
  readonly closing?: boolean
  end?: number
  matched?: boolean
}

const tokenize = (source: string): Array<Token> => {
  const tokens: Array<Token> = []
  let written = 0
  for (let at = source.indexOf("<"); at >= 0; at = source.indexOf("<", Math.max(at + 1, written))) {
    tag.lastIndex = at
    const match = tag.exec(source)
    const name = match?.[2].toLowerCase()
    if (match === null || name === undefined) continue
    if (written < at) tokens.push({ source: source.slice(written, at) })
    tokens.push({ source: match[0], name, closing: match[1] === "/", url: name === "a" ? hrefOf(match[3]) : undefined })
    written = tag.lastIndex
  }
  if (written < source.length) tokens.push({ source: source.slice(written) })
  return tokens
}

/**
 * Reads the elements that the platform knows. An unknown tag is removed; a known tag without its counterpart is text.
 *
 * @assumption unknownHtmlTags
 * @assumption quotesRecognized
 */
export const parseHtml = (source: string): Parsed => {
  const tokens = tokenize(source)
  const open = new Map<string, Array<number>>()
  for (const [index, token] of tokens.entries()) {
    if (token.name === undefined || !kinds.has(token.name)) continue
    const stack = open.get(token.name) ?? []
    open.set(token.name, stack)
    if (!token.closing) {
      stack.push(index)
      continue
    }
    const opener = stack.pop()
    if (opener === undefined || (token.name === "a" && !tokens[opener].url)) continue
    tokens[opener].end = index
    token.matched = true
  }
  let text = ""
  const starts = new Map<number, { readonly token: Token; readonly from: number }>()
  const markup: Array<MarkupElement> = []
  for (const [index, token] of tokens.entries()) {
    if (token.name !== undefined && !kinds.has(token.name)) continue
    if (token.name === undefined || !(token.matched || token.end !== undefined)) text += unescape(token.source)
    else if (token.end !== undefined) starts.set(token.end, { token, from: text.length })
    else {
      const start = starts.get(index)!
      markup.push(element(kinds.get(token.name)!, start.from, text.length, start.token.url))
    }
  }
  return { text, markup: ordered(markup) }
}
