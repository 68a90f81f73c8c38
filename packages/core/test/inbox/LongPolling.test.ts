import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as InboxStore from "../../src/inbox/InboxStore.ts"
import { Bot, Inbox, Json, LongPolling, Messages, StoreError, Updates } from "../../src/index.ts"
import { message, user } from "../support/fixtures.ts"
import {
  answer,
  lost,
  never,
  nodeError,
  ok,
  repeat,
  type Reply,
  scripted,
  text,
  unlimited
} from "../support/scripted.ts"
import { recordSpans } from "../support/spans.ts"
import { emitted } from "../support/deliveries.ts"

const started = (timestamp: number) => ({ update_type: "bot_started", timestamp, chat_id: 1, user })

const page = (marker: bigint | undefined, ...updates: ReadonlyArray<unknown>): Reply =>
  ok(marker === undefined ? { updates } : { updates, marker })

const polling = (script: ReadonlyArray<Reply>, options?: LongPolling.Options) => {
  const logs: Array<string> = []
  const logger = Logger.layer([
    Logger.make(({ logLevel, message }) => void logs.push(`${logLevel} ${String(message)}`))
  ])
  // The source polls faster than the test reads. After the script, the platform does not answer.
  const platform = scripted(...script, ...repeat(200, never))
  const source = LongPolling.layer(options).pipe(
    Layer.provide(platform.layer({ limits: unlimited })),
    Layer.merge(logger)
  )
  return { ...platform, logs, source, layer: Layer.provideMerge(source, Inbox.layerMemory()) }
}

/** Takes the first updates. Returns them with the requests and the logs. */
const take = Effect.fnUntraced(function* (count: number, script: ReadonlyArray<Reply>, options?: LongPolling.Options) {
  const platform = polling(script, options)
  const fiber = yield* emitted.pipe(
    Stream.take(count),
    Stream.runCollect,
    Effect.provide(platform.layer),
    Effect.forkChild({ startImmediately: true })
  )
  yield* TestClock.adjust("1 hour")
  const updates = yield* Fiber.join(fiber)
  return { updates, urls: platform.journal.slice(0, script.length).map(({ url }) => url), logs: platform.logs }
})

const long = 116328127605864690n

