import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import * as TestClock from "effect/testing/TestClock"
import * as Tracer from "effect/Tracer"
import { advance, bytes, dialog, sendAttachment } from "../../../testing/test/support/uploads.ts"
import { type ApiError, type BotApi, Chats, Members, Messages, RetryPolicy, Uploads } from "../../src/index.ts"
import { chat, chat_id, message, user_id } from "../support/fixtures.ts"
import {
  answer,
  type Entry,
  lost,
  never,
  nodeError,
  ok,
  repeat,
  type Reply,
  scripted,
  slow,
  type Step,
  unlimited
} from "../support/scripted.ts"

type Call = Effect.Effect<unknown, ApiError.ApiError, BotApi.BotApi>

const get = Chats.get({ chat_id })
const send = Messages.send({ chat_id, text: "a" })
const sent = ok({ message: message() })

/** Jitter multiplies a pause by 0.8 to 1.2; this draw multiplies it by 1. */
const withoutJitter = Effect.provideService(Random.Random, { nextDoubleUnsafe: () => 0.5, nextIntUnsafe: () => 0 })

/** When the requests of a call were sent, and how it ended. */
const run = Effect.fnUntraced(function* (call: Call, script: ReadonlyArray<Step>, limits = unlimited) {
  const platform = scripted(...script)
  const fiber = yield* call.pipe(
    withoutJitter,
    Effect.provide(platform.layer({ limits })),
    Effect.exit,
    Effect.forkChild({ startImmediately: true })
  )
  yield* TestClock.adjust("2 hours")
  const exit = yield* Fiber.join(fiber)
  return { times: platform.journal.map(({ at }) => at), exit }
})

const timesOf = (call: Call, script: ReadonlyArray<Reply>) => Effect.map(run(call, script), ({ times }) => times)

const reset = lost(nodeError("ECONNRESET"))
const refused = lost(nodeError("ECONNREFUSED"))
const notReady = answer(400, { code: "attachment.not.ready", message: "not yet" })
const tooMany = (retryAfter?: number) =>
  answer(429, { code: "too.many.requests" }, retryAfter === undefined ? {} : { "retry-after": String(retryAfter) })

const tagOf = (exit: Exit.Exit<unknown, ApiError.ApiError>): string => {
  if (Exit.isSuccess(exit)) return "success"
  const error = Exit.findErrorOption(exit)
  return error._tag === "Some" ? error.value._tag : "defect"
}

describe("RetryPolicy: transient failures", () => {
  it.effect("are attempted six times, with delays from 200 ms that double", () =>
    Effect.gen(function* () {
      const { times, exit } = yield* run(get, repeat(6, answer(500, {})))
      assert.deepStrictEqual(times, [0, 200, 600, 1400, 3000, 6200])
      assert.strictEqual(tagOf(exit), "RequestFailed")
    })
  )

  it.effect("are not retried after a success", () =>
    Effect.gen(function* () {
      const { times, exit } = yield* run(get, [reset, answer(502, {}), ok(chat())])
      assert.deepStrictEqual(times, [0, 200, 600])
      assert.strictEqual(tagOf(exit), "success")
    })
  )

  it.effect("have delays that vary by 20% at random", () =>
    Effect.gen(function* () {
      const extreme = (draw: number) =>
        Effect.gen(function* () {
          const platform = scripted(...repeat(6, answer(500, {})))
          const fiber = yield* get.pipe(
            Effect.provideService(Random.Random, { nextDoubleUnsafe: () => draw, nextIntUnsafe: () => 0 }),
            Effect.provide(platform.layer({ limits: unlimited })),
            Effect.exit,
            Effect.forkChild({ startImmediately: true })
          )
          yield* TestClock.adjust("1 hour")
          yield* Fiber.join(fiber)
          const [first, ...rest] = platform.journal.map(({ at }) => at)
          return rest.map((at) => Math.round(at - first))
        })
      assert.deepStrictEqual(yield* extreme(0), [160, 480, 1120, 2400, 4960])
      assert.deepStrictEqual(yield* extreme(1), [240, 720, 1680, 3600, 7440])
    })
  )

  it.effect("are not retried if a retry cannot help", () =>
    Effect.gen(function* () {
      for (const reply of [
        answer(400, {}),
        answer(404, {}),
        ok({}),
        lost(nodeError("CERT_HAS_EXPIRED")),
        lost(nodeError("UND_ERR_PRX_CONN"))
      ]) {
        assert.lengthOf(yield* timesOf(get, [reply]), 1)
      }
    })
  )

  it.effect("of a time-out are retried if the call is idempotent", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* timesOf(get, [never, ok(chat())]), [0, 60_200])
      assert.deepStrictEqual(yield* timesOf(send, [never]), [7_200_000])
    })
  )
})

