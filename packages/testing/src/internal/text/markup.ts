export type { MarkupElement, MarkupKind, Parsed } from "./markupElement.ts"
export { parseHtml } from "./markupHtml.ts"
export { parseMarkdown } from "./markupMarkdown.ts"
