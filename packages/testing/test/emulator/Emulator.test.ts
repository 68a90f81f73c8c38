import { BotApi, Inbox, Keyboard, Messages, RateLimiter, User } from "@colloquy/core"
import { Emulator, Fixtures } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"

const typesOf = (bot: Emulator.Bot) =>
  Effect.map(Emulator.updatesOf(bot), (updates) => updates.map(({ update_type }) => update_type))

const as = ({ token }: Emulator.Bot) =>
  Effect.provide(
    BotApi.layer({ token, baseUrl: Emulator.baseUrl }).pipe(
      Layer.provide(RateLimiter.layerMemory(RateLimiter.unlimited))
    )
  )

describe("Emulator.bots", () => {
  it.effect("lets a person act towards each bot, and see the events of all", () =>
    Effect.gen(function* () {
      const [first, second] = yield* Emulator.bots
      const ann = yield* Emulator.user("Ann")
      const other = ann.with(second)
      const { user_id } = ann
      yield* ann.start()
      yield* other.send("hi")
      assert.notStrictEqual((yield* ann.dialog).chat_id, (yield* other.dialog).chat_id)
      yield* Messages.send({ user_id, text: "I am one" })
      const attachments = [Keyboard.make([Keyboard.callback("Yes", "yes")])]
      yield* Messages.send({ user_id, text: "I am two", attachments }).pipe(as(second))
      assert.strictEqual((yield* ann.reply).body?.text, "I am one")
      const answer = yield* other.reply
      assert.strictEqual(answer.body?.text, "I am two")
      yield* ann.press(answer, "Yes")
      yield* other.stop
      assert.deepStrictEqual(yield* typesOf(first), ["bot_started"])
      assert.deepStrictEqual(yield* typesOf(second), [
        "bot_started",
        "message_created",
        "message_callback",
        "bot_stopped"
      ])
    }).pipe(Effect.provide(Emulator.layerBot({ moreTokens: ["second"] })))
  )

  it.effect("adds, appoints and removes each bot by itself, with its own updates", () =>
    Effect.gen(function* () {
      const [first, second] = yield* Emulator.bots
      const ann = yield* Emulator.user("Ann")
      const other = ann.with(second.user_id)
      const chat = yield* Emulator.chat({ members: [ann] })
      yield* other.addBot(chat)
      yield* other.setBotAdmin(chat, ["write"])
      yield* Messages.send({ chat_id: chat.chat_id, text: "I am two" }).pipe(as(second))
      yield* other.removeBot(chat)
      assert.deepStrictEqual(yield* typesOf(first), ["bot_added", "user_added", "message_created", "user_removed"])
      assert.deepStrictEqual(yield* typesOf(second), ["bot_added", "bot_admin_permissions_changed", "bot_removed"])
      assert.deepStrictEqual(yield* Emulator.updates, yield* Emulator.updatesOf(first))
    }).pipe(Effect.provide(Emulator.layerBot({ moreTokens: ["second"] })))
  )

  it.effect("delivers an update to the chosen bot", () =>
    Effect.gen(function* () {
      const [first, second] = yield* Emulator.bots
      assert.deepStrictEqual(
        [first, second].map(({ token }) => Redacted.value(token)),
        ["emulator-token", "second"]
      )
      yield* Emulator.deliver({ update_type: "strange" }, second)
      yield* Emulator.deliver({ update_type: "stranger" })
      const raws = (bot: Emulator.Bot) =>
        Effect.map(Emulator.updatesOf(bot), (updates) => updates.map((update) => (update as { raw?: unknown }).raw))
      assert.deepStrictEqual(yield* raws(first), [{ update_type: "stranger" }])
      assert.deepStrictEqual(yield* raws(second), [{ update_type: "strange" }])
    }).pipe(Effect.provide(Emulator.layerBot({ moreTokens: ["second"] })))
  )

  it.effect("dies with a RangeError for a user who is not a bot", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const nobody = User.UserId.make(5)
      const withNobody = Effect.sync(() => ann.with(nobody))
      const problems = yield* Effect.forEach([Emulator.updatesOf(nobody), withNobody], (effect) =>
        Effect.map(Effect.exit<unknown, never, Emulator.Emulator>(effect), (exit) =>
          exit._tag === "Failure" ? String(Cause.squash(exit.cause)) : "done"
        )
      )
      assert.deepStrictEqual(problems, [
        "RangeError: Emulator.updatesOf: there is no bot 5",
        "RangeError: Person.with: there is no bot 5"
      ])
    }).pipe(Effect.provide(Emulator.layerBot()))
  )
})

describe("Emulator.layerBot", () => {
  it.effect("takes options of the inbox", () =>
    Effect.gen(function* () {
      const { receive, store } = yield* Inbox.Inbox
      yield* receive([{ decoded: Result.succeed(Fixtures.botStarted()) }])
      const claim = { owner: "one", leaseDuration: 0, maxPartitions: 1, maxUpdates: 1, begin: 0 }
      assert.deepStrictEqual(
        (yield* store.claim(claim)).map(({ key }) => key),
        ["one for all"]
      )
    }).pipe(Effect.provide(Emulator.layerBot({ inbox: { partitionKey: () => "one for all" } })))
  )
})
