// oxlint-disable-next-line no-control-regex
const special = /[\0\u0001\ud800-\udfff]/gu

// oxlint-disable-next-line no-control-regex
const escape = /\u0001([\da-f]{4})/g

/**
 * Encodes a text for SQLite, which ends texts at a NUL, and replaces half of a surrogate pair. Most texts do not change.
 * The beginning of an encoded text is the encoded beginning of the text.
 */
export const encodeText = (text: string): string =>
  text.isWellFormed() && !text.includes("\0") && !text.includes("\u0001")
    ? text
    : text.replace(special, (character) => `\u0001${character.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** Decodes a stored text. A column can hold another value if a row was changed outside of the library. */
export const decodeText = (stored: unknown): string => {
  if (typeof stored !== "string") return String(stored ?? "")
  return stored.includes("\u0001")
    ? stored.replace(escape, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : stored
}

/** The number of an id that the store assigned. Other texts become 0, which no update has. */
export const numberOf = (id: string): number => (/^\d{1,15}$/.test(id) ? Number(id) : 0)

/** A text that is greater than all texts that begin with a prefix. */
export const endOf = (prefix: string): string => `${prefix}\u{10ffff}`
