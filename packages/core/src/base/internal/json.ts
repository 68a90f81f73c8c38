import * as Result from "effect/Result"
import * as Platform from "../Platform.ts"
import { cut, cutDeepParts, hasTooManyValues, isTooDeep, limitOf, restoreParts, Unparsed } from "./nesting.ts"

/** The shortest integer that a double may not hold. */
const longDigits = 16

const isDigit = (code: number): boolean => code <= 57 && code >= 48

export const isSpace = (code: number): boolean => code === 32 || (code >= 9 && code <= 13)

const quote = 34
const comma = 44
const minus = 45
const point = 46
const zero = 48
const colon = 58
const capitalE = 69
const bracket = 91
const underscore = 95
const smallE = 101

/** Whether an integer, without its sign, has too many digits to be converted. */
const isTooLong = (digits: number): boolean => digits > Platform.maxJsonDigits

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown

const reviveWith =
  (onTooLong: (digits: string) => unknown): Reviver =>
  (_key, value, { source = "" }) => {
    if (typeof value !== "number" || Number.isSafeInteger(value) || !/^-?\d+$/.test(source)) return value
    return isTooLong(source.length - (value < 0 ? 1 : 0)) ? onTooLong(source) : BigInt(source)
  }

const reviveOrCut = reviveWith((digits) => cut("long", digits))

const reviveOrThrow = reviveWith(() => {
  throw new Unparsed("long")
})

const parseWithReviver = JSON.parse as (text: string, reviver: Reviver) => unknown

// `JSON.parse` accepts any depth, but a reviver and functions that walk the value overflow the stack.
const parseCut = (text: string): unknown => {
  const value: unknown = JSON.parse(text)
  return isTooDeep(text, value) ? JSON.parse(cutDeepParts(text)) : value
}

const parseSlowly = (text: string): unknown =>
  parseWithReviver(isTooDeep(text, JSON.parse(text)) ? cutDeepParts(text) : text, reviveOrCut)

type Position = "member" | "elsewhere" | "string"

const isWord = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || isDigit(code) || code === underscore

// A quote after a word character closes a string, because a quote inside a string is escaped. If a colon follows, the
// string is the name of a member.
const positionOf = (text: string, start: number): Position => {
  let before = start - 1
  while (isSpace(text.charCodeAt(before))) before--
  const code = text.charCodeAt(before)
  if (code === colon) {
    return text.charCodeAt(before - 1) === quote && isWord(text.charCodeAt(before - 2)) ? "member" : "elsewhere"
  }
  return code === comma || code === bracket || before < 0 ? "elsewhere" : "string"
}

const isInteger = (text: string, start: number, end: number): boolean => {
  const next = text.charCodeAt(end)
  return (
    next !== point &&
    next !== smallE &&
    next !== capitalE &&
    !(end - start <= longDigits + 1 && Number.isSafeInteger(Number(text.slice(start, end))))
  )
}

/**
 * The start of the first run of at least 16 digits, or -1. Every 16th character is probed, which finds every such run.
 * No run contains both the character at `from` and the character before.
 */
const findLong = (text: string, from: number): number => {
  for (let probe = from + longDigits - 1; probe < text.length; probe += longDigits) {
    if (!isDigit(text.charCodeAt(probe))) continue
    let start = probe
    while (start > from && isDigit(text.charCodeAt(start - 1))) start--
    const last = start + longDigits - 1
    if (last >= text.length) return -1
    if (!isDigit(text.charCodeAt(last))) continue
    let end = probe + 1
    while (end < last && isDigit(text.charCodeAt(end))) end++
    if (end >= last) return start
  }
  return -1
}

const noDigit = /\D/g

/** The end of the digits at a position. A regular expression is faster for many digits, and slower for few. */
const endOfDigits = (text: string, start: number): number => {
  let end = start
  while (end - start < Platform.maxJsonDigits && isDigit(text.charCodeAt(end))) end++
  if (!isDigit(text.charCodeAt(end))) return end
  noDigit.lastIndex = end
  return noDigit.exec(text)?.index ?? text.length
}

/**
 * Parses JSON of any number of values. Integers that a double cannot hold, integers that are too long, and parts that
 * are nested too deep are marked, for `toBigInt` and `restore`.
 *
 * A reviver takes five times as long as the parse alone (`npm run bench`, decoding). So a number after the name of a
 * member is replaced in the text by a marked number. If a number cannot be distinguished from the inside of a string,
 * the reviver is used.
 */
