import { InboxStore } from "@colloquy/core/InboxStore"
import { deepStrictEqual, strictEqual } from "node:assert"
import {
  bury,
  type Case,
  claim,
  day,
  dead,
  fingerprints,
  finish,
  letter,
  lettersOf,
  now,
  put,
  settle,
  stats,
  takeAll,
  test,
  unreadable
} from "./support.ts"

const replay = (...ids: ReadonlyArray<string>) => InboxStore.use((store) => store.replay(ids))

const drop = (...ids: ReadonlyArray<string>) => InboxStore.use((store) => store.drop(ids))

const sweep = (seenBefore: number, diedBefore: number) =>
  InboxStore.use((store) => store.sweep({ seenBefore, diedBefore }))

export const deaths: ReadonlyArray<Case> = [
  test("a letter that is put aside is dead with its problem, and the next one's turn comes", function* () {
    yield* put(lettersOf("chat", 2))
    const [{ key, letters }] = yield* claim("one")
    const death = { problem: 'Error: "why"\0\n🙂 \ud83d', attempts: 6, at: now + 5 }
    yield* settle({ owner: "one", key, letter: { id: letters[0].id, death }, release: true })
    const [{ id, letter, problem, attempts, diedAt }, ...others] = yield* dead()
    deepStrictEqual(others, [])
    deepStrictEqual({ problem, attempts, at: diedAt }, death)
    deepStrictEqual([id, letter.fingerprint, letter.key, letter.receivedAt], [letters[0].id, "chat:0", "chat", now])
    strictEqual(letter.text, letters[0].letter.text)
    deepStrictEqual(yield* stats, { waiting: 1, oldest: now, dead: 1 })
    deepStrictEqual(fingerprints(yield* claim("two")), [["chat:1"]])
  }),

  test("a stranger puts nothing aside", function* () {
    yield* put(lettersOf("chat", 1))
    yield* bury("two", (yield* claim("one"))[0], "not yours")
    deepStrictEqual(yield* stats, { waiting: 1, oldest: now, dead: 0 })
  }),

  test("the dead are listed by pages, also when those of the last page are gone", function* () {
    yield* put(lettersOf("chat", 5))
    yield* bury("one", (yield* claim("one"))[0], "all of them")
    const listed: Array<string> = []
    let after: string | undefined
    for (;;) {
      const page = yield* dead(2, after)
      if (page.length === 0) break
      listed.push(...page.map(({ letter }) => letter.fingerprint))
      after = page.at(-1)!.id
      yield* drop(after)
    }
    deepStrictEqual(
      listed,
      lettersOf("chat", 5).map(({ fingerprint }) => fingerprint)
    )
    strictEqual((yield* stats).dead, 2)
  }),

  test("a replayed letter waits at the end of its mailbox, though it came before", function* () {
    yield* put(lettersOf("chat", 3))
    const [{ key, letters }] = yield* claim("one")
    const death = { problem: "failed", attempts: 1, at: now }
    yield* settle({ owner: "one", key, letter: { id: letters[0].id, death }, release: true })
    const [{ id }] = yield* dead()
    strictEqual(yield* replay(id), 1)
    strictEqual(yield* replay(id), 0)
    deepStrictEqual(yield* stats, { waiting: 3, oldest: now, dead: 0 })
    const again = yield* claim("two")
    deepStrictEqual(fingerprints(again), [["chat:1", "chat:2", "chat:0"]])
    strictEqual(again[0].letters[2].letter.text, letters[0].letter.text)
    const ids = again[0].letters.map(({ id }) => BigInt(id))
    strictEqual(ids[0] < ids[1] && ids[1] < ids[2], true)
    yield* finish("two", again)
    deepStrictEqual(yield* stats, { waiting: 0, oldest: undefined, dead: 0 })
  }),

  test("a replayed letter opens its mailbox, or waits for the one who has it", function* () {
    yield* put([letter("a", { key: "a" }), letter("b", { key: "b" })])
    for (const mailbox of yield* claim("one")) yield* bury("one", mailbox, "failed")
    yield* put([letter("b2", { key: "b" })])
    yield* claim("two")
    const ids = (yield* dead()).map(({ id }) => id)
    strictEqual(yield* replay(...ids), 2)
    deepStrictEqual(fingerprints(yield* claim("three")), [["a"]])
  }),

  test("a letter that could not be read can be replayed", function* () {
    yield* put([], { unreadable: [unreadable("broken", "of a later version")] })
    strictEqual(yield* replay((yield* dead())[0].id), 1)
    const [{ key, letters }] = yield* claim("one")
    deepStrictEqual([key, letters[0].letter.text], ["", "of a later version"])
    yield* bury("one", { key, letters }, "still")
    strictEqual((yield* dead())[0].problem, "still")
  }),

  test("dropped letters are gone, those that wait are not touched", function* () {
    yield* put([letter("a", { key: "a" }), letter("b", { key: "b" })])
    const [a, b] = yield* claim("one")
    yield* bury("one", a, "failed")
    strictEqual(yield* drop(b.letters[0].id, "no id", "999999999"), 0)
    strictEqual(yield* replay(b.letters[0].id, "no id", "999999999"), 0)
    strictEqual(yield* drop(...(yield* dead()).map(({ id }) => id)), 1)
    deepStrictEqual(yield* stats, { waiting: 1, oldest: now, dead: 0 })
  }),

  test("a sweep forgets old fingerprints and the long dead, and nothing that waits", function* () {
    yield* put(Array.from({ length: 2500 }, (_, index) => letter(`old:${index}`, { key: "old" })))
    const [old] = yield* claim("one", { letters: 2500 })
    yield* bury("one", { ...old, letters: old.letters.slice(0, 2400) }, "old", now)
    yield* put([letter("new", { key: "new" })], { now: now + 10 })
    const [fresh] = (yield* claim("one")).filter(({ key }) => key === "new")
    yield* bury("one", fresh, "new", now + 10)
    yield* sweep(now + 10, now + 10)
    deepStrictEqual(yield* stats, { waiting: 100, oldest: now, dead: 1 })
    const at = { now: now + 20 }
    strictEqual(yield* put([letter("old:0", { key: "old" }), letter("new", { key: "new" })], at), 1)
    strictEqual((yield* takeAll("two", now + day)).length, 101)
  })
]
