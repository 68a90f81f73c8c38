import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Attachment, AttachmentRequest, Keyboard } from "../../src/index.ts"

const buttons = [[Keyboard.callback("Yes", "yes"), Keyboard.link("Site", "https://example.org")]]

const encode = Schema.encodeUnknownResult(AttachmentRequest.AttachmentRequest, { onExcessProperty: "error" })

describe("Keyboard.Keyboard", () => {
  it("encodes a keyboard that was received without its callback_id", () => {
    const wire = { type: "inline_keyboard", payload: { buttons }, callback_id: "f9LHod" }
    const received = Schema.decodeUnknownSync(Attachment.Attachment)(wire)
    assert.deepStrictEqual<unknown>(received, wire)
    assert.deepStrictEqual(Result.getOrThrow(encode(received)), { type: "inline_keyboard", payload: { buttons } })
  })
})

describe("Keyboard.grid", () => {
  const keys = ["1", "2", "3", "4", "5"].map((digit) => Keyboard.message(digit))

  it("puts the given number of buttons into each row, and the rest into the last row", () => {
    assert.deepStrictEqual(Keyboard.grid(2, keys).payload.buttons, [keys.slice(0, 2), keys.slice(2, 4), keys.slice(4)])
  })

  it("returns no rows for no buttons", () => {
    assert.deepStrictEqual(Keyboard.grid(3, []).payload.buttons, [])
  })

  it("uses one column if the number of columns is less than 1", () => {
    assert.lengthOf(Keyboard.grid(0, keys).payload.buttons, 5)
  })
})
