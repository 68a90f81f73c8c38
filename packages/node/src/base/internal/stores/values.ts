import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import { createHash } from "node:crypto"

/** Whether a text has a NUL or half of a surrogate pair, which PostgreSQL refuses, or looks like an encoded text. */
// oxlint-disable-next-line no-control-regex
const mustEncode = /^\u0001|\0|[\ud800-\udfff]/u

/** Encodes any text so that every database accepts it. Most texts do not change. */
export const encodeText = (text: string): string => (mustEncode.test(text) ? `\u0001${JSON.stringify(text)}` : text)

const decodeJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.String))

/** Decodes a stored text. A database without strict types can hold another value where a text was stored. */
export const decodeText = (encoded: unknown): string => {
  if (typeof encoded !== "string") return String(encoded ?? "")
  return encoded.startsWith("\u0001") ? Option.getOrElse(decodeJson(encoded.slice(1)), () => encoded) : encoded
}

/** Characters that a database refuses, and the one that encodes them. */
// oxlint-disable-next-line no-control-regex
const unusual = /[\0\u0001\ud800-\udfff]/gu

/** Encodes a key so that every database accepts it, and so that keys with a common beginning still have one. */
export const encodeKey = (key: string): string =>
  key.replace(unusual, (character) => `\u0001${character.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** Decodes a key that was encoded by `encodeKey`. */
export const decodeKey = (encoded: string): string =>
  // oxlint-disable-next-line no-control-regex
  encoded.replace(/\u0001([\da-f]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))

/** Longest text of an index, in characters of up to six bytes. */
const maxIndexed = 400

/** Encodes a text for an index. A long text becomes its beginning and its hash, and cannot be decoded. */
export const encodeIndexed = (text: string): string =>
  encodeText(
    text.length <= maxIndexed
      ? text
      : `${text.slice(0, maxIndexed - 65)}#${createHash("sha256").update(text, "utf16le").digest("hex")}`
  )

/** Whether a text can be an id that the database assigned. */
export const isId = (text: string): boolean => /^\d{1,18}$/.test(text)

/** A text that was stored by `encodeText`. */
export const StoredText = Schema.String.pipe(
  Schema.decodeTo(Schema.String, {
    decode: SchemaGetter.transform(decodeText),
    encode: SchemaGetter.transform(encodeText)
  })
)

/** An integer as databases return it: PostgreSQL as a bigint, Redis as a text. */
export const StoredInteger = Schema.Union([Schema.Number, Schema.BigInt, Schema.String]).pipe(
  Schema.decodeTo(Schema.Int, {
    decode: SchemaGetter.transform(Number),
    encode: SchemaGetter.transform((integer): number | bigint | string => integer)
  })
)
