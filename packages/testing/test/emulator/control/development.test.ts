import { Bot, Handler, LongPolling } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { asBot, call, getOk, inEmulator, type Json, post, postOk } from "../../support/control.ts"

/** Runs an effect with a folder that has a module of a bot. */
const withFolder = <A, E, R>(use: (folder: string) => Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "colloquy-"))),
    use,
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
  )

describe("the calls for the author of a bot", () => {
  it.effect("send a request again that a fault has answered, with its body", () =>
    inEmulator(
      Effect.gen(function* () {
        const { user_id } = yield* postOk("/users", { first_name: "Ann" })
        const { chat_id } = yield* postOk("/start", { user_id })
        yield* Emulator.setFaults([{ endpoint: "Messages.send", status: 503, times: 1 }])
        const { status } = yield* asBot("POST", `/messages?chat_id=${chat_id}`, { text: "at last" })
        assert.strictEqual(status, 503)
        const { requests } = yield* getOk("/requests")
        const [refused] = requests as ReadonlyArray<Json>
        assert.deepStrictEqual([refused.endpoint, refused.body], ["Messages.send", { text: "at last" }])
        assert.deepStrictEqual(yield* postOk("/repeat_request", { number: refused.number }), { status: 200 })
        const { messages } = yield* getOk(`/chats/${chat_id}/messages`)
        assert.deepStrictEqual(
          messages.map(({ body }: Json) => body.text),
          ["at last"]
        )
        assert.strictEqual((yield* post("/repeat_request", { number: 99 })).status, 404)
      })
    )
  )

  it.effect("send a request again that the limits have refused, with its body", () =>
    inEmulator(
      Effect.gen(function* () {
        const { user_id } = yield* postOk("/users", { first_name: "Ann" })
        const { chat_id } = yield* postOk("/start", { user_id })
        const send = (text: string) => asBot("POST", `/messages?chat_id=${chat_id}`, { text })
        for (const text of ["one", "two"]) assert.strictEqual((yield* send(text)).status, 200)
        assert.strictEqual((yield* send("three")).status, 429)
        const { requests } = yield* getOk("/requests")
        const refused = (requests as ReadonlyArray<Json>).find(({ status }) => status === 429)!
        assert.deepStrictEqual([refused.endpoint, refused.body], ["Messages.send", { text: "three" }])
        yield* TestClock.adjust("2 seconds")
        assert.deepStrictEqual(yield* postOk("/repeat_request", { number: refused.number }), { status: 200 })
      }),
      { limits: { messages: 2 } }
    )
  )

  it.effect.each([
    ["true", ["bot_started unhandled none 1", "message_created failed handler 1", "message_created handled handler 2"]],
    ["false", []]
  ])("tell what a bot did with its updates, with the setting BOT_EMULATOR %s", ([setting, expected]) =>
    Effect.gen(function* () {
      let isBroken = true
      const handler = Handler.on("message_created", () =>
        Effect.suspend(() => (isBroken ? Effect.die(new Error("not now")) : Effect.void))
      )
      const ann = yield* Emulator.user("Ann")
      yield* ann.start()
      yield* ann.send("hello")
      const bot = yield* Effect.forkChild(Bot.run(handler), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      isBroken = false
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.interrupt(bot)
      const events = yield* Emulator.events.pipe(Stream.interruptWhen(TestClock.adjust("1 second")), Stream.runCollect)
      const updates = new Map(events.flatMap((each) => (each.type === "update" ? [[each.number, each]] : [])))
      assert.deepStrictEqual(
        events.flatMap((each) =>
          each.type === "handled"
            ? [`${updates.get(each.number)?.update_type} ${each.outcome} ${each.part?.kind ?? "none"} ${each.attempt}`]
            : []
        ),
        expected
      )
    }).pipe(
      Effect.provide(LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))),
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown({ BOT_EMULATOR: setting }))
    )
  )

  it.effect("refuse what a bot tells without a token", () =>
    inEmulator(Effect.map(post("/handled", { entries: [] }), ({ status }) => assert.strictEqual(status, 401)))
  )

  it.effect("return an event with its details", () =>
    inEmulator(
      Effect.gen(function* () {
        const { user_id } = yield* postOk("/users", { first_name: "Ann" })
        yield* postOk("/messages", { user_id, text: "hello" })
        const { next_event } = yield* getOk("/state")
        const events = yield* Effect.forEach(Array.from({ length: next_event }).keys(), (id) => getOk(`/events/${id}`))
        const update = events.find(({ text }) => text === "hello")
        assert.deepStrictEqual([update.type, update.number, update.update.message.body.text], ["update", 1, "hello"])
        assert.strictEqual(update.message_id, update.update.message.body.mid)
      })
    )
  )

  it.effect("list the parts that the module of the bot exports, or say why there are none", () =>
    withFolder((folder) =>
      Effect.gen(function* () {
        const file = join(folder, "bot.mjs")
        const partsWith = (botModule: string | undefined) =>
          Effect.map(call("GET", "/_emulator/parts"), ({ body }) => body).pipe(
            Effect.provide(Emulator.layer({ botModule }))
          )
        writeFileSync(
          file,
          'export const parts = { parts: [{ kind: "command", name: "help", description: "Helps" }, { kind: "outdated", name: "default" }] }'
        )
        assert.deepStrictEqual(yield* partsWith(pathToFileURL(file).href), {
          parts: [{ kind: "command", name: "help", description: "Helps" }]
        })
        assert.include((yield* partsWith(undefined)).problem, "does not know the module")
        assert.include((yield* partsWith("file:///missing.mjs")).problem, "cannot be imported")
      })
    )
  )

  it.effect("save a test in the folder of the tests, and replace no file", () =>
    withFolder((folder) =>
      Effect.gen(function* () {
        const testFolder = pathToFileURL(join(folder, "test")).href
        const save = (body: unknown) =>
          Effect.map(call("POST", "/_emulator/tests", body), ({ body }) => body).pipe(
            Effect.provide(Emulator.layer({ testFolder }))
          )
        const first = yield* save({ name: "conversation", text: "one" })
        const second = yield* save({ name: "conversation", text: "two" })
        assert.strictEqual(first.path, join(folder, "test/conversation.test.ts"))
        assert.deepStrictEqual([readFileSync(first.path, "utf8"), readFileSync(second.path, "utf8")], ["one", "two"])
        assert.include((yield* save({ name: "../escape", text: "three" })).message, "name: must be letters")
        assert.isFalse(existsSync(fileURLToPath(new URL("../escape.test.ts", `${testFolder}/`))))
      })
    )
  )

  it.effect("refuse to save a test without a folder of tests", () =>
    inEmulator(
      Effect.gen(function* () {
        const { body, status } = yield* post("/tests", { name: "conversation", text: "one" })
        assert.deepStrictEqual([status, body.code], [409, "tests.no.folder"])
      })
    )
  )
})

describe("a fault that lasts", () => {
  it.effect("applies for its time", () =>
    inEmulator(
      Effect.gen(function* () {
        yield* Emulator.setFaults([{ endpoint: "Me.get", status: 429, lasts: 10_000 }])
        yield* TestClock.adjust("9 seconds")
        assert.strictEqual((yield* asBot("GET", "/me")).status, 429)
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* asBot("GET", "/me")).status, 200)
        const { faults } = yield* getOk("/faults")
        assert.strictEqual(faults[0].is_over, true)
      })
    )
  )
})