describe("LongPolling.layer", () => {
  it.effect("sends the marker of the last page, without loss of digits", () =>
    Effect.gen(function* () {
      const { updates, urls } = yield* take(3, [
        page(long, started(1)),
        page(long + 1n, started(2)),
        page(1n, started(3))
      ])
      assert.deepStrictEqual(
        updates.map(({ update_type }) => update_type),
        ["bot_started", "bot_started", "bot_started"]
      )
      assert.deepStrictEqual(urls, ["/updates", `/updates?marker=${long}`, `/updates?marker=${long + 1n}`])
    })
  )

  it.effect("creates no spans while there are no updates", () =>
    Effect.gen(function* () {
      const { lines, tracer } = recordSpans()
      const platform = polling(repeat(20, page(5n)))
      yield* Effect.forkScoped(
        Bot.run(() => Effect.void).pipe(Effect.provide(platform.layer), Effect.withTracer(tracer))
      )
      yield* TestClock.adjust("1 hour")
      assert.isAtLeast(platform.journal.length, 20)
      assert.deepStrictEqual(lines(), [])
    })
  )

  it.effect("keeps its marker when a page has none or is empty", () =>
    Effect.gen(function* () {
      const { urls } = yield* take(1, [page(5n), page(undefined), page(6n), page(undefined, started(1))])
      assert.deepStrictEqual(urls, ["/updates", "/updates?marker=5", "/updates?marker=5", "/updates?marker=6"])
    })
  )

  it.effect("sends the parameters of its options", () =>
    Effect.gen(function* () {
      const { urls } = yield* take(1, [page(1n, started(1))], {
        marker: long,
        limit: 10,
        timeout: 0,
        types: ["bot_started", "message_created"]
      })
      assert.deepStrictEqual(urls, [`/updates?limit=10&timeout=0&marker=${long}&types=bot_started,message_created`])
    })
  )

  it.effect("An update is acknowledged to the platform only after it is stored in the inbox.", () =>
    Effect.gen(function* () {
      const platform = polling([page(1n, started(1)), page(2n, started(2))])
      const store = yield* InboxStore.InboxStore
      let refusals = 3
      const refusing = InboxStore.InboxStore.of({
        ...store,
        enqueue: (batch) =>
          refusals-- > 0
            ? Effect.fail(
                new StoreError.StoreError({
                  store: "inbox",
                  operation: "enqueue",
                  reason: "unavailable",
                  isRetryable: true
                })
              )
            : store.enqueue(batch)
      })
      const inbox = Inbox.layer().pipe(Layer.provide(Layer.succeed(InboxStore.InboxStore, refusing)))
      const fiber = yield* emitted.pipe(
        Stream.take(2),
        Stream.runCollect,
        Effect.provide(Layer.provide(platform.source, inbox)),
        Effect.forkChild({ startImmediately: true })
      )
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(
        platform.journal.slice(0, 2).map(({ url }) => url),
        ["/updates", "/updates?marker=1"]
      )
      assert.match(platform.logs[0], /^Warn The inbox is unavailable\. Attempt 1 failed, .*"enqueue": unavailable/)
    }).pipe(Effect.provide(InboxStore.layerMemory))
  )

  it.effect("continues after a restart from the marker that is stored in the inbox", () =>
    Effect.gen(function* () {
      const inbox = Layer.succeed(InboxStore.InboxStore, yield* InboxStore.InboxStore)
      const take = (count: number, script: ReadonlyArray<Reply>) => {
        const platform = polling(script)
        const layer = platform.source.pipe(Layer.provide(Inbox.layer()), Layer.provide(inbox))
        return emitted.pipe(
          Stream.take(count),
          Stream.runCollect,
          Effect.provide(layer),
          Effect.map((updates) => ({ updates, ...platform }))
        )
      }
      yield* take(1, [page(long, started(1))])
      const { journal, updates } = yield* take(1, [page(long + 1n, started(2))])
      assert.deepStrictEqual(
        updates.map((update) => "timestamp" in update && update.timestamp),
        [2]
      )
      assert.strictEqual(journal[0].url, `/updates?marker=${long}`)
    }).pipe(Effect.provide(InboxStore.layerMemory))
  )

  it.effect("stores the marker of an empty page", () =>
    Effect.gen(function* () {
      const platform = polling([page(long)])
      yield* Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(Stream.runDrain(emitted), { startImmediately: true })
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(yield* (yield* Inbox.Inbox).marker("updates"), Option.some(long))
        yield* Fiber.interrupt(fiber)
      }).pipe(Effect.provide(platform.layer))
    })
  )

  it.effect("skips pending updates with `skipPending`", () =>
    Effect.gen(function* () {
      const pages = [page(1n, started(1)), page(2n, started(2)), page(2n), page(3n, started(3))]
      const { updates, urls } = yield* take(1, pages, { skipPending: true })
      assert.deepStrictEqual(updates, [{ ...started(3), user }] as never)
      assert.deepStrictEqual(urls, [
        "/updates?limit=1000&timeout=0",
        "/updates?limit=1000&timeout=0&marker=1",
        "/updates?limit=1000&timeout=0&marker=2",
        "/updates?marker=2"
      ])
    })
  )

  it.effect("pauses while `maxQueued` updates are queued in the inbox", () =>
    Effect.gen(function* () {
      const platform = polling([page(1n, started(1), started(2)), page(2n, started(3))], { maxQueued: 2 })
      const fiber = yield* Bot.run(() => Effect.sleep("10 seconds")).pipe(
        Effect.provide(platform.layer),
        Effect.forkChild({ startImmediately: true })
      )
      yield* TestClock.adjust("5 seconds")
      assert.lengthOf(platform.journal, 1)
      yield* TestClock.adjust("6 seconds")
      assert.lengthOf(platform.journal, 2)
      yield* Effect.raceFirst(Fiber.interrupt(fiber), Effect.forever(TestClock.adjust("1 second")))
    })
  )

  it.effect("logs a warning when NODE_ENV is production", () =>
    Effect.gen(function* () {
      const platform = polling([page(1n, started(1))])
      yield* emitted.pipe(
        Stream.take(1),
        Stream.runDrain,
        Effect.provide(
          Layer.merge(platform.layer, ConfigProvider.layer(ConfigProvider.fromUnknown({ NODE_ENV: "production" })))
        )
      )
      assert.match(platform.logs.join(), /Warn Long polling is for development/)
    })
  )

  it.effect.each([
    [6000, "is nested deeper than 256 levels"],
    [100_000, "has more than 16384 values"]
  ] as const)("makes an update nested %i deep a dead letter, and emits the next update", ([levels, problem]) =>
    Effect.gen(function* () {
      const deep = `{"update_type":"comet_seen","deep":${"[".repeat(levels)}${"]".repeat(levels)}}`
      const platform = polling([text(200, `{"updates":[${deep},${Json.stringify(started(2))}],"marker":1}`)])
      yield* Effect.gen(function* () {
        const updates = yield* emitted.pipe(Stream.take(1), Stream.runCollect)
        assert.deepStrictEqual(updates, [{ ...started(2), user }] as never)
        const [{ error, update }] = yield* Stream.runCollect(Inbox.deadLetters)
        assert.strictEqual(update.text, deep)
        assert.include(error, problem)
      }).pipe(Effect.provide(platform.layer))
    })
  )

  it.effect("makes a malformed update a dead letter with its JSON, and emits the next update", () =>
    Effect.gen(function* () {
      const malformed = { update_type: "message_created", timestamp: 2, message: message({ timestamp: "late" }) }
      const platform = polling([page(1n, started(1), malformed, started(3))])
      yield* Effect.gen(function* () {
        const updates = yield* emitted.pipe(Stream.take(2), Stream.runCollect)
        assert.deepStrictEqual(
          updates.map((update) => "timestamp" in update && update.timestamp),
          [1, 3]
        )
        const [deadLetter] = yield* Stream.runCollect(Inbox.deadLetters)
        assert.match(deadLetter.error, /message\.timestamp/)
        assert.deepStrictEqual(Json.parse(deadLetter.update.text), malformed)
      }).pipe(Effect.provide(platform.layer))
    })
  )

  it.effect("emits updates of unknown types", () =>
    Effect.gen(function* () {
      const raw = { update_type: "planet_aligned", timestamp: 1, seq: long }
      const { updates, logs } = yield* take(1, [page(1n, raw)])
      assert.deepStrictEqual(updates, [{ update_type: "unknown", raw }])
      assert.deepStrictEqual(logs, [])
    })
  )

  it.effect(
    "retries temporary failures of the network and of the server, each in one line without its cause after the first",
    () =>
      Effect.gen(function* () {
        const refused = lost(nodeError("ECONNREFUSED"))
        const failures = Array.from(
          { length: 30 },
          (_, index) => [refused, answer(502, {}), answer(429, {})][index % 3]
        )
        const broken = ok({ updates: "none" })
        const { updates, urls, logs } = yield* take(1, [page(7n), ...failures, broken, page(8n, started(1))])
        assert.lengthOf(updates, 1)
        assert.lengthOf(urls, 33)
        assert.deepStrictEqual(new Set(urls.slice(1)), new Set(["/updates?marker=7"]))
        assert.match(logs[0]!, /^Warn The platform is unavailable\. Attempt 1 failed, .* Updates\.list: .*ECONNREFUSED/)
        assert.match(logs.at(-1)!, /^Info The platform is available again after \d/)
        for (const log of logs.slice(1, -1))
          assert.match(log, /^Warn The platform is still unavailable\. Attempt \d+ failed/)
      })
  )

  const permanentFailures: ReadonlyArray<readonly [string, Reply]> = [
    ["MethodNotAllowed", answer(405, { code: "method.not.allowed", message: "webhook" })],
    ["Unauthorized", answer(401, { code: "verify.token" })],
    ["RequestFailed", lost(nodeError("SELF_SIGNED_CERT_IN_CHAIN"))],
    ["RequestFailed", answer(404, "<html>Not here</html>")]
  ]

  it.effect("fails with GaveUp when the platform is away for 10 minutes, after the received updates are handled", () =>
    Effect.gen(function* () {
      const platform = polling([page(1n, started(1)), ...repeat(200, lost(nodeError("ECONNREFUSED")))])
      const handled: Array<string> = []
      const fiber = yield* Bot.run(({ update_type }) => Effect.sync(() => void handled.push(update_type))).pipe(
        Effect.provide(platform.layer),
        Effect.flip,
        Effect.forkChild({ startImmediately: true })
      )
      yield* TestClock.adjust("595 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("6 seconds")
      const error = yield* Fiber.join(fiber)
      assert.strictEqual(error._tag, "GaveUp")
      assert.match(error.message, /^The platform was unavailable for 10m.* BOT_GIVE_UP_AFTER .*ECONNREFUSED/)
      assert.deepStrictEqual(handled, ["bot_started"])
    })
  )

  it.effect.each(permanentFailures)("fails with %s, without a log of a retry", ([tag, reply]) =>
    Effect.gen(function* () {
      const platform = polling([page(1n, started(1)), reply])
      const seen: Array<string> = []
      const error = yield* emitted.pipe(
        Stream.runForEach(({ update_type }) => Effect.sync(() => void seen.push(update_type))),
        Effect.flip,
        Effect.provide(platform.layer)
      )
      assert.strictEqual(error._tag, tag)
      assert.deepStrictEqual(seen, ["bot_started"])
      assert.deepStrictEqual(platform.logs, [])
    })
  )

  it.effect("dies when `maxQueued` is not a positive whole number", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(Layer.build(polling([], { maxQueued: 0 }).layer))
      assert.isTrue(exit._tag === "Failure" && Cause.pretty(exit.cause).includes("`maxQueued`"))
    }).pipe(Effect.scoped)
  )

  it.effect("fails when its options are invalid", () =>
    Effect.gen(function* () {
      const platform = polling([], { limit: 0 })
      const error = yield* emitted.pipe(Stream.runDrain, Effect.flip, Effect.provide(platform.layer))
      assert.include(error.message, "`limit` must be a whole number from 1 to 1000")
      assert.lengthOf(platform.journal, 0)
    })
  )
})

