import { assert, describe, it } from "@effect/vitest"
import { inspect } from "node:util"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as TestClock from "effect/testing/TestClock"
import * as Tracer from "effect/Tracer"
import { type ApiError, type BotApi, Inbox, LongPolling, Me, Members, Messages, RetryPolicy } from "../../src/index.ts"
import * as Stream from "effect/Stream"
import { chat_id, message, user_id } from "../support/fixtures.ts"
import {
  answer,
  brokenOff,
  lost,
  never,
  nodeError,
  ok,
  type Reply,
  scripted,
  text,
  token
} from "../support/scripted.ts"
import { emitted } from "../support/deliveries.ts"

/** The encodings in which a platform or a library may repeat the token. */
const spellings = [token, encodeURIComponent(token), token.replaceAll("/", "\\/")]

const toJson = (value: unknown): string => {
  const seen = new WeakSet()
  const plain = (_key: string, inner: unknown): unknown => {
    if (typeof inner === "bigint") return String(inner)
    if (typeof inner !== "object" || inner === null) return inner
    if (seen.has(inner)) return "(again)"
    seen.add(inner)
    return inner
  }
  return JSON.stringify(value, plain) ?? ""
}

const show = (value: unknown): ReadonlyArray<string> => [
  String(value),
  toJson(value),
  inspect(value, { depth: Infinity, showHidden: true, getters: true }),
  ...(value instanceof Error ? [value.message, value.stack ?? ""] : [])
]

const assertSilent = (what: string, ...values: ReadonlyArray<unknown>) => {
  for (const printed of values.flatMap(show)) {
    for (const spelling of spellings) assert.notInclude(printed, spelling, what)
  }
}

/** Collects the logs and the spans of a call. */
const watched = () => {
  const logs: Array<unknown> = []
  const spans: Array<Tracer.Span> = []
  const logger = Logger.layer([Logger.make((entry) => void logs.push(entry.message, Cause.pretty(entry.cause)))])
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  return { logs, spans, layer: Layer.merge(logger, Layer.succeed(Tracer.Tracer, tracer)) }
}

type Call = Effect.Effect<unknown, ApiError.ApiError, BotApi.BotApi>

/** The parts of a span that an exporter reads. The value of a success is not one of them. */
const spansOf = (spans: ReadonlyArray<Tracer.Span>) =>
  spans.map(({ name, status, attributes, links }) => ({
    name,
    failure: status._tag === "Ended" && Exit.isFailure(status.exit) ? status.exit.cause : undefined,
    attributes: [...attributes],
    links
  }))

const failureOf = Effect.fnUntraced(function* (call: Call, reply: Reply) {
  const watch = watched()
  const fiber = yield* call.pipe(
    Effect.tapCause(Effect.logError),
    Effect.exit,
    Effect.provideService(RetryPolicy.RetryPolicy, RetryPolicy.none),
    Effect.provide(Layer.merge(scripted(reply).layer(), watch.layer)),
    Effect.forkChild({ startImmediately: true })
  )
  yield* TestClock.adjust("1 hour")
  const exit = yield* Fiber.join(fiber)
  if (Exit.isSuccess(exit)) return assert.fail("it succeeded")
  assert.isNotEmpty(watch.logs)
  return { cause: exit.cause, error: Cause.squash(exit.cause), ...watch }
})

const send: Call = Messages.send({ chat_id, text: "a" })
const add: Call = Members.add({ chat_id, user_ids: [user_id] })

const echo = `Authorization: ${token} (${encodeURIComponent(token)})`
const escaped = `"${token.replaceAll("/", "\\/")}"`

const circular = Object.assign(nodeError("ECONNRESET", echo), { request: { headers: { authorization: token } } })