export const parseAndMark = (text: string): unknown => {
  let out = ""
  let done = 0
  let end = 0
  for (let start = findLong(text, 0); start >= 0; start = findLong(text, end)) {
    end = endOfDigits(text, start + longDigits)
    if (text.charCodeAt(start) === zero) continue
    if (text.charCodeAt(start - 1) === minus) start--
    if (!isInteger(text, start, end)) continue
    const position = positionOf(text, start)
    if (position === "elsewhere") return parseSlowly(text)
    if (position === "string") continue
    const digits = text.slice(start, end)
    out += text.slice(done, start)
    out += isTooLong(end - start) ? JSON.stringify(cut("long", digits)) : openMark + digits + closeMark
    done = end
  }
  return parseCut(done === 0 ? text : out + text.slice(done))
}

/**
 * Parses JSON of the platform: as `parseAndMark`, but throws if the text has more than `Platform.maxJsonValues` values,
 * because the time to decode and to repair them is not interrupted.
 */
export const parseMarked = (text: string): unknown => {
  if (hasTooManyValues(text)) throw new Unparsed("many")
  return parseAndMark(text)
}

// A marked integer is an array of one string that starts with a control character which JSON does not escape. No schema of
// a string accepts an array.
const mark = 0x80
const openMark = `["${String.fromCharCode(mark)}`
const closeMark = '"]'

const markedInteger = new RegExp(`^\\x80-?\\d{16,${Platform.maxJsonDigits}}$`)

const markedText = (value: unknown): string | undefined =>
  Array.isArray(value) && value.length === 1 && typeof value[0] === "string" && markedInteger.test(value[0])
    ? value[0].slice(1)
    : undefined

const decimal = new RegExp(`^-?\\d{1,${Platform.maxJsonDigits}}$`)

/** Returns the integer that `parseMarked` marked, or any other value unchanged. */
export const toBigInt = (value: unknown): unknown => {
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value
  if (typeof value === "string") return decimal.test(value) ? BigInt(value) : value
  const digits = markedText(value)
  return digits === undefined ? value : BigInt(digits)
}

/** Replaces marked integers in the value itself, which takes a fifth of the time of a copy. */
const restoreInPlace = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (!Array.isArray(value)) {
    const members = value as Record<string, unknown>
    for (const key in members) {
      const member = members[key]
      if (typeof member === "object") members[key] = restoreInPlace(member)
    }
    return value
  }
  const limit = limitOf(value)
  if (limit !== undefined) throw new Unparsed(limit)
  const digits = markedText(value)
  if (digits !== undefined) return BigInt(digits)
  for (let index = 0; index < value.length; index++) value[index] = restoreInPlace(value[index])
  return value
}

/** Copies JSON, apart from texts and numbers. */
export const copy = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  return Array.isArray(value)
    ? value.map(copy)
    : Object.fromEntries(Object.entries(value).map(([key, member]) => [key, copy(member)]))
}

/** Returns JSON whose text does not depend on the order in which its fields were set. */
export const sortKeys = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(sortKeys)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(members.map(([key, member]) => [key, sortKeys(member)]))
}

/** Returns a copy of a raw value with bigints for marked integers. Fails if a part of the value was not parsed. */
export const restore = (value: unknown): Result.Result<unknown, Unparsed> =>
  Result.try({ try: () => restoreInPlace(copy(value)), catch: (error) => error as Unparsed })

const markedLong = /\["\x80(-?\d{16,})"\]/g

/** The JSON text of a raw value, with its integers and the parts that were not parsed. */
export const restoreText = (value: unknown): string =>
  restoreParts(JSON.stringify(value, writeLong)).replace(markedLong, "$1")

// A string that looks like a marked integer needs the reviver.
const likeMarked = /"(?:[\x80\x81]|\\u008[01])/

/** Parses JSON. Throws if the text is nested too deep. */
export const parsePlain = (text: string): unknown => {
  const value: unknown = JSON.parse(text)
  if (isTooDeep(text, value)) throw new Unparsed("deep")
  return value
}

/**
 * Parses JSON with a bigint for every integer that a double cannot hold. Throws if the text is nested too deep or an
 * integer is too long.
 */
export const parseExactly = (text: string): unknown => {
  const isLong = findLong(text, 0) >= 0
  if (isLong && !likeMarked.test(text)) return restoreInPlace(parseAndMark(text))
  const value = parsePlain(text)
  return isLong ? parseWithReviver(text, reviveOrThrow) : value
}

const rawJSON = (JSON as unknown as { readonly rawJSON: (text: string) => unknown }).rawJSON

const writeLong = (_key: string, value: unknown): unknown =>
  typeof value === "bigint" ? rawJSON(String(value)) : value

/** Writes JSON with bigints as integers. */
export const stringify = (value: unknown): string => JSON.stringify(value, writeLong)

/** As `stringify`, but faster for a value without bigints: the replacer is used only if `JSON.stringify` fails. */
export const stringifyPlain = (value: unknown): string => {
  const plain = Result.try(() => JSON.stringify(value))
  return Result.isSuccess(plain) ? plain.success : stringify(value)
}
