import { AttachmentRequest, Messages, RetryPolicy, Update, Updates } from "@colloquy/core"
import { Emulator, EmulatorHttp, Faults, Fixtures } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpClient from "effect/http/HttpClient"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { activate, deliveryFault } from "../../src/emulator/internal/platform/faults.ts"
import { codeOf } from "../support/inspect.ts"
import { raw } from "../support/raw.ts"
import { midOf, upload } from "../support/scene.ts"

const layer = Emulator.layerBot()

const withoutRetries = <A, E, R>(effect: Effect.Effect<A, E, R>) => RetryPolicy.override(effect, RetryPolicy.none)

const getMe = Effect.map(raw("GET", "/me"), ({ status }) => status)

const times = <A, E, R>(count: number, effect: Effect.Effect<A, E, R>) =>
  Effect.forEach(Array.from({ length: count }), () => effect)

const startDialog = Effect.gen(function* () {
  const visitor = yield* Emulator.user("visitor")
  const { chat_id } = yield* visitor.start()
  return { visitor, chat_id, send: withoutRetries(Messages.send({ chat_id, text: "hi" })) }
})

const texts = (chat_id: Parameters<typeof Emulator.messages>[0]) =>
  Effect.map(Emulator.messages(chat_id), (messages) => messages.map(({ body }) => body?.text))

