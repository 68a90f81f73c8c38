import { createHash } from "node:crypto"

/** A text that not every database can hold: with a NUL, or with half of a surrogate pair. */
// oxlint-disable-next-line no-control-regex
const isHard = /^\u0001|\0|[\ud800-\udfff]/u

/** A text that every database holds, from any text. */
export const toPlain = (text: string): string => (isHard.test(text) ? `\u0001${JSON.stringify(text)}` : text)

/** The text from its plain form. */
export const fromPlain = (plain: string): string =>
  plain.startsWith("\u0001") ? (JSON.parse(plain.slice(1)) as string) : plain

/** What an index holds at the most, in characters that may take six bytes each. */
const maxName = 400

/** A key or a fingerprint for an index: a long one is cut, and told apart by its hash. */
export const toName = (text: string): string =>
  toPlain(
    text.length <= maxName
      ? text
      : `${text.slice(0, maxName - 65)}#${createHash("sha256").update(text, "utf16le").digest("hex")}`
  )

/** What may be the id of an update; anything else finds nothing. */
export const isId = (id: string): boolean => /^\d{1,18}$/.test(id)
