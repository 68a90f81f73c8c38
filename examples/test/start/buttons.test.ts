import { Keyboard, Message } from "@colloquy/core"
import { Fixtures } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import { makeButtons } from "../../src/start/buttons.ts"

const { chat_id } = Fixtures.botStarted()
const idOf = (mid: string) => Message.MessageId.make(mid)
const messageOf = (mid: string, ...buttons: ReadonlyArray<string>) =>
  Fixtures.message({
    mid: idOf(mid),
    attachments: buttons.length === 0 ? [] : [Keyboard.make(buttons.map((text) => Keyboard.callback(text, text)))]
  })

describe("the buttons of npm start", () => {
  it("are those of the last message that was sent or edited, and has buttons", () => {
    const { find, see } = makeButtons()
    const sends = (mid: string, ...buttons: ReadonlyArray<string>) =>
      see({ _tag: "Message", chat_id, notify: true, message: messageOf(mid, ...buttons) })
    const edits = (mid: string, ...buttons: ReadonlyArray<string>) =>
      see({ _tag: "Edited", chat_id, message: messageOf(mid, ...buttons) })
    const button = (number: number) => find(number)?.button
    assert.isUndefined(button(1))
    sends("mid.1", "A", "B")
    assert.strictEqual(button(2), "B")
    sends("mid.2")
    assert.strictEqual(button(1), "A")
    sends("mid.3", "C")
    edits("mid.1")
    assert.strictEqual(button(1), "C")
    assert.isUndefined(button(2))
    sends("mid.4", "D")
    edits("mid.3", "E")
    assert.strictEqual(button(1), "E")
    see({ _tag: "Removed", chat_id, message_id: idOf("mid.3") })
    assert.strictEqual(button(1), "D")
  })
})
