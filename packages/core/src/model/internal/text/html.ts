import type { Span } from "../../Markup.ts"
import { type FormattedText, nest, syntax } from "./spans.ts"

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" }

const escape = (text: string): string => text.replace(/[&<>"']/g, (char) => entities[char])

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
      out += `</${syntax[span.type].tag}>`
    }
  }
  for (const span of nest(self.spans)) {
    closeUntil(span.from)
    writeTo(span.from)
    out += span.url === undefined ? `<${syntax[span.type].tag}>` : `<a href="${escape(span.url)}">`
    open.push(span)
  }
  closeUntil(self.text.length)
  writeTo(self.text.length)
  return out
}
