import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as References from "effect/References"
import * as Schedule from "effect/Schedule"
import * as SqlError from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import {
  Bot,
  Handler,
  Inbox,
  LongPolling,
  Messages,
  Payload,
  PermanentError,
  RateLimiter,
  StoreError,
  Update,
  Updates
} from "../../src/index.ts"
import { recordSpans } from "../support/spans.ts"
import { chat_id, message } from "../support/fixtures.ts"
import { answer, ok, scripted } from "../support/scripted.ts"
import { emitted } from "../support/deliveries.ts"

const started = (chat_id: number, timestamp: number): Inbox.Received => {
  const user = { user_id: 1, first_name: "Ann", is_bot: false }
  return { decoded: Update.parse(JSON.stringify({ update_type: "bot_started", timestamp, chat_id, user })) }
}

const received = (update_type: unknown): Inbox.Received => ({
  decoded: Update.parse(JSON.stringify({ update_type, timestamp: 9 }))
})

/** A source that enqueues these updates and ends. */
const source = (...updates: ReadonlyArray<Inbox.Received>) =>
  Layer.effect(
    Updates.Updates,
    Inbox.Inbox.use((inbox) =>
      Effect.succeed(Updates.Updates.of({ inbox, source: Effect.orDie(inbox.receive(updates)) }))
    )
  ).pipe(Layer.provideMerge(Inbox.layerMemory()))

const timeOf = (update: Update.Update): number => ("timestamp" in update ? update.timestamp : 0)

/** Returns the metrics of a program by name. */
const counting = <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    yield* program
    const snapshot = yield* Metric.snapshot
    const named = snapshot.map(({ attributes, id, state }) => {
      const update_type = attributes?.["update_type"]
      return [update_type === undefined ? id : `${id} ${update_type}`, { ...state } as Record<string, unknown>] as const
    })
    return new Map(named)
  }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))

const retryOnce = { retry: Schedule.recurs(1) }

const inTime = <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.raceFirst(program, Effect.forever(TestClock.adjust("1 second")))

