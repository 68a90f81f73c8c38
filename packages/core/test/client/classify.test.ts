import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import {
  Answers,
  type ApiError,
  type BotApi,
  Chats,
  Comments,
  Json,
  Me,
  Members,
  Messages,
  RetryPolicy,
  Subscriptions,
  Updates,
  User
} from "../../src/index.ts"
import { chat_id, message, mid, user_id } from "../support/fixtures.ts"
import { answer, ok, type Reply, scripted, text } from "../support/scripted.ts"

type Call = Effect.Effect<unknown, ApiError.ApiError, BotApi.BotApi>

const errorOf = Effect.fnUntraced(function* (call: Call, reply: Reply) {
  const platform = scripted(reply)
  return yield* call.pipe(
    Effect.flip,
    Effect.provideService(RetryPolicy.RetryPolicy, RetryPolicy.none),
    Effect.provide(platform.layer())
  )
})

const reasonOf = Effect.fnUntraced(function* (call: Call, reply: Reply) {
  const error = yield* errorOf(call, reply)
  return error._tag === "RequestFailed" ? error.reason : assert.fail(`${error._tag}: ${error.message}`)
})

const tagOf = (call: Call, reply: Reply) =>
  Effect.map(errorOf(call, reply), (error) => (error._tag === "RequestFailed" ? error.reason._tag : error._tag))

const send = Messages.send({ chat_id, text: "a" })
const edit = Messages.edit({ message_id: mid, text: "a" })
const add = Members.add({ chat_id, user_ids: [user_id] })
const answerPress = Answers.send({ callback_id: "c" })
const editComment = Comments.edit({ message_id: mid, comment_id: mid, text: "a" })

const failure = (code: string, text = "because") => ({ code, message: text })

describe("classify: matching errors", () => {
  const codes: ReadonlyArray<readonly [code: string, call: Call, tag: string]> = [
    ["verify.token", send, "Unauthorized"],
    ["chat.denied", send, "Forbidden"],
    ["access.denied", send, "Forbidden"],
    ["deprecated.token", send, "Unauthorized"],
    ["attachment.not.ready", send, "AttachmentNotReady"],
    ["chat.not.found", send, "NotFound"],
    ["message.not.found", send, "NotFound"],
    ["not.found", send, "NotFound"],
    ["too.many.requests", send, "RateLimited"],
    ["comments.timeout_exceeded", editComment, "CommentsTimeoutExceeded"],
    ["add.participant.privacy", add, "AddParticipantFailed"],
    ["add.participant.not.found", add, "AddParticipantFailed"]
  ]

  it.effect.each(codes)("matches the code %s at any status", ([code, call, tag]) =>
    Effect.gen(function* () {
      for (const status of [200, 400, 401, 403, 404, 405, 418, 422, 429, 500, 503]) {
        assert.strictEqual(yield* tagOf(call, answer(status, failure(code))), tag, String(status))
      }
    })
  )

  const statuses: ReadonlyArray<readonly [status: number, call: Call, tag: string]> = [
    [401, send, "Unauthorized"],
    [403, send, "Forbidden"],
    [404, send, "NotFound"],
    [405, answerPress, "MethodNotAllowed"],
    [405, Updates.list({}), "MethodNotAllowed"],
    [422, editComment, "CommentsTimeoutExceeded"],
    [429, send, "RateLimited"]
  ]

  it.effect.each(statuses)("matches the status %i if the code is unknown or missing", ([status, call, tag]) =>
    Effect.gen(function* () {
      for (const reply of [
        ...(status === 422 ? [] : [answer(status, failure("something.new"))]),
        answer(status, {}),
        text(status, ""),
        text(status, "<html><body>nginx</body></html>"),
        text(status, '{"code":"not.found')
      ]) {
        assert.strictEqual(yield* tagOf(call, reply), tag)
      }
    })
  )

  it.effect("prefers the code in the body to the rest of the body, and the body to the status", () =>
    Effect.gen(function* () {
      const failed = { success: false, failed_user_ids: [1] }
      assert.strictEqual(yield* tagOf(add, answer(404, { ...failed, code: "chat.denied" })), "Forbidden")
      assert.strictEqual(yield* tagOf(add, answer(404, { ...failed, code: "x" })), "AddParticipantFailed")
      assert.strictEqual(yield* tagOf(add, answer(200, { success: false, code: "x" })), "OperationRejected")
      assert.strictEqual(yield* tagOf(add, answer(404, { success: false, code: "x" })), "NotFound")
      assert.strictEqual(yield* tagOf(add, answer(404, { code: "x" })), "NotFound")
    })
  )

  it.effect("does not match a status if the body has an unknown code", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* tagOf(editComment, answer(422, failure("comments.disabled"))), "UnexpectedStatus")
    })
  )

  it.effect("matches only the errors that the endpoint declares", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* tagOf(Me.get(), answer(403, failure("chat.denied"))), "UnexpectedStatus")
      assert.strictEqual(yield* tagOf(send, answer(405, failure("x"))), "UnexpectedStatus")
      assert.strictEqual(yield* tagOf(edit, answer(422, failure("comments.timeout_exceeded"))), "UnexpectedStatus")
    })
  )

  it.effect("keeps the status, the code, the text and the body of the response", () =>
    Effect.gen(function* () {
      const body = '{"code":"chat.denied","message":"error.dialog.suspended","extra":1}'
      const error = yield* errorOf(send, text(403, body))
      assert.deepInclude(error, {
        _tag: "Forbidden",
        endpoint: "Messages.send",
        status: 403,
        code: "chat.denied",
        detail: "error.dialog.suspended",
        body
      })
      assert.isTrue(error._tag === "Forbidden" && error.isDialogSuspended)
      const bare = yield* errorOf(send, answer(403, { error: "text of old" }))
      assert.deepInclude(bare, { detail: "text of old" })
      assert.isFalse("code" in bare)
      assert.isTrue(bare._tag === "Forbidden" && !bare.isDialogSuspended)
    })
  )
})

