import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Attachment, Message } from "../../../src/index.ts"
import { Message as Messages, User } from "../../../src/index.ts"
import { find, matches } from "../../../src/inbox/internal/journal/lookUp.ts"
import { dialogId } from "../../support/handlers.ts"

const botId = User.UserId.make(7)

interface Parts {
  readonly at?: number
  readonly text?: string | null
  readonly attachments?: ReadonlyArray<Attachment.Attachment>
  readonly link?: Message.LinkedMessage
  readonly sender?: number | null
}

const sent = (
  mid: string,
  { at = 1, attachments, link, sender = botId, text = "Hello" }: Parts = {}
): Message.Message => ({
  recipient: { chat_id: dialogId, chat_type: "dialog" },
  timestamp: at,
  body: { mid: Messages.MessageId.make(mid), seq: 1n, text, ...(attachments === undefined ? {} : { attachments }) },
  ...(sender === null ? {} : { sender: { user_id: User.UserId.make(sender), first_name: "Bot", is_bot: true } }),
  ...(link === undefined ? {} : { link })
})

const found = (body: unknown, ...messages: ReadonlyArray<Message.Message>) =>
  matches([body], botId, messages).map(({ body }) => String(body?.mid))

const image = (token: string): Attachment.Attachment => ({
  type: "image",
  payload: { photo_id: 1n, token, url: "https://example.com/1" }
})

const keyboard = (...texts: ReadonlyArray<string>): Attachment.Attachment => ({
  type: "inline_keyboard",
  payload: { buttons: [texts.map((text) => ({ type: "callback", text, payload: "x" }))] }
})

describe("the message that a lost call has sent", () => {
  it("is one of the bot with the same text, or a post without a sender", () => {
    assert.deepStrictEqual(found({ text: "Hello" }, sent("a"), sent("b", { text: "Bye" }), sent("c", { sender: 8 })), [
      "a"
    ])
    assert.deepStrictEqual(found({ text: "Hello" }, sent("a", { sender: null })), ["a"])
    assert.deepStrictEqual(found({ text: "Hell" }, sent("a")), [])
    assert.deepStrictEqual(found({ text: "hello" }, sent("a")), [])
  })

  it("is the oldest of several", () => {
    assert.deepStrictEqual(found({ text: "Hello" }, sent("new", { at: 3 }), sent("old", { at: 2 })), ["old", "new"])
  })

  it("can have any of the texts that may have been sent", () => {
    const bodies = [{ text: "at 12:00" }, { text: "at 12:01" }]
    const messages = [sent("a", { text: "at 12:01" }), sent("b", { text: "at 12:02" })]
    assert.deepStrictEqual(
      matches(bodies, botId, messages).map(({ body }) => String(body?.mid)),
      ["a"]
    )
  })

  for (const [name, body, text] of [
    [
      "Markdown",
      { format: "markdown", text: "**Bold** _it_ ~~no~~ `code` [link](https://a.b/c_(d))" },
      "Bold it no code link)"
    ],
    ["a list in Markdown", { format: "markdown", text: "# Head\n- one\n> two" }, "Head\n- one\ntwo"],
    ["escaped Markdown", { format: "markdown", text: "2 \\* 3 = 6" }, "2 * 3 = 6"],
    [
      "HTML",
      { format: "html", text: '<b>1 &lt; 2</b> &amp; <a href="https://a.b">x</a> &#128578;&#x41;' },
      "1 < 2 & x 🙂A"
    ]
  ] as const) {
    it(`has the text without the markup of ${name}`, () => {
      assert.deepStrictEqual(found(body, sent("a", { text }), sent("b", { text: `${text} more` })), ["a"])
    })
  }

  it("keeps characters of markup in a plain text", () => {
    assert.deepStrictEqual(found({ text: "a*b" }, sent("a", { text: "ab" }), sent("b", { text: "a*b" })), ["b"])
  })

  it("has the same attachments, whatever their order and their tokens", () => {
    const body = {
      text: "Hello",
      attachments: [
        { type: "image", payload: { token: "t" } },
        { type: "video", payload: { token: "v" } }
      ]
    }
    const video: Attachment.Attachment = { type: "video", payload: { token: "other" } }
    assert.deepStrictEqual(
      found(
        body,
        sent("a", { attachments: [video, image("new")] }),
        sent("b", { attachments: [image("t")] }),
        sent("c", { attachments: [video, image("t"), image("t")] }),
        sent("d")
      ),
      ["a"]
    )
    assert.deepStrictEqual(found({ text: "Hello" }, sent("a", { attachments: [image("t")] })), [])
  })

  it("rather has the same tokens", () => {
    const body = { attachments: [{ type: "image", payload: { token: "t" } }] }
    const messages = [
      sent("a", { text: null, at: 1, attachments: [image("s")] }),
      sent("b", { text: null, at: 2, attachments: [image("t")] })
    ]
    assert.deepStrictEqual(found(body, ...messages), ["b", "a"])
  })

  it("has the buttons of the keyboard", () => {
    const body = {
      text: "Hello",
      attachments: [{ type: "inline_keyboard", payload: { buttons: [[{ type: "callback", text: "Yes" }]] } }]
    }
    assert.deepStrictEqual(
      found(body, sent("a", { attachments: [keyboard("Yes")] }), sent("b", { attachments: [keyboard("Yes", "No")] })),
      ["a"]
    )
  })

  it("may have the preview of a link that the platform added", () => {
    const preview: Attachment.Attachment = { type: "share", payload: { url: "https://a.b" } }
    assert.deepStrictEqual(found({ text: "Hello" }, sent("a", { attachments: [preview] })), ["a"])
    const body = { text: "Hello", attachments: [{ type: "share", payload: { url: "https://a.b" } }] }
    assert.deepStrictEqual(found(body, sent("a", { attachments: [preview] }), sent("b")), ["a"])
  })

  it("counts each photo of an upload", () => {
    const body = {
      text: "Hello",
      attachments: [{ type: "image", payload: { photos: { x: { token: "1" }, y: { token: "2" } } } }]
    }
    assert.deepStrictEqual(
      found(body, sent("a", { attachments: [image("1")] }), sent("b", { attachments: [image("1"), image("2")] })),
      ["b"]
    )
  })

  it("replies to the same message, or forwards one", () => {
    const linked = (type: "reply" | "forward", mid: string): Message.LinkedMessage => ({
      type,
      message: { mid: Messages.MessageId.make(mid), seq: 1n, text: "" }
    })
    const reply = { text: "Hello", link: { type: "reply", mid: "m" } }
    assert.deepStrictEqual(
      found(reply, sent("a", { link: linked("reply", "m") }), sent("b", { link: linked("reply", "n") }), sent("c")),
      ["a"]
    )
    assert.deepStrictEqual(found({ text: "Hello" }, sent("a", { link: linked("reply", "m") })), [])
    const forward = { link: { type: "forward", mid: "m" } }
    assert.deepStrictEqual(found(forward, sent("a", { text: "Other", link: linked("forward", "m") }), sent("b")), ["a"])
  })
})

