import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { asBot, call, getOk, inEmulator, post, postOk, typesOf } from "../../support/control.ts"

describe("POST /_emulator/seed", () => {
  it.effect("creates users, chats, messages and comments, and names the invalid field of a seed", () =>
    inEmulator(
      Effect.gen(function* () {
        const seed = {
          users: [
            { user_id: 1, first_name: "Ann" },
            { user_id: 2, first_name: "Ben" }
          ],
          chats: [
            {
              type: "channel",
              chat_id: -5,
              title: "News",
              members: [1, 2],
              admins: [{ user_id: 2, permissions: ["write"] }],
              bot: { admin: true },
              messages: [
                { text: "**Welcome**", format: "markdown", comments: [{ user_id: 2, text: "Thanks" }] },
                { user_id: 2, text: "From me too" }
              ]
            },
            { type: "dialog", chat_id: 6, members: [1], messages: [{ user_id: 1, text: "hi" }] }
          ]
        }
        const { chats, users } = yield* postOk("/seed", seed)
        assert.deepStrictEqual([chats[0].chat_id, chats[0].messages_count, chats[1].chat_id], [-5, 2, 6])
        assert.lengthOf(users, 2)
        const [welcome] = (yield* getOk("/chats/-5/messages")).messages
        assert.deepStrictEqual([welcome.body.text, welcome.body.markup[0].type], ["Welcome", "strong"])
        assert.strictEqual((yield* getOk(`/messages/${welcome.body.mid}/comments`)).comments[0].body.text, "Thanks")
        yield* postOk("/reset")
        yield* postOk("/seed", { ...seed, silent: true })
        assert.deepStrictEqual(yield* getOk("/updates"), { updates: [] })
        const { body } = yield* post("/seed", { chats: [{ type: "chat", members: [99] }] })
        assert.strictEqual(body.message, "chats[0].members: User 99 not found")
      })
    )
  )

  it.effect("delivers nothing of a silent seed to a bot that polls and to a webhook, and everything else", () =>
    inEmulator(
      Effect.gen(function* () {
        const [, second] = yield* Emulator.bots
        const withToken = { token: "second" }
        const url = "https://bot.example/updates"
        yield* call("POST", "/subscriptions", { url }, withToken)
        const received: Array<string> = []
        const poll = (marker?: unknown): ReturnType<typeof asBot> =>
          asBot("GET", marker === undefined ? "/updates" : `/updates?marker=${marker}`).pipe(
            Effect.tap(({ body }) => Effect.sync(() => received.push(...typesOf(body)))),
            Effect.flatMap(({ body }) => poll(body.marker))
          )
        const ann = yield* Emulator.user("Ann")
        yield* ann.send("before")
        yield* Effect.forkChild(poll())

        const messages = Array.from({ length: 500 }, (_, index) => ({ user_id: 7, text: `message ${index}` }))
        const dialog = { type: "dialog", members: [7], messages }
        yield* postOk("/seed", {
          users: [{ user_id: 7, first_name: "Ben" }],
          chats: [
            { ...dialog, chat_id: 8 },
            { ...dialog, chat_id: 9, bot_id: second.user_id }
          ],
          silent: true
        })
        yield* ann.send("after")
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(received, ["bot_started", "message_created", "message_created"])
        assert.deepStrictEqual(yield* Emulator.deliveries, [])
        assert.deepStrictEqual((yield* getOk("/deliveries")).waiting, [])
      }),
      { moreTokens: ["second"] }
    )
  )

  it.effect("restores a forward of a message without a text that was removed since", () =>
    inEmulator(
      Effect.gen(function* () {
        const ann = yield* Emulator.user("Ann")
        const group = yield* Emulator.chat({ owner: ann })
        const attachments = [{ type: "location" as const, latitude: 1, longitude: 2 }]
        const original = yield* ann.send("", { attachments })
        yield* ann.send(group, "", { link: { type: "forward", mid: original.body!.mid } })
        yield* ann.remove(original)
        const seed = yield* getOk("/seed")
        yield* postOk("/reset")
        yield* postOk("/seed", seed)
        const [forward] = yield* Emulator.messages(group)
        assert.strictEqual(forward.body?.text, "(forwarded message)")
      })
    )
  )
})
