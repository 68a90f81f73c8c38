import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { type ApiError, Chats, RetryPolicy, Updates } from "../../src/index.ts"
import { describe as describeFailure } from "../../src/client/internal/transport.ts"
import { chat, chat_id } from "../support/fixtures.ts"
import { brokenOff, lost, never, nodeError, ok, type Reply, scripted } from "../support/scripted.ts"

type Row = readonly [code: string, kind: ApiError.Transport["kind"], sent: boolean, hint: string]

const table: ReadonlyArray<Row> = [
  ["ECONNREFUSED", "Refused", false, "Nothing listens at this address"],
  ["ENOTFOUND", "Unresolved", false, "The host name has no address"],
  ["EAI_AGAIN", "Unresolved", false, "The host name has no address"],
  ["EHOSTUNREACH", "ConnectTimeout", false, "did not accept the connection in time"],
  ["ENETUNREACH", "ConnectTimeout", false, "did not accept the connection in time"],
  ["UND_ERR_CONNECT_TIMEOUT", "ConnectTimeout", false, "did not accept the connection in time"],
  ["UNABLE_TO_GET_ISSUER_CERT", "Untrusted", false, "BOT_EXTRA_CA"],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "Untrusted", false, "BOT_EXTRA_CA"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "Untrusted", false, "BOT_EXTRA_CA"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "Untrusted", false, "BOT_EXTRA_CA"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "Untrusted", false, "BOT_EXTRA_CA"],
  ["CERT_HAS_EXPIRED", "Untrusted", false, "not valid at this time, or is for another name"],
  ["CERT_NOT_YET_VALID", "Untrusted", false, "not valid at this time, or is for another name"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "Untrusted", false, "not valid at this time, or is for another name"],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "Untrusted", false, "does not use TLS"],
  ["UND_ERR_HEADERS_TIMEOUT", "Timeout", true, "may have been executed"],
  ["UND_ERR_BODY_TIMEOUT", "Timeout", true, "may have been executed"],
  ["ETIMEDOUT", "Timeout", true, "may have been executed"],
  ["EAI_FAIL", "Unresolved", false, "The host name has no address"],
  ["EHOSTDOWN", "ConnectTimeout", false, "did not accept the connection in time"],
  ["EADDRNOTAVAIL", "ConnectTimeout", false, "did not accept the connection in time"],
  ["CERT_SIGNATURE_FAILURE", "Untrusted", false, "BOT_EXTRA_CA"],
  ["UND_ERR_INVALID_ARG", "Invalid", false, "cannot be written as HTTP"],
  ["ECONNRESET", "Reset", true, "may have been executed"],
  ["EPIPE", "Reset", true, "may have been executed"],
  ["UND_ERR_SOCKET", "Reset", true, "may have been executed"],
  ["UND_ERR_RES_CONTENT_LENGTH_MISMATCH", "Reset", true, "may have been executed"],
  ["UND_ERR_PRX_TLS", "Proxy", false, "BOT_PROXY"],
  ["UND_ERR_PRX_CONN", "Proxy", false, "BOT_PROXY"],
  ["ERR_PROXY_REFUSED", "Proxy", false, "BOT_PROXY"]
]

const transportOf = Effect.fnUntraced(function* (reply: Reply) {
  const error = yield* Chats.get({ chat_id }).pipe(
    Effect.flip,
    Effect.provideService(RetryPolicy.RetryPolicy, RetryPolicy.none),
    Effect.provide(scripted(reply).layer())
  )
  return error._tag === "RequestFailed" && error.reason._tag === "Transport" ? error.reason : assert.fail(error.message)
})

