import { InboxStore, type StateKey, type StateValue, type StateWrite } from "@colloquy/core/inbox/InboxStore"
import * as Effect from "effect/Effect"
import { deepStrictEqual, notStrictEqual, strictEqual } from "node:assert"
import { type Case, change, claim, commit, enqueue, now, stats, test, updatesOf } from "../inbox/operations.ts"

const state = InboxStore.use(({ state }) => Effect.succeed(state))

const valueOf = (text: string, { expiresAt, version = 1 }: Partial<StateValue> = {}): StateValue => ({
  text,
  version,
  expiresAt
})

let revisions = 0

const write = (
  key: StateKey,
  text: string | undefined,
  expected?: string,
  options?: Partial<StateValue>
): StateWrite => ({
  ...key,
  value: text === undefined ? undefined : valueOf(text, options),
  expected,
  revision: `revision-${++revisions}`
})

const apply = (...writes: ReadonlyArray<StateWrite>) => Effect.flatMap(state, ({ write }) => write(writes))

const read = (...keys: ReadonlyArray<StateKey>) => Effect.flatMap(state, ({ get }) => get(keys))

const texts = (...keys: ReadonlyArray<StateKey>) =>
  Effect.map(read(...keys), (values) => values.map((value) => value?.text))

const revisionOf = (key: StateKey) => Effect.map(read(key), ([value]) => value?.revision)

const chat: StateKey = { scope: "chat:1", name: "cart" }
const user: StateKey = { scope: "user:2", name: "cart" }
const userInChat: StateKey = { scope: "chat:1/user:2", name: "cart" }
const bot: StateKey = { scope: "bot", name: "cart" }
const other: StateKey = { scope: "chat:1", name: "other" }

