import type { Span } from "../../Markup.ts"
import type { Body } from "../../Text.ts"
import * as Platform from "../../../base/Platform.ts"
import { type FormattedText, isBlock, isLink, isMarkupType, normalize, separateLinks } from "./spans.ts"

/** The formatting of a span, without its range. */
export type Format = Omit<Span, "from" | "to">

// Encodes characters that a URL cannot contain, because they would end the URL or the markup around it.
const encodeUrl = (url: string): string =>
  url.toWellFormed().replace(/[\s\p{Cc}"<>\\^`{|}]/gu, (char) => encodeURIComponent(char))

/** @assumption mentionUrl */
export const mentionFormat = (user_id: number): Format => ({
  type: "user_mention",
  url: `${Platform.mentionUrlPrefix}${user_id}`,
  user_id
})

/** Returns the format of a link, of a mention if the URL mentions a user, or `undefined` if the URL is empty. */
export const linkFormat = (url: string): Format | undefined => {
  const href = encodeUrl(url.trim())
  if (href === "") return undefined
  const id = href.startsWith(Platform.mentionUrlPrefix) ? href.slice(Platform.mentionUrlPrefix.length) : ""
  return /^\d+$/.test(id) && Number.isSafeInteger(Number(id)) ? mentionFormat(Number(id)) : { type: "link", url: href }
}

/** A received markup element of any type. */
type Element = NonNullable<Body["markup"]>[number]

const formatOf = ({ type, url, user_id }: Element): Format | undefined => {
  if (type === "link") return typeof url === "string" ? linkFormat(url) : undefined
  if (type === "user_mention") return typeof user_id === "number" ? mentionFormat(user_id) : undefined
  return isMarkupType(type) ? { type } : undefined
}

const splitsPair = (text: string, index: number): boolean =>
  index > 0 && index < text.length && text.codePointAt(index - 1)! > 0xffff

/** Returns the range of an element inside the text, widened to whole code points. */
const rangeOf = (text: string, { from = 0, length = 0 }: Element): readonly [from: number, to: number] | undefined => {
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(from + length)) return undefined
  const clamp = (index: number) => Math.min(Math.max(index, 0), text.length)
  const [start, end] = [clamp(from), clamp(from + length)]
  return start < end ? [splitsPair(text, start) ? start - 1 : start, splitsPair(text, end) ? end + 1 : end] : undefined
}

/** Widens a range to whole lines, without the line break at the end. */
const widenToLines = (text: string, from: number, to: number): readonly [from: number, to: number] => {
  const lineEnd = text[to - 1] === "\n" ? to : text.indexOf("\n", to)
  return [from === 0 ? 0 : text.lastIndexOf("\n", from - 1) + 1, lineEnd < 0 ? text.length : lineEnd]
}

/**
 * Returns the text with the elements of its markup that can be used.
 *
 * @assumption markupUnits
 */
export const fromMarkup = (text: string, elements: ReadonlyArray<Element>): FormattedText => {
  const links: Array<Span> = []
  const spans: Array<Span> = []
  for (const element of elements) {
    const range = rangeOf(text, element)
    const format = formatOf(element)
    if (range === undefined || format === undefined) continue
    const [from, to] = isBlock(format.type) ? widenToLines(text, ...range) : range
    const target = isLink(format.type) ? links : spans
    target.push({ ...format, from, to })
  }
  return { text, spans: normalize([...separateLinks(links), ...spans]) }
}
