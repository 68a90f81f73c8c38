import * as Spans from "./spans.ts"

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" }

const escape = (text: string): string => text.replace(/[&<>"']/g, (char) => entities[char])

const tags: Record<Spans.Kind, string> = {
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

export const render = (self: Spans.Spanned): string => {
  let out = ""
  let written = 0
  const stack: Array<Spans.Span> = []
  const writeTo = (position: number) => {
    out += escape(self.text.slice(written, position))
    written = position
  }
  const closeUntil = (position: number) => {
    while (stack.length > 0 && stack[stack.length - 1].to <= position) {
      const piece = stack.pop()!
      writeTo(piece.to)
      out += `</${tags[piece.kind]}>`
    }
  }
  for (const piece of Spans.nest(self.spans)) {
    closeUntil(piece.from)
    writeTo(piece.from)
    out += piece.url === undefined ? `<${tags[piece.kind]}>` : `<a href="${escape(piece.url)}">`
    stack.push(piece)
  }
  closeUntil(self.text.length)
  writeTo(self.text.length)
  return out
}
