import * as Platform from "../Platform.ts"

export const quote = 34
const comma = 44
export const openList = 91
const backslash = 92
export const closeList = 93
export const openObject = 123
const closeObject = 125

const hasMore = (text: string, bracket: string, count: number): boolean => {
  let left = count
  for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) if (--left < 0) return true
  return false
}

const isDeeper = (value: unknown, levels: number): boolean => {
  if (typeof value !== "object" || value === null) return false
  if (levels === 0) return true
  if (Array.isArray(value)) return value.some((item) => isDeeper(item, levels - 1))
  for (const key in value) if (isDeeper(value[key as keyof typeof value], levels - 1)) return true
  return false
}

/**
 * Whether JSON is nested deeper than `Platform.maxJsonDepth`, given its text and its value. Most texts have too few
 * brackets for such a depth, and the count of brackets is faster than the depth. The benchmark `decode` shows the cost.
 */
export const isTooDeep = (text: string, value: unknown): boolean =>
  text.length > 2 * Platform.maxJsonDepth &&
  (hasMore(text, "{", Platform.maxJsonDepth / 2) || hasMore(text, "[", Platform.maxJsonDepth / 2)) &&
  isDeeper(value, Platform.maxJsonDepth)

/** The position of the quote that ends a string, or the end of the text. */
export const endOfString = (text: string, start: number): number => {
  for (let end = start + 1; end < text.length; end++) {
    const code = text.charCodeAt(end)
    if (code === quote) return end
    if (code === backslash) end++
  }
  return text.length
}

/** The size of one JSON value. */
interface Extent {
  /** The position of the comma or of the bracket after the value. */
  readonly end: number
  /** Number of its values, itself included. */
  readonly values: number
}

/** Measures the value that starts at a position. Nothing is allocated, so the text can be of any size. */
export const measure = (text: string, start: number): Extent => {
  let depth = 0
  let values = 1
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) at = endOfString(text, at)
    else if (code === openList || code === openObject) {
      depth++
      values++
    } else if (code === closeList || code === closeObject) {
      if (depth-- === 0) return { end: at, values }
    } else if (code === comma) {
      if (depth === 0) return { end: at, values }
      values++
    }
  }
  return { end: text.length, values }
}

/** Whether a JSON text has more values than `Platform.maxJsonValues`. A value has at least two characters. */
export const hasTooManyValues = (text: string): boolean =>
  text.length > 2 * Platform.maxJsonValues && measure(text, 0).values > Platform.maxJsonValues

/** The objects and lists one level below the maximum depth, as their starts and ends in the text. */
const deepParts = (text: string): ReadonlyArray<readonly [start: number, end: number]> => {
  const parts: Array<readonly [number, number]> = []
  let depth = 0
  let start = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) at = endOfString(text, at)
    else if (code === openList || code === openObject) {
      if (++depth === Platform.maxJsonDepth + 1) start = at
    } else if ((code === closeList || code === closeObject) && depth-- === Platform.maxJsonDepth + 1) {
      parts.push([start, at + 1])
    }
  }
  return parts
}

const problems = {
  deep: `is nested deeper than ${Platform.maxJsonDepth} levels`,
  many: `has more than ${Platform.maxJsonValues} values`,
  long: `has an integer of more than ${Platform.maxJsonDigits} digits`
}

/** The reason why a part of a JSON text is not parsed. */
export type Limit = keyof typeof problems

/** A JSON text that is not parsed, because its structure exceeds a limit. */
export class Unparsed extends SyntaxError {
  override readonly name = "SyntaxError"
  readonly problem: string
  constructor(limit: Limit) {
    super(`The JSON ${problems[limit]}.`)
    this.problem = problems[limit]
  }
}

const mark = "\u0081"

/** The mark of a part that is not parsed: a list of one string, which starts with a control character. */
export const cut = (limit: Limit, part: string): ReadonlyArray<string> => [`${mark}${limit}:${part}`]

/** Replaces the parts of a JSON text that are too deep by marks. */
export const cutDeepParts = (text: string): string => {
  let rest = ""
  let done = 0
  for (const [start, end] of deepParts(text)) {
    rest += text.slice(done, start) + JSON.stringify(cut("deep", text.slice(start, end)))
    done = end
  }
  return rest + text.slice(done)
}

const marked = /^\u0081(deep|many|long):/

/** The limit that a part exceeds, if a value is the mark of a part that is not parsed. */
export const limitOf = (value: unknown): Limit | undefined =>
  Array.isArray(value) && value.length === 1 && typeof value[0] === "string"
    ? (marked.exec(value[0])?.[1] as Limit | undefined)
    : undefined

const markStart = `["${mark}`

/** Puts the parts back into a JSON text. */
export const restoreParts = (text: string): string => {
  let restored = ""
  let done = 0
  for (let start = text.indexOf(markStart); start >= 0; start = text.indexOf(markStart, start + 1)) {
    const end = endOfString(text, start + 1) + 1
    const part = JSON.parse(text.slice(start + 1, end)) as string
    if (limitOf([part]) === undefined || text.charCodeAt(end) !== closeList) continue
    restored += text.slice(done, start) + part.slice(part.indexOf(":") + 1)
    done = end + 1
  }
  return restored + text.slice(done)
}
