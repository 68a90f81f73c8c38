import * as Result from "effect/Result"
import { parseJson } from "./json.ts"

type Named = Readonly<Record<string, unknown>>

/** Calls a function with each object of a JSON value, also of JSON texts in the value. */
const visit = (value: unknown, onObject: (object: Named) => void): void => {
  if (typeof value === "string") {
    if (!/^\s*[[{]/.test(value)) return
    const parsed = parseJson(value)
    if (Result.isSuccess(parsed)) visit(parsed.success, onObject)
  } else if (Array.isArray(value)) for (const item of value) visit(item, onObject)
  else if (typeof value === "object" && value !== null) {
    onObject(value as Named)
    for (const item of Object.values(value)) visit(item, onObject)
  }
}

/** Shorter numbers and texts are too likely to mean something else. */
const minDigits = 5
const minLetters = 2

/** A number with the same sign and the same number of digits. */
const numberLike = (id: string, index: number): string => {
  const [, sign = "", digits = ""] = /^(-?)(\d+)$/.exec(id) ?? []
  return `${sign}9${String(index).padStart(digits.length - 1, "0")}`
}

const personal: Readonly<Record<string, (value: string, index: number) => string>> = {
  user_id: numberLike,
  chat_id: numberLike,
  owner_id: numberLike,
  first_name: (_, index) => `First${index}`,
  last_name: (_, index) => `Last${index}`,
  username: (_, index) => `user${index}`,
  title: (_, index) => `Title ${index}`,
  avatar_url: (_, index) => `https://example.com/${index}.jpg`,
  full_avatar_url: (_, index) => `https://example.com/full/${index}.jpg`
}

/** The id of a chat, or the number of a message, in a message id: 16 hexadecimal digits in two's complement. */
export const hexOf = (id: number | bigint): string => BigInt.asUintN(64, BigInt(id)).toString(16).padStart(16, "0")

/** Returns a function that replaces the chats in the message ids of a text. */
const replaceMessageIds = (replacements: ReadonlyMap<string, string>) => {
  const chats = new Map(
    [...replacements]
      .filter(([id]) => /^-?\d+$/.test(id))
      .map(([id, other]) => [hexOf(Number(id)), hexOf(Number(other))])
  )
  return (text: string): string =>
    text.replaceAll(/\bmid\.([0-9a-f]{16})/g, (mid, chat: string) => `mid.${chats.get(chat) ?? mid.slice(4)}`)
}

const escapeRegExp = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&")

const isLongEnough = (value: string): boolean =>
  /^-?\d+$/.test(value) ? value.replace("-", "").length >= minDigits : value.length >= minLetters

const patterns: ReadonlyArray<readonly [pattern: RegExp, replace: (index: number) => string]> = [
  [/[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g, (index) => `person${index}@example.com`],
  [/\+\d[\d ()-]{8,}\d/g, (index) => `+7000${String(index).padStart(7, "0")}`]
]

/**
 * Returns a function that replaces the names, ids, addresses, e-mail addresses and phone numbers of people and chats in texts, also the
 * ids of chats in message ids: each of them by the same other text everywhere. Other texts stay, because the handler may depend on them.
 */
export const makeAnonymous = (values: ReadonlyArray<unknown>): ((text: string) => string) => {
  const replacements = new Map<string, string>()
  const add = (value: string, replace: (index: number) => string): string => {
    const known = replacements.get(value)
    if (known !== undefined) return known
    const replacement = replace(replacements.size + 1)
    replacements.set(value, replacement)
    return replacement
  }
  for (const value of values) {
    visit(value, (object) => {
      // The names of bots are public, and often words of other texts.
      if (object["is_bot"] === true) return
      for (const [key, replace] of Object.entries(personal)) {
        const text = String(object[key] ?? "")
        if (isLongEnough(text)) add(text, (index) => replace(text, index))
      }
    })
  }
  const known = [...replacements.keys()].sort((a, b) => b.length - a.length).map(escapeRegExp)
  const all = known.length === 0 ? undefined : new RegExp(`(?<![\\p{L}\\d])(?:${known.join("|")})(?![\\p{L}\\d])`, "gu")
  const withMessageIds = replaceMessageIds(replacements)
  return (text) => {
    const named =
      all === undefined ? text : withMessageIds(text.replace(all, (found) => replacements.get(found) ?? found))
    return patterns.reduce(
      (shown, [pattern, replace]) =>
        shown.replace(pattern, (found) => (found.endsWith("@example.com") ? found : add(found, replace))),
      named
    )
  }
}

/** Replaces all texts of a JSON value. */
export const mapTexts = (value: unknown, replace: (text: string) => string): unknown =>
  JSON.parse(JSON.stringify(value), (_, part: unknown) => (typeof part === "string" ? replace(part) : part))