const failures: ReadonlyArray<readonly [string, Call, Reply]> = [
  ["401", send, answer(401, { code: "verify.token", message: echo })],
  ["403", send, answer(403, { code: "chat.denied", message: echo, headers: { authorization: token } })],
  ["429", send, answer(429, { message: echo })],
  ["a code that is the token", send, answer(400, { code: token, error: token })],
  ["an escaped token", send, text(400, `{"code":${escaped},"message":${escaped}}`)],
  ["500 in HTML", send, text(500, `<html>${echo}</html>`)],
  ["a success that is no JSON", send, text(200, `<html>${echo}</html>`)],
  ["a success that is malformed", send, ok({ message: message({ timestamp: token, [token]: 1 }) })],
  ["success: false", Messages.edit({ message_id: "m" as never, text: "a" }), ok({ success: false, message: echo })],
  [
    "users that could not be added",
    add,
    ok({ success: false, message: echo, failed_user_details: [{ error_code: token, user_ids: [1] }] })
  ],
  ["refused", send, lost(nodeError("ECONNREFUSED", echo))],
  ["a reset with the request on it", send, lost(circular)],
  ["a failure that nobody knows", send, lost(Object.assign(new Error(echo), { code: token, name: token }))],
  ["a failure that is a text", send, lost(echo)],
  ["several failures", send, lost(new AggregateError([nodeError("ETIMEDOUT", echo)], echo))],
  ["an answer that broke off", send, brokenOff(nodeError("UND_ERR_SOCKET", echo))],
  ["a time-out", send, never]
]

describe("redact: the token", () => {
  it.effect.each(failures)("is in no error, log and span of %s", ([what, call, reply]) =>
    Effect.gen(function* () {
      const { cause, error, logs, spans } = yield* failureOf(call, reply)
      assert.instanceOf(error, Error)
      assert.isNotEmpty(spans)
      assertSilent(what, error, cause, Cause.pretty(cause), logs, spansOf(spans))
    })
  )

  it.effect("is in no error of an invalid request", () =>
    Effect.gen(function* () {
      const request = { chat_id, text: token.repeat(200), [`x-${token.length}`]: token }
      const { cause, error, logs, spans } = yield* failureOf(Messages.send(request as never), never)
      assert.strictEqual(spans.length, 0)
      assertSilent("invalid", error, cause, logs)
    })
  )

  it.effect("is in no span of a success, which has the endpoint and the status", () =>
    Effect.gen(function* () {
      const { layer, spans, logs } = watched()
      const platform = scripted(ok({ message: message() }))
      yield* Messages.send({ chat_id, text: "a" }).pipe(Effect.provide(Layer.merge(platform.layer(), layer)))
      assert.strictEqual(platform.journal[0].headers["authorization"], token)
      assert.deepStrictEqual(
        spans.map(({ name, kind, attributes }) => ({ name, kind, attributes: Object.fromEntries(attributes) })),
        [{ name: "Messages.send", kind: "client", attributes: { "http.response.status_code": 200 } }]
      )
      assertSilent("success", spansOf(spans), logs)
    })
  )

  it.effect("is in no log of long polling", () =>
    Effect.gen(function* () {
      const { layer, logs } = watched()
      const platform = scripted(lost(nodeError("ECONNREFUSED", echo)), answer(502, { message: echo }), answer(405, {}))
      const fiber = yield* emitted.pipe(
        Stream.runDrain,
        Effect.exit,
        Effect.provideService(RetryPolicy.RetryPolicy, RetryPolicy.none),
        Effect.provide(
          Layer.merge(
            LongPolling.layer().pipe(Layer.provide(Layer.merge(platform.layer(), Inbox.layerMemory()))),
            layer
          )
        ),
        Effect.forkChild({ startImmediately: true })
      )
      yield* TestClock.adjust("1 hour")
      yield* Fiber.join(fiber)
      assert.isNotEmpty(logs)
      assertSilent("polling", logs)
    })
  )

  it.effect("is not readable from the client", () =>
    Effect.gen(function* () {
      const platform = scripted()
      const layer = platform.layer()
      const services = yield* Layer.build(layer)
      assertSilent("client", services, layer, Me.get())
    })
  )
})
