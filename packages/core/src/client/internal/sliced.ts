import * as Platform from "../../base/Platform.ts"
import { isSpace, parseAndMark, parseMarked } from "../../base/internal/json.ts"
import type { Sliced } from "./pausing.ts"
import {
  closeList,
  cut,
  endOfString,
  measure,
  openList,
  openObject,
  quote,
  Unparsed
} from "../../base/internal/nesting.ts"

/** A longer text is parsed in slices. The parse of a shorter text takes less time than a slice. */
export const maxUnslicedLength: number = 2 * Platform.maxJsonValues

/** The number of values that are parsed without a pause. */
const sliceValues = 2048

const comma = 44
const colon = 58

const skipSpace = (text: string, start: number): number => {
  let at = start
  while (isSpace(text.charCodeAt(at))) at++
  return at
}

const isBlank = (text: string, start: number, end: number): boolean => skipSpace(text, start) >= end

/** The start of the value of the member at a position, or -1 if the text has no member there. */
const findValue = (text: string, start: number): number => {
  const name = skipSpace(text, start)
  if (text.charCodeAt(name) !== quote) return -1
  const at = skipSpace(text, endOfString(text, name) + 1)
  return text.charCodeAt(at) === colon ? skipSpace(text, at + 1) : -1
}

interface List {
  readonly elements: ReadonlyArray<unknown>
  /** The position after the list. */
  readonly end: number
}

/** Parses the list that starts before a position. An element with too many values is marked as not parsed. */
function* parseList(text: string, start: number): Sliced<List> {
  const elements: Array<unknown> = []
  let from = start
  let values = 0
  const parseUntil = (end: number) => {
    if (isBlank(text, from, end) && elements.length > 0) throw new SyntaxError("An element is missing")
    for (const element of parseAndMark(`[${text.slice(from, end)}]`) as ReadonlyArray<unknown>) elements.push(element)
  }
  for (let at = start; ;) {
    const extent = measure(text, at)
    const isLarge = extent.values > Platform.maxJsonValues
    if (isLarge || values + extent.values > sliceValues) {
      if (at > from) parseUntil(at - 1)
      if (isLarge) elements.push(cut("many", text.slice(at, extent.end)))
      if (elements.length > Platform.maxJsonValues) throw new Unparsed("many")
      from = isLarge ? extent.end + 1 : at
      values = 0
      yield
    }
    if (!isLarge) values += extent.values
    if (text.charCodeAt(extent.end) === comma) {
      at = extent.end + 1
      continue
    }
    if (text.charCodeAt(extent.end) !== closeList) throw new SyntaxError("A list has no end")
    yield
    if (!isLarge) parseUntil(extent.end)
    return { elements, end: extent.end + 1 }
  }
}

const listMark = "\u0082"

const listOf = (value: unknown): number | undefined =>
  Array.isArray(value) && typeof value[0] === "string" && value[0].startsWith(listMark)
    ? Number(value[0].slice(1))
    : undefined

/**
 * Parses a page, as `parseMarked` does: an object with lists. The elements of its lists are parsed in slices, so each
 * element, and the object without its lists, may have `Platform.maxJsonValues` values. Throws as `parseMarked`.
 */
export function* parseSliced(text: string): Sliced<unknown> {
  const start = skipSpace(text, 0)
  if (text.length <= maxUnslicedLength || text.charCodeAt(start) !== openObject) return parseMarked(text)
  yield
  const lists: Array<ReadonlyArray<unknown>> = []
  let rest = ""
  let done = 0
  for (let at = start + 1; ; at++) {
    const value = findValue(text, at)
    if (value < 0) break
    if (text.charCodeAt(value) === openList) {
      const list = yield* parseList(text, value + 1)
      rest += `${text.slice(done, value)}["${listMark}${lists.length}"]`
      if (lists.push(list.elements) > Platform.maxJsonValues) throw new Unparsed("many")
      done = list.end
      at = skipSpace(text, done)
    } else at = measure(text, value).end
    if (text.charCodeAt(at) !== comma) break
  }
  yield
  // Every list of the object was replaced by a list of one mark.
  const page = parseMarked(rest + text.slice(done)) as Record<string, unknown>
  for (const [key, value] of Object.entries(page)) {
    const list = listOf(value)
    if (list !== undefined && lists[list] !== undefined) page[key] = lists[list]
  }
  return page
}
