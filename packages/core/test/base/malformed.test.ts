import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Result from "effect/Result"
import { Messages, Update } from "../../src/index.ts"
import { chat_id, message, mid, seq, user, user_id } from "../support/fixtures.ts"
import { ok, scripted, token } from "../support/scripted.ts"

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

const logging = (logs: Array<string>) =>
  Logger.layer([Logger.make(({ logLevel, message }) => void logs.push(`${logLevel} ${String(message)}`))])

describe("A response with malformed parts", () => {
  it.effect("is decoded, and logged in one warning", () =>
    Effect.gen(function* () {
      const logs: Array<string> = []
      const body = { mid, seq, text: "hi", attachments: [{ type: "sticker", payload: {} }] }
      const platform = scripted(ok({ messages: [message(), message({ body, sender: { user_id: 1, name: "Ann" } })] }))
      const messages = yield* Messages.list({ message_ids: [mid] }).pipe(
        Effect.provide([platform.layer(), logging(logs)])
      )
      assert.deepStrictEqual(messages[1].body?.attachments, [{ type: "unknown", raw: body.attachments[0] }])
      assert.strictEqual(messages[1].sender?.first_name, "Ann")
      assert.deepStrictEqual(logs, [
        "Warn Messages.list: Malformed parts were decoded as unknown or left out: " +
          "`messages[1].sender` `first_name` is missing; `messages[1].sender` `is_bot` is missing; " +
          "`messages[1].body.attachments[0]` `payload.code` is missing"
      ])
    })
  )

  it.effect("does not log the token", () =>
    Effect.gen(function* () {
      const logs: Array<string> = []
      const platform = scripted(ok(message({ body: { mid, seq, attachments: [{ type: token }, { type: "image" }] } })))
      yield* Messages.get({ message_id: mid }).pipe(Effect.provide([platform.layer(), logging(logs)]))
      assert.lengthOf(logs, 1)
      assert.notInclude(logs[0], token)
    })
  )

  it.effect("fails if a required part is malformed", () =>
    Effect.gen(function* () {
      const platform = scripted(ok(message({ timestamp: "now", body: { mid, seq, attachments: [{ type: "image" }] } })))
      const error = yield* Messages.get({ message_id: mid }).pipe(Effect.flip, Effect.provide(platform.layer()))
      if (error._tag !== "RequestFailed") return assert.fail(error.message)
      assert.strictEqual(error.reason._tag, "InvalidResponse")
      assert.include(error.message, "timestamp")
    })
  )
})
