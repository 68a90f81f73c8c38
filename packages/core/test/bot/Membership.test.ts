import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { Bot, Chat, Command, Handler, LongPolling, Membership, Messages, User } from "../../src/index.ts"
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

describe("Membership.fromAdmins", () => {
  const platform = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))

  const bot = Bot.make(
    Membership.fromAdmins(
      Handler.first(
        Command.make("rules").on((update) => Messages.reply(update, "Be kind")),
        Command.make("help").on((update) => Messages.reply(update, "Send /rules"))
      ),
      { expireAfter: "1 minute" }
    ),
    Handler.on("message_created", (update) => Messages.reply(update, "You are no administrator"))
  )

  const setting = Effect.gen(function* () {
    const olga = yield* Emulator.user("Olga")
    const ben = yield* Emulator.user("Ben")
    const group = yield* Emulator.chat({ owner: olga, members: [ben], bot: { admin: true } })
    yield* Effect.forkScoped(Bot.run(bot))
    const answer = Effect.fnUntraced(function* (person: typeof olga, text: string) {
      yield* person.send(group, text)
      return (yield* olga.reply).body?.text
    })
    const reads = Effect.map(
      Emulator.requests,
      (all) => all.filter(({ endpoint }) => endpoint === "Members.listAdmins").length
    )
    return { olga, ben, group, answer, reads }
  })

  it.effect("passes the updates of the owner and the administrators, and declines all others", () =>
    Effect.gen(function* () {
      const { answer, ben, group, olga } = yield* setting
      assert.strictEqual(yield* answer(olga, "/rules"), "Be kind")
      assert.strictEqual(yield* answer(ben, "/rules"), "You are no administrator")
      yield* olga.setAdmin(group, ben, ["read_all_messages"])
      yield* TestClock.adjust("61 seconds")
      assert.strictEqual(yield* answer(ben, "/rules"), "Be kind")
      yield* ben.unread
      yield* ben.send("/rules")
      assert.strictEqual((yield* ben.reply).body?.text, "You are no administrator")
    }).pipe(Effect.provide(platform))
  )

  it.effect(
    "reads the administrators once for all handlers until they expire, and not for updates that the handler declines",
    () =>
      Effect.gen(function* () {
        const { answer, olga, reads } = yield* setting
        yield* answer(olga, "Good morning")
        assert.strictEqual(yield* reads, 0)
        yield* answer(olga, "/rules")
        yield* answer(olga, "/help")
        assert.strictEqual(yield* reads, 1)
        yield* TestClock.adjust("61 seconds")
        yield* answer(olga, "/help")
        assert.strictEqual(yield* reads, 2)
      }).pipe(Effect.provide(platform))
  )

  it.effect("reads the administrators again after the platform has refused", () =>
    Effect.gen(function* () {
      const { answer, group, olga } = yield* setting
      yield* Emulator.setFaults([{ endpoint: "Members.listAdmins", status: 404, times: 1 }])
      yield* olga.send(group, "/rules")
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* olga.unread, [])
      assert.strictEqual(yield* answer(olga, "/rules"), "Be kind")
    }).pipe(Effect.provide(platform))
  )
})
