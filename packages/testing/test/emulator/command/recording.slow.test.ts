import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { temporaryFolder, liveTest, startJson } from "../../support/command.ts"
import type { Json } from "../../support/control.ts"

const linesOf = (path: string): ReadonlyArray<Json> =>
  readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .slice(1)
    .map((line) => JSON.parse(line))

const textsIn = ({ messages }: Json): ReadonlyArray<string> => messages.map(({ body }: Json) => body.text)

describe("a recorded journal", () => {
  liveTest(
    "contains delayed and cancelled requests, and is replayed without the delays",
    Effect.gen(function* () {
      const path = join(yield* temporaryFolder, "journal.ndjson")
      const first = yield* startJson("--lenient", "--record", path)
      const { user_id } = yield* first.postOk("/users", { first_name: "Ann" })
      const { chat_id } = yield* first.postOk("/start", { user_id })
      const send = (text: string) => first.asBot("POST", `/messages?user_id=${user_id}`, { text })
      yield* first.put("/faults", [{ endpoint: "Messages.send", delay: 3_600_000 }])
      const cancelled = yield* Effect.forkChild(send("cancelled"))
      yield* Effect.repeat(first.getOk(`/chats/${chat_id}/messages`), {
        until: ({ messages }) => messages.length === 1,
        schedule: Schedule.spaced("5 millis")
      })
      yield* Fiber.interrupt(cancelled)
      yield* first.put("/faults", [{ endpoint: "Messages.send", delay: 400 }])
      assert.strictEqual((yield* send("late")).status, 200)
      yield* first.put("/faults", [])
      yield* send("at once")
      const { messages } = yield* first.getOk(`/chats/${chat_id}/messages`)
      assert.deepStrictEqual(textsIn({ messages }), ["cancelled", "late", "at once"])
      yield* first.kill("SIGTERM")
      yield* first.exited
      const sent = linesOf(path).filter(({ path }) => path === "/messages")
      assert.deepStrictEqual(
        sent.map(({ status }) => status),
        [null, 200, 200]
      )
      assert.isAtLeast(sent[1].took, 400)

      const second = yield* startJson("--lenient", "--replay", path)
      assert.deepStrictEqual((yield* second.getOk(`/chats/${chat_id}/messages`)).messages, messages)
      yield* second.kill("SIGTERM")
      assert.strictEqual((yield* second.exited).stderr, "")
    })
  )

  liveTest(
    "is replayed with image URLs of the new emulator",
    Effect.gen(function* () {
      const path = join(yield* temporaryFolder, "journal.ndjson")
      const first = yield* startJson("--lenient", "--record", path)
      const { user_id } = yield* first.postOk("/users", { first_name: "Ann" })
      yield* first.postOk("/start", { user_id })
      const address = (yield* first.asBot("POST", "/uploads?type=image")).body.url as string
      const form = new FormData()
      form.append("data", new Blob(["a picture"]), "a.png")
      const payload = yield* Effect.promise(async () => (await fetch(address, { method: "POST", body: form })).json())
      yield* first.asBot("POST", `/messages?user_id=${user_id}`, { attachments: [{ type: "image", payload }] })
      yield* first.kill("SIGTERM")
      yield* first.exited

      // The same journal as with a concurrent request during the upload: the replay then waits for the upload.
      const lines = readFileSync(path, "utf8")
      assert.include(lines, `"took":0,"listener":"image"`)
      writeFileSync(path, lines.replace(`"took":0,"listener":"image"`, `"took":1,"listener":"image"`))

      const { exited, kill, getOk, uploads } = yield* startJson("--lenient", "--replay", path)
      const [{ message }] = (yield* getOk("/seen")).seen
      const { url } = message.body.attachments[0].payload
      assert.isTrue(url.startsWith(`${uploads["image"]}/`), url)
      assert.strictEqual(yield* Effect.promise(async () => (await fetch(url)).text()), "a picture")
      yield* kill("SIGTERM")
      assert.strictEqual((yield* exited).stderr, "")
    })
  )

  liveTest(
    "is replayed with its clock adjustments in real time, and ends at the same time",
    Effect.gen(function* () {
      const path = join(yield* temporaryFolder, "journal.ndjson")
      const first = yield* startJson("--virtual-time", "--record", path)
      const { user_id } = yield* first.postOk("/users", { first_name: "Ann" })
      yield* first.postOk("/start", { user_id })
      yield* first.postOk("/clock", { advance_ms: 3_600_000 })
      yield* first.postOk("/messages", { user_id, text: "an hour later" })
      const { now } = yield* first.postOk("/clock", { advance_ms: 3_600_000 })
      const updates = yield* first.getOk("/updates")
      yield* first.kill("SIGTERM")
      yield* first.exited

      const second = yield* startJson("--replay", path)
      assert.isAtLeast((yield* second.getOk("/clock")).now, now)
      assert.deepStrictEqual(yield* second.getOk("/updates"), updates)
      yield* second.kill("SIGTERM")
      assert.strictEqual((yield* second.exited).stderr, "")
    })
  )

  liveTest(
    "does not contain a body of unknown length that is too large",
    Effect.gen(function* () {
      const path = join(yield* temporaryFolder, "journal.ndjson")
      const { getOk, url } = yield* startJson("--record", path)
      const chunk = new Uint8Array(2 ** 20).fill(32)
      let sent = 0
      const body = new ReadableStream({
        pull: (controller) => (++sent > 400 ? controller.close() : controller.enqueue(chunk))
      })
      const init = { method: "POST", body, duplex: "half" } as RequestInit
      const status = yield* Effect.promise(() =>
        fetch(`${url}/_emulator/users`, init).then(
          (response) => response.status,
          () => "connection closed"
        )
      )
      assert.include([413, "connection closed"], status)
      assert.isBelow(sent, 200)
      assert.strictEqual((yield* getOk("/health")).status, "ready")
      assert.isBelow(readFileSync(path).byteLength, 2 ** 20)
    })
  )
})
