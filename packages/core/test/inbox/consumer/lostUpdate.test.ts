import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { Bot, Inbox, Journal, type Update } from "../../../src/index.ts"
import * as InboxStore from "../../../src/inbox/InboxStore.ts"
import { inTime, source, started, timeOf } from "../../support/deliveries.ts"

describe("an update that the store has lost while it is handled", () => {
  it.effect("does not keep later updates of its chat waiting, although the lease of the chat is held", () =>
    Effect.gen(function* () {
      const memory = yield* InboxStore.makeMemory
      let owner = ""
      const store: InboxStore.InboxStore["Service"] = {
        ...memory,
        isShared: true,
        claim: (claim) => {
          owner = claim.owner
          return memory.claim(claim)
        }
      }
      const completed = Effect.suspend(() =>
        memory.commit([{ owner, partitionKey: "1", completed: [{ id: "1" }], failed: [], begun: [], release: false }])
      )
      const begun: Array<number> = []
      const done: Array<number> = []
      const handle = (update: Update.Update) =>
        Effect.gen(function* () {
          const time = timeOf(update)
          begun.push(time)
          if (time === 1) yield* completed
          yield* Journal.step("step", Schema.Int, Effect.succeed(time))
          done.push(time)
        })
      yield* Bot.run(handle, { retry: Schedule.spaced("1 second") }).pipe(
        Effect.provide(Layer.provideMerge(source([started(1, 1), started(1, 2)]), Inbox.layer())),
        Effect.provideService(InboxStore.InboxStore, store),
        Effect.timeoutOption("1 minute"),
        inTime
      )
      assert.deepStrictEqual(begun, [1, 2])
      assert.deepStrictEqual(done, [2])
      assert.strictEqual((yield* memory.stats).queued, 0)
    })
  )
})
