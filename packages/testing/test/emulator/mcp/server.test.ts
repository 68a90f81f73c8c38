import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import { makeTools } from "../../../src/emulator/internal/mcp/server.ts"
import * as declarations from "../../../src/emulator/internal/control/declarations.ts"
import * as Endpoint from "@colloquy/core/client/Endpoint"
import { liveTest, runWithInput, temporaryFolder } from "../../support/command.ts"
import { call as request, type Json } from "../../support/control.ts"
import { listen } from "../../support/listen.ts"
import { connect } from "../../support/mcp.ts"

/** Calls of the control API for which there is no tool, because an assistant does not need them. */
const withoutTool = [
  "health",
  "openapi",
  "createMedia",
  "getMedia",
  "describeMedia",
  "openApp",
  "getEvent",
  "repeatRequest",
  "listParts",
  "saveTest",
  "reportHandled",
  "view",
  "clearDialog",
  "removeDialog",
  "muteDialog",
  "unmuteDialog",
  "rename",
  "closeChat",
  "allowComments",
  "listEvents",
  "getJournal",
  "getPage",
  "getPageFile",
  "getWebhooks",
  "setWebhooks"
]

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } }
}

describe("the tools of colloquy-emulator --mcp", () => {
  liveTest(
    "are listed with a title, a description of each argument, and a schema of an object",
    Effect.gen(function* () {
      const { client, errors } = yield* connect()
      const { tools } = yield* Effect.promise(() => client.listTools())
      assert.deepStrictEqual(
        tools.map(({ name }) => name),
        makeTools().map(({ name }) => name)
      )
      for (const { annotations, description, inputSchema, name, title } of tools) {
        assert.match(name, /^[a-z]+(_[a-z]+)*$/)
        assert.isAbove((title ?? "").length, 0, name)
        assert.match(description ?? "", /^[A-Z].{20,}[.]$/, name)
        assert.strictEqual(inputSchema.type, "object")
        assert.strictEqual(annotations?.openWorldHint, false)
        for (const [key, property] of Object.entries(inputSchema.properties ?? {})) {
          assert.isAbove(((property as Json).description ?? "").length, 5, `${name}.${key}`)
        }
        assert.notInclude(JSON.stringify(inputSchema), '"null"}')
      }
      const rules = tools.find(({ name }) => name === "set_faults")?.inputSchema.properties?.["rules"] as Json
      assert.include(rules.items.properties.nth.description, "nth match")
      assert.deepStrictEqual(errors, [])
    })
  )

  liveTest(
    "let an assistant try a bot: start it, write, press a button, and read what it answered",
    Effect.gen(function* () {
      const { callOk, client, errors } = yield* connect()
      const { bots, url } = yield* callOk("get_connection")
      const token = bots[0].token as string
      assert.include(client.getInstructions(), url)
      assert.include(client.getInstructions(), token)
      const asBot = (path: string, body: unknown) => request("POST", path, body, { baseUrl: url, token })

      const { user_id } = yield* callOk("create_person", { first_name: "Ann" })
      const { chat_id } = yield* callOk("start", { user_id, payload: "from-a-link" })
      const buttons = [[{ type: "callback", text: "Yes", payload: "yes" }]]
      const attachments = [{ type: "inline_keyboard", payload: { buttons } }]
      const waiting = yield* Effect.forkChild(callOk("wait_for_reply", { user_id, timeout_ms: 30_000 }))
      yield* asBot(`/chats/${chat_id}/actions`, { action: "typing_on" })
      const { status } = yield* asBot(`/messages?chat_id=${chat_id}`, { text: "Sure?", attachments })
      assert.strictEqual(status, 200)
      const { seen, timed_out } = yield* Fiber.join(waiting)
      assert.isFalse(timed_out)
      const asked = (seen as ReadonlyArray<Json>).find(({ type }) => type === "message")
      assert.strictEqual(asked.message.body.text, "Sure?")

      const { callback_id } = yield* callOk("press", { user_id, message_id: asked.message.body.mid, button: "Yes" })
      yield* asBot(`/answers?callback_id=${callback_id}`, { notification: "Done" })
      const answered = yield* callOk("wait_for_reply", { user_id })
      assert.deepStrictEqual(
        answered.seen.map(({ text, type }: Json) => [type, text]),
        [["notification", "Done"]]
      )
      assert.deepStrictEqual(yield* callOk("wait_for_reply", { user_id, timeout_ms: 0 }), { seen: [], timed_out: true })

      yield* callOk("say", { user_id, text: "thanks" })
      const { messages } = yield* callOk("read_messages", { chat_id, count: 2 })
      assert.deepStrictEqual(
        messages.map(({ body }: Json) => body.text),
        ["Sure?", "thanks"]
      )
      assert.strictEqual(typeof messages[0].body.seq, "bigint")
      const { updates } = yield* callOk("read_updates")
      assert.deepStrictEqual(
        updates.map(({ update_type }: Json) => update_type),
        ["bot_started", "message_callback", "message_created"]
      )
      const { next, requests, skipped } = yield* callOk("read_requests", { count: 1 })
      assert.deepStrictEqual([requests.length, requests[0].endpoint, skipped], [1, "Answers.send", 2])
      assert.deepStrictEqual((yield* callOk("read_requests", { from: next })).requests, [])
      assert.deepStrictEqual(errors, [])
    })
  )

  liveTest(
    "move the clock, and arm faults that hit the bot",
    Effect.gen(function* () {
      const { call, callOk } = yield* connect(["--virtual-time"])
      const { url } = yield* callOk("get_connection")
      const { now } = yield* callOk("get_clock")
      const moved = yield* callOk("move_clock", { advance_ms: 8 * 3_600_000 })
      assert.strictEqual(moved.now - now, 8 * 3_600_000)

      yield* callOk("set_faults", { rules: [{ endpoint: "Me.get", nth: 1, status: 503 }] })
      const asBot = request("GET", "/me", undefined, { baseUrl: url, token: "emulator-token" })
      assert.deepStrictEqual([(yield* asBot).status, (yield* asBot).status], [503, 200])
      const { faults } = yield* callOk("list_faults")
      assert.deepStrictEqual([faults[0].matched, faults[0].applied], [2, 1])

      const wrong = yield* call("set_faults", { rules: [{ endpoint: "Me.gett", status: 503 }] })
      assert.isTrue(wrong.isError)
      assert.include(wrong.body.message, "did you mean Me.get?")
      assert.deepStrictEqual((yield* callOk("list_faults")).faults, faults)
    })
  )

  liveTest(
    "answer an invalid call with an error that names the argument, and go on",
    Effect.gen(function* () {
      const { call, callOk, client, errors } = yield* connect()
      const refusals: ReadonlyArray<readonly [string, Json, RegExp]> = [
        ["start", {}, /user_id/],
        ["start", { user_id: "me" }, /user_id/],
        ["start", { user_id: 1 }, /User 1/],
        ["say", { user_id: 1, txt: "hi" }, /txt/],
        ["read_messages", { chat_id: 2 ** 60 }, /chat_id/],
        ["read_messages", { chat_id: -1 }, /-1/],
        ["read_comments", { message_id: "mid/../../x?y#z" }, /mid\/\.\.\/\.\.\/x\?y#z/],
        ["wait_for_reply", { user_id: 1, timeout_ms: 10 ** 9 }, /timeout_ms/],
        ["move_clock", {}, /advance_ms/]
      ]
      for (const [name, args, problem] of refusals) {
        const { body, isError } = yield* call(name, args)
        assert.isTrue(isError, name)
        assert.match(body.message, problem)
      }
      const unknown = yield* Effect.promise(() =>
        client.callTool({ name: "no_such_tool", arguments: {} }).then(
          (result) => (result.isError === true ? "refused" : "answered"),
          () => "refused"
        )
      )
      assert.strictEqual(unknown, "refused")
      assert.isAbove((yield* callOk("get_connection")).bots.length, 0)
      assert.deepStrictEqual(errors, [])
    })
  )

  liveTest(
    "return each event once to calls that wait at the same time, and lose none if a call is cancelled",
    Effect.gen(function* () {
      const { callOk, client } = yield* connect()
      const { url } = yield* callOk("get_connection")
      const { user_id } = yield* callOk("create_person", { first_name: "Ann" })
      const { chat_id } = yield* callOk("start", { user_id })
      const cancelled = new AbortController()
      const lost = Effect.promise(() =>
        client
          .callTool({ name: "wait_for_reply", arguments: { user_id, count: 2, timeout_ms: 60_000 } }, undefined, {
            signal: cancelled.signal
          })
          .then(
            () => "answered",
            () => "cancelled"
          )
      )
      const waiting = yield* Effect.forkChild(lost)
      const send = (text: string) =>
        request("POST", `/messages?chat_id=${chat_id}`, { text }, { baseUrl: url, token: "emulator-token" })
      yield* send("1")
      yield* callOk("get_clock")
      cancelled.abort()
      assert.strictEqual(yield* Fiber.join(waiting), "cancelled")
      const readers = [
        yield* Effect.forkChild(callOk("wait_for_reply", { user_id })),
        yield* Effect.forkChild(callOk("wait_for_reply", { user_id, timeout_ms: 30_000 }))
      ]
      // The requests of the bot do not arrive in the order of the calls of tools. An answer proves that the server knows of the
      // cancelled call, which would read the second message otherwise, and that no answer contains both messages.
      yield* Effect.raceAllFirst(readers.map(Fiber.join))
      yield* send("2")
      const texts = (yield* Fiber.joinAll(readers)).flatMap(({ seen }: Json) =>
        seen.map(({ message }: Json) => message.body.text)
      )
      assert.deepStrictEqual(texts.toSorted(), ["1", "2"])
    })
  )

  liveTest(
    "are recorded with --record, so that a replay has the same people and messages",
    Effect.gen(function* () {
      const journal = join(yield* temporaryFolder, "journal.ndjson")
      const first = yield* Effect.scoped(
        Effect.gen(function* () {
          const { callOk } = yield* connect(["--record", journal])
          const { user_id } = yield* callOk("create_person", { first_name: "Ann" })
          const { body, recipient } = yield* callOk("say", { user_id, text: "hi" })
          return { chat_id: recipient.chat_id as number, mid: body.mid as string }
        })
      )
      const { callOk } = yield* connect(["--replay", journal])
      const { messages } = yield* callOk("read_messages", { chat_id: first.chat_id })
      assert.deepStrictEqual(
        messages.map(({ body }: Json) => [body.mid, body.text]),
        [[first.mid, "hi"]]
      )
    })
  )

  it("cover the calls of the control API", () => {
    const used = new Set(makeTools().flatMap(({ endpoints }) => endpoints))
    const missing = Object.entries(declarations)
      .filter(([, declared]) => Endpoint.isEndpoint(declared) && !used.has(declared))
      .map(([name]) => name)
    assert.deepStrictEqual(missing.toSorted(), withoutTool.toSorted())
  })

  it("are listed in the documentation, and no others", () => {
    const page = readFileSync(new URL("../../../../../docs/emulator.md", import.meta.url), "utf8")
    const [section] = page.split("\n## For coding assistants\n")[1]!.split("\n## ")
    const names = [...section!.matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(([, cell]) => cell!.match(/\w+/g) ?? [])
    assert.deepStrictEqual(
      names.toSorted(),
      makeTools()
        .map(({ name }) => name)
        .toSorted()
    )
  })

  liveTest(
    "are answered until standard input ends, and nothing but the protocol is on standard output",
    Effect.gen(function* () {
      const { code, stderr, stdout } = yield* runWithInput(
        ["--mcp", "--lenient"],
        initialize,
        { jsonrpc: "2.0", method: "notifications/initialized" },
        { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "get_clock", arguments: {} } }
      )
      const answers = stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Json)
      assert.deepStrictEqual(
        answers.map(({ id, jsonrpc }) => [jsonrpc, id]),
        [
          ["2.0", 1],
          ["2.0", 2]
        ]
      )
      assert.include(stderr, "The platform is at http://127.0.0.1:")
      assert.strictEqual(code, 0)
    })
  )

  liveTest(
    "are not served if the emulator cannot start, which is one line on standard error",
    Effect.gen(function* () {
      const port = yield* listen(createServer())
      const { code, stderr, stdout } = yield* runWithInput(["--mcp", "--port", String(port)], initialize)
      assert.deepStrictEqual([code, stdout], [2, ""])
      assert.match(stderr, /^colloquy-emulator: [^\n]* the address is in use\n$/)
    })
  )
})