export const stateCases: ReadonlyArray<Case> = [
  test("returns values by their scope and name, with a revision for each write", function* () {
    const text = JSON.stringify({ text: '"\\\u0000 \n é 🙂' })
    deepStrictEqual(yield* read(chat, other), [undefined, undefined])
    strictEqual(yield* apply(write(chat, text, undefined, { version: 3, expiresAt: now }), write(user, "2")), true)
    const [stored, nothing, ofUser] = yield* read(chat, other, user)
    const { revision, ...value } = stored!
    deepStrictEqual(value, { text, version: 3, expiresAt: now })
    strictEqual(nothing, undefined)
    strictEqual(ofUser?.expiresAt, undefined)
    strictEqual(yield* apply(write(chat, text, revision)), true)
    notStrictEqual(yield* revisionOf(chat), revision)
  }),

  test("applies all writes, or none if a revision is not the expected one", function* () {
    yield* apply(write(chat, "1"), write(user, "1"))
    const ofChat = yield* revisionOf(chat)
    const ofUser = yield* revisionOf(user)
    strictEqual(yield* apply(write(chat, "2", ofChat), write(user, "2", "another")), false)
    strictEqual(yield* apply(write(chat, "2", ofChat), write(user, "2")), false)
    strictEqual(yield* apply(write(chat, "2", ofChat), write(bot, "2", "another")), false)
    deepStrictEqual(yield* texts(chat, user, bot), ["1", "1", undefined])
    strictEqual(yield* apply(write(chat, "2", ofChat), write(user, undefined, ofUser), write(bot, "2")), true)
    deepStrictEqual(yield* texts(chat, user, bot), ["2", undefined, "2"])
    strictEqual(yield* apply(write(user, "3", ofUser)), false)
    strictEqual(yield* apply(write(chat, undefined, ofChat)), false)
    strictEqual(yield* apply(write(user, undefined)), true)
  }),

  test("gives a value that was deleted and written again another revision", function* () {
    yield* apply(write(chat, "1"))
    const first = yield* revisionOf(chat)
    yield* apply(write(chat, undefined, first))
    yield* apply(write(chat, "1"))
    notStrictEqual(yield* revisionOf(chat), first)
  }),

  test("lets one of many concurrent writes win", function* () {
    yield* apply(write(chat, "0"))
    for (let round = 0; round < 5; round++) {
      const revision = yield* revisionOf(chat)
      const results = yield* Effect.forEach([1, 2, 3, 4], (value) => apply(write(chat, `${value}`, revision)), {
        concurrency: "unbounded"
      })
      deepStrictEqual(results.toSorted(), [false, false, false, true])
    }
  }),

  test("writes the state of a commit with its acknowledgements", function* () {
    yield* enqueue(updatesOf("chat", 2))
    const [{ updates }] = yield* claim("one")
    const [first, second] = updates
    deepStrictEqual(
      yield* commit(
        change("one", "chat", { completed: [{ id: first.id }], writes: [write(chat, "1"), write(user, "1")] }),
        change("one", "chat", { completed: [{ id: second.id }], writes: [write(userInChat, "1")], release: true })
      ),
      ["applied", "applied"]
    )
    deepStrictEqual(yield* texts(chat, user, userInChat), ["1", "1", "1"])
    strictEqual((yield* stats).queued, 0)
  }),

  test("applies nothing of a commit whose state was changed, and all of the others", function* () {
    yield* enqueue([...updatesOf("a", 1), ...updatesOf("b", 1)])
    const [a, b] = yield* claim("one")
    yield* apply(write(user, "1"))
    const done = ({ updates }: typeof a) => updates.map(({ id }) => ({ id }))
    deepStrictEqual(
      yield* commit(
        change("one", "a", { completed: done(a), writes: [write(chat, "2"), write(user, "2")], release: true }),
        change("one", "b", { completed: done(b), writes: [write(bot, "2")], release: true })
      ),
      ["stateConflict", "applied"]
    )
    deepStrictEqual(yield* texts(chat, user, bot), [undefined, "1", "2"])
    strictEqual((yield* stats).queued, 1)
    deepStrictEqual(yield* claim("two"), [])
    const expected = yield* revisionOf(user)
    deepStrictEqual(
      yield* commit(change("one", "a", { completed: done(a), writes: [write(user, "2", expected)], release: true })),
      ["applied"]
    )
    strictEqual((yield* stats).queued, 0)
  }),

  test("lets the first of two commits win that have read the same value", function* () {
    yield* enqueue([...updatesOf("a", 1), ...updatesOf("b", 1)])
    const [a, b] = yield* claim("one")
    yield* apply(write(user, "1"))
    const expected = yield* revisionOf(user)
    const done = ({ updates }: typeof a) => updates.map(({ id }) => ({ id }))
    deepStrictEqual(
      yield* commit(
        change("one", "a", { completed: done(a), writes: [write(user, "a", expected)], release: true }),
        change("one", "b", { completed: done(b), writes: [write(user, "b", expected)], release: true })
      ),
      ["applied", "stateConflict"]
    )
    deepStrictEqual(yield* texts(user), ["a"])
  }),

  test("writes the state of a commit once if the commit is repeated", function* () {
    yield* enqueue(updatesOf("chat", 2))
    const [{ updates }] = yield* claim("one")
    const [first, second] = updates
    yield* apply(write(bot, "1"))
    const expected = yield* revisionOf(bot)
    const completed = [{ id: first.id }]
    const repeated = change("one", "chat", { completed, writes: [write(chat, "1"), write(bot, "2", expected)] })
    deepStrictEqual(yield* commit(repeated), ["applied"])
    deepStrictEqual(yield* commit(repeated), ["applied"])
    yield* apply(write(chat, undefined, yield* revisionOf(chat)))
    deepStrictEqual(yield* commit({ ...repeated, completed: [...completed, { id: second.id }] }), ["applied"])
    deepStrictEqual(yield* texts(chat, bot), [undefined, "2"])
    strictEqual((yield* stats).queued, 0)
  }),

  test("writes no state for an owner that has lost the partition", function* () {
    yield* enqueue(updatesOf("chat", 1))
    yield* claim("one", { leaseDuration: 0 })
    yield* claim("two")
    deepStrictEqual(yield* commit(change("one", "chat", { writes: [write(chat, "1")] })), ["leaseLost"])
    deepStrictEqual(yield* texts(chat), [undefined])
  }),

  test("returns the values of a name by pages", function* () {
    const scopes = ["bot", "chat:-1", "chat:1", "chat:10", "chat:1/user:2", "chat:2", "user:1", "user:10"]
    yield* apply(...scopes.map((scope) => write({ scope, name: "cart" }, JSON.stringify(scope))))
    yield* apply(write(other, "0"))
    const { page } = yield* state
    const seen: Array<string> = []
    for (;;) {
      const values = yield* page({ name: "cart", after: seen.at(-1), limit: 3 })
      for (const { name, revision, scope, text } of values) {
        deepStrictEqual([name, text], ["cart", JSON.stringify(scope)])
        strictEqual(revision, yield* revisionOf({ name, scope }))
        seen.push(scope)
      }
      if (values.length === 0) break
    }
    strictEqual(seen.length, scopes.length)
    deepStrictEqual(seen.toSorted(), scopes.toSorted())
  }),

  test("forgets everything that belongs to a user", function* () {
    const keys = ["user:2", "chat:1/user:2", "chat:-3/user:2", "user:22", "chat:1/user:22", "chat:2", "bot"].flatMap(
      (scope) => [
        { scope, name: "cart" },
        { scope, name: "other" }
      ]
    )
    yield* apply(...keys.map((key) => write(key, "1")))
    const { forget } = yield* state
    strictEqual(yield* forget("user:2"), 6)
    deepStrictEqual(
      yield* texts(...keys),
      keys.map((_, index) => (index < 6 ? undefined : "1"))
    )
    strictEqual(yield* forget("user:2"), 0)
  }),

  test("returns expired values until they are cleaned up", function* () {
    yield* apply(
      write(chat, "1", undefined, { expiresAt: now - 1 }),
      write(user, "1", undefined, { expiresAt: now }),
      write(bot, "1")
    )
    deepStrictEqual(yield* texts(chat, user, bot), ["1", "1", "1"])
    const { cleanup } = yield* state
    yield* cleanup(now)
    deepStrictEqual(yield* texts(chat, user, bot), [undefined, "1", "1"])
  })
]
