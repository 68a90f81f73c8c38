import type { RowContent, RowWrite } from "@colloquy/core/inbox/InboxStore"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as databases from "../../support/databases.ts"
import { claim } from "../../support/inboxRequests.ts"
import { testRedisInbox } from "../../support/redisInbox.ts"

const row = (key: string, content: Partial<RowContent> = {}, expected: string | null = null): RowWrite => ({
  key,
  row: { text: "{}", ...content },
  revision: `r.${key.length}`,
  expected
})

const due = (key: string, at: number): RowWrite =>
  row(key, { text: `"${key} 🙂"`, due: { time: { at }, partitionKey: "chat é" } })

describe.skipIf(await databases.isMissing("Redis", 6379))("rows in Redis", () => {
  testRedisInbox("are read and deleted by several scripts if they are thousands", (store) =>
    Effect.gen(function* () {
      const keys = Array.from({ length: 2100 }, (_, index) => `a/${index}`)
      const content = { user: "user:1", expiresAt: 5, due: { time: { at: 1e13 }, partitionKey: "chat" } }
      const rows = [...keys.map((key) => row(key, content)), row("b/1", { user: "user:1" }), row("a/none")]
      const readAll = Effect.fnUntraced(function* (by: "due" | "key", prefix: string) {
        const first = yield* store.rows({ prefix, by, limit: 1100 })
        const rest = yield* store.rows({ prefix, by, after: first.at(-1)!, limit: 1100 })
        return [...first, ...rest].map(({ key }) => key)
      })
      assert.deepStrictEqual(yield* store.write([{ rows }]), ["applied"])
      assert.deepStrictEqual(yield* readAll("key", "a/"), [...keys, "a/none"].toSorted())
      assert.deepStrictEqual(yield* readAll("due", ""), keys.toSorted())
      assert.strictEqual(yield* store.forget({ user: "user:1", prefix: "a/" }), 2100)
      assert.deepStrictEqual(yield* readAll("key", ""), ["a/none", "b/1"])
      yield* store.write([{ rows: keys.map((key) => row(key, content)) }])
      const cleanup = (rowsBefore: number) => store.cleanup({ fingerprintsBefore: 0, deadLettersBefore: 0, rowsBefore })
      yield* cleanup(5)
      assert.lengthOf(yield* store.rows({ prefix: "", by: "key", limit: 3000 }), 2102)
      yield* cleanup(6)
      assert.deepStrictEqual(yield* readAll("key", ""), ["a/none", "b/1"])
      assert.isUndefined(yield* store.untilNext)
    })
  )

  testRedisInbox("that were overwritten by hand are returned as they are, and replaced", (store, redis, prefix) =>
    Effect.gen(function* () {
      yield* store.write([{ rows: [row("a"), row("b", { user: "user:1" })] }])
      yield* redis.send("HSET", `${prefix}:rows`, "a", "not a row", "b", "")
      assert.deepStrictEqual(yield* store.read(["a", "b"]), [
        { key: "a", text: "not a row", revision: "-" },
        { key: "b", text: "", revision: "-" }
      ])
      assert.deepStrictEqual(yield* store.write([{ rows: [row("a", {}, "r.1")] }, { rows: [row("b")] }]), [
        "conflict",
        "conflict"
      ])
      assert.deepStrictEqual(yield* store.write([{ rows: [row("a", {}, "-"), row("b", {}, "-")] }]), ["applied"])
      assert.deepStrictEqual(
        (yield* store.read(["a", "b"])).map((stored) => stored?.text),
        ["{}", "{}"]
      )
    })
  )

  testRedisInbox(
    "that are due and were overwritten by hand become updates that cannot be decoded, beside the others",
    (store, redis, prefix) =>
      Effect.gen(function* () {
        yield* store.write([{ rows: [due("damaged", -9), due("removed", -8), due("lost", -7), due("kept", -6)] }])
        yield* redis.send("HSET", `${prefix}:rows`, "damaged", "not a row")
        yield* redis.send("HDEL", `${prefix}:rows`, "removed")
        yield* redis.send("HDEL", `${prefix}:due_partitions`, "lost")
        const partitions = yield* store.claim(claim("one", { maxDue: 10 }))
        assert.deepStrictEqual(
          partitions.map(({ key, updates }) => [key, updates.map(({ update }) => [update.text, update.receivedAt])]),
          [
            [
              "chat é",
              [
                ["not a row", -9],
                [`"kept 🙂"`, -6]
              ]
            ],
            ["", [[`"lost 🙂"`, -7]]]
          ]
        )
        assert.strictEqual((yield* store.stats).queued, 3)
        yield* store.renew("one", 0)
        assert.strictEqual(yield* store.untilNext, 0)
      })
  )
})
