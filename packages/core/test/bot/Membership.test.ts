import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Chat, Membership, User } from "../../src/index.ts"
import { messageCreated, receivedValue, user } from "../support/handlers.ts"

const fields = { timestamp: 1, chat_id: Chat.ChatId.make(-70000000000001), user, is_channel: false }

const other = User.UserId.make(7)

describe("Membership.joined", () => {
  it.effect("passes the user who added the new member, and undefined if the member joined by themselves", () =>
    Effect.gen(function* () {
      const inviter = (inviter_id?: User.UserId | null) =>
        receivedValue((handler) => Membership.joined(handler), {
          update_type: "user_added",
          ...fields,
          ...(inviter_id === undefined ? {} : { inviter_id })
        })
      assert.deepStrictEqual(
        [yield* inviter(other), yield* inviter(null), yield* inviter()],
        [other, undefined, undefined]
      )
    })
  )

  it("does not take updates of other types", () => {
    const handler = Membership.joined(() => Effect.void)
    assert.isUndefined(handler({ update_type: "bot_added", ...fields }))
    assert.isUndefined(handler({ update_type: "user_removed", ...fields }))
    assert.isUndefined(handler(messageCreated("hello")))
  })
})

describe("Membership.left", () => {
  it.effect("passes the administrator who removed the member, and undefined if the member left by themselves", () =>
    Effect.gen(function* () {
      const admin = (admin_id?: User.UserId | null) =>
        receivedValue((handler) => Membership.left(handler), {
          update_type: "user_removed",
          ...fields,
          ...(admin_id === undefined ? {} : { admin_id })
        })
      assert.deepStrictEqual([yield* admin(other), yield* admin(null), yield* admin()], [other, undefined, undefined])
    })
  )

  it("does not take updates of other types", () => {
    assert.isUndefined(Membership.left(() => Effect.void)({ update_type: "bot_removed", ...fields }))
  })
})
