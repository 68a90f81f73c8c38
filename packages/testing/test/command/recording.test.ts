import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { temporaryFolder, liveTest, startJson } from "../support/command.ts"
import type { Json } from "../support/control.ts"

const linesOf = (path: string): ReadonlyArray<Json> =>
  readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .slice(1)
    .map((line) => JSON.parse(line))

const textsIn = ({ messages }: Json): ReadonlyArray<string> => messages.map(({ body }: Json) => body.text)

describe("a journal", () => {
  liveTest(
    "holds what was answered late and what nobody waited for, and is played back without waiting",
    Effect.gen(function* () {
      const path = join(yield* temporaryFolder, "journal.ndjson")
      const first = yield* startJson("--lenient", "--record", path)
      const { user_id } = yield* first.postOk("/users", { first_name: "Ann" })
      const { chat_id } = yield* first.postOk("/start", { user_id })
      yield* first.put("/faults", [{ endpoint: "Messages.send", delay: 400 }])
      const send = (text: string) => first.asBot("POST", `/messages?user_id=${user_id}`, { text })
      yield* Effect.timeoutOption(send("nobody waited"), "100 millis")
      assert.strictEqual((yield* send("late")).status, 200)
      yield* first.put("/faults", [])
      yield* send("at once")
      const { messages } = yield* first.getOk(`/chats/${chat_id}/messages`)
      assert.deepStrictEqual(textsIn({ messages }), ["nobody waited", "late", "at once"])
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
    "leads to pictures that can be looked at where the emulator listens now",
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

      // As it would be if another call had come meanwhile: what takes turns of the process is waited for.
      const lines = readFileSync(path, "utf8")
      assert.include(lines, `"took":0,"listener":"image"`)
      writeFileSync(path, lines.replace(`"took":0,"listener":"image"`, `"took":1,"listener":"image"`))

      const { exited, kill, getOk, uploads } = yield* startJson("--lenient", "--replay", path)
      const [{ message }] = (yield* getOk("/events")).events
      const { url } = message.body.attachments[0].payload
      assert.isTrue(url.startsWith(`${uploads["image"]}/`), url)
      assert.strictEqual(yield* Effect.promise(async () => (await fetch(url)).text()), "a picture")
      yield* kill("SIGTERM")
      assert.strictEqual((yield* exited).stderr, "")
    })
  )

  liveTest(
    "of moves of the clock is played back in real time too, and ends at the time at which it ended",
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
    "does not hold a body of unknown length that is too large, and it is refused",
    Effect.gen(function* () {
      const path = join(yield* temporaryFolder, "journal.ndjson")
      const { getOk, url } = yield* startJson("--record", path)
      const chunk = new Uint8Array(2 ** 20).fill(32)
      let sent = 0
      const body = new ReadableStream({
        pull: (controller) => (++sent > 400 ? controller.close() : controller.enqueue(chunk))
      })
      const asked = { method: "POST", body, duplex: "half" } as RequestInit
      const status = yield* Effect.promise(() =>
        fetch(`${url}/_emulator/users`, asked).then(
          (response) => response.status,
          () => "hung up on"
        )
      )
      assert.include([413, "hung up on"], status)
      assert.isBelow(sent, 200)
      assert.strictEqual((yield* getOk("/health")).status, "ready")
      assert.isBelow(readFileSync(path).byteLength, 2 ** 20)
    })
  )
})