describe("classify: responses with `success: false`", () => {
  const done: ReadonlyArray<readonly [string, Call]> = [
    ["Messages.edit", edit],
    ["Messages.remove", Messages.remove({ message_id: mid })],
    ["Chats.pin", Chats.pin({ chat_id, message_id: mid })],
    ["Chats.sendAction", Chats.sendAction({ chat_id, action: "typing_on" })],
    ["Subscriptions.subscribe", Subscriptions.subscribe({ url: "https://bot.example" })],
    ["Answers.send", answerPress],
    ["Members.add", add]
  ]

  it.effect.each(done)("%s fails with OperationRejected, which has the text of the platform", ([endpoint, call]) =>
    Effect.gen(function* () {
      assert.deepInclude(yield* errorOf(call, ok({ success: false, message: "no such thing" })), {
        _tag: "OperationRejected",
        endpoint,
        status: 200,
        detail: "no such thing"
      })
      assert.deepInclude(yield* errorOf(call, ok({ success: false })), { _tag: "OperationRejected", status: 200 })
    })
  )

  const others: ReadonlyArray<readonly [string, Call]> = [
    ["Messages.send", send],
    ["Me.setCommands", Me.setCommands({ commands: [] })],
    ["Chats.getPin", Chats.getPin({ chat_id })],
    ["Subscriptions.list", Subscriptions.list()]
  ]

  it.effect.each(others)("%s, which does not declare OperationRejected, fails with UnexpectedStatus", ([, call]) =>
    Effect.gen(function* () {
      const reason = yield* reasonOf(call, ok({ success: false, message: "no such thing" }))
      assert.deepInclude(reason, { _tag: "UnexpectedStatus", status: 200, detail: "no such thing" })
      assert.deepInclude(yield* reasonOf(call, ok({ success: false })), { _tag: "UnexpectedStatus", status: 200 })
    })
  )

  it.effect("accepts a response without `success`", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* tagOf(edit, ok({})), "InvalidResponse")
      assert.strictEqual(yield* tagOf(edit, ok({ success: "false" })), "InvalidResponse")
    })
  )
})

