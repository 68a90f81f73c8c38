import { mentionUrlPrefix } from "@colloquy/core/Platform"

export type MarkupKind =
  | "strong"
  | "emphasized"
  | "strikethrough"
  | "underline"
  | "monospaced"
  | "highlighted"
  | "quote"
  | "heading"
  | "link"
  | "user_mention"

export interface MarkupElement {
  readonly type: MarkupKind
  readonly from: number
  readonly length: number
  readonly url?: string
  readonly user_link?: string
  readonly user_id?: number
}

export interface Parsed {
  readonly text: string
  readonly markup: ReadonlyArray<MarkupElement>
}

export const element = (type: MarkupKind, from: number, to: number, url?: string): MarkupElement => {
  if (url === undefined) return { type, from, length: to - from }
  const id = url.startsWith(mentionUrlPrefix) ? url.slice(mentionUrlPrefix.length) : ""
  if (/^\d+$/.test(id) && Number.isSafeInteger(Number(id))) {
    return { type: "user_mention", from, length: to - from, user_id: Number(id) }
  }
  return { type, from, length: to - from, url }
}

const kinds: ReadonlyArray<MarkupKind> = [
  "quote",
  "heading",
  "link",
  "user_mention",
  "strong",
  "emphasized",
  "strikethrough",
  "underline",
  "highlighted",
  "monospaced"
]

/** In reading order, the longer element first; elements that cover nothing, or the same twice, are left out. */
export const ordered = (elements: ReadonlyArray<MarkupElement>): ReadonlyArray<MarkupElement> => {
  const seen = new Set<string>()
  return elements
    .filter((element) => {
      const key = `${element.type} ${element.from} ${element.length}`
      return element.length > 0 && !seen.has(key) && seen.add(key)
    })
    .sort((a, b) => a.from - b.from || b.length - a.length || kinds.indexOf(a.type) - kinds.indexOf(b.type))
}
