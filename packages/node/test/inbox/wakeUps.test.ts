import type * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { acknowledge, claim, enqueue, update } from "../support/inboxRequests.ts"
import { databases } from "../support/sharedStores.ts"

const set = (key: string, after: number): InboxStore.RowWrite => ({
  key: `timer/reminder/${key}`,
  row: { text: "{}", due: { time: { after }, partitionKey: "chat" } },
  revision: key
})

describe("Other processes are woken up", () => {
  for (const { isMissing, kind, opened } of databases) {
    it.live.skipIf(isMissing)(`by a store in ${kind} for the next due row, also if a commit writes the row`, () =>
      Effect.gen(function* () {
        const { another, store } = yield* opened
        const other = yield* another
        let wakes = 0
        yield* other.listen!(() => void wakes++)
        const woken = (count: number) =>
          Effect.repeat(Effect.sleep("2 millis"), { until: () => wakes >= count, times: 5000 })
        yield* store.write([{ rows: [set("a", 60_000)] }])
        yield* woken(1)
        // Later than the row that the others know of.
        yield* store.write([{ rows: [set("later", 61_000)] }])
        yield* enqueue(store, update("chat"))
        yield* woken(2)
        const [partition] = yield* store.claim(claim("owner"))
        const before = wakes
        assert.deepStrictEqual(yield* store.commit([acknowledge("owner", partition!, { rows: [set("b", 30_000)] })]), [
          "applied"
        ])
        yield* woken(before + 1)
        assert.isAbove(wakes, before)
      }).pipe(Effect.scoped)
    )
  }
})
