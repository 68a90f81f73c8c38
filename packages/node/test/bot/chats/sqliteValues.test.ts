import { assert, describe, it } from "@effect/vitest"
import * as ChatRecord from "@colloquy/core/bot/ChatRecord"
import * as ChatStore from "@colloquy/core/bot/ChatStore"
import { ChatId } from "@colloquy/core/model/Recipient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { padded } from "../../../src/bot/internal/chats/sqliteValues.ts"
import * as NodeSqlite from "../../../src/base/NodeSqlite.ts"
import * as SqlChatStore from "../../../src/bot/SqlChatStore.ts"

const Chats = SqlChatStore.layer().pipe(Layer.provide(NodeSqlite.layer({ filename: ":memory:" })))

describe("sqliteValues", () => {
  it("pads a thousand numbers of rows to few numbers, at most a quarter more, and keeps the rows", () => {
    const sizes = new Set<number>()
    for (let count = 1; count <= 1024; count++) {
      const rows = Array.from({ length: count }, (_, index) => index)
      const values = padded(rows)
      assert.deepStrictEqual(values.slice(0, count), rows)
      assert.isTrue(values.slice(count).every((value) => value === count - 1))
      assert.isAtMost(values.length, 1.25 * count)
      sizes.add(values.length)
    }
    assert.isAtMost(sizes.size, 40)
    assert.deepStrictEqual(padded([]), [])
  })

  for (const count of [1, 3, 100, 333, 1024, 1025]) {
    it.effect(`${count} chats are stored at once, and updated at once`, () =>
      Effect.gen(function* () {
        const store = yield* ChatStore.ChatStore
        const recordOf = (at: number) => (_: unknown, index: number) =>
          ChatRecord.make(ChatId.make(index + 1), at, { member_at: 1, title: { at, value: `chat ${index} at ${at}` } })
        yield* store.upsert(Array.from({ length: count }, recordOf(1)))
        yield* store.upsert(Array.from({ length: count }, recordOf(2)))
        const { chats } = yield* store.page({}, Option.none(), 2000)
        assert.lengthOf(chats, count)
        assert.isTrue(chats.every(({ title }, index) => title === `chat ${index} at 2`))
      }).pipe(Effect.provide(Chats))
    )
  }
})
