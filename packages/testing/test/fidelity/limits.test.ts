import { Emulator, EmulatorOptions } from "@colloquy/testing"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { assumes, says } from "../support/fidelity.ts"
import { valuesAt, DELETE, GET, invalid, PATCH, POST, PUT, failsWith, succeeds } from "../support/http.ts"
import * as Scene from "../support/scene.ts"

const limited = Effect.provide(Emulator.layerBot({ limits: EmulatorOptions.platformLimits }))

const { messages: _, ...hostLimits } = EmulatorOptions.platformLimits

const times = <A, E, R>(count: number, effect: Effect.Effect<A, E, R>) =>
  Effect.forEach(Array.from({ length: count }), () => effect)

const tooMany = (call: ReturnType<typeof GET>) => failsWith(call, 429, "too.many.requests")

says(
  "Limits",
  "30 requests a second to the API host",
  Effect.gen(function* () {
    yield* times(30, succeeds(GET("/me")))
    yield* tooMany(GET("/me"))
    yield* TestClock.adjust("1 second")
    yield* succeeds(GET("/me"))
  }).pipe(limited)
)

says(
  "Limits",
  "2 messages a second to one dialog, group chat or channel, independent of other chats",
  Effect.gen(function* () {
    const visitor = yield* Emulator.user("Victor")
    const chats = [
      yield* visitor.start(),
      yield* Emulator.chat(),
      yield* Emulator.chat({ type: "channel", bot: { admin: true } })
    ]
    for (const { chat_id } of chats) {
      const send = POST(`/messages?chat_id=${chat_id}`, { text: "hi" })
      yield* times(2, succeeds(send))
      yield* tooMany(send)
    }
    yield* TestClock.adjust("1 second")
    for (const { chat_id } of chats) yield* succeeds(POST(`/messages?chat_id=${chat_id}`, { text: "hi" }))
  }).pipe(limited)
)

assumes(
  "C",
  "Limits",
  "Edits and deletions of messages, comments and edits of comments count as messages of their chat",
  Effect.gen(function* () {
    const channel = yield* Emulator.chat({ type: "channel", bot: { admin: true } })
    const send = POST(`/messages?chat_id=${channel.chat_id}`, { text: "News" })
    const mid = (yield* succeeds(send)).at("message.body.mid")
    yield* succeeds(PUT(`/messages?message_id=${mid}`, { text: "Old news" }))
    yield* tooMany(POST(`/messages/${mid}/comments`, { text: "First" }))
    yield* TestClock.adjust("1 second")
    const comment = (yield* succeeds(POST(`/messages/${mid}/comments`, { text: "First" }))).at("body.mid")
    yield* succeeds(PUT(`/messages/${mid}/comments?comment_id=${comment}`, { text: "First!" }))
    yield* tooMany(send)
    yield* TestClock.adjust("1 second")
    const mids = [(yield* succeeds(send)).at("message.body.mid"), mid]
    yield* succeeds(DELETE(`/messages?message_id=${mids[0]}`))
    yield* tooMany(DELETE(`/messages?message_id=${mids[1]}`))
    yield* TestClock.adjust("1 second")
    yield* succeeds(DELETE(`/messages?message_id=${mids[1]}`))
  }).pipe(limited)
)

says(
  "Limits",
  "2 answers to callbacks a second for each dialog, group chat or channel",
  Effect.gen(function* () {
    const { asked, visitor } = yield* Scene.make
    const presses = yield* times(3, visitor.press(asked, "Yes"))
    const [first, second, third] = presses.map((id) => POST(`/answers?callback_id=${id}`, { notification: "a" }))
    yield* succeeds(first)
    yield* succeeds(second)
    yield* tooMany(third)
    yield* TestClock.adjust("1 second")
    yield* succeeds(third)
  }).pipe(Effect.provide(Emulator.layerBot({ limits: { ...hostLimits, messages: 30 } })))
)

assumes(
  "B",
  "Limits",
  "429 has the code too.many.requests and no header Retry-After; the limit can be lower than documented",
  Effect.gen(function* () {
    yield* times(10, succeeds(GET("/me")))
    const { headers } = yield* tooMany(GET("/me"))
    assert.isUndefined(headers["retry-after"])
  }).pipe(Effect.provide(Emulator.layerBot({ limits: { ...EmulatorOptions.platformLimits, host: 10 } })))
)

