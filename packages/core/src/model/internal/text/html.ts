import { type FormattedText, nest, syntax, writeNested } from "./spans.ts"

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" }

const escape = (text: string): string => text.replace(/[&<>"']/g, (char) => entities[char])

export const render = ({ spans, text }: FormattedText): string =>
  writeNested(nest(spans), text.length, {
    text: (from, to) => escape(text.slice(from, to)),
    opening: ({ type, url }) => (url === undefined ? `<${syntax[type].tag}>` : `<a href="${escape(url)}">`),
    closing: ({ type }) => `</${syntax[type].tag}>`
  })
