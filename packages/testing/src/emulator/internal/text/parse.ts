import type { MarkupElement } from "@colloquy/core/model/Markup"
import type { TextFormat } from "@colloquy/core/model/NewMessage"
import { UserId } from "@colloquy/core/model/User"
import { parseHtml } from "./html.ts"
import { parseMarkdown } from "./markdown.ts"

/** Parses the markup of a text. */
export const parseText = (
  text: string,
  format: TextFormat | null | undefined
): { readonly text: string; readonly markup: ReadonlyArray<MarkupElement> } => {
  if (format == null) return { text, markup: [] }
  const parsed = format === "html" ? parseHtml(text) : parseMarkdown(text)
  const markup = parsed.markup.map((element): MarkupElement => {
    const { type, from, length, url, user_id } = element
    if (type === "user_mention") return { type, from, length, user_id: UserId.make(user_id!) }
    return type === "link" ? { type, from, length, ...(url === undefined ? {} : { url }) } : { type, from, length }
  })
  return { text: parsed.text, markup }
}