assumes(
  "B",
  "Limits",
  "GET /updates: 2 a second",
  Effect.gen(function* () {
    yield* times(2, succeeds(GET("/updates?timeout=0")))
    yield* tooMany(GET("/updates?timeout=0"))
    yield* TestClock.adjust("1 second")
    yield* succeeds(GET("/updates?timeout=0"))
  }).pipe(limited)
)

assumes(
  "B",
  "Limits",
  "GET /updates returns at most 100 updates and waits for at most 30 seconds, also where more is requested",
  Effect.gen(function* () {
    const ann = yield* Emulator.user("Ann")
    yield* times(150, ann.send("hi"))
    const page = yield* succeeds(GET("/updates?limit=1000&marker=0"))
    assert.lengthOf(page.at("updates") as ReadonlyArray<unknown>, 100)
    const rest = yield* succeeds(GET(`/updates?limit=1000&marker=${page.at("marker")}`))
    assert.lengthOf(rest.at("updates") as ReadonlyArray<unknown>, 51)
    const waiting = yield* Effect.forkChild(succeeds(GET(`/updates?timeout=90&marker=${rest.at("marker")}`)))
    yield* TestClock.adjust(29_999)
    assert.isUndefined(waiting.pollUnsafe())
    yield* TestClock.adjust(1)
    assert.deepStrictEqual((yield* Fiber.join(waiting)).at("updates"), [])
  })
)

says(
  "Limits",
  "Message or comment text: up to 4000 characters",
  Effect.gen(function* () {
    const { group, post } = yield* Scene.make
    for (const path of [`/messages?chat_id=${group.chat_id}`, `/messages/${Scene.midOf(post)}/comments`]) {
      yield* succeeds(POST(path, { text: "a".repeat(4000) }))
      yield* invalid(POST(path, { text: "a".repeat(4001) }))
    }
  })
)

says(
  "Limits",
  "Attachments of a message: at most 12",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const attachments = Array.from({ length: 13 }, () => ({ type: "image", payload: { url: "https://p.example/1" } }))
    const path = `/messages?chat_id=${group.chat_id}`
    yield* succeeds(POST(path, { attachments: attachments.slice(1) }))
    yield* invalid(POST(path, { attachments }))
  })
)

says(
  "Limits",
  "Chat title: 1 to 200 characters; chat description: 0 to 16000 characters",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const path = `/chats/${group.chat_id}`
    yield* succeeds(PATCH(path, { title: "a".repeat(200), description: "a".repeat(16000) }))
    for (const body of [{ title: "" }, { title: "a".repeat(201) }, { description: "a".repeat(16001) }]) {
      yield* invalid(PATCH(path, body))
    }
  })
)

says(
  "Limits",
  "User description: up to 16000 characters",
  Effect.gen(function* () {
    const description = "a".repeat(16000)
    const visitor = yield* Emulator.user({ first_name: "Victor", description })
    const { chat_id } = yield* visitor.start()
    assert.strictEqual((yield* GET(`/chats/${chat_id}`)).at("dialog_with_user.description"), description)
  })
)

says(
  "Limits",
  "user_ids of a request to add members: 100",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const user_ids = Array.from({ length: 101 }, (_, i) => i + 1)
    yield* invalid(POST(`/chats/${group.chat_id}/members`, { user_ids }))
    yield* succeeds(POST(`/chats/${group.chat_id}/members`, { user_ids: user_ids.slice(1) }))
  })
)

says(
  "Limits",
  "Count of messages and of comments: 1 to 100, by default 50",
  Effect.gen(function* () {
    const { group, post, visitor } = yield* Scene.make
    yield* times(101, visitor.send(group, "x"))
    yield* times(101, visitor.comment(post, "x"))
    for (const path of [`/messages?chat_id=${group.chat_id}&`, `/messages/${Scene.midOf(post)}/comments?`]) {
      assert.strictEqual(valuesAt(yield* succeeds(GET(path)), "messages", "").length, 50)
      assert.strictEqual(valuesAt(yield* succeeds(GET(`${path}count=100`)), "messages", "").length, 100)
      for (const count of [0, 101]) yield* invalid(GET(`${path}count=${count}`))
    }
  })
)
