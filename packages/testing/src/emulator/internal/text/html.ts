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
  /** The tag that an end tag closes, or that closes a start tag. */
  partner?: Token
  /** The position of a start tag in the text. */
  from?: number
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
  const open = new Map<string, Array<Token>>()
  for (const token of tokens) {
    if (token.name === undefined || !kinds.has(token.name)) continue
    const stack = open.get(token.name) ?? []
    open.set(token.name, stack)
    if (!token.closing) {
      stack.push(token)
      continue
    }
    const opener = stack.pop()
    if (opener === undefined || (token.name === "a" && !opener.url)) continue
    opener.partner = token
    token.partner = opener
  }
  let text = ""
  const markup: Array<MarkupElement> = []
  for (const token of tokens) {
    const { closing, name, partner, source } = token
    if (name !== undefined && !kinds.has(name)) continue
    if (name === undefined || partner === undefined) text += unescape(source)
    else if (closing) markup.push(element(kinds.get(name)!, partner.from!, text.length, partner.url))
    else token.from = text.length
  }
  return { text, markup: ordered(markup) }
}
