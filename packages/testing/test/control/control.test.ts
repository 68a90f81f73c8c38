import { Chat, Comment, Message, User } from "@colloquy/core"
import { Emulator, EmulatorServer } from "@colloquy/testing"
import { assert, describe, it, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { Agent, request as httpRequest } from "node:http"
import { connect } from "node:net"
import { asBot, call, inEmulator, type Json, typesOf, get, postOk, post, getOk, token } from "../support/control.ts"

const keyboard = { type: "inline_keyboard", payload: { buttons: [[{ type: "callback", text: "Yes", payload: "y" }]] } }

describe("the calls under /_emulator", () => {
  it.effect("a whole conversation goes over HTTP without a token", () =>
    inEmulator(
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* getOk("/health"), { status: "ready" })
        const ann = yield* postOk("/users", { first_name: "Ann", username: "ann", nonsense: true })
        assert.strictEqual(Schema.decodeUnknownSync(User.UserWithPhoto)(ann).username, "ann")

        const said = yield* postOk("/messages", { user_id: ann.user_id, text: "hi" })
        const message = Schema.decodeUnknownSync(Message.Message)(said)
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

        const { chat_id } = said.recipient
        const { messages } = yield* getOk(`/chats/${chat_id}/messages`)
        assert.deepStrictEqual(
          messages.map(({ body }: Json) => body.text),
          ["hi", "Done"]
        )
        const { events, next } = yield* getOk(`/events?chat_id=${chat_id}`)
        assert.deepStrictEqual(
          events.map(({ type }: Json) => type),
          ["message", "edited", "notification"]
        )
        assert.deepStrictEqual(yield* getOk(`/events?from=${next}`), { events: [], next })

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

  it.effect("chats have the members, the owner and the rights that were asked for", () =>
    inEmulator(
      Effect.gen(function* () {
        const ann = yield* postOk("/users", { first_name: "Ann" })
        const ben = yield* postOk("/users", { first_name: "Ben", user_id: 7 })
        const chat = yield* postOk("/chats", {
          type: "channel",
          title: "News",
          members: [ann.user_id, ben.user_id],
          owner_id: 7,
          bot: { permissions: ["write", "read_all_messages"] }
        })
        const decoded = Schema.decodeUnknownSync(Chat.Chat)(chat)
        assert.strictEqual(decoded.type, "channel")
        assert.strictEqual(decoded.owner_id, User.UserId.make(7))
        assert.strictEqual(decoded.participants_count, 3)
        assert.deepStrictEqual(typesOf(yield* getOk("/updates")), ["bot_added", "bot_admin_permissions_changed"])

        const post = (yield* asBot("POST", `/messages?chat_id=${chat.chat_id}`, { text: "Hello" })).body.message
        const message_id = post.body.mid
        const comment = yield* postOk("/comments", { user_id: 7, message_id, text: "Well said" })
        assert.strictEqual(Schema.decodeUnknownSync(Comment.Comment)(comment).recipient.post_id, message_id)
        yield* postOk("/view", { user_id: 7, message_id })
        assert.strictEqual((yield* getOk(`/chats/${chat.chat_id}/messages`)).messages[0].stat.views, 1)
        assert.lengthOf((yield* getOk(`/messages/${message_id}/comments`)).comments, 1)

        const dialog = yield* postOk("/chats", { type: "dialog", members: [7], chat_id: 4242 })
        assert.strictEqual(dialog.chat_id, 4242)
        assert.strictEqual(dialog.dialog_with_user.user_id, 7)
        assert.lengthOf((yield* getOk("/chats")).chats, 2)
      })
    )
  )

  it.effect("people come and go, start and stop, edit and remove", () =>
    inEmulator(
      Effect.gen(function* () {
        const { user_id } = yield* postOk("/users", { first_name: "Ann", locale: "en" })
        const { chat_id } = yield* postOk("/chats", { type: "chat" })
        yield* postOk("/join", { user_id, chat_id })
        const said = yield* postOk("/messages", { user_id, chat_id, text: "hi" })
        const { mid } = said.body
        assert.strictEqual((yield* postOk("/edit", { user_id, message_id: mid, text: "hello" })).body.text, "hello")
        yield* postOk("/remove", { user_id, message_id: mid })
        yield* postOk("/leave", { user_id, chat_id })
        yield* postOk("/start", { user_id, payload: "from-link" })
        yield* postOk("/mute_dialog", { user_id, until: 5 })
        yield* postOk("/stop", { user_id })
        const { updates } = yield* getOk("/updates")
        assert.deepStrictEqual(typesOf({ updates }), [
          "bot_added",
          "user_added",
          "message_created",
          "message_edited",
          "message_removed",
          "user_removed",
          "bot_started",
          "dialog_muted",
          "bot_stopped"
        ])
        assert.strictEqual(updates[6].payload, "from-link")
        assert.strictEqual((yield* asBot("POST", `/messages?user_id=${user_id}`, { text: "?" })).status, 403)
      })
    )
  )

  it.effect("a contact that a button asks for has the phone number of the person", () =>
    inEmulator(
      Effect.gen(function* () {
        const { user_id } = yield* postOk("/users", { first_name: "Ann", phone: "+447700900123" })
        yield* postOk("/start", { user_id })
        const buttons = [[{ type: "request_contact", text: "My number" }]]
        const attachments = [{ type: "inline_keyboard", payload: { buttons } }]
        const asked = yield* asBot("POST", `/messages?user_id=${user_id}`, { text: "?", attachments })
        const { mid } = asked.body.message.body
        yield* postOk("/press", { user_id, message_id: mid, button: "My number" })
        const { updates } = (yield* asBot("GET", "/updates?timeout=0")).body
        assert.include(updates.at(-1).message.body.attachments[0].payload.vcf_info, "TEL;TYPE=cell:+447700900123\r\n")
        const { body, status } = yield* post("/users", { first_name: "Ben", phone: "a number" })
        assert.deepStrictEqual([status, body.message], [400, "phone: must be 3 to 15 digits, with or without a +"])
      })
    )
  )

  it.effect("the role of the bot is an object or false", () =>
    inEmulator(
      Effect.gen(function* () {
        for (const bot of [true, "false"]) {
          const { body, status } = yield* post("/chats", { type: "chat", bot })
          assert.deepStrictEqual([status, body.code], [400, "proto.payload"])
          assert.match(body.message, /^bot: must be an object or false\b/)
        }
      })
    )
  )

  it.effect("a person's own pictures, places and contacts are as short as one likes", () =>
    inEmulator(
      Effect.gen(function* () {
        const { user_id } = yield* postOk("/users", { first_name: "Ann" })
        const attachments = [
          { type: "image", payload: { url: "https://example.test/a.png" } },
          { type: "file", filename: "a.txt", size: 3 },
          { type: "location", latitude: 1.5, longitude: 2 }
        ]
        const said = yield* postOk("/messages", { user_id, attachments })
        const [image, file, location] = said.body.attachments
        assert.match(image.payload.url, /expires=\d+$/)
        assert.strictEqual(file.filename, "a.txt")
        assert.deepStrictEqual(location, attachments[2])
        const again = { attachments: [{ type: "file", payload: { token: file.payload.token } }] }
        assert.strictEqual((yield* asBot("POST", `/messages?user_id=${user_id}`, again)).status, 200)
        const { body } = yield* post("/messages", { user_id, attachments: [{ type: "location", latitude: "north" }] })
        assert.include(body.message, "attachments[0]: latitude")
      })
    )
  )

  it.effect("raw updates arrive as they are, of unknown types and with exact integers too", () =>
    inEmulator(
      Effect.gen(function* () {
        yield* call("POST", "/_emulator/updates", `{"update":{"update_type":"strange","position":116328127605864691}}`)
        const { body } = yield* asBot("GET", "/updates?timeout=0")
        assert.deepStrictEqual(body.updates, [{ update_type: "strange", position: 116328127605864691n }])
      })
    )
  )

  it.effect("faults are a list of rules, and an empty list is peace", () =>
    inEmulator(
      Effect.gen(function* () {
        const set = (rules: unknown) => call("PUT", "/_emulator/faults", rules)
        assert.strictEqual((yield* set([{ endpoint: "Me.get", nth: 2, status: 503 }])).status, 200)
        const statuses = Effect.replicateEffect(
          Effect.map(asBot("GET", "/me"), ({ status }) => status),
          3
        )
        assert.deepStrictEqual(yield* statuses, [200, 503, 200])
        assert.strictEqual((yield* get("/health")).status, 200)
        assert.strictEqual((yield* set([{ path: "/me", status: 500 }])).status, 200)
        assert.strictEqual((yield* set([])).status, 200)
        assert.deepStrictEqual(yield* statuses, [200, 200, 200])
        const { body, status } = yield* set([{ status: "often" }])
        assert.strictEqual(status, 400)
        assert.include(body.message, "status")
      })
    )
  )

  it.effect("faults tell which rules stand and how often each has struck", () =>
    inEmulator(
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* getOk("/faults"), { faults: [] })
        const often = { path: "/me", every: 2, status: 503, body: null }
        const never = { update_type: "bot_started", delivery: "drop" }
        yield* call("PUT", "/_emulator/faults", [often, never])
        yield* Effect.replicateEffect(asBot("GET", "/me"), 5)
        assert.deepStrictEqual(yield* getOk("/faults"), {
          faults: [
            { rule: often, matched: 5, applied: 2 },
            { rule: never, matched: 0, applied: 0 }
          ]
        })
        yield* postOk("/reset")
        assert.deepStrictEqual(yield* getOk("/faults"), { faults: [] })
      })
    )
  )

  it.effect("deliveries are in a journal, and reset ends their subscription", () =>
    inEmulator(
      Effect.gen(function* () {
        const url = "https://bot.example/updates"
        yield* Emulator.receive(url, () => Effect.succeed({ status: 200 }))
        yield* asBot("POST", "/subscriptions", { url })
        const { user_id } = yield* postOk("/users", { first_name: "Ann" })
        yield* postOk("/start", { user_id })
        yield* TestClock.adjust(1)
        const { deliveries } = yield* getOk("/deliveries")
        assert.deepStrictEqual(
          deliveries.map(({ attempt, status, update, url }: Json) => [url, attempt, status, update.update_type]),
          [[url, 1, 200, "bot_started"]]
        )
        yield* postOk("/reset")
        assert.deepStrictEqual((yield* asBot("GET", "/subscriptions")).body, { subscriptions: [] })
        assert.deepStrictEqual(yield* getOk("/deliveries"), { deliveries: [] })
      }).pipe(Effect.scoped)
    )
  )

  it.effect("reset makes void what a webhook was being told, and its retries", () =>
    inEmulator(
      Effect.gen(function* () {
        const url = "https://bot.example/updates"
        const seenThere: Array<string> = []
        yield* Emulator.receive(url, ({ body }) => {
          seenThere.push(JSON.parse(body).payload)
          return JSON.parse(body).payload === "slow"
            ? Effect.delay(Effect.succeed({ status: 200 }), "10 seconds")
            : Effect.succeed({ status: 500 })
        })
        const tell = (payload: string) =>
          Effect.gen(function* () {
            yield* asBot("POST", "/subscriptions", { url })
            const { user_id } = yield* postOk("/users", { first_name: "Ann" })
            yield* postOk("/start", { user_id, payload })
            yield* TestClock.adjust("1 second")
          })
        yield* tell("failing")
        yield* postOk("/reset")
        yield* tell("slow")
        yield* postOk("/reset")
        yield* tell("new")
        yield* TestClock.adjust("50 seconds")
        const outcomes = ({ deliveries }: Json) =>
          deliveries.map(({ attempt, status, update }: Json) => [update.payload, attempt, status])
        assert.deepStrictEqual(outcomes(yield* getOk("/deliveries")), [["new", 1, 500]])
        yield* TestClock.adjust("1 day")
        assert.deepStrictEqual(seenThere.slice(0, 4), ["failing", "slow", "new", "new"])
        assert.isFalse(seenThere.slice(2).some((payload) => payload !== "new"))
        assert.deepStrictEqual((yield* asBot("GET", "/subscriptions")).body, { subscriptions: [] })
      }).pipe(Effect.scoped)
    )
  )

  it.effect("a token is of no more use until a reset", () =>
    inEmulator(
      Effect.gen(function* () {
        const answered = Effect.map(asBot("GET", "/me"), ({ body, status }) => [status, body.code])
        yield* postOk("/revoke_token")
        assert.deepStrictEqual(yield* answered, [401, "verify.token"])
        yield* postOk("/revoke_token", { as: "deprecated" })
        assert.deepStrictEqual(yield* answered, [403, "deprecated.token"])
        yield* postOk("/reset")
        assert.deepStrictEqual(yield* answered, [200, undefined])
      })
    )
  )

  it.effect("a pin and a quiet message are events as they reach people", () =>
    inEmulator(
      Effect.gen(function* () {
        const { user_id } = yield* postOk("/users", { first_name: "Ann" })
        const { chat_id } = yield* postOk("/chats", { type: "chat", members: [user_id], bot: { admin: true } })
        const { body } = yield* asBot("POST", `/messages?chat_id=${chat_id}`, { text: "hi", notify: false })
        yield* asBot("PUT", `/chats/${chat_id}/pin`, { message_id: body.message.body.mid })
        const { events } = yield* getOk(`/events?user_id=${user_id}`)
        assert.deepStrictEqual(events, [
          { type: "message", chat_id, message: body.message, notify: false },
          { type: "notice", chat_id, changed: ["pin"] }
        ])
      })
    )
  )

  it.effect("ids are those that the platform could have", () =>
    inEmulator(
      Effect.gen(function* () {
        const problem = (path: string, body: unknown) =>
          Effect.map(post(path, body), ({ body, status }) => (status === 400 ? body.message : status))
        const { user_id } = yield* postOk("/users", { first_name: "Ann" })
        const members = [user_id]
        assert.strictEqual(
          yield* problem("/users", { first_name: "Ann", user_id: -1 }),
          "user_id: must be greater than 0"
        )
        for (const type of ["chat", "channel"]) {
          const expected = `chat_id: must be less than 0 for a ${type}`
          for (const chat_id of [0, 5]) assert.strictEqual(yield* problem("/chats", { type, chat_id }), expected)
        }
        assert.strictEqual(
          yield* problem("/chats", { type: "dialog", members, chat_id: -5 }),
          "chat_id: must be greater than 0 for a dialog"
        )
        assert.strictEqual(
          yield* problem("/chats", { type: "dialog", members, chat_id: user_id }),
          "chat_id: must not be the id of a user"
        )
        yield* postOk("/chats", { type: "dialog", members, chat_id: 6 })
        assert.strictEqual(
          yield* problem("/chats", { type: "dialog", members, chat_id: 8 }),
          `chat_id: the dialog with ${user_id} is 6 already`
        )
      })
    )
  )

  it.effect("reset empties all state, keeps the token, and gives the same ids again", () =>
    inEmulator(
      Effect.gen(function* () {
        const first = yield* postOk("/users", { first_name: "Ann" })
        const { chat_id } = yield* postOk("/chats", { type: "chat", members: [first.user_id] })
        yield* postOk("/messages", { user_id: first.user_id, chat_id, text: "hi" })
        yield* postOk("/reset")
        assert.deepStrictEqual(yield* getOk("/updates"), { updates: [] })
        assert.deepStrictEqual(yield* getOk("/chats"), { chats: [] })
        assert.deepStrictEqual((yield* getOk("/requests")).requests, [])
        assert.strictEqual((yield* get(`/chats/${chat_id}/messages`)).status, 404)
        assert.strictEqual((yield* asBot("GET", "/me")).status, 200)
        assert.deepStrictEqual(yield* postOk("/users", { first_name: "Ann" }), first)
      })
    )
  )

  it.effect("a poll that waits through a reset goes on", () =>
    inEmulator(
      Effect.gen(function* () {
        const polling = yield* Effect.forkChild(asBot("GET", "/updates?timeout=90"))
        yield* TestClock.adjust(1)
        yield* postOk("/reset")
        const { user_id } = yield* postOk("/users", { first_name: "Ann" })
        yield* postOk("/start", { user_id })
        assert.deepStrictEqual(typesOf((yield* Fiber.join(polling)).body), ["bot_started"])
      })
    )
  )

  it.effect("the clock moves where it is virtual", () =>
    inEmulator(
      Effect.gen(function* () {
        const before = yield* getOk("/clock")
        assert.isTrue(before.is_virtual)
        assert.strictEqual((yield* postOk("/clock", { advance_ms: 60_000 })).now, before.now + 60_000)
        assert.strictEqual((yield* post("/clock", { advance_ms: -1 })).status, 400)
      })
    )
  )

  it.effect("who listens may wait for what the bot does next", () =>
    inEmulator(
      Effect.gen(function* () {
        const { user_id } = yield* postOk("/users", { first_name: "Ann" })
        yield* postOk("/start", { user_id })
        const listening = yield* Effect.forkChild(getOk(`/events?user_id=${user_id}&wait_ms=5000`))
        yield* TestClock.adjust(1000)
        yield* asBot("POST", `/messages?user_id=${user_id}`, { text: "Hello" })
        assert.strictEqual((yield* Fiber.join(listening)).events[0].message.body.text, "Hello")
        const inVain = yield* Effect.forkChild(getOk("/events?from=1&wait_ms=5000"))
        yield* TestClock.adjust(5000)
        assert.deepStrictEqual(yield* Fiber.join(inVain), { events: [], next: 1 })
      })
    )
  )

  it.effect("several tokens are several bots in one world", () =>
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

  it.effect("a seed makes a whole world, and says where it cannot", () =>
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

  it.effect("what cannot be is told by the field, and never breaks the emulator", () =>
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
        const noSuch = yield* call("PUT", "/_emulator/faults", [{ endpoint: "Message.send", status: 500 }])
        assert.deepStrictEqual(
          [noSuch.status, noSuch.body.message],
          [400, 'rules[0].endpoint: there is no endpoint "Message.send": did you mean Messages.send?']
        )
        assert.strictEqual((yield* asBot("GET", "/me")).status, 200)
        assert.match((yield* post("/clock", { advance_ms: 2 ** 52 })).body.message, /^advance_ms: time goes no further/)
        assert.strictEqual((yield* get("/openapi.json")).body.openapi, "3.1.0")
      })
    )
  )

  it.effect("strict refuses what the document does not know; otherwise it is ignored", () => {
    const misspelt = Effect.gen(function* () {
      const { user_id } = yield* postOk("/users", { first_name: "Ann" })
      yield* postOk("/start", { user_id })
      return yield* asBot("POST", `/messages?user_id=${user_id}&disable_links=true`, { text: "hi", atachments: [] })
    })
    return Effect.gen(function* () {
      assert.strictEqual((yield* inEmulator(misspelt)).status, 200)
      const { body, status } = yield* inEmulator(misspelt, { strict: true })
      assert.strictEqual(status, 400)
      assert.include(body.message, "atachments")
      assert.include(body.message, "disable_links")
    })
  })

  it.effect("strict knows where a field belongs, also where there is none", () =>
    inEmulator(
      Effect.gen(function* () {
        const { user_id } = yield* postOk("/users", { first_name: "Ann" })
        yield* postOk("/start", { user_id })
        const requests = [
          ["POST", `/messages?user_id=${user_id}&text=hi`, {}],
          ["POST", "/messages", { user_id, text: "hi" }],
          ["POST", "/uploads?type=file", { x: 1 }],
          ["GET", "/me?x=1", undefined],
          ["GET", "/me?toString=1", undefined]
        ] as const
        for (const [method, path, body] of requests) {
          assert.strictEqual((yield* asBot(method, path, body)).status, 400, path)
        }
      }),
      { strict: true }
    )
  )

  it.effect("a request with thousands of mistakes is told a few", () =>
    inEmulator(
      Effect.gen(function* () {
        for (const count of [100, 100_000]) {
          const { body, status } = yield* asBot("POST", "/messages?user_id=1", { attachments: Array(count).fill(1) })
          assert.strictEqual(status, 400)
          assert.isBelow(body.message.length, 10_000)
        }
      })
    )
  )
})

