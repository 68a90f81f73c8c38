import type { InboxStore, Row } from "@colloquy/core/inbox/InboxStore"
import { StoreError } from "@colloquy/core/base/StoreError"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { batchReads } from "../../src/inbox/internal/batchedReads.ts"

const keyOf = (user: number): string => `user:${user}`

const storedOf = (key: string): Row => ({ key, text: key, revision: "1" })

/** A store that records the keys of each query. */
const recording = (get: InboxStore["Service"]["read"] = (keys) => Effect.succeed(keys.map(storedOf))) => {
  const queries: Array<ReadonlyArray<string>> = []
  const read = batchReads((keys) => {
    queries.push(keys)
    return get(keys)
  })
  return { queries, read }
}

const all = { concurrency: "unbounded" } as const

describe("reading rows together", () => {
  it.effect("rows that several fibers ask for in one turn are read by one query", () =>
    Effect.gen(function* () {
      const { queries, read } = recording()
      const values = yield* Effect.forEach([1, 2, 3], (user) => read([keyOf(user)]), all)
      assert.deepStrictEqual(
        values,
        [1, 2, 3].map((user) => [storedOf(keyOf(user))])
      )
      assert.deepStrictEqual(queries, [["user:1", "user:2", "user:3"]])
      yield* read([keyOf(4)])
      assert.lengthOf(queries, 2)
    })
  )

  it.effect("a failure of the query is the failure of each read, and not of later ones", () =>
    Effect.gen(function* () {
      const failure = new StoreError({ store: "inbox", operation: "read", reason: "no", isRetryable: true })
      let isDown = true
      const { queries, read } = recording((keys) =>
        isDown ? Effect.fail(failure) : Effect.succeed(keys.map(storedOf))
      )
      const errors = yield* Effect.forEach([1, 2], (user) => Effect.flip(read([keyOf(user)])), all)
      assert.deepStrictEqual(errors, [failure, failure])
      isDown = false
      assert.deepStrictEqual(yield* read([keyOf(1)]), [storedOf(keyOf(1))])
      assert.lengthOf(queries, 2)
    })
  )

  it.effect("an interrupted read does not end the query of the others", () =>
    Effect.gen(function* () {
      const { queries, read } = recording((keys) => Effect.as(Effect.yieldNow, keys.map(storedOf)))
      const first = yield* Effect.forkChild(read([keyOf(1)]), { startImmediately: true })
      const second = yield* Effect.forkChild(read([keyOf(2)]), { startImmediately: true })
      yield* Fiber.interrupt(first)
      assert.deepStrictEqual(yield* Fiber.join(second), [storedOf(keyOf(2))])
      assert.deepStrictEqual(queries, [["user:2"]])
    })
  )
})
