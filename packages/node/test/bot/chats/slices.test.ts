import * as ChatRecord from "@colloquy/core/bot/ChatRecord"
import * as ChatStore from "@colloquy/core/bot/ChatStore"
import { ChatId } from "@colloquy/core/model/Recipient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as NodeSqlite from "../../../src/base/NodeSqlite.ts"
import * as SqlChatStore from "../../../src/bot/SqlChatStore.ts"
import { maxRows } from "../../../src/bot/internal/chats/slices.ts"

const total = 2 * maxRows + 500

/** Every ten thousandth chat is of the rare type. */
const recordOf = (index: number) =>
  ChatRecord.make(ChatId.make(index), index, { member_at: 1, type: index % 10_000 === 0 ? "channel" : "chat" })

const filled = Layer.effectDiscard(
  ChatStore.ChatStore.use(({ upsert }) =>
    Effect.forEach(
      Array.from({ length: total / 500 }, (_, page) => page),
      (page) => upsert(Array.from({ length: 500 }, (_, at) => recordOf(1 + page * 500 + at))),
      { discard: true }
    )
  )
).pipe(Layer.provideMerge(SqlChatStore.layer()), Layer.provide(NodeSqlite.layer({ filename: ":memory:" })))

/** Runs an operation, and counts how often other fibers ran meanwhile. */
const turnsDuring = <A, E, R>(operation: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    let turns = 0
    const others = yield* Effect.forkChild(
      Effect.forever(
        Effect.andThen(
          Effect.sync(() => turns++),
          Effect.yieldNow
        )
      ),
      { startImmediately: true }
    )
    const before = turns
    const result = yield* operation
    const after = turns
    yield* Fiber.interrupt(others)
    return { result, turns: after - before }
  })

describe("slices", () => {
  it.live("Counts and pages of many chats let other fibers run, and find all chats in order", () =>
    Effect.gen(function* () {
      const store = yield* ChatStore.ChatStore
      const counted = yield* turnsDuring(store.count({}))
      assert.strictEqual(counted.result, total)
      assert.isAtLeast(counted.turns, 1)
      assert.strictEqual(yield* store.count({ type: "channel" }), 4)
      assert.strictEqual(yield* store.count({ activeSince: total }), 1)
      const rare = yield* turnsDuring(store.page({ type: "channel" }, Option.none(), 3))
      assert.deepStrictEqual(
        rare.result.chats.map(({ chat_id }) => Number(chat_id)),
        [10_000, 20_000, 30_000]
      )
      assert.isAtLeast(rare.turns, 1)
      const rest = yield* store.page({ type: "channel" }, rare.result.next, 3)
      assert.deepStrictEqual(
        rest.chats.map(({ chat_id }) => Number(chat_id)),
        [40_000]
      )
      assert.isTrue(Option.isNone(rest.next))
    }).pipe(Effect.provide(filled))
  )
})
