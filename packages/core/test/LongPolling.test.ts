import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { Inbox, Json, LongPolling, Updates } from "../src/index.ts"
import { message, user } from "./support/fixtures.ts"
import { answer, lost, nodeError, ok, never, type Reply, repeat, scripted, unlimited } from "./support/scripted.ts"

const started = (timestamp: number) => ({ update_type: "bot_started", timestamp, chat_id: 1, user })

const page = (marker: bigint | undefined, ...updates: ReadonlyArray<unknown>): Reply =>
  ok(marker === undefined ? { updates } : { updates, marker })

const polling = (script: ReadonlyArray<Reply>, options?: LongPolling.Options) => {
  const logs: Array<string> = []
  const logger = Logger.layer([
    Logger.make(({ logLevel, message }) => void logs.push(`${logLevel} ${String(message)}`))
  ])
  // Polling reads ahead: beyond the script, the platform is silent.
  const platform = scripted(...script, ...repeat(200, never))
  const layer = LongPolling.layer(options).pipe(
    Layer.provideMerge(Inbox.layerMemory()),
    Layer.provide(platform.layer({ limits: unlimited })),
    Layer.merge(logger)
  )
  return { ...platform, logs, layer }
}

/** The times of the first updates, and the requests that it took. */
const take = Effect.fnUntraced(function* (count: number, script: ReadonlyArray<Reply>, options?: LongPolling.Options) {
  const platform = polling(script, options)
  const fiber = yield* Updates.stream.pipe(
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

describe("the stream", () => {
  it.effect("passes on the marker of each page, exact in every digit", () =>
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

  it.effect("keeps its marker over pages without one, and over empty ones", () =>
    Effect.gen(function* () {
      const { urls } = yield* take(1, [page(5n), page(undefined), page(6n), page(undefined, started(1))])
      assert.deepStrictEqual(urls, ["/updates", "/updates?marker=5", "/updates?marker=5", "/updates?marker=6"])
    })
  )

  it.effect("begins where the options say, with what they ask for", () =>
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

  it.effect("puts a malformed update aside with its JSON and goes on with the next", () =>
    Effect.gen(function* () {
      const malformed = { update_type: "message_created", timestamp: 2, message: message({ timestamp: "late" }) }
      const platform = polling([page(1n, started(1), malformed, started(3))])
      yield* Effect.gen(function* () {
        const updates = yield* Updates.stream.pipe(Stream.take(2), Stream.runCollect)
        assert.deepStrictEqual(
          updates.map((update) => "timestamp" in update && update.timestamp),
          [1, 3]
        )
        const [dead] = yield* Stream.runCollect(Inbox.deadLetters)
        assert.match(dead.problem, /message\.timestamp/)
        assert.deepStrictEqual(Json.parse(dead.letter.text), malformed)
      }).pipe(Effect.provide(platform.layer))
    })
  )

  it.effect("passes on updates of a kind it does not know", () =>
    Effect.gen(function* () {
      const raw = { update_type: "planet_aligned", timestamp: 1, seq: long }
      const { updates, logs } = yield* take(1, [page(1n, raw)])
      assert.deepStrictEqual(updates, [{ update_type: "unknown", raw }])
      assert.deepStrictEqual(logs, [])
    })
  )

  it.effect("waits out failures of the network and of the server, however many", () =>
    Effect.gen(function* () {
      const refused = lost(nodeError("ECONNREFUSED"))
      const failures = Array.from({ length: 30 }, (_, index) => [refused, answer(502, {}), answer(429, {})][index % 3])
      const broken = ok({ updates: "none" })
      const { updates, urls, logs } = yield* take(1, [page(7n), ...failures, broken, page(8n, started(1))])
      assert.lengthOf(updates, 1)
      assert.lengthOf(urls, 33)
      assert.deepStrictEqual(new Set(urls.slice(1)), new Set(["/updates?marker=7"]))
      for (const log of logs) assert.match(log, /^Warn Polling goes on after a pause\. Updates\.list: /)
      assert.isNotEmpty(logs)
    })
  )

  const endings: ReadonlyArray<readonly [string, Reply]> = [
    ["MethodNotAllowed", answer(405, { code: "method.not.allowed", message: "webhook" })],
    ["Unauthorized", answer(401, { code: "verify.token" })],
    ["RequestFailed", lost(nodeError("SELF_SIGNED_CERT_IN_CHAIN"))],
    ["RequestFailed", answer(404, "<html>Not here</html>")]
  ]

  it.effect("says with the first failure that it goes on", () =>
    Effect.gen(function* () {
      const { logs } = yield* take(1, [lost(nodeError("ECONNREFUSED")), page(8n, started(1))])
      assert.lengthOf(logs, 1)
    })
  )

  it.effect.each(endings)("ends with %s, and says nothing of going on", ([tag, reply]) =>
    Effect.gen(function* () {
      const platform = polling([page(1n, started(1)), reply])
      const seen: Array<string> = []
      const error = yield* Updates.stream.pipe(
        Stream.runForEach(({ update_type }) => Effect.sync(() => void seen.push(update_type))),
        Effect.flip,
        Effect.provide(platform.layer)
      )
      assert.strictEqual(error._tag, tag)
      assert.deepStrictEqual(seen, ["bot_started"])
      assert.deepStrictEqual(platform.logs, [])
    })
  )

  it.effect("ends at once where its options are against the rules", () =>
    Effect.gen(function* () {
      const platform = polling([], { limit: 0 })
      const error = yield* Updates.stream.pipe(Stream.runDrain, Effect.flip, Effect.provide(platform.layer))
      assert.include(error.message, "`limit` must be a whole number from 1 to 1000")
      assert.lengthOf(platform.journal, 0)
    })
  )
})