describe("classify: AddParticipantFailed", () => {
  const failedOf = Effect.fnUntraced(function* (body: object, status = 200) {
    const error = yield* errorOf(add, answer(status, body))
    return error._tag === "AddParticipantFailed" ? error : assert.fail(error.message)
  })

  it.effect("has the failed users by their reason, including unknown reasons", () =>
    Effect.gen(function* () {
      const error = yield* failedOf({
        success: false,
        message: "some failed",
        failed_user_ids: [1, 2, 3, 4],
        failed_user_details: [
          { error_code: "add.participant.privacy", user_ids: [1, 2] },
          { error_code: "add.participant.not.found", user_ids: [3] },
          { error_code: "add.participant.on.holiday", user_ids: [4] }
        ]
      })
      assert.deepStrictEqual(
        error.failed_user_ids,
        [1, 2, 3, 4].map((id) => User.UserId.make(id))
      )
      assert.deepStrictEqual(error.failedFor("add.participant.privacy"), [User.UserId.make(1), User.UserId.make(2)])
      assert.deepStrictEqual(error.failedFor("add.participant.on.holiday"), [User.UserId.make(4)])
      assert.deepStrictEqual(error.failedFor("none"), [])
      assert.strictEqual(
        error.message,
        "Members.add: 4 users could not be added [add.participant.privacy: 1, 2; add.participant.not.found: 3; " +
          "add.participant.on.holiday: 4] (200: some failed). " +
          "Invite users with privacy settings by a link, and leave out users that were not found."
      )
    })
  )

  it.effect("has users without a reason, and reasons without the list of users", () =>
    Effect.gen(function* () {
      const bare = yield* failedOf({ success: false, failed_user_ids: [7], failed_user_details: null })
      assert.deepStrictEqual([bare.failed_user_ids, bare.failed_user_details], [[User.UserId.make(7)], []])
      const detailed = yield* failedOf({ failed_user_details: [{ error_code: "x", user_ids: [8, 8] }] })
      assert.deepStrictEqual(detailed.failed_user_ids, [User.UserId.make(8)])
    })
  )

  it.effect("matches a response with `success: true` and failed users", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* failedOf({ success: true, failed_user_ids: [7] })).failed_user_ids, [
        User.UserId.make(7)
      ])
      assert.strictEqual(yield* tagOf(add, ok({ success: false, failed_user_ids: [] })), "OperationRejected")
    })
  )

  it.effect("skips malformed parts, and keeps the rest and the body", () =>
    Effect.gen(function* () {
      const error = yield* failedOf({
        success: false,
        failed_user_ids: [1, "2", null, 1.5, 116328127605864690n],
        failed_user_details: [
          { error_code: "x" },
          { user_ids: [3] },
          "y",
          { error_code: "add.participant.privacy", user_ids: [4] }
        ]
      })
      assert.deepStrictEqual(error.failed_user_ids, [User.UserId.make(1), User.UserId.make(4)])
      assert.deepStrictEqual(error.failed_user_details, [
        { error_code: "add.participant.privacy", user_ids: [User.UserId.make(4)] }
      ])
      assert.include(error.body, "116328127605864690")
    })
  )
})