describe("Bot.run", () => {
  it.effect(
    "counts received, duplicate, handled, failed and dead-lettered updates by type, and sets the gauges of the inbox",
    () =>
      Effect.gen(function* () {
        const handle = (update: Update.Update) => (timeOf(update) === 2 ? Effect.fail("no") : Effect.sleep("3 millis"))
        const metrics = yield* counting(
          Effect.gen(function* () {
            yield* inTime(Bot.run(handle, retryOnce))
            yield* (yield* Inbox.Inbox).stats
          }).pipe(
            Effect.provide(
              source(
                started(1, 1),
                started(1, 2),
                started(1, 1),
                started(2, 3),
                received("planet_aligned"),
                received(1)
              )
            )
          )
        )
        const count = (name: string) => metrics.get(name)?.["count"]
        assert.deepStrictEqual(
          ["received", "handled", "failed", "dead_lettered"].map((what) =>
            count(`colloquy_updates_${what}_total bot_started`)
          ),
          [4, 2, 2, 1]
        )
        assert.strictEqual(count("colloquy_updates_duplicate_total"), 1)
        assert.strictEqual(count("colloquy_updates_received_total unknown"), 1)
        assert.strictEqual(count("colloquy_updates_handled_total unknown"), 1)
        assert.strictEqual(count("colloquy_updates_received_total malformed"), 1)
        const duration = metrics.get("colloquy_handler_duration_seconds bot_started")
        assert.deepInclude(duration, { count: 2, min: 0.003 })
        assert.strictEqual(metrics.get("colloquy_inbox_queued")?.["value"], 0)
        assert.strictEqual(metrics.get("colloquy_inbox_dead_letters")?.["value"], 2)
      })
  )

  it.effect("counts an update that no handler takes, and acknowledges it", () =>
    Effect.gen(function* () {
      const handler = Handler.first(
        Handler.on("message_created", () => Effect.die("not here")),
        () => Handler.notHandled
      )
      const metrics = yield* counting(
        Effect.gen(function* () {
          yield* Bot.run(handler)
          assert.strictEqual((yield* (yield* Inbox.Inbox).stats).queued, 0)
        }).pipe(Effect.provide(source(started(1, 1), started(2, 2))))
      )
      assert.strictEqual(metrics.get("colloquy_updates_unhandled_total bot_started")?.["count"], 2)
    })
  )

  it.effect(
    "ends the span of a handler that declines its update without a failure, and that of one that fails with it",
    () =>
      Effect.gen(function* () {
        const { spans, tracer } = recordSpans()
        const handle = (update: Update.Update): Handler.Return<Handler.NotHandled | string, never> =>
          "chat_id" in update && update.chat_id === 1 ? Handler.notHandled : Effect.fail("no")
        yield* Bot.run(handle, { retry: Schedule.recurs(0) }).pipe(
          Effect.provide(source(started(1, 1), started(2, 2))),
          Effect.withTracer(tracer)
        )
        const ends = spans.flatMap(({ name, status }) =>
          name === "Updates.handle" && status._tag === "Ended" ? [Exit.isSuccess(status.exit)] : []
        )
        assert.deepStrictEqual(ends, [true, false])
      })
  )

  it.effect("creates a span for each handled update, with its handler and its commit as children", () =>
    Effect.gen(function* () {
      const { attributesOf, lines, spans, tracer } = recordSpans()
      const platform = scripted(ok({ message: message() }))
      yield* Bot.run(() => Messages.send({ chat_id, text: "Hello" })).pipe(
        Effect.provide(Layer.merge(source(started(7, 1)), platform.layer())),
        Effect.withTracer(tracer)
      )
      assert.deepStrictEqual(lines(), [
        "Updates.handle",
        "Updates.handle > Updates.handler",
        "Updates.handle > Updates.handler > Messages.send",
        "Updates.handle > Updates.commit"
      ])
      assert.deepStrictEqual(attributesOf("Updates.handle"), [{ update_type: "bot_started", chat: "7" }])
      assert.deepStrictEqual(attributesOf("Updates.handler"), [{ attempt: 1 }])
      assert.isTrue(spans.every(({ status }) => status._tag === "Ended" && Exit.isSuccess(status.exit)))
    })
  )

  it.effect("creates the spans again for each attempt, and none between the attempts", () =>
    Effect.gen(function* () {
      const { attributesOf, lines, spans, tracer } = recordSpans()
      const handler = () =>
        Effect.flatMap(Handler.CurrentAttempt, (attempt) => (attempt === 1 ? Effect.fail("not yet") : Effect.void))
      yield* Effect.forkScoped(
        Bot.run(handler, { retry: Schedule.spaced("1 minute") }).pipe(
          Effect.provide(source(started(7, 1))),
          Effect.withTracer(tracer)
        )
      )
      yield* TestClock.adjust("1 hour")
      const attempt = ["Updates.handle", "Updates.handle > Updates.handler", "Updates.handle > Updates.commit"]
      assert.deepStrictEqual(lines(), [...attempt, ...attempt])
      assert.deepStrictEqual(attributesOf("Updates.handler"), [{ attempt: 1 }, { attempt: 2 }])
      const ends = spans.flatMap(({ name, status }) =>
        name === "Updates.handle" && status._tag === "Ended" ? [Exit.isSuccess(status.exit)] : []
      )
      assert.deepStrictEqual(ends, [false, true])
    })
  )

  it.effect("does not retry a handler after the platform rejected a request", () =>
    Effect.gen(function* () {
      const platform = scripted(answer(403, { code: "chat.denied" }))
      yield* Bot.run(() => Messages.send({ chat_id, text: "Hello" })).pipe(Effect.provide(platform.layer()))
      assert.lengthOf(platform.journal, 1)
      const [deadLetter] = yield* Stream.runCollect(Inbox.deadLetters)
      assert.include(deadLetter.error, "chat.denied")
    }).pipe(Effect.provide(source(started(7, 1))))
  )

  it.effect("does not retry a handler after a permanent error of the library or of the program", () =>
    Effect.gen(function* () {
      class OutOfDate extends Data.TaggedError("OutOfDate") {
        readonly [PermanentError.TypeId] = true
      }
      const errors = [
        new OutOfDate(),
        PermanentError.mark(new TypeError("of another library")),
        new Payload.MalformedPayload({ payloadName: "vote", problem: "", payload: "", update: {} as never }),
        new StoreError.StoreError({ store: "chats", operation: "upsert", reason: "no such table", isRetryable: false })
      ]
      let attempts = 0
      yield* Bot.run((update) => {
        attempts++
        return Effect.fail(errors[timeOf(update) - 1])
      })
      assert.strictEqual(attempts, errors.length)
    }).pipe(Effect.provide(source(started(7, 1), started(7, 2), started(7, 3), started(7, 4))))
  )

  it.effect("does not retry a handler after a defect that is marked as permanent", () =>
    Effect.gen(function* () {
      let attempts = 0
      yield* inTime(
        Bot.run(() => {
          attempts++
          return Effect.die(PermanentError.mark(new Error("a defect of the program")))
        })
      )
      assert.strictEqual(attempts, 1)
    }).pipe(Effect.provide(source(started(7, 1))))
  )

  it.effect("retries a handler after an error of another library, even if its isRetryable is false", () =>
    Effect.gen(function* () {
      const cause = Object.assign(new Error("sorry, too many clients already"), { code: "53300" })
      const unavailable = new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause }) })
      assert.isFalse(unavailable.isRetryable)
      let attempts = 0
      yield* inTime(Bot.run(() => (++attempts < 3 ? Effect.fail(unavailable) : Effect.void)))
      assert.strictEqual(attempts, 3)
      assert.strictEqual((yield* (yield* Inbox.Inbox).stats).deadLetters, 0)
    }).pipe(Effect.provide(source(started(7, 1))))
  )

  it.effect("retries each update of a chat from the start of the schedule", () =>
    Effect.gen(function* () {
      const attempts: Array<number> = []
      const handle = (update: Update.Update) => {
        attempts.push(timeOf(update))
        return Effect.fail("no")
      }
      yield* inTime(Bot.run(handle, retryOnce))
      assert.deepStrictEqual(attempts, [1, 1, 2, 2])
    }).pipe(Effect.provide(source(started(7, 1), started(7, 2))))
  )

  it.effect("runs handlers with the priority `reply` and the chat of the update", () =>
    Effect.gen(function* () {
      const seen: Array<unknown> = []
      const handle = () =>
        Effect.gen(function* () {
          seen.push(yield* RateLimiter.CurrentPriority, yield* RateLimiter.CurrentChat)
        })
      yield* Bot.run(handle)
      assert.deepStrictEqual(seen, ["reply", 7])
    }).pipe(Effect.provide(source(started(7, 1))))
  )

  it.effect("logs failures with the type of the update and its chat", () =>
    Effect.gen(function* () {
      const logs: Array<readonly [string, unknown, string]> = []
      const logger = Logger.make(({ cause, fiber, message }) => {
        logs.push([String(message), fiber.getRef(References.CurrentLogAnnotations), Cause.pretty(cause)])
      })
      yield* inTime(Bot.run(() => Effect.fail("no such luck"), retryOnce)).pipe(
        Effect.provide(Layer.merge(source(started(7, 1)), Logger.layer([logger])))
      )
      assert.deepStrictEqual(
        logs.map(([text]) => text),
        [
          "Attempt 1 of the handler failed. The retry schedule decides whether it is retried.",
          "Attempt 2 of the handler failed. The retry schedule decides whether it is retried.",
          "The handler failed 2 times. The update is now a dead letter: see Inbox.deadLetters."
        ]
      )
      for (const [, annotations] of logs) assert.deepInclude(annotations, { update_type: "bot_started", chat: "7" })
      assert.include(logs[0][2], "no such luck")
      logs.length = 0
      yield* inTime(Bot.run(() => Effect.fail("no"), { ...retryOnce, retry: Schedule.recurs(0) })).pipe(
        Effect.provide(Layer.merge(source(started(7, 2)), Logger.layer([logger])))
      )
      assert.include(logs.at(-1)?.[0], "The handler failed once.")
    })
  )

  it.effect("dies with the name of an option that is not a positive whole number", () =>
    Effect.gen(function* () {
      for (const options of [{ concurrency: 0 }, { concurrency: 1.5 }, { maxInMemory: -1 }]) {
        const exit = yield* Bot.run(() => Effect.void, options).pipe(Effect.provide(source()), Effect.exit)
        assert.isTrue(exit._tag === "Failure" && Cause.pretty(exit.cause).includes(`\`${Object.keys(options)[0]}\``))
      }
    })
  )
})