describe("RetryPolicy: a POST", () => {
  const uncertain: ReadonlyArray<readonly [string, Reply]> = [
    ["a reset", reset],
    ["a time-out of the headers", lost(nodeError("UND_ERR_HEADERS_TIMEOUT"))],
    ["a failure that nobody knows", lost(nodeError("E_NEW"))],
    ["500", answer(500, {})],
    ["502", answer(502, {})],
    ["504", answer(504, {})]
  ]

  it.effect.each(uncertain)("is not retried after %s, because it may have been executed", ([, reply]) =>
    Effect.gen(function* () {
      const { times, exit } = yield* run(send, [reply])
      assert.lengthOf(times, 1)
      assert.strictEqual(tagOf(exit), "RequestFailed")
      assert.lengthOf(yield* timesOf(get, [reply, ok(chat())]), 2)
    })
  )

  it.effect.each(uncertain)("is retried after %s with retryNonIdempotent", ([, reply]) =>
    Effect.gen(function* () {
      const insistent = send.pipe(RetryPolicy.override({ retryNonIdempotent: true }))
      assert.lengthOf(yield* timesOf(insistent, [reply, sent]), 2)
    })
  )

  const certain: ReadonlyArray<readonly [string, Reply]> = [
    ["a refused connection", refused],
    ["a name without address", lost(nodeError("ENOTFOUND"))],
    ["a connection that timed out", lost(nodeError("UND_ERR_CONNECT_TIMEOUT"))],
    ["503", answer(503, {})],
    ["408", answer(408, {})],
    ["429", tooMany()],
    ["a file not ready", notReady]
  ]

  it.effect.each(certain)("is retried after %s, because it was not executed", ([, reply]) =>
    Effect.gen(function* () {
      const { times, exit } = yield* run(send, [reply, sent])
      assert.lengthOf(times, 2)
      assert.strictEqual(tagOf(exit), "success")
    })
  )

  it.effect("is the only method that is not retried after it may have been executed", () =>
    Effect.gen(function* () {
      assert.lengthOf(yield* timesOf(Chats.edit({ chat_id, title: "a" }), [reset, ok(chat())]), 2)
      assert.lengthOf(yield* timesOf(Chats.unpin({ chat_id }), [reset, ok({ success: true })]), 2)
      assert.lengthOf(yield* timesOf(Members.add({ chat_id, user_ids: [user_id] }), [reset]), 1)
    })
  )
})

describe("RetryPolicy: the current policy", () => {
  it.effect("can be changed for one call, without changing its other properties", () =>
    Effect.gen(function* () {
      const quick = RetryPolicy.override({ transient: Schedule.spaced("1 second").pipe(Schedule.upTo({ times: 1 })) })
      const two = Effect.andThen(Effect.exit(get.pipe(quick)), get)
      assert.deepStrictEqual(yield* timesOf(two, [...repeat(3, answer(500, {})), ok(chat())]), [0, 1000, 1000, 1200])
      assert.lengthOf(yield* timesOf(send.pipe(quick), [notReady, sent]), 2)
    })
  )

  it.effect("can be changed for a whole program", () =>
    Effect.gen(function* () {
      const program = Effect.andThen(Effect.exit(get), Effect.exit(send))
      const none = Effect.provideService(program, RetryPolicy.RetryPolicy, RetryPolicy.none)
      assert.deepStrictEqual(yield* timesOf(none, [answer(500, {}), notReady]), [0, 0])
    })
  )

  it.effect("does not wait for a 429 if it is RetryPolicy.none", () =>
    Effect.gen(function* () {
      const { times, exit } = yield* run(get.pipe(RetryPolicy.override(RetryPolicy.none)), [tooMany(1)])
      assert.deepStrictEqual([times, tagOf(exit)], [[0], "RateLimited"])
    })
  )
})

