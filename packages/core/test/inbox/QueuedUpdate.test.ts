import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Json, QueuedUpdate, Update, Updates } from "../../src/index.ts"
import { chat_id, message, seq, user } from "../support/fixtures.ts"
import { ok, scripted } from "../support/scripted.ts"

const keyOf = (json: object) => QueuedUpdate.defaultPartitionKey(Result.getOrThrow(Update.parse(Json.stringify(json))))

describe("QueuedUpdate.defaultPartitionKey", () => {
  it("returns the chat of an update", () => {
    assert.strictEqual(keyOf({ update_type: "bot_started", timestamp: 1, chat_id: 7, user }), "7")
    assert.strictEqual(keyOf({ update_type: "message_created", timestamp: 1, message: message() }), String(chat_id))
  })

  it("returns the user of an update without a chat", () => {
    const callback = { timestamp: 1, callback_id: "a", user }
    assert.strictEqual(
      keyOf({ update_type: "message_callback", timestamp: 1, callback, message: null }),
      `user:${user.user_id}`
    )
  })

  it("returns the chat of an update of an unknown type, or an empty key", () => {
    assert.strictEqual(keyOf({ update_type: "planet_aligned", chat_id: 7 }), "7")
    assert.strictEqual(keyOf({ update_type: "planet_aligned", message: { recipient: { chat_id: 8 } } }), "8")
    assert.strictEqual(keyOf({ update_type: "planet_aligned", message: "a comet" }), "")
    assert.strictEqual(keyOf({ update_type: "planet_aligned" }), "")
    assert.strictEqual(keyOf({ update_type: "planet_aligned", chat_id: { toString: 1, valueOf: 1 } }), "")
  })
})

describe("QueuedUpdate.fromStored", () => {
  it("decodes the text at the first access", () => {
    const stored = { fingerprint: "a", partitionKey: "b", receivedAt: 1 }
    assert.isTrue(Result.isFailure(QueuedUpdate.fromStored({ ...stored, text: "not JSON" }).decoded))
    const { decoded } = QueuedUpdate.fromStored({ ...stored, text: `{"update_type":"planet_aligned"}` })
    assert.deepStrictEqual(Result.getOrThrow(decoded), {
      update_type: "unknown",
      raw: { update_type: "planet_aligned" }
    })
  })
})

describe("QueuedUpdate.fromDecoded", () => {
  it("keeps the given text, and encodes the update without one", () => {
    const text = `{ "update_type": "planet_aligned" }`
    const decoded = Update.parse(text)
    assert.isTrue(Result.isSuccess(decoded))
    if (Result.isFailure(decoded)) return
    assert.strictEqual(QueuedUpdate.fromDecoded(decoded, { receivedAt: 1, text }).text, text)
    assert.strictEqual(QueuedUpdate.fromDecoded(decoded, { receivedAt: 1 }).text, `{"update_type":"planet_aligned"}`)
  })

  it.effect("has all members of an update that was polled, also members that this version does not know", () =>
    Effect.gen(function* () {
      const update = {
        update_type: "bot_started",
        timestamp: 1,
        chat_id: 7,
        user: { ...user, mood: "good" },
        extra: [seq]
      }
      const platform = scripted(ok({ updates: [update] }))
      const { updates } = yield* Effect.provide(Updates.list({}), platform.layer())
      const [decoded] = updates
      if (Result.isFailure(decoded)) return assert.fail(decoded.failure.message)
      const { text } = QueuedUpdate.fromDecoded(decoded, { receivedAt: 1 })
      assert.deepStrictEqual<unknown>(Json.parse(text), update)
    })
  )
})

describe("A queued update that was sent without a time", () => {
  const text = `{"update_type":"dialog_muted","chat_id":5,"user_id":7,"later":1}`

  it("has the time of its receipt, and its text is unchanged", () => {
    const decoded = Update.parse(text)
    if (Result.isFailure(decoded)) return assert.fail(decoded.failure.message)
    const received = QueuedUpdate.fromDecoded(decoded, { receivedAt: 500, text })
    const stored = QueuedUpdate.fromStored({ ...received, receivedAt: 500, text, fingerprint: "", partitionKey: "5" })
    for (const queued of [received, stored]) {
      const update = Result.getOrThrow(queued.decoded)
      assert.deepStrictEqual<unknown>(update, {
        update_type: "dialog_muted",
        chat_id: 5,
        user_id: 7,
        timestamp: 500
      })
      assert.deepStrictEqual(
        Update.malformedParts(update).map(({ field }) => field),
        ["timestamp"]
      )
      assert.strictEqual(queued.text, text)
    }
    assert.strictEqual(received.fingerprint, "dialog_muted:5:7:500")
  })
})
