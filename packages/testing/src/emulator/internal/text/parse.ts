import type { TextFormat } from "@colloquy/core/model/NewMessage"
import { parseHtml } from "./html.ts"
import { parseMarkdown } from "./markdown.ts"
import type { Parsed } from "./markup.ts"

/** Parses the markup of a text. */
export const parseText = (text: string, format: TextFormat | null | undefined): Parsed => {
  if (format == null) return { text, markup: [] }
  return format === "html" ? parseHtml(text) : parseMarkdown(text)
}
