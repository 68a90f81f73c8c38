import { Message, User } from "@colloquy/core"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { asBot, call, get, getOk, inEmulator, type Json, post, postOk, typesOf } from "../../support/control.ts"

const keyboard = { type: "inline_keyboard", payload: { buttons: [[{ type: "callback", text: "Yes", payload: "y" }]] } }

describe("the control API", () => {
  it.effect("accepts a whole conversation without a token", () =>
    inEmulator(
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* getOk("/health"), { status: "ready" })
        const ann = yield* postOk("/users", { first_name: "Ann", username: "ann", nonsense: true })
        assert.strictEqual(Schema.decodeUnknownSync(User.UserWithPhoto)(ann).username, "ann")

        const sent = yield* postOk("/messages", { user_id: ann.user_id, text: "hi" })
        const message = Schema.decodeUnknownSync(Message.Message)(sent)
        assert.isAbove(Number(message.body!.seq), Number.MAX_SAFE_INTEGER)
        assert.deepStrictEqual(typesOf(yield* getOk("/updates")), ["bot_started", "message_created"])

        const answer = yield* asBot("POST", `/messages?user_id=${ann.user_id}`, {
          text: "Sure?",
          attachments: [keyboard]
        })
        const { mid } = answer.body.message.body
        const { callback_id } = yield* postOk("/press", { user_id: ann.user_id, message_id: mid, button: "Yes" })
        yield* asBot("POST", `/answers?callback_id=${callback_id}`, {
          notification: "Thanks",
          message: { text: "Done" }
        })

        const { chat_id } = sent.recipient
        const { messages } = yield* getOk(`/chats/${chat_id}/messages`)
        assert.deepStrictEqual(
          messages.map(({ body }: Json) => body.text),
          ["hi", "Done"]
        )
        const { seen: events, next } = yield* getOk(`/seen?chat_id=${chat_id}`)
        assert.deepStrictEqual(
          events.map(({ type }: Json) => type),
          ["message", "edited", "notification"]
        )
        assert.deepStrictEqual(yield* getOk(`/seen?from=${next}`), { seen: [], next })

        const { requests } = yield* getOk("/requests")
        assert.deepStrictEqual(
          requests.map(({ body, endpoint, status }: Json) => [endpoint, status, body.text ?? body.notification]),
          [
            ["Messages.send", 200, "Sure?"],
            ["Answers.send", 200, "Thanks"]
          ]
        )
      })
    )
  )

  it.effect("has a bot for each token, all in the same emulator", () =>
    inEmulator(
      Effect.gen(function* () {
        const { bots } = yield* getOk("/bots")
        const [one, two] = bots.map(({ user }: Json) => user.user_id)
        const { user_id } = yield* postOk("/users", { first_name: "Ann" })
        const { chat_id } = yield* postOk("/chats", { type: "chat", members: [user_id] })
        yield* postOk("/add_bot", { user_id, chat_id, bot_id: two })
        yield* postOk("/start", { user_id, bot_id: two })
        assert.deepStrictEqual(typesOf(yield* getOk(`/updates?bot_id=${two}`)), ["bot_added", "bot_started"])
        const hello = yield* call("POST", `/messages?chat_id=${chat_id}`, { text: "I am two" }, { token: "second" })
        assert.strictEqual(hello.body.message.sender.user_id, two)
        assert.deepStrictEqual(typesOf(yield* getOk(`/updates?bot_id=${one}`)), [
          "bot_added",
          "user_added",
          "message_created"
        ])
        assert.strictEqual((yield* post("/start", { user_id, bot_id: user_id })).status, 404)
      }),
      { moreTokens: ["second"] }
    )
  )

  it.effect("names the field of an invalid request, and changes nothing", () =>
    inEmulator(
      Effect.gen(function* () {
        const problem = (path: string, body: unknown) =>
          Effect.map(post(path, body), ({ body, status }) => [status, body.code, body.message])
        assert.deepStrictEqual(yield* problem("/users", { first_name: 1, user_id: "x" }), [
          400,
          "proto.payload",
          "first_name: must be a string; user_id: must be a number or null"
        ])
        assert.deepStrictEqual(yield* problem("/users", "{"), [400, "proto.payload", "The body is not JSON"])
        assert.deepStrictEqual(yield* problem("/start", { user_id: 5 }), [
          404,
          "not.found",
          "user_id: User 5 not found"
        ])
        const { user_id } = yield* postOk("/users", { first_name: "Ann" })
        assert.deepStrictEqual((yield* problem("/users", { first_name: "B", user_id }))[0], 400)
        assert.deepStrictEqual((yield* problem("/join", { user_id, chat_id: 5 }))[1], "chat.not.found")
        assert.deepStrictEqual((yield* problem("/messages", { user_id, text: "" }))[1], "cannot.do")
        assert.strictEqual((yield* get("/nothing")).status, 404)
        assert.strictEqual((yield* call("DELETE", "/_emulator/users")).status, 405)
        assert.strictEqual((yield* post("/openapi.json", {})).status, 405)
        assert.deepStrictEqual(yield* problem("/updates", `{"update":${"[".repeat(5000)}${"]".repeat(5000)}}`), [
          400,
          "proto.payload",
          "The body is nested deeper than 256 levels"
        ])
        assert.deepStrictEqual(yield* getOk("/updates"), { updates: [] })
        const misspelt = yield* call("PUT", "/_emulator/faults", [{ status: 500 }, { pth: "/me", status: 500 }])
        assert.strictEqual(misspelt.status, 400)
        assert.match(misspelt.body.message, /^rules\[1\]\.pth: /)
        const unknown = yield* call("PUT", "/_emulator/faults", [{ endpoint: "Message.send", status: 500 }])
        assert.deepStrictEqual(
          [unknown.status, unknown.body.message],
          [400, 'rules[0].endpoint: there is no endpoint "Message.send": did you mean Messages.send?']
        )
        assert.strictEqual((yield* asBot("GET", "/me")).status, 200)
        assert.match((yield* post("/clock", { advance_ms: 2 ** 52 })).body.message, /^advance_ms: time goes no further/)
        assert.strictEqual((yield* get("/openapi.json")).body.openapi, "3.1.0")
      })
    )
  )
})
