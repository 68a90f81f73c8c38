import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { RedisInboxStore } from "@colloquy/node"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import * as databases from "../support/databases.ts"
import { compareWithMemory } from "../support/inboxModel.ts"

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
      `have an index entry for each journal, value and timer, and no other, after random operations (${seed})`,
      () =>
        Effect.suspend(() => {
          const prefix = databases.uniqueName()
          return Effect.gen(function* () {
            const store = yield* InboxStore.InboxStore
            yield* compareWithMemory(store, seed, 400)
            const { read } = yield* dump(prefix)

            const journals = yield* read("journal:", "HGETALL")
            const journaled = (yield* read("journaled", "SMEMBERS")).get("") ?? []
            const queues = yield* read("queue:", "LRANGE", "0", "-1")
            const letters = (yield* read("dead_letters", "ZRANGE", "0", "-1")).get("") ?? []
            assert.deepStrictEqual([...journals.keys()].toSorted(), [...journaled].toSorted())
            const ids = new Set([...letters, ...[...queues.values()].flat()])
            for (const id of journaled) assert.isTrue(ids.has(id), `the journal of ${id} is left behind`)

            const hasJournals = yield* read("has_journals", "GET")
            assert.strictEqual(hasJournals.size, journaled.length === 0 ? 0 : 1)

            const states = yield* read("state:", "HGETALL")
            const scopes = yield* read("state_scopes:", "ZRANGE", "0", "-1")
            assert.deepStrictEqual([...states.keys()].toSorted(), [...scopes.keys()].toSorted())
            const members: Array<string> = []
            const expiring: Array<string> = []
            const ofUsers: Array<string> = []
            for (const [name, flat] of states) {
              const values = pairs(flat)
              assert.deepStrictEqual(values.map(([scope]) => scope).toSorted(), [...scopes.get(name)!].toSorted())
              for (const [scope, value] of values) {
                const member = `${Buffer.byteLength(name)}:${name}${scope}`
                members.push(member)
                const [, expiresAt] = /^[^,;]+,\d+,(\d*);/.exec(value)!
                if (expiresAt !== "") expiring.push(`${expiresAt} ${member}`)
                const user = /user:\d+$/.exec(scope)?.[0]
                if (user !== undefined) ofUsers.push(`${user} ${member}`)
              }
            }
            assert.isAbove(members.length, 0)
            const ends = pairs((yield* read("state_ends", "ZRANGE", "0", "-1", "WITHSCORES")).get(""))
            assert.deepStrictEqual(ends.map(([member, end]) => `${end} ${member}`).toSorted(), expiring.toSorted())
            const users = [...(yield* read("state_users:", "SMEMBERS"))]
            assert.deepStrictEqual(
              users.flatMap(([user, all]) => all.map((member) => `${user} ${member}`)).toSorted(),
              ofUsers.toSorted()
            )

            const timers = pairs((yield* read("timers", "HGETALL")).get(""))
            const due = (yield* read("timers_due", "ZRANGE", "0", "-1")).get("") ?? []
            const [, first] = (yield* read("timers_due", "ZRANGE", "0", "0", "WITHSCORES")).get("") ?? []
            assert.strictEqual(String((yield* read("next_timer", "GET")).get("")), first)
            assert.isAbove(timers.length, 0)
            assert.deepStrictEqual(
              timers.map(([id, timer]) => `${/^\d+/.exec(timer)![0]}:${id}`).toSorted(),
              [...due].toSorted()
            )
          }).pipe(
            Effect.provide(Layer.provideMerge(RedisInboxStore.layer({ prefix }), databases.redisPrefix(`{${prefix}:`)))
          )
        })
    )
  }
})