describe("the messages since a call", () => {
  const me = { user_id: botId, first_name: "Bot", is_bot: true, username: null }

  /** Lists messages that were sent at these times by pages of 100, and returns the ids found and the requested times. */
  const search = (times: ReadonlyArray<number>, after: number, isInclusive: boolean) => {
    const all = times.map((at, index) => sent(`${index}`, { at, text: index % 2 === 0 ? "even" : "odd" })).reverse()
    const requested: Array<number | undefined> = []
    const page = (from: number | undefined) => {
      requested.push(from)
      if (requested.length > 50) return Effect.die(new Error("too many requests"))
      return Effect.succeed(
        all
          .filter(({ timestamp }) => from === undefined || (isInclusive ? timestamp <= from : timestamp < from))
          .slice(0, 100)
      )
    }
    const result = find(page, [{ text: "odd" }], after, () => Effect.succeed(me as never))
    return Effect.map(result, (found) => ({ requested, found: found.map(({ body }) => Number(body?.mid)) }))
  }

  for (const isInclusive of [true, false]) {
    it.effect(
      `are read by pages until the time of the call, if the end of a page is ${isInclusive ? "" : "not "}included`,
      () =>
        Effect.gen(function* () {
          const times = Array.from({ length: 1000 }, (_, index) => index * 10)
          const { found, requested } = yield* search(times, 7000, isInclusive)
          assert.deepStrictEqual(
            found,
            times.flatMap((at, index) => (at >= 7000 && index % 2 === 1 ? [index] : []))
          )
          assert.isAtMost(requested.length, 5)
          assert.deepStrictEqual((yield* search([5], 7000, isInclusive)).found, [])
          assert.deepStrictEqual((yield* search([], 0, isInclusive)).found, [])
          assert.deepStrictEqual((yield* search([1, 2, 3], 0, isInclusive)).found, [1])
        })
    )
  }

  it.effect("are read past a full page of one millisecond", () =>
    Effect.gen(function* () {
      const times = [...Array.from({ length: 50 }, (_, index) => index), ...Array.from({ length: 100 }, () => 60)]
      const { found } = yield* search(times, 0, true)
      assert.strictEqual(found.length, 75)
    })
  )
})
