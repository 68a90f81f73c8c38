import { assert, describe, it } from "@effect/vitest"
import { hexOf, makeAnonymous } from "../../src/base/anonymous.ts"

describe("makeAnonymous", () => {
  it("replaces a person and a chat everywhere, also in payloads and message ids, and keeps a bot", () => {
    const person = { user_id: 123_456_789, first_name: "Anastasia", username: "anastasia_p", is_bot: false }
    const bot = { user_id: 987_654, first_name: "Bot", username: "bot", is_bot: true }
    const chat_id = -71_234_567_890_123
    const replace = makeAnonymous([{ update: JSON.stringify({ chat_id, user: person, bot }) }])
    const text = `bot_started: Anastasia (pay_123456789) mid.${hexOf(chat_id)}018bcfe568000000 in ${chat_id}`
    const replaced = replace(text)
    for (const personal of ["Anastasia", "123456789", hexOf(chat_id), String(chat_id)]) {
      assert.notInclude(replaced, personal)
    }
    const [, name, id, hex, chat] =
      /^bot_started: (\w+) \(pay_(\d{9})\) mid\.([0-9a-f]{16})018bcfe568000000 in (-\d{14})$/.exec(replaced) ?? []
    assert.strictEqual(hex, hexOf(Number(chat)))
    assert.deepStrictEqual([name, id], [replace("Anastasia"), replace("123456789")])
  })
})