describe("transport: failures below HTTP", () => {
  it.effect.each(table)(
    "code %s has a kind, says whether the request was sent, and what to do",
    ([code, kind, isSent, hint]) =>
      Effect.gen(function* () {
        const transport = yield* transportOf(lost(nodeError(code, `connect ${code} 127.0.0.1:1`)))
        assert.deepInclude(transport, { kind, isSent, code, detail: `connect ${code} 127.0.0.1:1` })
        assert.include(transport.hint, hint)
        assert.include(transport.message, transport.hint)
      })
  )

  it.effect("a failure while the response is read counts as sent", () =>
    Effect.gen(function* () {
      assert.deepInclude(yield* transportOf(brokenOff(nodeError("UND_ERR_SOCKET", "other side closed"))), {
        kind: "Reset",
        isSent: true,
        detail: "other side closed"
      })
    })
  )

  it.effect("an unknown failure counts as sent, and has the text of the HTTP client", () =>
    Effect.gen(function* () {
      const transport = yield* transportOf(lost(nodeError("E_NEW", "the sky fell")))
      assert.deepInclude(transport, { kind: "Other", isSent: true, detail: "the sky fell" })
      assert.isFalse("code" in transport)
    })
  )

  it("a connection that times out counts as not sent, whatever its code", () => {
    const attempts = [1, 2].map((n) =>
      Object.assign(new Error(`connect ETIMEDOUT 10.0.0.${n}`), { code: "ETIMEDOUT", syscall: "connect" })
    )
    const cause = Object.assign(new AggregateError(attempts, ""), { code: "ETIMEDOUT" })
    const { detail, kind, isSent } = describeFailure({ reason: { cause } })
    assert.deepStrictEqual(
      { detail, kind, isSent },
      { detail: "connect ETIMEDOUT 10.0.0.1", kind: "ConnectTimeout", isSent: false }
    )
  })

  it("the cause is found among several attempts, in unusual chains and in values that are not errors", () => {
    const refused = Object.assign(new Error("refused"), { code: "ECONNREFUSED" })
    assert.strictEqual(describeFailure(new AggregateError([new Error("x"), refused])).kind, "Refused")
    assert.strictEqual(describeFailure({ reason: { cause: { cause: refused } } }).kind, "Refused")
    assert.strictEqual(describeFailure({ _tag: "TimeoutError", message: "late" }).kind, "Timeout")
    assert.deepInclude(describeFailure("plain text"), { kind: "Other", isSent: true, detail: "plain text" })
    assert.deepInclude(describeFailure({ code: "toString", message: "m" }), { kind: "Other", detail: "m" })
    const circle: { cause?: unknown; message: string } = { message: "circle" }
    circle.cause = circle
    assert.strictEqual(describeFailure(circle).detail, "circle")
  })
})

describe("interpreter: the time-out", () => {
  const run = Effect.fnUntraced(function* (call: Effect.Effect<unknown, ApiError.ApiError, never>) {
    return yield* call.pipe(
      Effect.flip,
      Effect.provideService(RetryPolicy.RetryPolicy, RetryPolicy.none),
      Effect.forkChild({ startImmediately: true })
    )
  })

  it.effect("ends an attempt after 1 minute, which counts as sent", () =>
    Effect.gen(function* () {
      const platform = scripted(never)
      const fiber = yield* run(Chats.get({ chat_id }).pipe(Effect.provide(platform.layer())))
      yield* TestClock.adjust("59999 millis")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      const error = yield* Fiber.join(fiber)
      assert.deepInclude(error._tag === "RequestFailed" ? error.reason : error, {
        _tag: "Transport",
        kind: "Timeout",
        isSent: true,
        code: "TimeoutError"
      })
    })
  )

  it.effect("is taken from the options, plus the duration of a long poll", () =>
    Effect.gen(function* () {
      const ends: ReadonlyArray<readonly [Updates.ListRequest, number]> = [
        [{ timeout: 0 }, 5000],
        [{ timeout: 7 }, 12_000],
        [{}, 35_000],
        [{ timeout: 90 }, 95_000]
      ]
      for (const [request, end] of ends) {
        const platform = scripted(never)
        const fiber = yield* run(Updates.list(request).pipe(Effect.provide(platform.layer({ timeout: "5 seconds" }))))
        yield* TestClock.adjust(end - 1)
        assert.isUndefined(fiber.pollUnsafe(), JSON.stringify(request))
        yield* TestClock.adjust(1)
        assert.isDefined(fiber.pollUnsafe(), JSON.stringify(request))
      }
    })
  )

  it.effect("does not affect a response that arrives in time", () =>
    Effect.gen(function* () {
      const platform = scripted(ok(chat()))
      assert.strictEqual((yield* Chats.get({ chat_id }).pipe(Effect.provide(platform.layer()))).title, "Team")
    })
  )
})
