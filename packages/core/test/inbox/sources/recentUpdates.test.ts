import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import { Inbox, Update } from "../../../src/index.ts"
import { type Hooks, hooks } from "../../../src/inbox/internal/hooks.ts"
import * as InboxStore from "../../../src/inbox/InboxStore.ts"
import * as QueuedUpdate from "../../../src/inbox/QueuedUpdate.ts"

const textOf = (chat_id: number, first_name = "Ann") =>
  JSON.stringify({
    update_type: "bot_started",
    timestamp: 1,
    chat_id,
    user: { user_id: 1, first_name, is_bot: false }
  })

const received = (text: string): Inbox.Received => ({ decoded: Update.parse(text), text })

/** A store that returns updates as a database does: with their texts only. `change` changes what it returns. */
const stored = (change: (update: QueuedUpdate.QueuedUpdate) => Partial<QueuedUpdate.QueuedUpdate> = () => ({})) =>
  Layer.effect(
    InboxStore.InboxStore,
    Effect.map(InboxStore.makeMemory, (store) => ({
      ...store,
      isShared: true,
      claim: (claim: InboxStore.Claim) =>
        Effect.map(store.claim(claim), (partitions) =>
          partitions.map(({ key, updates }) => ({
            key,
            updates: updates.map((claimed) => {
              const { fingerprint, partitionKey, receivedAt, text } = claimed.update
              const update = { fingerprint, partitionKey, receivedAt, text, ...change(claimed.update) }
              return { ...claimed, update: QueuedUpdate.fromStored(update) }
            })
          }))
        )
    }))
  )

const claimAll = (claim: Hooks["claim"], maxPartitions = 10_000) =>
  Effect.map(claim({ owner: "one", leaseDuration: 10_000, maxPartitions, maxUpdates: 10, begin: 0 }), (partitions) =>
    partitions.flatMap(({ updates }) => updates.map(({ update }) => update))
  )

describe("recentUpdates", () => {
  it.effect("An update that this process has stored is not decoded again when the process claims it.", () =>
    Effect.gen(function* () {
      const inbox = yield* Inbox.Inbox
      const update = received(textOf(1))
      yield* inbox.receive([update])
      const [claimed] = yield* claimAll(inbox[hooks].claim)
      assert.strictEqual(claimed!.decoded, update.decoded)
      assert.strictEqual(claimed!.text, textOf(1))
    }).pipe(Effect.provide(Layer.provide(Inbox.layer(), stored())))
  )

  it.effect("An update that is stored with another text is decoded from its text.", () =>
    Effect.gen(function* () {
      const inbox = yield* Inbox.Inbox
      yield* inbox.receive([received(textOf(1, "Ann"))])
      const [claimed] = yield* claimAll(inbox[hooks].claim)
      assert.deepStrictEqual(claimed!.decoded, Update.parse(textOf(1, "Bob")))
    }).pipe(
      Effect.provide(
        Layer.provide(
          Inbox.layer(),
          stored(() => ({ text: textOf(1, "Bob") }))
        )
      )
    )
  )

  it.effect("A second delivery of an update does not replace the stored update.", () =>
    Effect.gen(function* () {
      const inbox = yield* Inbox.Inbox
      yield* inbox.receive([received(textOf(1))])
      yield* TestClock.adjust("1 second")
      yield* inbox.receive([received(textOf(1))])
      const [claimed] = yield* claimAll(inbox[hooks].claim)
      assert.strictEqual(claimed!.receivedAt, 0)
      assert.isTrue(Result.isSuccess(claimed!.decoded))
    }).pipe(Effect.provide(Layer.provide(Inbox.layer(), stored())))
  )

  it.effect("The number of updates in memory is limited; they are replaced after 10 seconds.", () =>
    Effect.gen(function* () {
      const inbox = yield* Inbox.Inbox
      const updates = Array.from({ length: 4001 }, (_, index) => received(textOf(1 + index)))
      yield* inbox.receive(updates)
      yield* TestClock.adjust("10 seconds")
      const late = received(textOf(5000))
      yield* inbox.receive([late])
      const claimed = yield* claimAll(inbox[hooks].claim)
      const isKept = claimed.map(({ decoded }, index) => decoded === (updates[index] ?? late).decoded)
      assert.deepStrictEqual(
        isKept.flatMap((kept, index) => (kept ? [] : [index])),
        [0, 4000]
      )
    }).pipe(Effect.provide(Layer.provide(Inbox.layer(), stored())))
  )
})
