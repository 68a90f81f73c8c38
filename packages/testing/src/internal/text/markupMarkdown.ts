import { element, type MarkupElement, ordered, type Parsed } from "./markupElement.ts"
import { parseInline } from "./markupInline.ts"

interface Line {
  readonly content: string
  readonly quote: boolean
  readonly heading: boolean
}

const readLine = (source: string): Line => {
  const marker = /^ {0,3}>[ \t]?/.exec(source)
  const content = marker === null ? source : source.slice(marker[0].length)
  const heading = /^ {0,3}#{1,6}[ \t](?=\s*\S)/.exec(content)
  return {
    content: heading === null ? content : content.slice(heading[0].length),
    quote: marker !== null,
    heading: heading !== null
  }
}

const continues = (a: Line, b: Line): boolean =>
  a.quote === b.quote && !a.heading && !b.heading && a.content.trim() !== "" && b.content.trim() !== ""

/**
 * Reads the platform's markdown: escapes, emphasis and links as in CommonMark, quotes and headings by line. A line
 * without `>` ends a quote. White space stays as it is written.
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
