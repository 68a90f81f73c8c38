import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Bot, Inbox, type Update } from "../../../src/index.ts"
import * as StoreError from "../../../src/base/StoreError.ts"
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
      // Whether the store has the first update is not known, so the chat is claimed again, and its second update begins again.
      assert.deepStrictEqual(begun, [1, 2, 3, 2])
      assert.strictEqual((yield* memory.stats).queued, 0)
    })
  )

  it.effect("does not bring back the lease of a chat that is still handled, which another process may have had", () =>
    Effect.gen(function* () {
      const memory = yield* InboxStore.makeMemory
      let firstOwner: string | undefined
      let isLate = false
      const completedBy: Array<string> = []
      // Nothing is renewed, and a claim arrives after the leases of its process have ended.
      const reason = "switched off"
      const failure = new StoreError.StoreError({ store: "inbox", operation: "renew", reason, isRetryable: true })
      const renew: typeof memory.renew = () => Effect.fail(failure)
      const claim: typeof memory.claim = (request) => {
        const claimed = isLate ? Effect.delay(memory.claim(request), "15 seconds") : memory.claim(request)
        isLate = false
        return Effect.tap(claimed, ({ length }) => Effect.sync(() => length > 0 && (firstOwner ??= request.owner)))
      }
      const commit: typeof memory.commit = (commits) => {
        for (const { completed, owner } of commits) if (completed.length > 0) completedBy.push(owner)
        return memory.commit(commits)
      }
      const begun: Array<number> = []
      const handle = Effect.fnUntraced(function* (update: Update.Update) {
        begun.push(timeOf(update))
        if (begun.length > 1) return
        isLate = true
        yield* Inbox.Inbox.use((inbox) => inbox.receive([started(2, 2)]))
        yield* Effect.sleep("12 seconds")
      })
      yield* Bot.run(handle, { concurrency: 4 }).pipe(
        Effect.provide(Layer.provideMerge(source([started(1, 1)]), Inbox.layer({ leaseDuration: "10 seconds" }))),
        Effect.provideService(InboxStore.InboxStore, { ...memory, isShared: true, claim, commit, renew }),
        Effect.timeoutOption("1 minute"),
        inTime
      )
      assert.deepStrictEqual([...begun].sort(), [1, 1, 2])
      assert.notInclude(completedBy, firstOwner)
      assert.strictEqual((yield* memory.stats).queued, 0)
    })
  )

  it.effect("has another name than the commits of a lease that was lost", () =>
    Effect.gen(function* () {
      const memory = yield* InboxStore.makeMemory
      const applied = yield* Deferred.make<ReadonlyArray<InboxStore.CommitResult>, StoreError.StoreError>()
      let late: ReadonlyArray<InboxStore.Commit> | undefined
      let isLost = false
      // A replica without the lease was promoted. The commit is on its way until the chat is claimed again.
      const commit: typeof memory.commit = (commits) => {
        if (late !== undefined || !commits.some(({ completed }) => completed.length > 0)) return memory.commit(commits)
        late = commits
        return Effect.tap(Deferred.await(applied), Effect.sleep("2 seconds"))
      }
      const renew: typeof memory.renew = (owner, leaseDuration) => {
        if (isLost || late === undefined) return memory.renew(owner, leaseDuration)
        isLost = true
        return Effect.as(memory.renew(owner, 0), [])
      }
      const claim: typeof memory.claim = (request) =>
        Effect.tap(memory.claim(request), (claimed) => {
          if (late === undefined || claimed.length === 0) return Effect.void
          return Deferred.complete(applied, memory.commit(late))
        })
      const begun: Array<number> = []
      yield* Bot.run((update) => Effect.sync(() => begun.push(timeOf(update)))).pipe(
        Effect.provide(Layer.provideMerge(source([started(1, 1), started(1, 2)]), Inbox.layer())),
        Effect.provideService(InboxStore.InboxStore, { ...memory, isShared: true, claim, commit, renew }),
        Effect.timeoutOption("2 minutes"),
        inTime
      )
      // The late commit is not applied to the new lease, so the first update is handled again.
      assert.deepStrictEqual(begun, [1, 1, 2])
      assert.strictEqual((yield* memory.stats).queued, 0)
      assert.deepStrictEqual(yield* Deferred.await(applied), ["leaseLost"])
    })
  )
})
