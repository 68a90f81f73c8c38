import type * as Markup from "@colloquy/core/model/Markup"
import { UserId } from "@colloquy/core/model/User"
import { mentionUrlPrefix } from "@colloquy/core/base/Platform"

/** An element of a known type. */
export type MarkupElement = Extract<Markup.MarkupElement, { readonly type: Markup.MarkupType }>

export interface Parsed {
  readonly text: string
  readonly markup: ReadonlyArray<MarkupElement>
}

export const element = (type: Markup.MarkupType, from: number, to: number, url?: string): MarkupElement => {
  if (url === undefined) return { type, from, length: to - from }
  const id = url.startsWith(mentionUrlPrefix) ? url.slice(mentionUrlPrefix.length) : ""
  if (/^\d+$/.test(id) && Number.isSafeInteger(Number(id))) {
    return { type: "user_mention", from, length: to - from, user_id: UserId.make(Number(id)) }
  }
  return { type, from, length: to - from, url }
}

const kinds: ReadonlyArray<Markup.MarkupType> = [
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