describe("RetryPolicy: 429 responses", () => {
  it.effect("are retried six times with growing delays", () =>
    Effect.gen(function* () {
      const { times, exit } = yield* run(send, repeat(7, tooMany()))
      assert.deepStrictEqual(times, [0, 1000, 3000, 7000, 15_000, 31_000, 61_000])
      assert.strictEqual(tagOf(exit), "RateLimited")
    })
  )

  it.effect("are retried after Retry-After at the earliest", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* timesOf(send, [tooMany(10), tooMany(1), sent]), [0, 10_000, 12_000])
      const after = (yield* timesOf(send, [tooMany(300), sent])).map((at) => at - 7_200_000)
      assert.deepStrictEqual(after, [0, 300_000])
    })
  )

  it.effect("fail at once if Retry-After is longer than maxDelay", () =>
    Effect.gen(function* () {
      const { times, exit } = yield* run(send, [tooMany(301)])
      assert.deepStrictEqual(times, [0])
      const error = Exit.findErrorOption(exit)
      assert.strictEqual(error._tag, "Some")
      if (error._tag === "Some") {
        assert.strictEqual(error.value._tag, "RateLimited")
        assert.deepStrictEqual(error.value._tag === "RateLimited" && error.value.retryAfter, Duration.seconds(301))
      }
      assert.lengthOf(
        yield* timesOf(send.pipe(RetryPolicy.override({ maxDelay: Duration.minutes(6) })), [tooMany(301), sent]),
        2
      )
    })
  )

  it.effect("pause all callers once", () =>
    Effect.gen(function* () {
      const bySort = ({ method }: Entry) => (method === "POST" ? sent : ok(chat()))
      const platform = scripted(tooMany(20), bySort, bySort)
      const late = Effect.delay(get, "5 seconds")
      const fiber = yield* Effect.all([send, late], { concurrency: "unbounded" }).pipe(
        withoutJitter,
        Effect.provide(platform.layer({ limits: unlimited })),
        Effect.forkChild({ startImmediately: true })
      )
      yield* TestClock.adjust("19999 millis")
      assert.lengthOf(platform.journal, 1)
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(
        platform.journal.map(({ at }) => at),
        [0, 20_000, 20_000]
      )
    })
  )

  it.effect("of two callers at the same time delay each of them once", () =>
    Effect.gen(function* () {
      const platform = scripted(slow(100, tooMany(20)), slow(100, tooMany(20)), ok(chat()), ok(chat()))
      const fiber = yield* Effect.all([get, get], { concurrency: "unbounded" }).pipe(
        withoutJitter,
        Effect.provide(platform.layer({ limits: unlimited })),
        Effect.forkChild({ startImmediately: true })
      )
      yield* TestClock.adjust("1 hour")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(
        platform.journal.map(({ at }) => at),
        [0, 0, 20_100, 20_100]
      )
    })
  )

  it.effect("are the only failures that delay other callers", () =>
    Effect.gen(function* () {
      for (const reply of [answer(403, {}), notReady, answer(400, {}), lost(nodeError("CERT_HAS_EXPIRED"))]) {
        const platform = scripted(reply, ok(chat()))
        const none = {
          ...RetryPolicy.none,
          notReady: RetryPolicy.defaults.attachmentNotReady,
          rateLimited: RetryPolicy.defaults.rateLimited
        }
        const fiber = yield* send
          .pipe(Effect.exit, Effect.forkChild({ startImmediately: true }), Effect.andThen(get))
          .pipe(
            Effect.provideService(RetryPolicy.RetryPolicy, none),
            Effect.provide(platform.layer({ limits: unlimited })),
            Effect.forkChild({ startImmediately: true })
          )
        yield* Fiber.join(fiber)
        assert.lengthOf(new Set(platform.journal.map(({ at }) => at)), 1)
      }
    })
  )
})

describe("RetryPolicy: 429 responses that are not retried", () => {
  const callers: ReadonlyArray<readonly [string, number, RetryPolicy.Policy, number]> = [
    ["by no policy", 20, RetryPolicy.none, 20_000],
    ["beyond the longest pause", 301, RetryPolicy.defaults, 300_000]
  ]

  it.effect.each(callers)("%s delays other callers", ([_, seconds, policy, until]) =>
    Effect.gen(function* () {
      const platform = scripted(tooMany(seconds), ok(chat()))
      const fiber = yield* Effect.exit(send).pipe(
        Effect.andThen(get),
        Effect.provideService(RetryPolicy.RetryPolicy, policy),
        Effect.provide(platform.layer({ limits: unlimited })),
        Effect.forkChild({ startImmediately: true })
      )
      yield* TestClock.adjust("1 hour")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(
        platform.journal.map(({ at }) => at),
        [0, until]
      )
    })
  )
})

describe("RetryPolicy: 503 responses with Retry-After", () => {
  const busy = (retryAfter: number) => answer(503, {}, { "retry-after": String(retryAfter) })

  it.effect("delay only their caller, at least for Retry-After", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* timesOf(send, [busy(7), busy(0), sent]), [0, 7000, 7400])
      const two = Effect.all([get, Effect.delay(send, "1 second")], { concurrency: "unbounded" })
      const start = 7_200_000
      const byMethod = ({ method }: Entry) => (method === "POST" ? sent : ok(chat()))
      const { times } = yield* run(two, [busy(7), byMethod, byMethod])
      assert.deepStrictEqual(
        times.map((at) => at - start),
        [0, 1000, 7000]
      )
    })
  )

  it.effect("fail at once if Retry-After is longer than maxDelay", () =>
    Effect.gen(function* () {
      const { times, exit } = yield* run(get, [busy(301)])
      assert.deepStrictEqual([times, tagOf(exit)], [[0], "RequestFailed"])
    })
  )
})