describe("An update with malformed parts", () => {
  const malformed = {
    decoded: Update.parse(
      JSON.stringify({
        update_type: "bot_started",
        timestamp: 1,
        chat_id: 1,
        user: { user_id: 1, name: "Ann", is_bot: false }
      })
    )
  }
  const logging = (logs: Array<string>) =>
    Logger.layer([
      Logger.make(({ message }) => void (String(message).startsWith("Malformed") && logs.push(String(message))))
    ])

  const warning = "Malformed parts were decoded as unknown or left out: `user` `first_name` is missing"

  it.effect("is handled, and logged once although it is retried", () =>
    Effect.gen(function* () {
      const logs: Array<string> = []
      let attempts = 0
      const handler = Handler.on("bot_started", ({ user }) =>
        ++attempts < 3 ? Effect.fail("again") : Effect.sync(() => assert.strictEqual(user.first_name, "Ann"))
      )
      yield* Bot.run(handler, { retry: Schedule.recurs(5) }).pipe(Effect.provide([source(malformed), logging(logs)]))
      assert.strictEqual(attempts, 3)
      assert.deepStrictEqual(logs, [warning])
    })
  )

  it.effect("is logged by the stream", () =>
    Effect.gen(function* () {
      const logs: Array<string> = []
      yield* Stream.runDrain(emitted).pipe(Effect.provide([source(malformed), logging(logs)]))
      assert.deepStrictEqual(logs, [warning])
    })
  )
})

const layer = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))

describe("Bot.run on the emulator", () => {
  it.effect("runs a handler with the priority `reply` and the chat of the update", () =>
    Effect.gen(function* () {
      const seen: Array<readonly [RateLimiter.Priority, number | undefined]> = []
      const visitor = yield* Emulator.user("Ann")
      const { chat_id } = yield* visitor.start()
      const handle = () =>
        Effect.gen(function* () {
          seen.push([yield* RateLimiter.CurrentPriority, yield* RateLimiter.CurrentChat])
        })
      const fiber = yield* Effect.forkChild(Bot.run(handle), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(seen, [["reply", chat_id]])
    }).pipe(Effect.provide(layer))
  )
})
