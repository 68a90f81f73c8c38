import { InboxStore } from "@colloquy/core/InboxStore"
import { deepStrictEqual, strictEqual } from "node:assert"
import {
  deadLetter,
  type Case,
  claim,
  day,
  dead,
  fingerprints,
  finish,
  update,
  updatesOf,
  now,
  put,
  commit,
  stats,
  takeAll,
  test,
  unreadable
} from "./support.ts"

const replay = (...ids: ReadonlyArray<string>) => InboxStore.use((store) => store.replay(ids))

const drop = (...ids: ReadonlyArray<string>) => InboxStore.use((store) => store.drop(ids))

const cleanup = (fingerprintsBefore: number, deadLettersBefore: number) =>
  InboxStore.use((store) => store.cleanup({ fingerprintsBefore, deadLettersBefore }))

export const deaths: ReadonlyArray<Case> = [
  test("an update that is put aside is dead with its problem, and the next one's turn comes", function* () {
    yield* put(updatesOf("chat", 2))
    const [{ key, updates }] = yield* claim("one")
    const failure = { error: 'Error: "why"\0\n🙂 \ud83d', attempts: 6, failedAt: now + 5 }
    yield* commit({ owner: "one", partitionKey: key, completed: { id: updates[0].id, failure }, release: true })
    const [{ id, update, error, attempts, failedAt }, ...others] = yield* dead()
    deepStrictEqual(others, [])
    deepStrictEqual({ error, attempts, failedAt }, failure)
    deepStrictEqual(
      [id, update.fingerprint, update.partitionKey, update.receivedAt],
      [updates[0].id, "chat:0", "chat", now]
    )
    strictEqual(update.text, updates[0].update.text)
    deepStrictEqual(yield* stats, { queued: 1, oldestReceivedAt: now, deadLetters: 1 })
    deepStrictEqual(fingerprints(yield* claim("two")), [["chat:1"]])
  }),

  test("a stranger puts nothing aside", function* () {
    yield* put(updatesOf("chat", 1))
    yield* deadLetter("two", (yield* claim("one"))[0], "not yours")
    deepStrictEqual(yield* stats, { queued: 1, oldestReceivedAt: now, deadLetters: 0 })
  }),

  test("the dead are listed by pages, also when those of the last page are gone", function* () {
    yield* put(updatesOf("chat", 5))
    yield* deadLetter("one", (yield* claim("one"))[0], "all of them")
    const listed: Array<string> = []
    let after: string | undefined
    for (;;) {
      const page = yield* dead(2, after)
      if (page.length === 0) break
      listed.push(...page.map(({ update }) => update.fingerprint))
      after = page.at(-1)!.id
      yield* drop(after)
    }
    deepStrictEqual(
      listed,
      updatesOf("chat", 5).map(({ fingerprint }) => fingerprint)
    )
    strictEqual((yield* stats).deadLetters, 2)
  }),

  test("a replayed update waits at the end of its partition, though it came before", function* () {
    yield* put(updatesOf("chat", 3))
    const [{ key, updates }] = yield* claim("one")
    const failure = { error: "failed", attempts: 1, failedAt: now }
    yield* commit({ owner: "one", partitionKey: key, completed: { id: updates[0].id, failure }, release: true })
    const [{ id }] = yield* dead()
    strictEqual(yield* replay(id), 1)
    strictEqual(yield* replay(id), 0)
    deepStrictEqual(yield* stats, { queued: 3, oldestReceivedAt: now, deadLetters: 0 })
    const again = yield* claim("two")
    deepStrictEqual(fingerprints(again), [["chat:1", "chat:2", "chat:0"]])
    strictEqual(again[0].updates[2].update.text, updates[0].update.text)
    const ids = again[0].updates.map(({ id }) => BigInt(id))
    strictEqual(ids[0] < ids[1] && ids[1] < ids[2], true)
    yield* finish("two", again)
    deepStrictEqual(yield* stats, { queued: 0, oldestReceivedAt: undefined, deadLetters: 0 })
  }),

  test("a replayed update opens its partition, or waits for the one who has it", function* () {
    yield* put([update("a", { key: "a" }), update("b", { key: "b" })])
    for (const partition of yield* claim("one")) yield* deadLetter("one", partition, "failed")
    yield* put([update("b2", { key: "b" })])
    yield* claim("two")
    const ids = (yield* dead()).map(({ id }) => id)
    strictEqual(yield* replay(...ids), 2)
    deepStrictEqual(fingerprints(yield* claim("three")), [["a"]])
  }),

  test("an update that could not be read can be replayed", function* () {
    yield* put([], { deadLetters: [unreadable("broken", "of a later version")] })
    strictEqual(yield* replay((yield* dead())[0].id), 1)
    const [{ key, updates }] = yield* claim("one")
    deepStrictEqual([key, updates[0].update.text], ["", "of a later version"])
    yield* deadLetter("one", { key, updates }, "still")
    strictEqual((yield* dead())[0].error, "still")
  }),

  test("dropped updates are gone, those that wait are not touched", function* () {
    yield* put([update("a", { key: "a" }), update("b", { key: "b" })])
    const [a, b] = yield* claim("one")
    yield* deadLetter("one", a, "failed")
    strictEqual(yield* drop(b.updates[0].id, "no id", "999999999"), 0)
    strictEqual(yield* replay(b.updates[0].id, "no id", "999999999"), 0)
    strictEqual(yield* drop(...(yield* dead()).map(({ id }) => id)), 1)
    deepStrictEqual(yield* stats, { queued: 1, oldestReceivedAt: now, deadLetters: 0 })
  }),

  test("a cleanup forgets old fingerprints and the long dead, and nothing that waits", function* () {
    yield* put(Array.from({ length: 2500 }, (_, index) => update(`old:${index}`, { key: "old" })))
    const [old] = yield* claim("one", { updates: 2500 })
    yield* deadLetter("one", { ...old, updates: old.updates.slice(0, 2400) }, "old", now)
    yield* put([update("new", { key: "new" })], { now: now + 10 })
    const [fresh] = (yield* claim("one")).filter(({ key }) => key === "new")
    yield* deadLetter("one", fresh, "new", now + 10)
    yield* cleanup(now + 10, now + 10)
    deepStrictEqual(yield* stats, { queued: 100, oldestReceivedAt: now, deadLetters: 1 })
    const at = { now: now + 20 }
    strictEqual(yield* put([update("old:0", { key: "old" }), update("new", { key: "new" })], at), 1)
    strictEqual((yield* takeAll("two", now + day)).length, 101)
  })
]
