import type { StateWrite } from "@colloquy/core/inbox/InboxStore"
import { assert, describe } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import * as Effect from "effect/Effect"
import * as databases from "../../support/databases.ts"
import { testRedisInbox } from "../../support/redisInbox.ts"

const write = (scope: string, parts: Partial<StateWrite> = {}): StateWrite => ({
  name: "cart",
  scope,
  value: { text: "{}", version: 1, expiresAt: undefined },
  expected: undefined,
  revision: randomUUID(),
  ...parts
})

describe.skipIf(await databases.isMissing("Redis", 6379))("redisStates", () => {
  testRedisInbox("reads and deletes thousands of values with several scripts", ({ state }) =>
    Effect.gen(function* () {
      const scopes = Array.from({ length: 2100 }, (_, index) => `chat:${index}/user:1`)
      assert.isTrue(yield* state.write(scopes.map((scope) => write(scope))))
      const first = yield* state.page({ name: "cart", limit: 1100 })
      const rest = yield* state.page({ name: "cart", after: first.at(-1)!.scope, limit: 1100 })
      assert.deepStrictEqual([first.length, rest.length], [1100, 1000])
      assert.deepStrictEqual([...first, ...rest].map(({ scope }) => scope).toSorted(), scopes.toSorted())
      assert.strictEqual(yield* state.forget("user:1"), 2100)
      const expiring = { value: { text: "{}", version: 1, expiresAt: 5 } }
      yield* state.write([...scopes.map((scope) => write(scope, expiring)), write("bot")])
      yield* state.cleanup(5)
      assert.lengthOf(yield* state.page({ name: "cart", limit: 3000 }), 2101)
      yield* state.cleanup(6)
      assert.deepStrictEqual(
        (yield* state.page({ name: "cart", limit: 3000 })).map(({ scope }) => scope),
        ["bot"]
      )
    })
  )

  testRedisInbox(
    "returns a value that was overwritten in Redis as it is, and replaces it",
    ({ state }, redis, prefix) =>
      Effect.gen(function* () {
        yield* state.write([write("bot")])
        yield* redis.send("HSET", `${prefix}:state:cart`, "bot", "not a value")
        const damaged = { text: "not a value", version: 0, expiresAt: undefined, revision: "" }
        const [value] = yield* state.get([{ name: "cart", scope: "bot" }])
        assert.deepStrictEqual(value, damaged)
        assert.deepStrictEqual(yield* state.page({ name: "cart", limit: 9 }), [
          { name: "cart", scope: "bot", ...damaged }
        ])
        assert.isTrue(yield* state.write([write("bot", { expected: value!.revision })]))
        assert.deepInclude((yield* state.get([{ name: "cart", scope: "bot" }]))[0], { text: "{}", version: 1 })
      })
  )

  testRedisInbox(
    "gives no value a revision that another one had before Redis lost its data",
    ({ state }, redis, prefix) =>
      Effect.gen(function* () {
        const key = { name: "cart", scope: "bot" }
        const revisions = new Set<string>()
        for (let loss = 0; loss < 3; loss++) {
          for (let index = 0; index < 5; index++) {
            const [before] = yield* state.get([key])
            yield* state.write([write("bot", { expected: before?.revision })])
            revisions.add((yield* state.get([key]))[0]!.revision)
          }
          const keys = yield* redis.send<ReadonlyArray<string>>("KEYS", `${prefix}:*`)
          yield* redis.send("DEL", ...keys)
        }
        assert.strictEqual(revisions.size, 15)
      })
  )
})
