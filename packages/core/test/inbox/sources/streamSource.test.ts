import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as InboxStore from "../../../src/inbox/InboxStore.ts"
import { inTime, timeOf } from "../../support/deliveries.ts"
import { Bot, Inbox, type Outage, Update, Updates } from "../../../src/index.ts"

const text = (timestamp: number, chat_id = 1): string =>
  JSON.stringify({
    update_type: "bot_started",
    timestamp,
    chat_id,
    user: { user_id: 1, first_name: "Ann", is_bot: false }
  })

const update = (timestamp: number): Update.Update => Result.getOrThrow(Update.parse(text(timestamp)))

class FileGone extends Data.TaggedError("FileGone")<{}> {}

/** Handles the updates of a source, and returns their times. */
const timesOf = Effect.fnUntraced(function* <E, R>(elements: Updates.Elements<E, R>, options?: Updates.SourceOptions) {
  const times: Array<number> = []
  yield* Bot.run((update) => Effect.sync(() => void times.push(timeOf(update)))).pipe(
    Effect.provide(Updates.layer(elements, options)),
    inTime
  )
  return times
})

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

describe("Updates.layer", () => {
  it.effect("takes updates and JSON texts from a stream, in order, and ends with it", () =>
    Effect.gen(function* () {
      const elements = Stream.make(
        update(1),
        text(2),
        { update: text(3), marker: 3n },
        { update: update(4), marker: 4n }
      )
      assert.deepStrictEqual(yield* timesOf(elements), [1, 2, 3, 4])
      const { queued } = yield* (yield* Inbox.Inbox).stats
      assert.strictEqual(queued, 0)
    }).pipe(Effect.provide(Inbox.layerMemory()))
  )

  it.effect("makes a text that is no valid update a dead letter with this text, and continues", () =>
    Effect.gen(function* () {
      const broken = ["{", "[]", '{"update_type":"bot_started","timestamp":"x"}']
      const elements = Stream.fromIterable([text(1), ...broken, text(2)])
      assert.deepStrictEqual(yield* timesOf(elements), [1, 2])
      const deadLetters = yield* Stream.runCollect(Inbox.deadLetters)
      assert.deepStrictEqual(
        deadLetters.map(({ update }) => update.text),
        broken
      )
    }).pipe(Effect.provide(Inbox.layerMemory()))
  )

  it.effect("stores an array of any length in batches", () =>
    Effect.gen(function* () {
      const expected = range(1, 2600)
      const elements = Stream.fromIterable(expected.map((timestamp) => text(timestamp)))
      assert.deepStrictEqual(yield* timesOf(elements, { maxQueued: 700 }), expected)
    }).pipe(Effect.provide(Inbox.layerMemory()))
  )

  it.effect("pulls an endless stream only while fewer than `maxQueued` updates are queued", () =>
    Effect.gen(function* () {
      const inbox = yield* Inbox.Inbox
      let pulled = 0
      const endless = Stream.fromEffectRepeat(Effect.sync(() => text(++pulled, pulled)))
      const gate = Effect.sleep("1 minute")
      const bot = Bot.run(() => gate, { timeout: "1 hour", concurrency: 50 }).pipe(
        Effect.provide(Updates.layer(endless, { maxQueued: 100 }))
      )
      const fiber = yield* Effect.forkChild(bot, { startImmediately: true })
      yield* TestClock.adjust("59 seconds")
      // One more element is pulled, and waits for room.
      assert.strictEqual(pulled, 101)
      assert.strictEqual((yield* inbox.stats).queued, 100)
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(pulled, 151)
      assert.isAtMost((yield* inbox.stats).queued, 100)
      yield* Effect.forkChild(Fiber.interrupt(fiber), { startImmediately: true })
      yield* TestClock.adjust("1 minute")
      yield* Fiber.await(fiber)
    }).pipe(Effect.provide(Inbox.layerMemory()))
  )

  it.effect("waits while the inbox is full, and loses nothing", () =>
    Effect.gen(function* () {
      const expected = range(1, 40)
      const elements = Stream.rechunk(Stream.fromIterable(expected.map((time) => text(time))), 4)
      const times: Array<number> = []
      yield* Bot.run((update) =>
        Effect.delay(
          Effect.sync(() => void times.push(timeOf(update))),
          "100 millis"
        )
      ).pipe(Effect.provide(Updates.layer(elements)), inTime)
      assert.deepStrictEqual(times, expected)
    }).pipe(Effect.provide(Inbox.layerMemory({ capacity: 10 })))
  )

  it.effect("gets the position that was stored last, and resumes there", () =>
    Effect.gen(function* () {
      const starts: Array<bigint | undefined> = []
      const topic = (length: number) => (marker: bigint | undefined) => {
        starts.push(marker)
        return Stream.fromIterable(
          range(Number(marker ?? 0n) + 1, length).map((at) => ({ update: text(at), marker: BigInt(at) }))
        )
      }
      assert.deepStrictEqual(yield* timesOf(topic(3)), [1, 2, 3])
      assert.deepStrictEqual(yield* timesOf(topic(5)), [4, 5])
      assert.deepStrictEqual(yield* timesOf(topic(2), { name: "another topic" }), [])
      assert.deepStrictEqual(starts, [undefined, 3n, undefined])
    }).pipe(Effect.provide(Inbox.layerMemory()))
  )

  it.effect("stores a position and its updates together, so that a killed process neither loses nor repeats one", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      const seen: Array<readonly [ids: number, marker: string | undefined]> = []
      const spied = InboxStore.InboxStore.of({
        ...store,
        enqueue: (batch) => {
          seen.push([batch.updates.length, batch.rows?.[0]?.row?.text])
          return store.enqueue(batch)
        }
      })
      const elements = Stream.fromIterable([
        { update: text(1), marker: 10n },
        { update: text(2), marker: 20n },
        text(3)
      ])
      yield* timesOf(elements).pipe(
        Effect.provide(Layer.provide(Inbox.layer(), Layer.succeed(InboxStore.InboxStore, spied)))
      )
      assert.deepStrictEqual(seen, [[3, "20"]])
    }).pipe(Effect.provide(InboxStore.layerMemory))
  )

  it.effect("fails with the error of its stream after the updates before it were stored", () =>
    Effect.gen(function* () {
      const elements = Stream.concat(Stream.make(text(1)), Stream.fail(new FileGone()))
      const times: Array<number> = []
      const bot = Bot.run((update) => Effect.sync(() => void times.push(timeOf(update))))
      const error = yield* Effect.flip(Effect.provide(bot, Updates.layer(elements)))
      assert.instanceOf(error, Updates.UpdateStreamFailed)
      assert.instanceOf(error.cause, FileGone)
      assert.match(error.message, /^The stream of updates failed: /)
      // Either this run has handled it, or the next one does.
      times.push(...(yield* timesOf(Stream.empty)))
      assert.deepStrictEqual(times, [1])
    }).pipe(Effect.provide(Inbox.layerMemory()))
  )

  it.effect("dies if `maxQueued` is not a positive whole number", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(timesOf(Stream.empty, { maxQueued: 0 }))
      assert.include(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "", "maxQueued")
    }).pipe(Effect.provide(Inbox.layerMemory()))
  )
})

describe("Updates.make", () => {
  it.effect("returns a source that fails with the error of its stream", () =>
    Effect.gen(function* () {
      const source = yield* Updates.make(Stream.fail(new FileGone()))
      const error: FileGone | Outage.OutageError = yield* Effect.flip(Bot.run(() => Effect.void, { source }))
      assert.instanceOf(error, FileGone)
    }).pipe(Effect.provide(Inbox.layerMemory()))
  )
})
