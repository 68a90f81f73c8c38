import { isObject } from "effect/Predicate"
import * as Platform from "../../base/Platform.ts"

export type JsonSchema = Readonly<Record<string, unknown>>

/** Adds the members of `more` to a schema, at any depth. */
export const merge = (schema: JsonSchema, more: JsonSchema): JsonSchema => {
  const merged: Record<string, unknown> = { ...schema }
  for (const [key, value] of Object.entries(more)) {
    const known = merged[key]
    merged[key] = isObject(known) && isObject(value) ? merge(known, value) : value
  }
  return merged
}

const length = (minLength: number, maxLength: number): JsonSchema =>
  minLength === 0 ? { maxLength } : { minLength, maxLength }

const button = (more: JsonSchema = {}): JsonSchema => ({
  properties: { text: length(1, Platform.maxButtonTextLength), ...more }
})

const row: JsonSchema = {
  minItems: 1,
  maxItems: Platform.maxButtonsInRow,
  description: `A row. It has at most ${Platform.maxButtonsInWideRow} buttons if one of them is ${Platform.wideButtonTypes.join(", ")}.`
}

const rows: JsonSchema = {
  maxItems: Platform.maxRows,
  items: row,
  description: `The buttons by row, at most ${Platform.maxButtons} in all.`
}

/** The checks of the client that JSON Schema can state, by the name of the schema. */
export const constraints: Readonly<Record<string, JsonSchema>> = {
  CallbackButton: button({ payload: length(0, Platform.maxCallbackPayloadLength) }),
  ClipboardButton: button({ payload: length(0, Platform.maxClipboardPayloadLength) }),
  LinkButton: button({ url: length(1, Platform.maxButtonUrlLength) }),
  MessageButton: button(),
  OpenAppButton: button({ payload: length(0, Platform.maxAppPayloadLength) }),
  RequestContactButton: button(),
  RequestGeoLocationButton: button({ quick: { default: false } }),
  Keyboard: { properties: { payload: { properties: { buttons: rows } } } },
  PhotoAttachmentRequestPayload: {
    description: "Exactly one of `url`, `token` and `photos`.",
    oneOf: ["url", "token", "photos"].map((field) => ({
      required: [field],
      properties: { [field]: { not: { type: "null" } } }
    })),
    properties: { photos: { minProperties: 1 } }
  }
}