describe("RetryPolicy: attachments that are being processed", () => {
  it.effect("are retried with delays that grow up to 30 seconds", () =>
    Effect.gen(function* () {
      const { times, exit } = yield* run(send, [...repeat(20, notReady), sent])
      assert.strictEqual(tagOf(exit), "success")
      assert.deepStrictEqual(times.slice(0, 5), [0, 500, 1250, 2375, 4062.5])
      const last = times.slice(-3)
      assert.deepStrictEqual([last[1] - last[0], last[2] - last[1]], [30_000, 30_000])
      assert.isAbove(times[20], 4 * 60_000)
    })
  )

  it.effect("fail after one hour", () =>
    Effect.gen(function* () {
      const { times, exit } = yield* run(send, repeat(1000, notReady))
      assert.strictEqual(tagOf(exit), "AttachmentNotReady")
      const hour = 3_600_000
      assert.isAtLeast(times[times.length - 1], hour - 30_000)
      assert.isAtMost(times[times.length - 1], hour + 30_000)
    })
  )

  it.effect("are retried through other failures", () =>
    Effect.gen(function* () {
      const script = [notReady, answer(503, {}), tooMany(), refused, notReady, sent]
      const { times, exit } = yield* run(send, script)
      assert.strictEqual(tagOf(exit), "success")
      assert.lengthOf(times, script.length)
    })
  )
})

describe("RetryPolicy: a retry", () => {
  it.effect("waits for a permit of the rate limiter", () =>
    Effect.gen(function* () {
      const { times } = yield* run(get, [answer(500, {}), answer(500, {}), ok(chat())], {
        ...unlimited,
        host: { count: 1, window: Duration.seconds(5) }
      })
      assert.deepStrictEqual(times, [0, 5000, 10_000])
    })
  )

  it.effect("is not made after an interruption", () =>
    Effect.gen(function* () {
      const platform = scripted(...repeat(6, answer(500, {})))
      const fiber = yield* get.pipe(
        withoutJitter,
        Effect.provide(platform.layer({ limits: unlimited })),
        Effect.forkChild({ startImmediately: true })
      )
      yield* TestClock.adjust("300 millis")
      assert.lengthOf(platform.journal, 2)
      yield* Fiber.interrupt(fiber)
      yield* TestClock.adjust("1 hour")
      assert.lengthOf(platform.journal, 2)
    })
  )
})

describe("RetryPolicy.attachmentNotReady", () => {
  const recordSpans = () => {
    const spans: Array<Tracer.Span> = []
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        spans.push(span)
        return span
      }
    })
    return { spans, layer: Layer.succeed(Tracer.Tracer, tracer) }
  }

  const slowPlatform = Emulator.layerBot({ processing: { minimum: "7 minutes" } })

  const durationOf = ({ status }: Tracer.Span): number =>
    status._tag === "Ended" ? Number((status.endTime - status.startTime) / 1_000_000n) : 0

  it.effect("waits until the platform has processed the file, in a separate span", () =>
    Effect.gen(function* () {
      const { layer, spans } = recordSpans()
      const attachment = yield* Uploads.upload({ type: "video", source: bytes(1000), name: "a.mp4" })
      assert.strictEqual((yield* Effect.provide(sendAttachment(attachment), layer))?.type, "video")
      const [waiting] = spans.filter(({ name }) => name === "Messages.send waits for its files")
      assert.isAtLeast(durationOf(waiting), 7 * 60_000)
      assert.isAbove(spans.filter(({ name }) => name === "Messages.send").length, 5)
    }).pipe(Effect.provide(slowPlatform))
  )

  it.effect("fails with AttachmentNotReady when the schedule of the policy ends", () =>
    Effect.gen(function* () {
      const attachment = yield* Uploads.upload({ type: "video", source: bytes(1000), name: "a.mp4" })
      const before = yield* Clock.currentTimeMillis
      const { chat_id } = yield* dialog
      const error = yield* Effect.flip(advance(Messages.send({ chat_id, attachments: [attachment] })))
      assert.strictEqual(error._tag, "AttachmentNotReady")
      const minutes = ((yield* Clock.currentTimeMillis) - before) / 60_000
      assert.isTrue(minutes > 58 && minutes < 62, `${minutes}`)
    }).pipe(Effect.provide(Emulator.layerBot({ processing: { minimum: "2 hours" } })))
  )
})
