import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { AttachmentRequest, Keyboard, Message, Messages, NewMessage } from "../../src/index.ts"

const mid = Message.MessageId.make("mid.1")

const media = { token: "t", url: "https://files.example/expires" }

const copyOf = (body: Partial<Message.MessageBody>): NewMessage.NewMessageBody =>
  NewMessage.fromMessage({ body: { mid, seq: 1n, ...body } })

describe("AttachmentRequest.fromAttachment", () => {
  it.each([
    [
      { type: "image", payload: { photo_id: 1n, ...media } },
      { type: "image", payload: { token: "t" } }
    ],
    [
      { type: "video", payload: media, duration: 3 },
      { type: "video", payload: { token: "t" } }
    ],
    [
      { type: "audio", payload: media },
      { type: "audio", payload: { token: "t" } }
    ],
    [
      { type: "file", payload: media, filename: "a.pdf" },
      { type: "file", payload: { token: "t" } }
    ],
    [
      { type: "sticker", payload: { code: "c", url: null } },
      { type: "sticker", payload: { code: "c" } }
    ],
    [
      { type: "contact", payload: { vcf_info: "v", hash: "h" } },
      { type: "contact", payload: { vcf_info: "v" } }
    ],
    [{ type: "contact", payload: null }, undefined],
    [
      { type: "share", payload: { url: "https://a.example", token: "t" } },
      { type: "share", payload: { token: "t" } }
    ],
    [
      { type: "share", payload: { url: "https://a.example" } },
      { type: "share", payload: { url: "https://a.example" } }
    ],
    [{ type: "share", payload: {} }, undefined],
    [
      { type: "location", latitude: 1, longitude: 2 },
      { type: "location", latitude: 1, longitude: 2 }
    ],
    [{ type: "inline_keyboard", payload: { buttons: [] } }, undefined],
    [{ type: "unknown", raw: { type: "poll" } }, undefined]
  ] as const)("makes of an attachment what can be sent (case %#)", (received, sent) => {
    assert.deepStrictEqual(AttachmentRequest.fromAttachment(received), sent)
  })
})

describe("NewMessage.fromMessage", () => {
  it("keeps the formatting", () => {
    assert.deepStrictEqual(copyOf({ text: "a < b", markup: [{ type: "strong", from: 0, length: 1 }] }), {
      text: "<b>a</b> &lt; b",
      format: "html"
    })
  })

  it("does not send the preview of a link in the text, but a link that stands alone", () => {
    const share = { type: "share", payload: { url: "https://a.example" } } as const
    assert.deepStrictEqual(copyOf({ text: "https://a.example", attachments: [share] }), {
      text: "https://a.example",
      format: "html"
    })
    assert.deepStrictEqual(copyOf({ attachments: [share] }), { attachments: [share] })
  })

  it("takes the content of a forwarded message, and not of a message that was replied to", () => {
    const message = { mid, seq: 1n, text: "news" }
    assert.deepStrictEqual(NewMessage.fromMessage({ body: null, link: { type: "forward", message } }), {
      text: "news",
      format: "html"
    })
    assert.deepStrictEqual(
      NewMessage.fromMessage({ body: { ...message, text: "" }, link: { type: "reply", message } }),
      {}
    )
  })

  it.effect("copies a message with an image and a keyboard to another chat", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const bob = yield* Emulator.user("Bob")
      yield* ann.start()
      yield* bob.start()
      const attachments = [
        AttachmentRequest.imageFromUrl("https://images.example/cat.png"),
        Keyboard.make([Keyboard.callback("Like", "like")])
      ]
      const sent = yield* Messages.send({ user_id: ann.user_id, text: "**cat**", format: "markdown", attachments })
      yield* Messages.send({ user_id: bob.user_id, ...NewMessage.fromMessage(sent) })
      const { body } = yield* bob.reply
      assert.strictEqual(body?.text, "cat")
      assert.deepStrictEqual(
        body?.markup?.map(({ type }) => type),
        ["strong"]
      )
      assert.deepStrictEqual(
        body?.attachments?.map(({ type }) => type),
        ["image"]
      )
    }).pipe(Effect.provide(Emulator.layerBot()))
  )
})
