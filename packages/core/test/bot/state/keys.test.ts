import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Bot, Inbox, State, User } from "../../../src/index.ts"
import * as InboxStore from "../../../src/inbox/InboxStore.ts"
import { inboxOver, inTime, source } from "../../support/deliveries.ts"
import { pressOf } from "../../support/presses.ts"

const OrderId = Schema.Struct({ shop: Schema.String, order: Schema.Int })

const Order = State.make("order/1", Schema.Array(Schema.Int), { of: OrderId, initial: () => [] })

const tea = { shop: "tea/%2F🙂", order: 7 }

const inMemory = <A, E>(program: Effect.Effect<A, E, Inbox.Inbox | InboxStore.InboxStore>) =>
  Effect.provide(program, Layer.provideMerge(Inbox.layer(), InboxStore.layerMemory))

const after = <A, E, E2>(
  updates: ReadonlyArray<Inbox.Received>,
  handle: (chat: number) => Effect.Effect<unknown, E, Inbox.Inbox>,
  read: Effect.Effect<A, E2, Inbox.Inbox>,
  inbox: Layer.Layer<Inbox.Inbox>
) =>
  Effect.andThen(
    Bot.run((update) => handle(update.update_type === "message_callback" ? update.timestamp : 0)),
    read
  ).pipe(inTime, Effect.provide(Layer.provideMerge(source(updates), inbox)))

describe("a state with keys of one's own", () => {
  it.effect("keeps a value for each key, whatever its texts, and whatever the order of its fields", () =>
    inMemory(
      Effect.gen(function* () {
        yield* Order.at(tea).set([1])
        yield* Order.at({ shop: "tea", order: 7 }).set([2])
        assert.deepStrictEqual(yield* Order.at({ order: 7, shop: tea.shop }).get, [1])
        assert.deepStrictEqual(yield* Order.at({ ...tea, order: 8 }).get, [])
        const entries = yield* Stream.runCollect(State.stream(Order))
        assert.deepStrictEqual(
          entries.map(({ key, value }) => [key, Result.getOrThrow(value)]),
          [
            [{ shop: "tea", order: 7 }, [2]],
            [tea, [1]]
          ]
        )
        yield* Order.at(tea).clear
        assert.deepStrictEqual(yield* Order.at(tea).get, [])
      })
    )
  )

  it.effect("has keys of any schema, and records have one value in any order of their fields", () =>
    inMemory(
      Effect.gen(function* () {
        const Pair = State.make("pair", Schema.Int, { of: Schema.Tuple([Schema.String, Schema.Int]), initial: () => 0 })
        yield* Pair.at(["m", 2]).set(5)
        assert.strictEqual(yield* Pair.at(["m", 2]).get, 5)
        const Day = State.make("day", Schema.Int, { of: Schema.Date, initial: () => 0 })
        yield* Day.at(new Date(0)).set(1)
        assert.deepStrictEqual((yield* Stream.runCollect(State.stream(Day)))[0]?.key, new Date(0))
        const Any = State.make("any", Schema.Int, { of: Schema.Record(Schema.String, Schema.Int), initial: () => 0 })
        yield* Any.at({ a: 1, b: 2 }).set(3)
        assert.strictEqual(yield* Any.at({ b: 2, a: 1 }).get, 3)
      })
    )
  )

  it.effect("is written by the commit of the update, and a handler that fails writes nothing", () =>
    Effect.gen(function* () {
      for (const isShared of [false, true]) {
        let attempts = 0
        const inbox = inboxOver(() => ({ isShared, write: () => Effect.die("written outside of the commit") }), {
          logSize: 0
        })
        const handle = () =>
          Effect.gen(function* () {
            yield* Order.at(tea).update((all) => [...all, attempts])
            if (++attempts < 3) return yield* Effect.fail("failed as planned")
            yield* Order.at(tea).update((all) => [...all, attempts])
          })
        assert.deepStrictEqual(yield* after([pressOf(1, 2)], handle, Order.at(tea).get, inbox), [2, 3])
        const fails = () => Effect.andThen(Order.at(tea).set([9]), Effect.fail("failed as planned"))
        assert.deepStrictEqual(yield* after([pressOf(1, 2)], fails, Order.at(tea).get, inboxOver()), [])
      }
    })
  )

  it.effect("loses no change of chats that write one key at once", () =>
    Effect.gen(function* () {
      for (const isShared of [false, true]) {
        let runs = 0
        const updates = Array.from({ length: 12 }, (_, index) => pressOf(1 + (index % 4), 2, index))
        const handle = (index: number) =>
          Effect.gen(function* () {
            runs++
            const before = yield* Order.at(tea).get
            yield* Effect.sleep("10 millis")
            yield* Order.at(tea).set([...before, index])
          })
        const found = yield* after(
          updates,
          handle,
          Order.at(tea).get,
          inboxOver(() => ({ isShared }))
        )
        assert.deepStrictEqual(
          found.toSorted((a, b) => a - b),
          updates.map((_, index) => index)
        )
        assert.isAbove(runs, updates.length)
      }
    })
  )

  it.effect("fails with InvalidState for a key that does not match or is too long, and writes nothing", () =>
    inMemory(
      Effect.gen(function* () {
        const wrong = yield* Effect.flip(Order.at({ shop: "tea", order: 1.5 }).get)
        assert.strictEqual(
          wrong.message,
          'A key of the state "order/1" does not match its schema: `order` must be an integer'
        )
        const long = yield* Effect.flip(Order.at({ shop: "x".repeat(1000), order: 1 }).set([]))
        assert.include(long.message, "characters, and the maximum is ")
        assert.deepStrictEqual(long._tag, "InvalidState")
        const { rows } = yield* InboxStore.InboxStore
        const longest = { shop: "/".repeat(307), order: 1 }
        yield* Order.at(longest).set([1])
        assert.deepStrictEqual(yield* Order.at(longest).get, [1])
        const stored = yield* rows({ prefix: "", by: "key", limit: 10 })
        assert.strictEqual(stored.length, 1)
        assert.isBelow(stored[0]!.key.length, 1000)
      })
    )
  )

  it.effect("is no value of a person whose ids are in the key", () =>
    inMemory(
      Effect.gen(function* () {
        const Note = State.make("note", Schema.String, { of: Schema.String, initial: () => "" })
        yield* Note.at("a/user:2").set("kept")
        const { values } = yield* State.forget({ user_id: User.UserId.make(2) })
        assert.deepStrictEqual([values, yield* Note.at("a/user:2").get], [0, "kept"])
      })
    )
  )

  it("has no operations without a key", () => {
    // @ts-expect-error: `get` needs a key
    assert.isUndefined(Order.get)
  })
})