describe("LongPolling.layerConfig", () => {
  it.effect("reads options from the configuration", () =>
    Effect.gen(function* () {
      const platform = scripted(...repeat(10, never))
      const updates = LongPolling.layerConfig({ limit: Config.Int("LIMIT"), marker: Config.succeed(long) }).pipe(
        Layer.provide(platform.layer({ limits: unlimited })),
        Layer.provide(Inbox.layerMemory()),
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { LIMIT: "7" } })))
      )
      const fiber = yield* Effect.forkChild(Effect.provide(Stream.runDrain(emitted), updates), {
        startImmediately: true
      })
      yield* TestClock.adjust("1 second")
      assert.strictEqual(platform.journal[0].url, `/updates?limit=7&marker=${long}`)
      yield* Fiber.interrupt(fiber)
    })
  )
})

describe("LongPolling.layer with the emulator", () => {
  it.effect("delivers messages to a bot that answers them", () =>
    Effect.gen(function* () {
      const echo = emitted.pipe(
        Stream.filter((update) => update.update_type === "message_created"),
        Stream.runForEach(({ message }) =>
          Messages.send({ chat_id: message!.recipient.chat_id!, text: `${message!.body!.text}!` })
        )
      )
      yield* Effect.forkChild(echo)
      const visitor = yield* Emulator.user("visitor")
      const events = yield* Effect.forkChild(Stream.runCollect(Stream.take(visitor.events, 2)))
      for (const text of ["hi", "ho"]) {
        yield* visitor.send(text)
        assert.strictEqual((yield* visitor.reply).body?.text, `${text}!`)
      }
      assert.deepStrictEqual(
        (yield* Fiber.join(events)).map((event) => event._tag === "Message" && event.message.body?.text),
        ["hi!", "ho!"]
      )
    }).pipe(Effect.provide(LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))))
  )

  it.effect("decodes an update of an unknown type without loss of digits", () =>
    Effect.gen(function* () {
      const raw = { update_type: "planet_aligned", timestamp: 5, seq: 116328127605864690n }
      yield* Emulator.deliver(raw)
      const { updates } = yield* Updates.list({ types: ["planet_aligned"] })
      assert.deepStrictEqual(updates, [Result.succeed({ update_type: "unknown" as const, raw })])
    }).pipe(Effect.provide(Emulator.layerBot()))
  )
})
