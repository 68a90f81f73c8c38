import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Bot, Inbox, type Update } from "../../../src/index.ts"
import * as InboxStore from "../../../src/inbox/InboxStore.ts"
import { inTime, source, started, timeOf } from "../../support/deliveries.ts"

describe("a claim that returns a chat of the same process", () => {
  it.effect("does not bring back an update that was acknowledged before the claim is answered", () =>
    Effect.gen(function* () {
      const memory = yield* InboxStore.makeMemory
      let first: ReadonlyArray<InboxStore.Partition> | undefined
      // A replica without the last writes was promoted, so the second claim returns the partition again.
      const claim: typeof memory.claim = (request) =>
        Effect.flatMap(memory.claim(request), (claimed) => {
          if (first === undefined) {
            if (claimed.length > 0) first = claimed
            return Effect.succeed(claimed)
          }
          const again = first
          first = []
          return Effect.delay(Effect.succeed([...again, ...claimed]), "2 seconds")
        })
      const begun: Array<number> = []
      const handle = Effect.fnUntraced(function* (update: Update.Update) {
        begun.push(timeOf(update))
        // Another chat is claimed while the first update is handled.
        if (timeOf(update) === 1) yield* Inbox.Inbox.use((inbox) => inbox.receive([started(2, 3)]))
        yield* Effect.sleep("1500 millis")
      })
      yield* Bot.run(handle, { concurrency: 4 }).pipe(
        Effect.provide(Layer.provideMerge(source([started(1, 1), started(1, 2)]), Inbox.layer())),
        Effect.provideService(InboxStore.InboxStore, { ...memory, isShared: true, claim }),
        Effect.timeoutOption("1 minute"),
        inTime
      )
      assert.deepStrictEqual(begun, [1, 2, 3])
      assert.strictEqual((yield* memory.stats).queued, 0)
    })
  )
})