describe("Faults", () => {
  it.effect("answer with an error of the platform, and the request has no effect", () =>
    Effect.gen(function* () {
      const { chat_id, send } = yield* startDialog
      yield* Emulator.setFaults([{ endpoint: "Messages.send", nth: 1, status: 503 }])
      assert.strictEqual(yield* codeOf(send), "RequestFailed")
      assert.deepStrictEqual(yield* texts(chat_id), [])
      yield* send
      assert.deepStrictEqual(yield* texts(chat_id), ["hi"])
      const [{ answer, status }] = yield* Emulator.requests
      assert.strictEqual(status, 503)
      assert.deepStrictEqual(JSON.parse(answer!), { code: "service.unavailable", message: "A scripted fault" })
    }).pipe(Effect.provide(layer))
  )

  it.effect("leave requests with the names of their endpoint, bot and chat, and so do interceptors", () =>
    Effect.gen(function* () {
      const { chat_id, send } = yield* startDialog
      const [{ user_id }] = yield* Emulator.bots
      yield* Emulator.setFaults([{ status: 503 }])
      yield* codeOf(send)
      yield* Emulator.setFaults([{ reset: "before" }])
      yield* codeOf(send)
      yield* Emulator.setFaults([])
      yield* Effect.scoped(
        Effect.andThen(
          Emulator.intercept(() => EmulatorHttp.connectionReset),
          codeOf(send)
        )
      )
      const requests = yield* Emulator.requests
      assert.deepStrictEqual(
        requests.map(({ bot_id, endpoint, status }) => [endpoint, bot_id, status]),
        [503, undefined, undefined].map((status) => ["Messages.send", user_id, status])
      )
      assert.deepStrictEqual(
        requests.slice(0, 2).map((request) => request.chat_id),
        [chat_id, chat_id]
      )
      yield* raw("GET", "/me", { token: "wrong" })
      assert.isUndefined((yield* Emulator.requests)[3].bot_id)
    }).pipe(Effect.provide(layer))
  )

  it.effect("set the status, the code, the message and the headers, or the whole body", () =>
    Effect.gen(function* () {
      yield* Emulator.setFaults([
        { nth: 1, status: 429, code: "slow.down", message: "Later", headers: { "retry-after": "2" } },
        { nth: 2, status: 502, body: "<html>Bad gateway</html>" },
        { nth: 3, body: { user_id: "none" } }
      ])
      const limited = yield* raw("GET", "/me")
      assert.deepStrictEqual(JSON.parse(limited.text), { code: "slow.down", message: "Later" })
      assert.deepStrictEqual([limited.status, limited.headers["retry-after"]], [429, "2"])
      const gateway = yield* raw("GET", "/me")
      assert.deepStrictEqual([gateway.status, gateway.text], [502, "<html>Bad gateway</html>"])
      const odd = yield* raw("GET", "/me")
      assert.deepStrictEqual([odd.status, odd.text], [200, '{"user_id":"none"}'])
      assert.strictEqual(yield* getMe, 200)
    }).pipe(Effect.provide(layer))
  )

  it.effect("set headers with case-insensitive names", () =>
    Effect.gen(function* () {
      const headers = { "Content-Type": "text/html", "X-Trace": "7" }
      yield* Emulator.setFaults([
        { nth: 1, status: 500, body: "<html>", headers },
        { nth: 2, status: 500, headers },
        { nth: 3, headers }
      ])
      for (const answer of yield* times(3, raw("GET", "/me"))) {
        assert.deepInclude(answer.headers, { "content-type": "text/html", "x-trace": "7" })
      }
    }).pipe(Effect.provide(layer))
  )

  it.effect("apply to the nth request, to every nth request, or to a number of requests", () =>
    Effect.gen(function* () {
      const pattern = (rule: Faults.Rule) =>
        Effect.gen(function* () {
          yield* Emulator.setFaults([rule])
          return (yield* times(7, getMe)).map((status) => (status === 200 ? "." : "x")).join("")
        })
      assert.strictEqual(yield* pattern({ nth: 3, status: 500 }), "..x....")
      assert.strictEqual(yield* pattern({ every: 3, status: 500 }), "..x..x.")
      assert.strictEqual(yield* pattern({ every: 3, times: 1, status: 500 }), "..x....")
      assert.strictEqual(yield* pattern({ times: 2, status: 500 }), "xx.....")
      assert.strictEqual(yield* pattern({ probability: 0, status: 500 }), ".......")
      assert.strictEqual(yield* pattern({ probability: 1, status: 500 }), "xxxxxxx")
    }).pipe(Effect.provide(layer))
  )

  it.effect("apply with a probability, to the same requests for the same seed", () =>
    Effect.gen(function* () {
      const failures = (seed: number) =>
        Effect.gen(function* () {
          yield* Emulator.setFaults([{ probability: 0.3, seed, status: 500 }])
          return (yield* times(200, getMe)).map((status) => status === 500)
        })
      const first = yield* failures(7)
      assert.deepStrictEqual(yield* failures(7), first)
      assert.notDeepEqual(yield* failures(8), first)
      const share = first.filter((failed) => failed).length / first.length
      assert.isTrue(share > 0.2 && share < 0.4, String(share))
    }).pipe(Effect.provide(layer))
  )

  it.effect("match requests by method, path, endpoint and chat", () =>
    Effect.gen(function* () {
      const { chat_id, send, visitor } = yield* startDialog
      const group = yield* Emulator.chat({ members: [visitor] })
      const toGroup = withoutRetries(Messages.send({ chat_id: group.chat_id, text: "all" }))
      const isApplied = <A, E, R>(rule: Faults.Rule, effect: Effect.Effect<A, E, R>) =>
        Emulator.setFaults([rule]).pipe(
          Effect.andThen(Effect.result(effect)),
          Effect.map((result) => result._tag === "Failure")
        )
      assert.isTrue(yield* isApplied({ method: "post", status: 500 }, send))
      assert.isFalse(yield* isApplied({ method: "PUT", status: 500 }, send))
      assert.isTrue(yield* isApplied({ path: "/messages", status: 500 }, send))
      assert.isFalse(yield* isApplied({ path: "/message", status: 500 }, send))
      assert.isTrue(yield* isApplied({ path: "/mess*s", status: 500 }, send))
      assert.isFalse(yield* isApplied({ path: "/m.ssages", status: 500 }, send))
      assert.isTrue(yield* isApplied({ path: "*", status: 500 }, send))
      assert.isFalse(yield* isApplied({ endpoint: "Messages.list", status: 500 }, send))
      assert.isTrue(yield* isApplied({ chat_id, status: 500 }, send))
      assert.isFalse(yield* isApplied({ chat_id, status: 500 }, toGroup))
      const byUser = withoutRetries(Messages.send({ user_id: visitor.user_id, text: "you" }))
      assert.isTrue(yield* isApplied({ chat_id, status: 500 }, byUser))
      const get = Effect.filterOrFail(raw("GET", `/chats/${chat_id}`), ({ status }) => status === 200)
      assert.isTrue(yield* isApplied({ chat_id, status: 500 }, get))
      assert.isTrue(yield* isApplied({ path: "/chats/{chatId}", status: 500 }, get))
      assert.isFalse(yield* isApplied({ path: "/chats/{chatId}/pin", status: 500 }, get))
      assert.isFalse(yield* isApplied({ path: "/{name}", status: 500 }, get))
    }).pipe(Effect.provide(layer))
  )

  it.effect("match a list of messages by the chats of these messages", () =>
    Effect.gen(function* () {
      const { chat_id, send, visitor } = yield* startDialog
      const group = yield* Emulator.chat({ members: [visitor] })
      const inChat = midOf(yield* send)
      const inGroup = midOf(yield* Messages.send({ chat_id: group.chat_id, text: "all" }))
      yield* Emulator.setFaults([{ chat_id, status: 500 }])
      const list = (...mids: ReadonlyArray<string>) =>
        Effect.map(raw("GET", `/messages?message_ids=${mids.join(",")}`), ({ status }) => status)
      assert.deepStrictEqual([yield* list(inChat), yield* list(inGroup), yield* list(inGroup, inChat)], [500, 200, 500])
      assert.strictEqual(yield* list("mid.none"), 200)
    }).pipe(Effect.provide(layer))
  )

  it.effect("delay the response, while the request has its effect at once", () =>
    Effect.gen(function* () {
      const { chat_id, send } = yield* startDialog
      yield* Emulator.setFaults([{ delay: 3000 }])
      const sending = yield* Effect.forkChild(Effect.andThen(send, Clock.currentTimeMillis))
      yield* TestClock.adjust(2999)
      assert.deepStrictEqual(yield* texts(chat_id), ["hi"])
      assert.isUndefined(sending.pollUnsafe())
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* Fiber.join(sending), 3000)
    }).pipe(Effect.provide(layer))
  )

  it.effect("reset the connection before or after the request has its effect", () =>
    Effect.gen(function* () {
      const { chat_id, send } = yield* startDialog
      yield* Emulator.setFaults([{ endpoint: "Messages.send", nth: 1, reset: "before" }])
      yield* Effect.flip(send)
      assert.deepStrictEqual(yield* texts(chat_id), [])
      yield* Emulator.setFaults([{ endpoint: "Messages.send", nth: 1, reset: "after" }])
      const error = yield* Effect.flip(send)
      assert.deepInclude(error._tag === "RequestFailed" ? error.reason : {}, { _tag: "Transport", kind: "Reset" })
      assert.deepStrictEqual(yield* texts(chat_id), ["hi"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("truncate the response", () =>
    Effect.gen(function* () {
      const { text } = yield* raw("GET", "/me")
      yield* Emulator.setFaults([{ truncate: 10 }])
      assert.deepInclude(yield* raw("GET", "/me"), { status: 200, text: text.slice(0, 10) })
      const { send } = yield* startDialog
      const error = yield* Effect.flip(send)
      assert.strictEqual(error._tag === "RequestFailed" ? error.reason._tag : error._tag, "InvalidResponse")
    }).pipe(Effect.provide(layer))
  )

  it.effect("reset the connection within a truncated response", () =>
    Effect.gen(function* () {
      const { chat_id, send } = yield* startDialog
      yield* Emulator.setFaults([
        { endpoint: "Messages.send", truncate: 10, reset: "after" },
        { path: "/me", nth: 1, truncate: 0, reset: "after" },
        { path: "/me", nth: 2, status: 502, body: "<html>", truncate: 3, reset: "after" },
        { path: "/me", nth: 3, truncate: 10_000, reset: "after" }
      ])
      const error = yield* Effect.flip(send)
      assert.deepInclude(error._tag === "RequestFailed" ? error.reason : {}, { _tag: "Transport", kind: "Reset" })
      assert.deepStrictEqual(yield* texts(chat_id), ["hi"])
      yield* Effect.flip(raw("GET", "/me"))
      const response = yield* HttpClient.get(`${Emulator.baseUrl}/me`)
      assert.strictEqual(response.status, 502)
      const pieces: Array<string> = []
      yield* Effect.flip(
        Stream.runForEach(Stream.decodeText(response.stream), (piece) => Effect.sync(() => pieces.push(piece)))
      )
      assert.deepStrictEqual(pieces, ["<ht"])
      yield* raw("GET", "/me")
      assert.deepStrictEqual(
        (yield* Emulator.requests).map(({ status, answer }) => [status, answer?.length]).slice(0, 3),
        [
          [200, 10],
          [200, 0],
          [502, 3]
        ]
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("apply together, and each counts its own requests", () =>
    Effect.gen(function* () {
      yield* Emulator.setFaults([
        { every: 2, delay: 1000 },
        { nth: 2, status: 500 },
        { nth: 2, status: 502 }
      ])
      assert.strictEqual(yield* getMe, 200)
      const second = yield* Effect.forkChild(getMe)
      yield* TestClock.adjust(999)
      assert.isUndefined(second.pollUnsafe())
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* Fiber.join(second), 500)
      assert.strictEqual(yield* getMe, 200)
    }).pipe(Effect.provide(layer))
  )

  it.effect("apply to uploads with the error format of the upload host", () =>
    Effect.gen(function* () {
      const address = { url: JSON.parse((yield* raw("POST", "/uploads?type=file")).text).url as string }
      yield* Emulator.setFaults([{ path: "/upload/*", times: 1, status: 500 }])
      const { status, text } = yield* upload(address, "a.txt", "a")
      assert.strictEqual(status, 500)
      assert.deepStrictEqual(JSON.parse(text), { error_code: "internal.error", error_data: "A scripted fault" })
      assert.strictEqual((yield* upload(address, "a.txt", "a")).status, 200)
    }).pipe(Effect.provide(layer))
  )

  it.effect("truncate images", () =>
    Effect.gen(function* () {
      const address = { url: JSON.parse((yield* raw("POST", "/uploads?type=image")).text).url as string }
      const photos = JSON.parse((yield* upload(address, "a.png", "a picture")).text).photos
      const { chat_id } = yield* startDialog
      yield* TestClock.adjust("1 minute")
      const { body } = yield* Messages.send({ chat_id, attachments: [AttachmentRequest.imageFromPhotos(photos)] })
      const [image] = body?.attachments ?? []
      yield* Emulator.setFaults([{ path: "/images/*", truncate: 5 }])
      const response = yield* HttpClient.get(image?.type === "image" ? image.payload.url : "")
      assert.strictEqual(yield* response.text, "a pic")
      yield* Emulator.setFaults([{ path: "/images/{name}", truncate: 5, reset: "after" }])
      const broken = yield* HttpClient.get(image?.type === "image" ? image.payload.url : "")
      yield* Effect.flip(broken.arrayBuffer)
    }).pipe(Effect.provide(layer))
  )

  it.effect("drop or duplicate deliveries by the type and the chat of the update", () =>
    Effect.gen(function* () {
      const outcomes = Effect.fnUntraced(function* (rules: ReadonlyArray<Faults.Rule>) {
        const faults = yield* Effect.forEach(rules, activate)
        const message = Fixtures.messageCreated()
        const updates = [
          message,
          Fixtures.botStarted(),
          message,
          { update_type: "unknown", raw: { chat_id: 5 } }
        ] as const
        return updates.map((update) => deliveryFault({ faults }, update))
      })
      const deliver = "deliver"
      assert.deepStrictEqual(yield* outcomes([]), [deliver, deliver, deliver, deliver])
      assert.deepStrictEqual(yield* outcomes([{ status: 500 }]), [deliver, deliver, deliver, deliver])
      assert.deepStrictEqual(yield* outcomes([{ delivery: "drop" }]), ["drop", "drop", "drop", "drop"])
      assert.deepStrictEqual(
        yield* outcomes([
          { update_type: "message_created", nth: 2, delivery: "duplicate" },
          { chat_id: 5, delivery: "drop" }
        ]),
        [deliver, deliver, "duplicate", "drop"]
      )
      const { recipient } = Fixtures.message()
      assert.deepStrictEqual(
        yield* outcomes([{ chat_id: recipient.chat_id!, update_type: "message_created", delivery: "drop" }]),
        ["drop", deliver, "drop", deliver]
      )
    })
  )

  it.effect("drop or duplicate the updates of a poll", () =>
    Effect.gen(function* () {
      const { visitor } = yield* startDialog
      yield* Updates.list({ timeout: 0 })
      yield* Emulator.setFaults([
        { update_type: "message_created", nth: 1, delivery: "duplicate" },
        { update_type: "message_created", nth: 2, delivery: "drop" }
      ])
      for (const text of ["one", "two", "three"]) yield* visitor.send(text)
      const { updates } = yield* Updates.list({ marker: 0n, timeout: 0 })
      const received = updates.map((update) => (Result.isSuccess(update) ? Update.textOf(update.success) : undefined))
      assert.deepStrictEqual(received, [undefined, "one", "one", "three"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("send no body for HEAD and for a status without a body", () =>
    Effect.gen(function* () {
      yield* Emulator.setFaults([
        { method: "HEAD", status: 500 },
        { method: "GET", status: 204 }
      ])
      const head = yield* raw("HEAD", "/me")
      const get = yield* raw("GET", "/me")
      assert.deepStrictEqual([head.status, head.text, get.status, get.text], [500, "", 204, ""])
    }).pipe(Effect.provide(layer))
  )

  it.effect("are removed when their scope closes, and replaced by setFaults", () =>
    Effect.gen(function* () {
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Emulator.addFault({ status: 500 })
          assert.strictEqual(yield* getMe, 500)
        })
      )
      assert.strictEqual(yield* getMe, 200)
      yield* Emulator.setFaults([{ status: 502 }])
      assert.strictEqual(yield* getMe, 502)
      yield* Emulator.setFaults([])
      assert.strictEqual(yield* getMe, 200)
    }).pipe(Effect.provide(layer))
  )

  it("are decoded from JSON, and an invalid rule fails with a reason", () => {
    const decode = (rule: unknown) => Result.map(Schema.decodeUnknownResult(Faults.Rule)(rule), () => "valid")
    const valid = JSON.parse('{"method":"POST","path":"/chats/*","chat_id":-7,"nth":1,"status":500,"body":null}')
    for (const rule of [
      valid,
      { method: "head", endpoint: "Me.get", delay: 1 },
      { update_type: "from_the_future", delivery: "drop" },
      { path: "/me", headers: { "retry-after": "1" } }
    ]) {
      assert.deepStrictEqual(decode(rule), Result.succeed("valid"))
    }
    const invalid: ReadonlyArray<readonly [unknown, string]> = [
      [{}, "needs one of"],
      [{ method: "GET" }, "needs one of"],
      [{ nth: 1, every: 2, status: 500 }, "only one of"],
      [{ nth: 0, status: 500 }, "nth"],
      [{ status: 99 }, "status"],
      [{ probability: 2, status: 500 }, "probability"],
      [{ reset: "before", status: 500 }, "breaks"],
      [{ delivery: "drop", path: "/me" }, "use two rules"],
      [{ delivery: "drop", forward_body: "null" }, "use two rules"],
      [{ delivery: "drop", empty_text: "null" }, "use two rules"],
      [{ delivery: "drop", quote_markup: "absent" }, "use two rules"],
      [{ update_type: "message_created", forward_body: "null", delay: 1 }, "use two rules"],
      [{ update_type: "bot_added", status: 500 }, "delivery"],
      [{ body: "a", code: "b" }, "whole body"],
      [{ status: 500, headers: { "a b": "c" } }, "is not a valid header"],
      [{ status: 500, headers: { a: "b\nc" } }, "is not a valid header"],
      [{ status: 500, headers: { "Content-Length": "3" } }, "Content-Length is set by the server"],
      [{ status: 500, headers: { "transfer-encoding": "chunked" } }, "transfer-encoding is set by the server"],
      [{ status: 500, headers: { "X-A": "1", "x-a": "2" } }, "x-a is given twice"],
      [{ endpoint: "Message.send", status: 500 }, 'no endpoint "Message.send": did you mean Messages.send?'],
      [{ endpoint: "send", status: 500 }, "it is one of "],
      [{ endpoint: "Messages.send", method: "PUT", status: 500 }, "Messages.send has another method"],
      [{ method: "PSOT", status: 500 }, 'no method "PSOT": did you mean POST?'],
      [{ path: "messages", status: 500 }, "begins with `/`"],
      [{ path: "/messages?chat_id=1", status: 500 }, "without its query"],
      [{ path: "/_emulator/users", status: 500 }, "do not strike the calls under /_emulator"],
      [{ update_type: "mesage_created", delivery: "drop" }, "did you mean message_created?"],
      [{ delivery: "drop", nth: 1, every: 2 }, "only one of"],
      [{ seed: 1, status: 500 }, "`seed` needs `probability`"],
      [{ reset: "before", truncate: 3 }, "`truncate` needs an answer"],
      [{ reset: "after", headers: { a: "b" } }, "breaks"]
    ]
    for (const [rule, problem] of invalid) {
      const result = decode(rule)
      assert.isTrue(Result.isFailure(result), JSON.stringify(rule))
      if (Result.isFailure(result)) assert.include(String(result.failure), problem)
    }
  })

  it.effect("die if a rule is invalid", () =>
    Effect.gen(function* () {
      const problem = (rule: Faults.Rule) =>
        Effect.map(Effect.exit(Emulator.setFaults([rule])), (exit) => exit._tag === "Failure" && String(exit.cause))
      assert.include(yield* problem({ method: "GET" }), "needs one of")
      const misspelt = { pth: "/updates", status: 500 }
      assert.include(yield* problem(misspelt), "pth")
      // @ts-expect-error The endpoint does not exist.
      assert.include(yield* problem({ endpoint: "Message.send", status: 500 }), "did you mean Messages.send?")
      assert.strictEqual(yield* getMe, 200)
    }).pipe(Effect.provide(layer))
  )
})
