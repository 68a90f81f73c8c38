import type { TimerChange } from "@colloquy/core/inbox/InboxStore"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as SoonerTimers from "../../../src/inbox/internal/timers/soonerTimers.ts"
import { acknowledge, claim, enqueue, update } from "../../support/inboxRequests.ts"
import { databases } from "../../support/sharedStores.ts"

const set = (key: string, due: { readonly at: number } | { readonly after: number }): TimerChange => ({
  name: "reminder",
  key,
  set: { due, partitionKey: "chat", fingerprint: key, text: "{}" }
})

const cancelled: TimerChange = { name: "reminder", key: "cancelled", set: undefined }

describe("Other processes are woken up", () => {
  it.effect("for each timer that is due before the last one that they were told of, or after that one was due", () =>
    Effect.gen(function* () {
      let wakes = 0
      const waking = SoonerTimers.make(Effect.sync(() => void wakes++))
      const change = (...changes: ReadonlyArray<TimerChange>) => Effect.as(waking(Effect.void, changes), undefined)
      const wakesAfter = (effect: Effect.Effect<unknown>) =>
        Effect.map(effect, () => {
          const count = wakes
          wakes = 0
          return count
        })
      assert.strictEqual(yield* wakesAfter(change(set("a", { after: 60_000 }), set("b", { at: 30_000 }))), 1)
      assert.strictEqual(yield* wakesAfter(change(set("c", { at: 30_000 }), set("d", { after: 31_000 }))), 0)
      assert.strictEqual(yield* wakesAfter(change(cancelled)), 0)
      assert.strictEqual(yield* wakesAfter(waking(Effect.void, undefined)), 0)
      assert.strictEqual(yield* wakesAfter(change(set("e", { after: 29_000 }))), 1)
      yield* TestClock.adjust("29 seconds")
      assert.strictEqual(yield* wakesAfter(change(set("f", { after: 60_000 }))), 1)
      assert.strictEqual(yield* wakesAfter(Effect.exit(waking(Effect.fail("no"), [set("g", { after: 1 })]))), 0)
    })
  )

  for (const { isMissing, kind, opened } of databases) {
    it.live.skipIf(isMissing)(`by a store in ${kind} for the next timer, also if a commit sets it`, () =>
      Effect.gen(function* () {
        const { another, store } = yield* opened
        const other = yield* another
        let wakes = 0
        yield* other.listen!(() => void wakes++)
        const woken = (count: number) =>
          Effect.repeat(Effect.sleep("2 millis"), { until: () => wakes >= count, times: 5000 })
        yield* store.timers.change([set("a", { after: 60_000 })])
        yield* woken(1)
        yield* enqueue(store, update("chat"))
        yield* woken(2)
        const [partition] = yield* store.claim(claim("owner"))
        const before = wakes
        assert.deepStrictEqual(
          yield* store.commit([acknowledge("owner", partition!, { timers: [set("b", { after: 30_000 })] })]),
          ["applied"]
        )
        yield* woken(before + 1)
        assert.isAbove(wakes, before)
      }).pipe(Effect.scoped)
    )
  }
})
