import { InboxStore, Letter } from "@colloquy/core"
import { assert } from "@effect/vitest"
import { Clock, Context, Effect, Layer } from "effect"

const members = 3
const arrivals = 100
const perArrival = 2
const keys = 2
const total = members * arrivals * perArrival

/** Spread over the keys, in another order at each member. */
const keyOf = (member: number, index: number) => `key ${(index * (member + 1) + (index >> 3)) % keys}`

const lettersOf = (member: number, arrival: number) =>
  Array.from({ length: perArrival }, (_, place) => {
    const index = arrival * perArrival + place
    const fingerprint = `${member}:${index}`
    return Letter.fromStored({ fingerprint, key: keyOf(member, index), receivedAt: index, text: fingerprint })
  })

/**
 * Members with a store of their own each, over the same letters, bring letters of a few keys and handle whatever they
 * can get, one by one: each letter is handled once, in the order of its member, and never by two at a time.
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
    let brought = 0
    let count = 0

    // In the second half, mailboxes run empty all the time: a letter comes while the last one of its key is settled.
    const bring = Effect.fnUntraced(function* (member: number) {
      for (let arrival = 0; arrival < arrivals; arrival++) {
        const letters = lettersOf(member, arrival)
        while (arrival > arrivals / 2 && brought > count) yield* Effect.sleep("1 millis")
        brought += letters.length
        yield* stores[member].put({ letters, unreadable: [], now: 0, duplicatesSince: -1 })
      }
    })

    const work = Effect.fnUntraced(function* (member: number) {
      const owner = `member ${member}`
      while (count < total) {
        const now = yield* Clock.currentTimeMillis
        const claimed = yield* stores[member].claim({ owner, now, leaseUntil: now + 60_000, mailboxes: 2, letters: 2 })
        if (claimed.length === 0) yield* Effect.sleep("1 millis")
        for (const { key, letters } of claimed) {
          assert.isFalse(busy.has(key))
          busy.add(key)
          for (const [index, { id, letter }] of letters.entries()) {
            handled.set(key, [...(handled.get(key) ?? []), letter.fingerprint])
            count++
            const release = index === letters.length - 1
            if (release) busy.delete(key)
            yield* stores[member].settle([{ owner, key, letter: { id }, release }])
          }
        }
      }
    })

    const all = Array.from({ length: members }, (_, member) => member)
    yield* Effect.forEach(all, (member) => Effect.all([bring(member), work(member)], { concurrency: 2 }), {
      concurrency: "unbounded",
      discard: true
    }).pipe(
      Effect.timeoutOrElse({
        duration: "40 seconds",
        orElse: () => Effect.sync(() => assert.fail(`${count} of ${total} letters were handled`))
      })
    )

    assert.deepStrictEqual(yield* stores[0].stats, { waiting: 0, oldest: undefined, dead: 0 })
    for (const [key, fingerprints] of handled) {
      for (const member of all) {
        const numbers = fingerprints.flatMap((one) => {
          const [from, index] = one.split(":").map(Number)
          return from === member ? [index] : []
        })
        const expected = Array.from({ length: arrivals * perArrival }, (_, index) => index).filter(
          (index) => keyOf(member, index) === key
        )
        assert.deepStrictEqual(numbers, expected)
      }
    }
  }).pipe(Effect.scoped)
