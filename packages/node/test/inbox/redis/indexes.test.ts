import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { RedisInboxStore } from "@colloquy/node"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import * as databases from "../../support/databases.ts"
import { compareWithMemory } from "../../support/inboxModel.ts"

/** What the keys of a store hold, by the name of the key without its prefix. */
const dump = Effect.fnUntraced(function* (prefix: string) {
  const redis = yield* Redis.Redis
  const found = yield* redis.send<ReadonlyArray<string>>("KEYS", `{${prefix}:inbox}:*`)
  const withPrefix = (part: string) => {
    const start = `{${prefix}:inbox}:${part}`
    return found.filter((key) => (part.endsWith(":") ? key.startsWith(start) : key === start))
  }
  const rest = (key: string, part: string) => key.slice(`{${prefix}:inbox}:${part}`.length)
  const read = (part: string, name: string, ...args: ReadonlyArray<string>) =>
    Effect.map(
      Effect.forEach(withPrefix(part), (key) =>
        Effect.map(
          redis.send<ReadonlyArray<string>>(
            "EVAL",
            `return redis.call("${name}", KEYS[1], unpack(ARGV))`,
            "1",
            key,
            ...args
          ),
          (values) => [rest(key, part), values] as const
        )
      ),
      (all) => new Map(all)
    )
  return { read }
})

const pairs = (flat: ReadonlyArray<string> = []): ReadonlyArray<readonly [string, string]> =>
  Array.from({ length: flat.length / 2 }, (_, index) => [flat[index * 2]!, flat[index * 2 + 1]!])

describe.skipIf(await databases.isMissing("Redis", 6379))("the keys of an inbox in Redis", () => {
  for (const seed of [11, 12, 13, 15]) {
    it.live(
      `have an index entry for each update, journal and row, and no other, after random operations (${seed})`,
      () =>
        Effect.suspend(() => {
          const prefix = databases.uniqueName()
          return Effect.gen(function* () {
            const store = yield* InboxStore.InboxStore
            yield* compareWithMemory(store, seed, 400)
            const { read } = yield* dump(prefix)

            const all = (part: string, name: string, ...args: ReadonlyArray<string>) =>
              Effect.map(read(part, name, ...args), (found) => found.get("") ?? [])
            const sorted = (part: string) =>
              Effect.map(all(part, "ZRANGE", "0", "-1", "WITHSCORES"), (flat) =>
                pairs(flat).map(([member, score]) => `${score} ${member}`)
              )

            const updates = yield* all("updates", "HKEYS")
            const queues = yield* read("queue:", "LRANGE", "0", "-1")
            assert.deepStrictEqual([...queues.values()].flat().toSorted(), updates.toSorted())
            for (const id of yield* all("marks", "HKEYS")) assert.include(updates, id)
            const letters = yield* all("dead_letters", "ZRANGE", "0", "-1")
            assert.deepStrictEqual((yield* all("failures", "HKEYS")).toSorted(), letters.toSorted())
            assert.deepStrictEqual(
              (yield* all("dead_letters_by_time", "ZRANGE", "0", "-1")).toSorted(),
              letters.toSorted()
            )
            const journaled = yield* all("journaled", "SMEMBERS")
            assert.deepStrictEqual([...(yield* read("journal:", "HLEN")).keys()].toSorted(), journaled.toSorted())
            for (const id of journaled) assert.include([...letters, ...updates], id)

            const expiring: Array<string> = []
            const due: Array<string> = []
            const ofUsers: Array<string> = []
            const rows = pairs(yield* all("rows", "HGETALL"))
            assert.isAbove(rows.length, 0)
            for (const [key, row] of rows) {
              const [, dueAt, expiresAt, user] = /^(-?\d*),[\w.-]+,(\d*),([^;]*);/.exec(row)!
              if (dueAt !== "") due.push(`${dueAt} ${key}`)
              if (expiresAt !== "") expiring.push(`${expiresAt} ${key}`)
              if (user !== "") ofUsers.push(`${user} ${key}`)
            }
            const keys = rows.map(([key]) => key).toSorted()
            assert.deepStrictEqual((yield* all("row_keys", "ZRANGE", "0", "-1")).toSorted(), keys)
            assert.deepStrictEqual((yield* sorted("expiring")).toSorted(), expiring.toSorted())
            assert.deepStrictEqual((yield* sorted("due")).toSorted(), due.toSorted())
            assert.lengthOf(yield* all("due_partitions", "HKEYS"), due.length)
            const users = [...(yield* read("users:", "ZRANGE", "0", "-1"))]
            assert.deepStrictEqual(
              users.flatMap(([user, all]) => all.map((key) => `${user} ${key}`)).toSorted(),
              ofUsers.toSorted()
            )
          }).pipe(
            Effect.provide(Layer.provideMerge(RedisInboxStore.layer({ prefix }), databases.redisPrefix(`{${prefix}:`)))
          )
        })
    )
  }
})
