import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { getOk, inEmulator, post, postOk } from "../support/control.ts"

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
})
