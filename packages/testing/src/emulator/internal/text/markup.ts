import type { MarkupType } from "@colloquy/core/model/Markup"
import { mentionUrlPrefix } from "@colloquy/core/base/Platform"

export interface MarkupElement {
  readonly type: MarkupType
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

export const element = (type: MarkupType, from: number, to: number, url?: string): MarkupElement => {
  if (url === undefined) return { type, from, length: to - from }
  const id = url.startsWith(mentionUrlPrefix) ? url.slice(mentionUrlPrefix.length) : ""
  if (/^\d+$/.test(id) && Number.isSafeInteger(Number(id))) {
    return { type: "user_mention", from, length: to - from, user_id: Number(id) }
  }
  return { type, from, length: to - from, url }
}

const kinds: ReadonlyArray<MarkupType> = [
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

/** Sorts elements by position, longer elements first, and removes empty and repeated elements. */
export const ordered = (elements: ReadonlyArray<MarkupElement>): ReadonlyArray<MarkupElement> => {
  const seen = new Set<string>()
  return elements
    .filter((element) => {
      const key = `${element.type} ${element.from} ${element.length}`
      return element.length > 0 && !seen.has(key) && seen.add(key)
    })
    .sort((a, b) => a.from - b.from || b.length - a.length || kinds.indexOf(a.type) - kinds.indexOf(b.type))
}
