import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { asBot, call, get, getOk, inEmulator, type Json, post, postOk, typesOf } from "../../support/control.ts"

describe("the control API", () => {
  it.effect("delivers a raw update of an unknown type unchanged, with exact integers", () =>
    inEmulator(
      Effect.gen(function* () {
        yield* call("POST", "/_emulator/updates", `{"update":{"update_type":"strange","position":116328127605864691}}`)
        const { body } = yield* asBot("GET", "/updates?timeout=0")
        assert.deepStrictEqual(body.updates, [{ update_type: "strange", position: 116328127605864691n }])
      })
    )
  )

  it.effect("replaces the faults by a list of rules, and removes them by an empty list", () =>
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

  it.effect("lists the rules of faults with the number of matched requests and of applied faults", () =>
    inEmulator(
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* getOk("/faults"), { faults: [] })
        const applied = { path: "/me", every: 2, status: 503, body: null }
        const unmatched = { update_type: "bot_started", delivery: "drop" }
        yield* call("PUT", "/_emulator/faults", [applied, unmatched])
        yield* Effect.replicateEffect(asBot("GET", "/me"), 5)
        assert.deepStrictEqual(yield* getOk("/faults"), {
          faults: [
            { rule: applied, matched: 5, applied: 2 },
            { rule: unmatched, matched: 0, applied: 0 }
          ]
        })
        yield* postOk("/reset")
        assert.deepStrictEqual(yield* getOk("/faults"), { faults: [] })
      })
    )
  )

  it.effect("lists the deliveries, and ends the subscription at a reset", () =>
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
        assert.deepStrictEqual(yield* getOk("/deliveries"), { deliveries: [], waiting: [] })
      }).pipe(Effect.scoped)
    )
  )

  it.effect("cancels running deliveries and their retries at a reset", () =>
    inEmulator(
      Effect.gen(function* () {
        const url = "https://bot.example/updates"
        const payloads: Array<string> = []
        yield* Emulator.receive(url, ({ body }) => {
          payloads.push(JSON.parse(body).payload)
          return JSON.parse(body).payload === "slow"
            ? Effect.delay(Effect.succeed({ status: 200 }), "10 seconds")
            : Effect.succeed({ status: 500 })
        })
        const start = (payload: string) =>
          Effect.gen(function* () {
            yield* asBot("POST", "/subscriptions", { url })
            const { user_id } = yield* postOk("/users", { first_name: "Ann" })
            yield* postOk("/start", { user_id, payload })
            yield* TestClock.adjust("1 second")
          })
        yield* start("failing")
        yield* postOk("/reset")
        yield* start("slow")
        yield* postOk("/reset")
        yield* start("new")
        yield* TestClock.adjust("50 seconds")
        const outcomes = ({ deliveries }: Json) =>
          deliveries.map(({ attempt, status, update }: Json) => [update.payload, attempt, status])
        assert.deepStrictEqual(outcomes(yield* getOk("/deliveries")), [["new", 1, 500]])
        yield* TestClock.adjust("1 day")
        assert.deepStrictEqual(payloads.slice(0, 4), ["failing", "slow", "new", "new"])
        assert.isFalse(payloads.slice(2).some((payload) => payload !== "new"))
        assert.deepStrictEqual((yield* asBot("GET", "/subscriptions")).body, { subscriptions: [] })
      }).pipe(Effect.scoped)
    )
  )

  it.effect("revokes or deprecates the token until a reset", () =>
    inEmulator(
      Effect.gen(function* () {
        const result = Effect.map(asBot("GET", "/me"), ({ body, status }) => [status, body.code])
        yield* postOk("/revoke_token")
        assert.deepStrictEqual(yield* result, [401, "verify.token"])
        yield* postOk("/revoke_token", { as: "deprecated" })
        assert.deepStrictEqual(yield* result, [403, "deprecated.token"])
        yield* postOk("/reset")
        assert.deepStrictEqual(yield* result, [200, undefined])
      })
    )
  )

  it.effect("lists a pin as a notice, and a message without a push notification", () =>
    inEmulator(
      Effect.gen(function* () {
        const { user_id } = yield* postOk("/users", { first_name: "Ann" })
        const { chat_id } = yield* postOk("/chats", { type: "chat", members: [user_id], bot: { admin: true } })
        const { body } = yield* asBot("POST", `/messages?chat_id=${chat_id}`, { text: "hi", notify: false })
        yield* asBot("PUT", `/chats/${chat_id}/pin`, { message_id: body.message.body.mid })
        const { seen: events } = yield* getOk(`/seen?user_id=${user_id}`)
        assert.deepStrictEqual(events, [
          { type: "message", chat_id, message: body.message, notify: false },
          { type: "notice", chat_id, changed: ["pin"] }
        ])
      })
    )
  )

  it.effect("removes all state at a reset, keeps the token, and assigns the same ids again", () =>
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

  it.effect("continues a waiting poll after a reset", () =>
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

  it.effect("advances a virtual clock", () =>
    inEmulator(
      Effect.gen(function* () {
        const before = yield* getOk("/clock")
        assert.isTrue(before.is_virtual)
        assert.strictEqual((yield* postOk("/clock", { advance_ms: 60_000 })).now, before.now + 60_000)
        assert.strictEqual((yield* post("/clock", { advance_ms: -1 })).status, 400)
      })
    )
  )

  it.effect("waits for the next event if wait_ms is given", () =>
    inEmulator(
      Effect.gen(function* () {
        const { user_id } = yield* postOk("/users", { first_name: "Ann" })
        yield* postOk("/start", { user_id })
        const waiting = yield* Effect.forkChild(getOk(`/seen?user_id=${user_id}&wait_ms=5000`))
        yield* TestClock.adjust(1000)
        yield* asBot("POST", `/messages?user_id=${user_id}`, { text: "Hello" })
        assert.strictEqual((yield* Fiber.join(waiting)).seen[0].message.body.text, "Hello")
        const withoutEvent = yield* Effect.forkChild(getOk("/seen?from=1&wait_ms=5000"))
        yield* TestClock.adjust(5000)
        assert.deepStrictEqual(yield* Fiber.join(withoutEvent), { seen: [], next: 1 })
      })
    )
  )
})
