/**
 * JSON that keeps every digit of every integer: positions (`seq`) on this platform are always beyond 2^53.
 *
 * @since 0.1.0
 */

const longInteger = /[:[,]\s*-?\d{16}/g

const isDigit = (code: number): boolean => code >= 48 && code <= 57

// `":` outside a string literal can only end a member's name, because a quote inside one is escaped.
const followsName = (text: string, colon: number): boolean =>
  text.charCodeAt(colon) === 58 && text.charCodeAt(colon - 1) === 34 && text.charCodeAt(colon - 2) !== 92

const reviveLong = (_key: string, value: unknown, context: { readonly source?: string }): unknown =>
  typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context.source ?? "")
    ? BigInt(context.source!)
    : value

const parseSlowly = JSON.parse as (text: string, reviver: typeof reviveLong) => unknown

// A reviver costs five times a parse, so the common case is one scan: long integers that follow a member's name are
// quoted and marked; `toBigInt` and `thaw` read them. Where the scan cannot tell a number from the inside of a string,
// the reviver decides.
/** @internal */
export const parseMarked = (text: string): unknown => {
  let out = ""
  let done = 0
  longInteger.lastIndex = 0
  for (let found = longInteger.exec(text); found !== null; found = longInteger.exec(text)) {
    let end = longInteger.lastIndex
    while (isDigit(text.charCodeAt(end))) end++
    const next = text.charCodeAt(end)
    if (next === 46 || next === 69 || next === 101) continue
    if (!followsName(text, found.index)) return parseSlowly(text, reviveLong)
    let start = longInteger.lastIndex - 16
    if (text.charCodeAt(start - 1) === 45) start--
    if (Number.isSafeInteger(Number(text.slice(start, end)))) continue
    out += text.slice(done, start) + '"\\u0000' + text.slice(start, end) + '"'
    done = longInteger.lastIndex = end
  }
  return JSON.parse(done === 0 ? text : out + text.slice(done))
}

// An integer that a double cannot hold travels through `JSON.parse` as a string that starts with this character.
const isMarked = (value: string): boolean => value.charCodeAt(0) === 0

/** @internal The exact integer that `parseMarked` left at a place where the schema expects one. */
export const toBigInt = (value: string | number | bigint): bigint =>
  typeof value === "string" && isMarked(value) ? BigInt(value.slice(1)) : BigInt(value)

const markedInteger = /^\u0000-?\d{16,}$/

/** @internal Replaces marked integers in a raw value by bigints. */
export const thaw = (value: unknown): unknown => {
  if (typeof value === "string") return isMarked(value) && markedInteger.test(value) ? BigInt(value.slice(1)) : value
  if (Array.isArray(value)) return value.map(thaw)
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, thaw(member)]))
  }
  return value
}

const rawJSON = (JSON as unknown as { readonly rawJSON: (text: string) => unknown }).rawJSON

const writeLong = (_key: string, value: unknown): unknown =>
  typeof value === "bigint" ? rawJSON(String(value)) : value

/**
 * `JSON.parse` with every integer beyond 2^53 as a bigint. Throws a `SyntaxError` as `JSON.parse` does.
 *
 * **Example**
 *
 * ```ts
 * import { Json } from "@colloquy/core"
 *
 * Json.parse(`{"seq":116328127605864690}`) // => { seq: 116328127605864690n }
 * ```
 *
 * @category parsing
 * @since 0.1.0
 */
export const parse = (text: string): unknown => thaw(parseMarked(text))

/**
 * `JSON.stringify` that writes a bigint as the integer it is.
 *
 * **Example**
 *
 * ```ts
 * import { Json } from "@colloquy/core"
 *
 * Json.stringify({ seq: 116328127605864690n }) // => {"seq":116328127605864690}
 * ```
 *
 * @category writing
 * @since 0.1.0
 */
export const stringify = (value: unknown): string => JSON.stringify(value, writeLong)
