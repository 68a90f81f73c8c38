import type { MarkupType, Span } from "../../Markup.ts"
import { type FormattedText, nest } from "./spans.ts"

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" }

const escape = (text: string): string => text.replace(/[&<>"']/g, (char) => entities[char])

/** @assumption markupSyntax */
const tags: Record<MarkupType, string> = {
  quote: "blockquote",
  heading: "h1",
  link: "a",
  user_mention: "a",
  strong: "b",
  emphasized: "i",
  strikethrough: "s",
  underline: "u",
  highlighted: "mark",
  monospaced: "code"
}

export const render = (self: FormattedText): string => {
  let out = ""
  let written = 0
  const open: Array<Span> = []
  const writeTo = (position: number) => {
    out += escape(self.text.slice(written, position))
    written = position
  }
  const closeUntil = (position: number) => {
    while (open.length > 0 && open[open.length - 1].to <= position) {
      const span = open.pop()!
      writeTo(span.to)
      out += `</${tags[span.type]}>`
    }
  }
  for (const span of nest(self.spans)) {
    closeUntil(span.from)
    writeTo(span.from)
    out += span.url === undefined ? `<${tags[span.type]}>` : `<a href="${escape(span.url)}">`
    open.push(span)
  }
  closeUntil(self.text.length)
  writeTo(self.text.length)
  return out
}
