import { InboxStore } from "@colloquy/core/InboxStore"
import * as Effect from "effect/Effect"
import { deepStrictEqual, strictEqual } from "node:assert"
import {
  type Case,
  claim,
  fingerprints,
  finish,
  lease,
  letter,
  lettersOf,
  now,
  put,
  settle,
  stats,
  takeAll,
  test
} from "./support.ts"

const extend = (owner: string, leaseUntil: number) => InboxStore.use((store) => store.extend(owner, leaseUntil))

export const claims: ReadonlyArray<Case> = [
  test("an empty store gives nothing", function* () {
    deepStrictEqual(yield* claim("a"), [])
    deepStrictEqual(yield* stats, { waiting: 0, oldest: undefined, dead: 0 })
    yield* settle()
    yield* settle({ owner: "a", key: "none", letter: { id: "1" }, release: true })
    yield* extend("a", now)
  }),

  test("mailboxes come by their first letter, the oldest first, with as many letters as asked for", function* () {
    yield* put([letter("b1", { key: "b" }), letter("a1", { key: "a" }), letter("b2", { key: "b" })])
    yield* put([letter("c1", { key: "c" }), letter("a2", { key: "a" }), letter("b3", { key: "b" })])
    const first = yield* claim("one", { mailboxes: 2, letters: 2 })
    deepStrictEqual(fingerprints(first), [
      ["b1", "b2"],
      ["a1", "a2"]
    ])
    deepStrictEqual(fingerprints(yield* claim("two")), [["c1"]])
    deepStrictEqual(yield* claim("three"), [])
  }),

  test("a mailbox that is given back comes with its next letters, by its next letter's age", function* () {
    yield* put([...lettersOf("a", 3), ...lettersOf("b", 1)])
    const first = yield* claim("one", { letters: 2, mailboxes: 1 })
    yield* finish("one", first)
    deepStrictEqual(fingerprints(yield* claim("two")), [["a:2"], ["b:0"]])
  }),

  test("a letter for a claimed mailbox waits until the mailbox is given back", function* () {
    yield* put([letter("first")])
    const claimed = yield* claim("one")
    yield* put([letter("second")])
    deepStrictEqual(yield* claim("two"), [])
    yield* finish("one", claimed)
    deepStrictEqual(fingerprints(yield* claim("two")), [["second"]])
  }),

  test("a letter for a mailbox that is claimed and empty is not lost", function* () {
    yield* put([letter("first")])
    const [{ key, letters }] = yield* claim("one")
    yield* settle({ owner: "one", key, letter: { id: letters[0].id }, release: false })
    yield* put([letter("second")])
    deepStrictEqual(yield* claim("two"), [])
    yield* settle({ owner: "one", key, release: true })
    deepStrictEqual(fingerprints(yield* claim("two")), [["second"]])
  }),

  test("a mailbox that is given back with its letters comes again", function* () {
    yield* put(lettersOf("chat", 2))
    const [{ key }] = yield* claim("one")
    yield* settle({ owner: "one", key, release: true })
    deepStrictEqual(fingerprints(yield* claim("two")), [["chat:0", "chat:1"]])
  }),

  test("several settlements of one mailbox at once count in their order", function* () {
    yield* put(lettersOf("chat", 4))
    const [{ key, letters }] = yield* claim("one")
    yield* settle(
      { owner: "one", key, letter: { id: letters[0].id }, release: false },
      { owner: "one", key, letter: { id: letters[1].id }, release: true },
      { owner: "one", key, letter: { id: letters[2].id }, release: true }
    )
    deepStrictEqual(fingerprints(yield* claim("two")), [["chat:2", "chat:3"]])
  }),

  test("settlements of many owners at once each count", function* () {
    yield* put(["a", "b", "c"].flatMap((key) => lettersOf(key, 2)))
    const owners = ["one", "two", "three"]
    const claimed = yield* Effect.forEach(owners, (owner) => claim(owner, { mailboxes: 1, letters: 1 }))
    yield* settle(
      ...claimed.flatMap((mailboxes, index) =>
        mailboxes.map(({ key, letters }) => ({
          owner: owners[index],
          key,
          letter: { id: letters[0].id },
          release: true
        }))
      )
    )
    deepStrictEqual(fingerprints(yield* claim("four")), [["a:1"], ["b:1"], ["c:1"]])
  }),

  test("a lease that is over is no lease: another owner gets the letters again, in their order", function* () {
    yield* put(lettersOf("chat", 2))
    yield* claim("one")
    deepStrictEqual(yield* claim("two", { at: now + lease - 1 }), [])
    deepStrictEqual(fingerprints(yield* claim("two", { at: now + lease })), [["chat:0", "chat:1"]])
    deepStrictEqual(yield* claim("one", { at: now + lease }), [])
  }),

  test("what a former owner settles is passed over", function* () {
    yield* put(lettersOf("chat", 2))
    const before = yield* claim("one")
    yield* claim("two", { at: now + lease })
    yield* finish("one", before)
    yield* settle({ owner: "nobody", key: "chat", letter: { id: before[0].letters[0].id }, release: true })
    deepStrictEqual(yield* claim("three", { at: now + lease }), [])
    strictEqual((yield* stats).waiting, 2)
    deepStrictEqual(fingerprints(yield* claim("three", { at: now + 2 * lease })), [["chat:0", "chat:1"]])
  }),

  test("a settled letter is settled once: a second word on it changes nothing", function* () {
    yield* put(lettersOf("chat", 3))
    const [{ key, letters }] = yield* claim("one")
    const settlement = { owner: "one", key, letter: { id: letters[0].id }, release: false }
    yield* settle(settlement, settlement)
    yield* settle(settlement)
    strictEqual((yield* stats).waiting, 2)
  }),

  test("an owner prolongs what it holds, and only that", function* () {
    yield* put([letter("a", { key: "a" }), letter("b", { key: "b" })])
    yield* claim("one", { mailboxes: 1 })
    yield* claim("two", { mailboxes: 1 })
    yield* extend("one", now + 2 * lease)
    deepStrictEqual(fingerprints(yield* claim("three", { at: now + lease })), [["b"]])
    deepStrictEqual(fingerprints(yield* claim("three", { at: now + 2 * lease })), [["a"], ["b"]])
  }),

  test("an owner gives all back by a lease in the past", function* () {
    yield* put([letter("a", { key: "a" }), letter("b", { key: "b" })])
    yield* claim("one")
    yield* extend("one", now - 1)
    deepStrictEqual(fingerprints(yield* claim("two")), [["a"], ["b"]])
  }),

  test("the stats say how many letters wait, claimed ones too, and since when", function* () {
    yield* put([letter("a", { key: "a", receivedAt: now - 2 }), letter("b", { key: "b", receivedAt: now - 1 })])
    deepStrictEqual(yield* stats, { waiting: 2, oldest: now - 2, dead: 0 })
    const claimed = yield* claim("one", { mailboxes: 1 })
    deepStrictEqual(yield* stats, { waiting: 2, oldest: now - 2, dead: 0 })
    yield* finish("one", claimed)
    deepStrictEqual(yield* stats, { waiting: 1, oldest: now - 1, dead: 0 })
  }),

  test("claimers at the same time never share a mailbox, and all is handled once, in order", function* () {
    const keys = Array.from({ length: 20 }, (_, index) => `key ${index}`)
    yield* Effect.forEach(keys, (key) => put(lettersOf(key, 5)), { concurrency: 4, discard: true })
    const holders = new Map<string, string>()
    const handled: Array<string> = []
    const work = Effect.fnUntraced(function* (owner: string) {
      for (;;) {
        const mailboxes = yield* claim(owner, { mailboxes: 3, letters: 2 })
        if (mailboxes.length === 0) return
        for (const { key, letters } of mailboxes) {
          strictEqual(holders.get(key), undefined)
          holders.set(key, owner)
          handled.push(...letters.map(({ letter }) => letter.fingerprint))
        }
        yield* Effect.yieldNow
        for (const { key } of mailboxes) holders.delete(key)
        yield* finish(owner, mailboxes)
      }
    })
    yield* Effect.forEach(["one", "two", "three", "four"], work, { concurrency: "unbounded", discard: true })
    handled.push(...(yield* takeAll()))
    strictEqual(handled.length, 100)
    for (const key of keys) {
      deepStrictEqual(
        handled.filter((fingerprint) => fingerprint.startsWith(`${key}:`)),
        lettersOf(key, 5).map(({ fingerprint }) => fingerprint)
      )
    }
  }),

  test("letters that come while others of their key are settled are never left behind", function* () {
    const handled: Array<string> = []
    const total = 200
    const work = Effect.fnUntraced(function* (owner: string) {
      while (handled.length < total) {
        const mailboxes = yield* claim(owner, { letters: 1 })
        yield* finish(owner, mailboxes)
        handled.push(...fingerprints(mailboxes).flat())
        yield* Effect.yieldNow
      }
    })
    const bring = Effect.forEach(
      Array.from({ length: total }, (_, index) => index),
      (index) => put([letter(`${index}`, { key: `key ${index % 2}` })]),
      { concurrency: 4, discard: true }
    )
    yield* Effect.all([bring, work("one"), work("two")], { concurrency: "unbounded", discard: true })
    strictEqual(new Set(handled).size, total)
    deepStrictEqual(yield* stats, { waiting: 0, oldest: undefined, dead: 0 })
  })
]
