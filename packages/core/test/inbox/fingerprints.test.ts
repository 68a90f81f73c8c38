import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { Json, QueuedUpdate, Update } from "../../src/index.ts"
import { comment, message, user } from "../support/fixtures.ts"

const of = (json: object): string => QueuedUpdate.fingerprintOf(Result.getOrThrow(Update.parse(Json.stringify(json))))

const callback = (callback_id: string) => ({ timestamp: 1, callback_id, user })

/** An event, a second delivery of the event with irrelevant differences, and a different event. */
const events: ReadonlyArray<readonly [string, object, object, object]> = [
  [
    "a message",
    { update_type: "message_created", timestamp: 1, message: message() },
    { message: message({ stat: null }), timestamp: 1, update_type: "message_created", user_locale: "en" },
    { update_type: "message_created", timestamp: 1, message: message({ body: { mid: "mid.other", seq: 1 } }) }
  ],
  [
    "an edit",
    { update_type: "message_edited", timestamp: 1, message: message() },
    { update_type: "message_edited", timestamp: 1, message: message() },
    { update_type: "message_edited", timestamp: 2, message: message() }
  ],
  [
    "edits of one message at the same time",
    { update_type: "message_edited", timestamp: 1, message: message({ body: { mid: "mid.1", seq: 1, text: "a" } }) },
    { message: message({ body: { text: "a", seq: 1, mid: "mid.1" } }), timestamp: 1, update_type: "message_edited" },
    { update_type: "message_edited", timestamp: 1, message: message({ body: { mid: "mid.1", seq: 1, text: "b" } }) }
  ],
  [
    "a callback",
    { update_type: "message_callback", timestamp: 1, callback: callback("a"), message: message() },
    { update_type: "message_callback", timestamp: 1, callback: callback("a"), message: null },
    { update_type: "message_callback", timestamp: 1, callback: callback("b"), message: message() }
  ],
  [
    "a comment",
    { update_type: "comment_created", timestamp: 1, message: comment() },
    { update_type: "comment_created", timestamp: 1, message: comment() },
    { update_type: "message_created", timestamp: 1, message: comment() }
  ],
  [
    "a removal",
    { update_type: "message_removed", timestamp: 1, message_id: "mid.1", chat_id: 1, user_id: 1 },
    { update_type: "message_removed", timestamp: 1, message_id: "mid.1", chat_id: 1, user_id: null },
    { update_type: "message_removed", timestamp: 1, message_id: "mid.2", chat_id: 1, user_id: 1 }
  ],
  [
    "a change of membership",
    { update_type: "user_added", timestamp: 1, chat_id: 1, user, is_channel: false },
    { update_type: "user_added", timestamp: 1, chat_id: 1, user, is_channel: null },
    { update_type: "user_added", timestamp: 1, chat_id: 1, user: { ...user, user_id: 43 }, is_channel: false }
  ],
  [
    "a change of permissions",
    { update_type: "bot_admin_permissions_changed", timestamp: 1, chat_id: 1, bot_id: 7, is_admin: true },
    { update_type: "bot_admin_permissions_changed", timestamp: 1, chat_id: 1, bot_id: 7, is_admin: true },
    { update_type: "bot_admin_permissions_changed", timestamp: 2, chat_id: 1, bot_id: 7, is_admin: true }
  ],
  [
    "changes of permissions of two users at the same time",
    { update_type: "bot_admin_permissions_changed", timestamp: 1, chat_id: 1, bot_id: 7, user_id: 8, is_admin: true },
    { update_type: "bot_admin_permissions_changed", timestamp: 1, chat_id: 1, bot_id: 7, user_id: 8, is_admin: true },
    { update_type: "bot_admin_permissions_changed", timestamp: 1, chat_id: 1, bot_id: 7, user_id: 9, is_admin: true }
  ],
  [
    "a message without its message",
    { update_type: "message_created", timestamp: 1, user_locale: "en" },
    { user_locale: "en", timestamp: 1, update_type: "message_created" },
    { update_type: "message_created", timestamp: 1, user_locale: "fr" }
  ],
  [
    "an update of an unknown type",
    { update_type: "planet_aligned", seq: 116328127605864690n, planets: [{ name: "Mars", at: 1 }] },
    { seq: 116328127605864690n, planets: [{ at: 1, name: "Mars" }], update_type: "planet_aligned" },
    { update_type: "planet_aligned", seq: 116328127605864691n, planets: [{ name: "Mars", at: 1 }] }
  ]
]

describe("QueuedUpdate.fingerprintOf", () => {
  it.each(events)(
    "of %s is the same for each delivery, and different for a different event",
    (_, event, again, other) => {
      assert.strictEqual(of(event), of(again))
      assert.notStrictEqual(of(event), of(other))
    }
  )

  it("differs between update types of the same message", () => {
    const types = ["message_created", "message_edited", "comment_created", "comment_edited"]
    const prints = types.map((update_type) => of({ update_type, timestamp: 1, message: comment() }))
    assert.lengthOf(new Set(prints), types.length)
  })

  it("of a malformed text does not depend on the order of object keys, and exists for texts that are not JSON", () => {
    assert.strictEqual(
      QueuedUpdate.fingerprintOfText(`{"a":1,"b":[2]}`),
      QueuedUpdate.fingerprintOfText(` {"b":[2], "a":1}`)
    )
    assert.notStrictEqual(QueuedUpdate.fingerprintOfText(`{"a":1}`), QueuedUpdate.fingerprintOfText(`{"a":2}`))
    assert.notStrictEqual(QueuedUpdate.fingerprintOfText(`{"a":1`), QueuedUpdate.fingerprintOfText(`{"a":2`))
  })
})
