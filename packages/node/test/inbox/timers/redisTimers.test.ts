import type { TimerChange } from "@colloquy/core/inbox/InboxStore"
import type * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as databases from "../../support/databases.ts"
import { testRedisInbox } from "../../support/redisInbox.ts"

const timer = (key: string, at = -9, partitionKey = "chat é"): TimerChange => ({
  name: "reminder",
  key,
  set: { due: { at }, partitionKey, fingerprint: key, text: `"${key} 🙂"` }
})

const claim = (maxTimers: number): InboxStore.Claim => ({
  owner: "one",
  leaseDuration: 60_000,
  maxPartitions: 10,
  maxUpdates: 100,
  begin: 0,
  maxTimers
})

describe.skipIf(await databases.isMissing("Redis", 6379))("redisTimers", () => {
  testRedisInbox("moves timers that are due at the same time in the order in which they were set last", (store) =>
    Effect.gen(function* () {
      const keys = ["c", "a", "b", "A\n", "d", ":1"]
      yield* store.timers.change(keys.map((key) => timer(key)))
      yield* store.timers.change([timer("a")])
      const [{ key, updates }] = (yield* store.claim(claim(10))) as readonly [InboxStore.Partition]
      assert.strictEqual(key, "chat é")
      assert.deepStrictEqual(
        updates.map(({ update }) => [update.fingerprint, update.text, update.receivedAt]),
        ["c", "b", "A\n", "d", ":1", "a"].map((key) => [key, `"${key} 🙂"`, -9])
      )
      assert.strictEqual((yield* store.stats).queued, 6)
    })
  )

  testRedisInbox(
    "makes a timer that was overwritten in Redis an update that cannot be decoded, and moves the others",
    (store, redis, prefix) =>
      Effect.gen(function* () {
        yield* store.timers.change([timer("damaged", -9), timer("removed", -8), timer("kept", -7)])
        const ids = yield* redis.send<ReadonlyArray<string>>("HKEYS", `${prefix}:timers`)
        yield* redis.send(
          "HSET",
          `${prefix}:timers`,
          ids.find((id) => id.endsWith("damaged"))!,
          "not a timer"
        )
        yield* redis.send(
          "HDEL",
          `${prefix}:timers`,
          ids.find((id) => id.endsWith("removed"))!
        )
        const partitions = yield* store.claim(claim(10))
        assert.deepStrictEqual(
          partitions.map(({ key, updates }) => [key, updates.map(({ update }) => update.text)]),
          [
            ["", ["not a timer"]],
            ["chat é", [`"kept 🙂"`]]
          ]
        )
        assert.isUndefined(yield* store.timers.untilNext)
      })
  )

  testRedisInbox("replaces and cancels a timer that was overwritten in Redis", (store, redis, prefix) =>
    Effect.gen(function* () {
      yield* store.timers.change([timer("a"), timer("b")])
      for (const id of yield* redis.send<ReadonlyArray<string>>("HKEYS", `${prefix}:timers`)) {
        yield* redis.send("HSET", `${prefix}:timers`, id, "not a timer")
      }
      yield* store.timers.change([timer("a", -5), { name: "reminder", key: "b", set: undefined }])
      const partitions = yield* store.claim(claim(10))
      assert.deepStrictEqual(
        partitions.map(({ updates }) => updates.map(({ update }) => update.receivedAt)),
        [[-5]]
      )
    })
  )
})
