import { Bot, Inbox, type Update, Updates } from "@colloquy/core"
import { Fixtures, TestUpdates } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

const started = Fixtures.botStarted()
const created = Fixtures.messageCreated()

const handledTypes = Effect.gen(function* () {
  const types: Array<string> = []
  yield* Bot.run((update: Update.Update) => Effect.sync(() => void types.push(update.update_type)))
  return types
})

describe("TestUpdates.layer", () => {
  it.effect("ends `Bot.run` after the last update, and does not deduplicate", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* handledTypes, ["bot_started", "bot_started", "message_created"])
      assert.strictEqual((yield* (yield* Inbox.Inbox).stats).queued, 0)
    }).pipe(Effect.provide(TestUpdates.layer([started, started, created], { partitionKey: () => "all" })))
  )

  it.effect("deduplicates updates with `deduplicationWindow`", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* handledTypes, ["bot_started"])
    }).pipe(Effect.provide(TestUpdates.layer([started, started], { deduplicationWindow: "1 hour" })))
  )

  it.effect("emits the updates of a stream with `Updates.deliveries`", () =>
    Effect.gen(function* () {
      const deliveries = Stream.tap(Updates.deliveries(), ({ ack }) => ack)
      const updates = yield* Stream.runCollect(deliveries)
      assert.deepStrictEqual(
        updates.map(({ value }) => value),
        [started, created]
      )
    }).pipe(Effect.provide(TestUpdates.layer(Stream.make(started, created))))
  )
})
