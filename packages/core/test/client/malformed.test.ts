import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { Update } from "../../src/index.ts"
import { chat_id, mid, user, user_id } from "../support/fixtures.ts"

const parse = (message: object, fields: object = {}) =>
  Update.parse(JSON.stringify({ update_type: "message_created", timestamp: 1, message, ...fields }))

const link = { type: "reply", sender: {}, message: { mid, seq: 1, text: "Hello", attachments: 1.5 } }

const recipient = { chat_id, chat_type: "chat" }

describe("a value with several malformed parts", () => {
  it("is decoded where one part is inside another", () => {
    const update = Result.getOrThrow(parse({ timestamp: 1, recipient, link: { ...link, type: 5 }, sender: user }))
    assert.strictEqual(Update.chatOf(update), chat_id)
  })

  it("is decoded where a part has several issues", () => {
    const sender = { user_id, first_name: 5, is_bot: "no", username: 7, last_name: [] }
    const update = Result.getOrThrow(parse({ timestamp: 1, recipient, link: null, sender }))
    assert.strictEqual(Update.userIdOf(update), user_id)
  })

  it("fails where a required part is malformed too", () => {
    for (const sender of [{}, { first_name: 5 }, 5, null, [], [[]]]) {
      const parsed = parse({ timestamp: 1, recipient: { chat_type: "chat", chat_id: "x" }, link, sender, body: 5 })
      assert.isTrue(Result.isFailure(parsed), JSON.stringify(sender))
    }
  })

  it("fails for any combination of malformed users around a malformed time", () => {
    for (const sender of [{}, 5, { user_id: "x" }, [], "x"]) {
      for (const linked of [{}, 5, { user_id: "x", first_name: [] }, []]) {
        const message = {
          timestamp: "x",
          sender,
          link: { ...link, type: {}, sender: linked },
          body: { attachments: {} }
        }
        assert.isTrue(Result.isFailure(parse(message)), JSON.stringify(message))
      }
    }
  })
})