const server = EmulatorServer.layer().pipe(Layer.provideMerge(Emulator.layer()))

interface Raw {
  readonly status: number
  readonly text: string
  readonly port: number | undefined
}

const plain = (agent: Agent, url: string, options: { readonly method?: string; readonly body?: string } = {}) =>
  Effect.callback<Raw, unknown>((resume) => {
    const { body, method = "GET" } = options
    const request = httpRequest(url, { agent, method, headers: { authorization: token } }, (response) => {
      let text = ""
      const port = response.socket.localPort
      response.setEncoding("utf8")
      response.on("data", (chunk: string) => (text += chunk))
      response.on("error", (error) => resume(Effect.fail(error)))
      response.on("end", () => resume(Effect.succeed({ status: response.statusCode ?? 0, text, port })))
    })
    request.on("error", (error) => resume(Effect.fail(error)))
    request.end(body)
  })

const agents = Effect.acquireRelease(
  Effect.sync(() => new Agent({ keepAlive: true, maxSockets: 1 })),
  (agent) => Effect.sync(() => agent.destroy())
)

layer(server, { excludeTestServices: true })("on a real port", (it) => {
  it.effect("plain clients keep their connection from call to call, through errors too", () =>
    Effect.gen(function* () {
      const { url } = yield* EmulatorServer.EmulatorServer
      const agent = yield* agents
      const ask = (path: string, options?: { readonly method?: string; readonly body?: string }) =>
        plain(agent, url + path, options)
      const health = yield* ask("/_emulator/health")
      assert.strictEqual(health.text, `{"status":"ready"}`)
      const bad = yield* ask("/messages?chat_id=1", { method: "POST", body: "{bad" })
      assert.deepStrictEqual([bad.status, JSON.parse(bad.text).code], [400, "proto.payload"])
      const head = yield* ask("/me", { method: "HEAD" })
      assert.deepStrictEqual([head.status, head.text], [200, ""])
      const options = yield* ask("/_emulator/users", { method: "OPTIONS" })
      assert.strictEqual(options.status, 204)
      const me = yield* ask("/me")
      assert.deepStrictEqual([me.status, JSON.parse(me.text).is_bot], [200, true])
      assert.deepStrictEqual(
        [bad, head, options, me].map(({ port }) => port),
        Array.from({ length: 4 }, () => health.port)
      )
    }).pipe(Effect.scoped)
  )

  it.effect("a huge body is refused, and the next call is answered", () =>
    Effect.gen(function* () {
      const { url } = yield* EmulatorServer.EmulatorServer
      const agent = yield* agents
      const body = JSON.stringify({ text: "x".repeat(4 * 2 ** 20) })
      const huge = yield* plain(agent, `${url}/messages?chat_id=1`, { method: "POST", body })
      assert.deepStrictEqual([huge.status, JSON.parse(huge.text).code], [413, "proto.payload"])
      const stuffed = yield* plain(agent, `${url}/_emulator/users`, { method: "POST", body: "x".repeat(17 * 2 ** 20) })
      assert.strictEqual(stuffed.status, 413)
      assert.strictEqual((yield* plain(agent, `${url}/me`)).status, 200)
    }).pipe(Effect.scoped)
  )

  it.effect("a fault breaks an answer off before it has the length that it promised, or says what it is once", () =>
    Effect.gen(function* () {
      const { url } = yield* EmulatorServer.EmulatorServer
      const { hostname, port } = new URL(url)
      /** All that comes until the connection breaks. */
      const read = Effect.callback<string>((resume) => {
        let text = ""
        const socket = connect(Number(port), hostname, () => {
          socket.write(`GET /me HTTP/1.1\r\nhost: x\r\nauthorization: ${token}\r\nconnection: close\r\n\r\n`)
        })
        socket.setEncoding("utf8")
        socket.on("data", (chunk: string) => (text += chunk))
        socket.on("close", () => resume(Effect.succeed(text)))
        return Effect.sync(() => socket.destroy())
      })
      const agent = yield* agents
      const whole = yield* plain(agent, `${url}/me`)
      yield* Emulator.addFault({ path: "/me", truncate: 10, reset: "after", times: 2 })
      const [head, body] = (yield* read).split("\r\n\r\n")
      assert.include(head, `content-length: ${whole.text.length}\r\n`)
      assert.strictEqual(body, whole.text.slice(0, 10))
      assert.instanceOf(yield* Effect.flip(plain(agent, `${url}/me`)), Error)
      yield* Emulator.addFault({ path: "/me", truncate: 0, reset: "after", times: 1 })
      assert.match(yield* read, /content-length: \d+\r\n[^{]+\r\n\r\n$/)
      assert.strictEqual((yield* plain(agent, `${url}/me`)).status, 200)
      yield* Emulator.addFault({ path: "/me", status: 500, body: "<html>", headers: { "Content-Type": "text/html" } })
      const [ended, page] = (yield* read).split("\r\n\r\n")
      assert.deepStrictEqual(ended.match(/content-type.*/gi), ["content-type: text/html"])
      assert.strictEqual(page, "<html>")
    }).pipe(Effect.scoped)
  )

  it.effect("a client that never ends its request harms no other", () =>
    Effect.gen(function* () {
      const { url } = yield* EmulatorServer.EmulatorServer
      const { hostname, port } = new URL(url)
      const slow = yield* Effect.acquireRelease(
        Effect.callback<ReturnType<typeof connect>>((resume) => {
          const socket = connect(Number(port), hostname, () => {
            const head = `POST /messages?chat_id=1 HTTP/1.1\r\nhost: x\r\nauthorization: ${token}\r\ncontent-length: 100\r\n`
            socket.write(`${head}\r\n{"text":`, () => resume(Effect.succeed(socket)))
          })
        }),
        (socket) => Effect.sync(() => socket.destroy())
      )
      const agent = yield* agents
      const answers = yield* Effect.forEach([1, 2, 3], () => plain(agent, `${url}/me`))
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [200, 200, 200]
      )
      assert.isFalse(slow.destroyed)
    }).pipe(Effect.scoped)
  )
})
