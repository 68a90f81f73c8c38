import { QueuedUpdate } from "@colloquy/core"
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { assert } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { change } from "./inboxRequests.ts"

const members = 3
const batches = 100
const perBatch = 2
const keys = 2
const total = members * batches * perBatch

/** The partition key of an update. Every member enqueues to the partitions in a different order. */
const keyOf = (member: number, index: number) => `key ${(index * (member + 1) + (index >> 3)) % keys}`

const updatesOf = (member: number, batch: number) =>
  Array.from({ length: perBatch }, (_, place) => {
    const index = batch * perBatch + place
    const fingerprint = `${member}:${index}`
    return QueuedUpdate.fromStored({
      fingerprint,
      partitionKey: keyOf(member, index),
      receivedAt: index,
      text: fingerprint
    })
  })

/**
 * Several members, each with its own connection to the same store, enqueue updates of a few partitions and handle updates
 * concurrently. Every update has to be handled once, in the order of the member that enqueued it, and a partition by one
 * member at a time.
 */
export const contend = <E>(store: Layer.Layer<InboxStore.InboxStore, E>) =>
  Effect.gen(function* () {
    const stores = yield* Effect.forEach(
      Array.from({ length: members }),
      () => Effect.map(Layer.build(Layer.fresh(store)), Context.get(InboxStore.InboxStore)),
      { concurrency: "unbounded" }
    )
    const handled = new Map<string, Array<string>>()
    const busy = new Set<string>()
    let enqueued = 0
    let count = 0

    // In the second half, partitions become empty often, so updates arrive while the last update of a partition is acknowledged.
    const produce = Effect.fnUntraced(function* (member: number) {
      for (let batch = 0; batch < batches; batch++) {
        const updates = updatesOf(member, batch)
        while (batch > batches / 2 && enqueued > count) yield* Effect.sleep("1 millis")
        enqueued += updates.length
        yield* stores[member].enqueue({ updates, deadLetters: [], now: 0, duplicatesSince: -1 })
      }
    })

    const consume = Effect.fnUntraced(function* (member: number) {
      const owner = `member ${member}`
      while (count < total) {
        const claimed = yield* stores[member].claim({
          owner,
          leaseDuration: 3_600_000,
          maxPartitions: 2,
          maxUpdates: 2,
          begin: 1
        })
        if (claimed.length === 0) yield* Effect.sleep("1 millis")
        for (const { key, updates } of claimed) {
          assert.isFalse(busy.has(key))
          busy.add(key)
          for (const [index, { id, update }] of updates.entries()) {
            handled.set(key, [...(handled.get(key) ?? []), update.fingerprint])
            count++
            const release = index === updates.length - 1
            if (release) busy.delete(key)
            yield* stores[member].commit([change(owner, key, { completed: [{ id }], release })])
          }
        }
      }
    })

    const all = Array.from({ length: members }, (_, member) => member)
    yield* Effect.forEach(all, (member) => Effect.all([produce(member), consume(member)], { concurrency: 2 }), {
      concurrency: "unbounded",
      discard: true
    }).pipe(
      Effect.timeoutOrElse({
        duration: "200 seconds",
        orElse: () => Effect.sync(() => assert.fail(`${count} of ${total} updates were handled`))
      })
    )

    assert.deepStrictEqual(yield* stores[0].stats, { queued: 0, oldestReceivedAt: undefined, deadLetters: 0 })
    for (const [key, fingerprints] of handled) {
      for (const member of all) {
        const numbers = fingerprints.flatMap((one) => {
          const [from, index] = one.split(":").map(Number)
          return from === member ? [index] : []
        })
        const expected = Array.from({ length: batches * perBatch }, (_, index) => index).filter(
          (index) => keyOf(member, index) === key
        )
        assert.deepStrictEqual(numbers, expected)
      }
    }
  }).pipe(Effect.scoped)
