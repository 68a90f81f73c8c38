import { Json, Messages } from "@colloquy/core"
import { Emulator, EmulatorHttp } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import { raw } from "../../support/raw.ts"

const layer = Emulator.layerBot()

const answer = (response: { readonly status: number; readonly text: string }) => {
  const body = response.text === "" ? {} : (Json.parse(response.text) as Record<string, unknown>)
  return [response.status, body["code"]] as const
}

describe("Emulator.layer", () => {
  it.effect.each([
    ["no token", "/me", { token: null }],
    ["another token", "/me", { token: "wrong" }],
    ["a Bearer token", "/me", { token: "Bearer emulator-token" }],
    ["the token in the query", "/me?access_token=emulator-token", { token: null }]
  ] as const)("answers 401 to a request with %s", ([, path, options]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(answer(yield* raw("GET", path, options)), [401, "verify.token"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("answers an invalid request with 400 proto.payload and does nothing", () =>
    Effect.gen(function* () {
      const visitor = yield* Emulator.user("visitor")
      const { chat_id } = yield* visitor.start()
      const bodies = ['{"text": 5}', '{"text": "cut', '["text"]', '{"format": "rtf", "text": "a"}', "{}"]
      for (const body of bodies) {
        assert.deepStrictEqual(answer(yield* raw("POST", `/messages?chat_id=${chat_id}`, { body })), [
          400,
          "proto.payload"
        ])
      }
      const paths = ["chat_id=abc", "", `chat_id=${chat_id}&user_id=1`, `chat_id=${chat_id}&disable_link_preview=yes`]
      for (const query of paths) {
        const response = yield* raw("POST", `/messages?${query}`, { body: '{"text":"a"}' })
        assert.deepStrictEqual(answer(response), [400, "proto.payload"], query)
      }
      assert.deepStrictEqual(yield* Emulator.messages(chat_id), [])
    }).pipe(Effect.provide(layer))
  )

  it.effect("ignores unknown parameters and fields", () =>
    Effect.gen(function* () {
      const visitor = yield* Emulator.user("visitor")
      const { chat_id } = yield* visitor.start()
      const body = '{"text": "hi", "glitter": {"colour": 5}}'
      const { status } = yield* raw("POST", `/messages?chat_id=${chat_id}&v=1.2.3`, { body })
      assert.strictEqual(status, 200)
    }).pipe(Effect.provide(layer))
  )

  it.effect("writes seq with all of its digits", () =>
    Effect.gen(function* () {
      const visitor = yield* Emulator.user("visitor")
      yield* visitor.start()
      const { body } = yield* Messages.send({ user_id: visitor.user_id, text: "hi" })
      const { text } = yield* raw("GET", `/messages/${body!.mid}`)
      assert.isTrue(body!.seq > 2n ** 53n)
      assert.include(text, `"seq":${body!.seq}`)
      assert.match(body!.mid, /^mid\.[0-9a-f]{32}$/)
      assert.strictEqual(BigInt(`0x${body!.mid.slice(20)}`), body!.seq)
    }).pipe(Effect.provide(layer))
  )

  it.effect("answers 404 for an unknown path, and 405 with the header Allow for an unknown method", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(answer(yield* raw("GET", "/nothing")), [404, "not.found"])
      assert.deepStrictEqual(answer(yield* raw("GET", "/chats")), [404, "not.found"])
      const other = yield* raw("PATCH", "/messages")
      assert.deepStrictEqual(answer(other), [405, "method.not.allowed"])
      assert.strictEqual(other.headers["allow"], "POST, GET, HEAD, PUT, DELETE, OPTIONS")
      const options = yield* raw("OPTIONS", "/me", { token: null })
      assert.deepStrictEqual([options.status, options.headers["allow"]], [204, "GET, HEAD, OPTIONS"])
      const head = yield* raw("HEAD", "/me")
      assert.deepStrictEqual([head.status, head.text], [200, ""])
    }).pipe(Effect.provide(layer))
  )

  it.effect("removes the oldest requests from the journal when their bodies exceed its size", () =>
    Effect.gen(function* () {
      const body = `{"commands":[]}${" ".repeat(2 ** 20 - 100)}`
      yield* Effect.replicateEffect(raw("PATCH", "/me/commands", { body }), 40)
      const kept = yield* Emulator.requests
      assert.isBelow(kept.length, 33)
      assert.strictEqual(kept.at(-1)?.body, body)
    }).pipe(Effect.provide(layer))
  )

  it.effect("ignores one slash at the end of a path", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const { chat_id } = yield* ann.start()
      for (const path of ["/me/", `/chats/${chat_id}/`, `/chats/${chat_id}/members/me/?x=1`]) {
        assert.strictEqual((yield* raw("GET", path)).status, 200, path)
      }
      const sent = yield* raw("POST", `/messages/?chat_id=${chat_id}`, { body: '{"text":"hi"}' })
      assert.strictEqual(sent.status, 200)
      for (const path of ["/", "//", "/me//", "//me"]) {
        assert.strictEqual((yield* raw("GET", path)).status, 404, path)
      }
    }).pipe(Effect.provide(layer))
  )

  it.effect("decodes a percent-encoded path, and answers 404 if it cannot be decoded", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* raw("GET", "/%6de")).status, 200)
      assert.deepStrictEqual(answer(yield* raw("GET", "/%zz")), [404, "not.found"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("accepts lists separated by commas, percent-encoded or not", () =>
    Effect.gen(function* () {
      const visitor = yield* Emulator.user("visitor")
      yield* visitor.start()
      const send = (text: string) => Messages.send({ user_id: visitor.user_id, text })
      const mids = [(yield* send("a")).body!.mid, (yield* send("b")).body!.mid]
      for (const comma of [",", "%2C"]) {
        const { text } = yield* raw("GET", `/messages?message_ids=${mids.join(comma)}`)
        assert.deepStrictEqual((text.match(/"text":"[ab]"/g) ?? []).length, 2)
      }
    }).pipe(Effect.provide(layer))
  )

  it.effect("answers 413 to a body above 4 MiB, and accepts the largest keyboard with all characters escaped", () =>
    Effect.gen(function* () {
      const padded = JSON.stringify({ commands: [], padding: "a".repeat(4 * 2 ** 20) })
      assert.strictEqual((yield* raw("PATCH", "/me/commands", { body: padded })).status, 413)
      const { chat_id } = yield* Emulator.chat({ bot: { admin: true } })
      const button = { type: "callback", text: "я".repeat(128), payload: "я".repeat(1024) }
      const buttons = Array.from({ length: 30 }, () => Array.from({ length: 7 }, () => button))
      const attachments = [{ type: "inline_keyboard", payload: { buttons } }]
      const body = JSON.stringify({ text: "?", attachments }).replaceAll("я", "\\u044f")
      assert.isAbove(body.length, 1_450_000)
      const { status, text } = yield* raw("POST", `/messages?chat_id=${chat_id}`, { body })
      assert.strictEqual(status, 200, text.slice(0, 1000))
    }).pipe(Effect.provide(layer))
  )

  it.effect("fails a request to another host with TransportError", () =>
    Effect.gen(function* () {
      const { reason } = yield* Effect.flip(HttpClient.get("https://elsewhere.example/me"))
      assert.strictEqual(reason._tag, "TransportError")
    }).pipe(Effect.provide(layer))
  )

  it.effect("records the requests of the bot", () =>
    Effect.gen(function* () {
      const visitor = yield* Emulator.user("visitor")
      yield* visitor.start()
      yield* Messages.send({ user_id: visitor.user_id, text: "hi" })
      const [{ answer, at, body, endpoint, method, path, query, status }] = yield* Emulator.requests
      assert.deepStrictEqual(
        { at, body, endpoint, method, path, query, status },
        {
          at: 0,
          body: '{"text":"hi"}',
          endpoint: "Messages.send",
          method: "POST",
          path: "/messages",
          query: `?user_id=${visitor.user_id}`,
          status: 200
        }
      )
      assert.include(answer, '"text":"hi"')
    }).pipe(Effect.provide(layer))
  )

  it.effect("applies the last interceptor first, and removes interceptors when their scope closes", () =>
    Effect.gen(function* () {
      const statuses = Effect.map(raw("GET", "/me"), ({ status }) => status)
      const seen = yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Emulator.intercept(() => Effect.succeed(EmulatorHttp.respond(503, "")))
          const first = yield* statuses
          yield* Emulator.intercept((request, next) =>
            request.path === "/me" ? Effect.succeed(EmulatorHttp.respond(502, "")) : next
          )
          return [first, yield* statuses, (yield* raw("GET", "/nothing")).status]
        })
      )
      assert.deepStrictEqual(seen, [503, 502, 503])
      assert.strictEqual(yield* statuses, 200)
    }).pipe(Effect.provide(layer))
  )
})