describe("classify: other responses", () => {
  it.effect("keeps the status, the code, the text and the body of an unexpected status", () =>
    Effect.gen(function* () {
      assert.deepInclude(yield* reasonOf(send, answer(400, failure("proto.payload", "bad"))), {
        _tag: "UnexpectedStatus",
        status: 400,
        code: "proto.payload",
        detail: "bad",
        body: '{"code":"proto.payload","message":"bad"}'
      })
      const html = "<html><body>502 Bad Gateway</body></html>"
      assert.deepInclude(yield* reasonOf(send, text(502, html)), { _tag: "UnexpectedStatus", status: 502, body: html })
      assert.deepInclude(yield* reasonOf(send, text(500, "")), { _tag: "UnexpectedStatus", status: 500, body: "" })
      assert.deepInclude(yield* reasonOf(send, text(302, "")), { _tag: "UnexpectedStatus", status: 302 })
      for (const odd of ["null", "[]", '"text"', "5", '{"code":5,"message":{}}']) {
        assert.deepInclude(yield* reasonOf(send, text(400, odd)), { _tag: "UnexpectedStatus", body: odd })
      }
    })
  )

  it.effect("fails with InvalidResponse, which keeps the body, if a success cannot be read", () =>
    Effect.gen(function* () {
      const empty = yield* reasonOf(send, text(200, ""))
      assert.deepInclude(empty, { _tag: "InvalidResponse", status: 200, problem: "the body is empty", body: "" })
      const cut = '{"message":{"recipient":{"chat_id":1'
      assert.deepInclude(yield* reasonOf(send, text(200, cut)), {
        _tag: "InvalidResponse",
        problem: `the body is not JSON, or is incomplete (${cut.length} characters)`,
        body: cut
      })
      assert.strictEqual((yield* reasonOf(send, text(200, "<html></html>")))._tag, "InvalidResponse")
    })
  )

  it.effect("names the malformed part of a response, and keeps the body", () =>
    Effect.gen(function* () {
      const reply = ok({ message: message({ timestamp: "late" }) })
      const reason = yield* reasonOf(send, reply)
      assert.deepInclude(reason, { _tag: "InvalidResponse", status: 200 })
      if (reason._tag !== "InvalidResponse" || reply._tag !== "Answer") return assert.fail()
      assert.include(reason.problem, "message.timestamp")
      assert.strictEqual(reason.body, reply.body)
    })
  )

  it.effect("fails for a part that is nested too deep and keeps the body, unless the part is not decoded", () =>
    Effect.gen(function* () {
      const deep = `${"[".repeat(6000)}116328127605864690${"]".repeat(6000)}`
      const respond = (part: string) =>
        Json.stringify({ message: message({ [part]: 0 }) }).replace(`"${part}":0`, `"${part}":${deep}`)
      const reason = yield* reasonOf(send, text(200, respond("recipient")))
      assert.deepInclude(reason, { _tag: "InvalidResponse", status: 200, body: respond("recipient") })
      const failed = yield* reasonOf(send, text(500, deep))
      assert.deepInclude(failed, { _tag: "UnexpectedStatus", body: deep })
      const platform = scripted(text(200, respond("later")))
      assert.strictEqual((yield* send.pipe(Effect.provide(platform.layer()))).body?.mid, mid)
    })
  )

  it.effect("rejects an id beyond 2^53 instead of rounding it to another id", () =>
    Effect.gen(function* () {
      const recipient = { chat_id: 9007199254740993n, chat_type: "chat" }
      const reason = yield* reasonOf(send, ok({ message: message({ recipient }) }))
      assert.strictEqual(reason._tag, "InvalidResponse")
      assert.include(reason.message, "message.recipient.chat_id")
    })
  )

  it.effect("accepts every 2xx status as a success", () =>
    Effect.gen(function* () {
      const platform = scripted(answer(201, { message: message() }))
      assert.strictEqual((yield* send.pipe(Effect.provide(platform.layer()))).body?.mid, mid)
    })
  )
})

describe("classify: Retry-After", () => {
  const now = Date.parse("2026-01-01T00:00:00Z")

  const pauseOf = Effect.fnUntraced(function* (header: string, status = 429) {
    yield* TestClock.setTime(now)
    const error = yield* errorOf(send, answer(status, {}, { "Retry-After": header }))
    const pause =
      error._tag === "RateLimited"
        ? error.retryAfter
        : error._tag === "RequestFailed" && error.reason._tag === "UnexpectedStatus"
          ? error.reason.retryAfter
          : assert.fail(error.message)
    return pause === undefined ? undefined : Duration.toMillis(pause)
  })

  it.effect("reads seconds and dates", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* pauseOf("7"), 7000)
      assert.strictEqual(yield* pauseOf(" 0 "), 0)
      assert.strictEqual(yield* pauseOf("1.5"), 1500)
      assert.strictEqual(yield* pauseOf("Thu, 01 Jan 2026 00:01:30 GMT"), 90_000)
      assert.strictEqual(yield* pauseOf("Thu, 01 Jan 2025 00:00:00 GMT"), 0)
      assert.strictEqual(yield* pauseOf("7", 503), 7000)
    })
  )

  it.effect("ignores an invalid value", () =>
    Effect.gen(function* () {
      for (const garbage of ["", "soon", "-5x", "NaN", "Infinity", "1e999"]) {
        assert.isUndefined(yield* pauseOf(garbage), garbage)
      }
    })
  )
})
