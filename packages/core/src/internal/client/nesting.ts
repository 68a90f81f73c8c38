import * as Platform from "../../Platform.ts"

const quote = 34
const openList = 91
const backslash = 92
const closeList = 93
const openObject = 123
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
 * Whether JSON is nested deeper than `Platform.maxJsonDepth`, given its text and its value. Most texts do not have enough
 * brackets for that, which is faster to find out than the depth. The benchmark `decode` shows the cost.
 */
export const isTooDeep = (text: string, value: unknown): boolean =>
  text.length > 2 * Platform.maxJsonDepth &&
  (hasMore(text, "{", Platform.maxJsonDepth / 2) || hasMore(text, "[", Platform.maxJsonDepth / 2)) &&
  isDeeper(value, Platform.maxJsonDepth)

const endOfString = (text: string, start: number): number => {
  for (let end = start + 1; end < text.length; end++) {
    const code = text.charCodeAt(end)
    if (code === quote) return end
    if (code === backslash) end++
  }
  return text.length
}

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

const mark = "\u0081deep:"

/**
 * Replaces the parts of a JSON text that are too deep by a mark: a list of one string, which starts with a control
 * character and holds the text of the part.
 */
export const cutDeepParts = (text: string): string => {
  let cut = ""
  let done = 0
  for (const [start, end] of deepParts(text)) {
    cut += text.slice(done, start) + JSON.stringify([mark + text.slice(start, end)])
    done = end
  }
  return cut + text.slice(done)
}

/** Whether a value is the mark of a part that was too deep. */
export const isCut = (value: unknown): boolean =>
  Array.isArray(value) && value.length === 1 && typeof value[0] === "string" && value[0].startsWith(mark)

const markStart = `["${mark}`

/** Puts the parts back into a JSON text. */
export const restoreDeepParts = (text: string): string => {
  let restored = ""
  let done = 0
  for (let start = text.indexOf(markStart); start >= 0; start = text.indexOf(markStart, done)) {
    const end = endOfString(text, start + 1) + 1
    restored += text.slice(done, start) + (JSON.parse(text.slice(start + 1, end)) as string).slice(mark.length)
    done = end + 1
  }
  return restored + text.slice(done)
}

/** The problem of a value that is nested too deep. */
export const tooDeep = `is nested deeper than ${Platform.maxJsonDepth} levels`
