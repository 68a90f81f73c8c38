import { Keyboard, Message, User } from "@colloquy/core"
import { Fixtures } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import { stripVTControlCharacters } from "node:util"
import * as transcript from "../../src/start/transcript.ts"

const { chat_id } = Fixtures.botStarted()

const mid = Message.MessageId.make("mid.1")

const sent = (message: Partial<Parameters<typeof Fixtures.message>[0]>) =>
  ({ _tag: "Message", chat_id, notify: true, message: Fixtures.message({ mid, ...message }) }) as const

describe("the transcript of a conversation", () => {
  it("breaks lines at words, and indents all lines after the first", () => {
    const text = "A long answer of the bot, which has more than one line.\n  code  stays"
    assert.strictEqual(
      transcript.describe(sent({ text }), { columns: 40, hasColors: false }),
      [
        "      bot  A long answer of the bot,",
        "           which has more than one line.",
        "             code  stays"
      ].join("\n")
    )
  })

  it("breaks words that are longer than a line", () => {
    const lines = transcript.describe(sent({ text: "x".repeat(50) }), { columns: 40, hasColors: false })?.split("\n")
    assert.deepStrictEqual(
      lines?.map(({ length }) => length),
      [40, 32]
    )
  })

  it("shows each row of a keyboard on its own line, with the numbers of the buttons", () => {
    const button = (text: string) => Keyboard.callback(text, text)
    const attachments = [Keyboard.make([button("Tea"), button("Coffee")], [button("Nothing")])]
    assert.strictEqual(
      transcript.describe(sent({ text: "What?", attachments })),
      "      bot  What?\n           [1: Tea]  [2: Coffee]\n           [3: Nothing]"
    )
  })

  it("shows the formatting in a terminal with colors, and only the text in others", () => {
    const event = sent({
      text: "Hello, Ann",
      markup: [
        { type: "strong", from: 0, length: 5 },
        { type: "emphasized", from: 3, length: 4 }
      ]
    })
    const shown = transcript.describe(event, { columns: 80, hasColors: true })
    assert.include(shown, "\u001b[1mHel\u001b[22m")
    assert.include(shown, "\u001b[3m, \u001b[23m")
    assert.strictEqual(stripVTControlCharacters(shown ?? ""), "      bot  Hello, Ann")
    assert.strictEqual(transcript.describe(event), "      bot  Hello, Ann")
  })

  it("shows the names of contacts and files", () => {
    const contact = (payload: { readonly [x: string]: unknown }) =>
      sent({ text: "", attachments: [{ type: "contact", payload }] })
    const card = "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ann Smith\r\nTEL;TYPE=cell:+123456789\r\nEND:VCARD"
    assert.strictEqual(transcript.describe(contact({ vcf_info: card })), "      bot  (contact: Ann Smith, +123456789)")
    const ben = {
      user_id: User.UserId.make(2),
      first_name: "Ben",
      last_name: "Lee",
      is_bot: false,
      last_activity_time: 1
    }
    assert.strictEqual(transcript.describe(contact({ max_info: ben })), "      bot  (contact: Ben Lee)")
    assert.strictEqual(transcript.describe(contact({})), "      bot  (contact)")
    const file = { type: "file", payload: { token: "t" }, filename: "report.pdf", size: 12 } as const
    assert.strictEqual(
      transcript.describe(sent({ text: "", attachments: [file] })),
      "      bot  (file: report.pdf, 12 bytes)"
    )
  })
})
