import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Attachment, AttachmentRequest, Keyboard } from "../src/index.ts"

const buttons = [[Keyboard.callback("Yes", "yes"), Keyboard.link("Site", "https://example.org")]]

const encode = Schema.encodeUnknownResult(AttachmentRequest.AttachmentRequest, { onExcessProperty: "error" })

describe("a keyboard", () => {
  it("that was received is sent as it stands, without what only the platform says of it", () => {
    const wire = { type: "inline_keyboard", payload: { buttons }, callback_id: "f9LHod" }
    const received = Schema.decodeUnknownSync(Attachment.Attachment)(wire)
    assert.deepStrictEqual<unknown>(received, wire)
    assert.deepStrictEqual(Result.getOrThrow(encode(received)), { type: "inline_keyboard", payload: { buttons } })
  })

  it("is laid out in rows of so many columns", () => {
    const keys = ["1", "2", "3", "4", "5"].map((digit) => Keyboard.message(digit))
    assert.deepStrictEqual(Keyboard.grid(2, keys).payload.buttons, [keys.slice(0, 2), keys.slice(2, 4), keys.slice(4)])
    assert.deepStrictEqual(Keyboard.grid(0, keys).payload.buttons.length, 5)
    assert.deepStrictEqual(Keyboard.grid(3, []).payload.buttons, [])
  })
})
