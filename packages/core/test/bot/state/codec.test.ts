import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { Chat, Inbox, State } from "../../../src/index.ts"
import * as InboxStore from "../../../src/inbox/InboxStore.ts"

const chat_id = Chat.ChatId.make(1)

const CartV1 = Schema.Struct({ items: Schema.Array(Schema.String) })

const Cart = Schema.Struct({ items: Schema.Record(Schema.String, Schema.Int) })

const empty = { of: "chat", initial: (): typeof Cart.Type => ({ items: {} }) } as const

const inMemory = <A, E>(program: Effect.Effect<A, E, Inbox.Inbox | InboxStore.InboxStore>) =>
  Effect.provide(program, Layer.provideMerge(Inbox.layer(), InboxStore.layerMemory))

let puts = 0

/** Stores a text as an older program would have done. */
const put = (text: string, version = 1) =>
  InboxStore.InboxStore.use(({ write }) =>
    write([{ rows: [{ key: "state/cart/chat:1", row: { text: `[${version},${text}]` }, revision: `${++puts}` }] }])
  )

describe("values of the state", () => {
  it.effect("are read by the migration of their version: a schema, a schema with a function, or a function", () =>
    inMemory(
      Effect.gen(function* () {
        const Transformed = Schema.Struct({ count: Schema.NumberFromString })
        const state = State.make("cart", Cart, {
          ...empty,
          version: 4,
          migrate: {
            1: State.migration(CartV1, ({ items }) => ({ items: Object.fromEntries(items.map((item) => [item, 1])) })),
            2: Cart,
            3: (stored) => ({ items: { [String(stored)]: 3 } })
          }
        }).at({ chat_id })
        yield* put('{"items":["tea"]}')
        assert.deepStrictEqual(yield* state.get, { items: { tea: 1 } })
        yield* put('{"items":{"milk":2}}', 2)
        assert.deepStrictEqual(yield* state.update((cart) => cart), { items: { milk: 2 } })
        yield* put('"bread"', 3)
        assert.deepStrictEqual(yield* state.get, { items: { bread: 3 } })
        yield* put('{"items":{"milk":5}}', 4)
        assert.deepStrictEqual(yield* state.get, { items: { milk: 5 } })
        const encoded = State.make("cart", Transformed, { of: "chat", initial: () => ({ count: 0 }) }).at({ chat_id })
        yield* encoded.set({ count: 12 })
        assert.deepStrictEqual(yield* encoded.get, { count: 12 })
      })
    )
  )

  it.effect("that cannot be read fail with StaleState, and are kept until they are set or cleared", () =>
    inMemory(
      Effect.gen(function* () {
        const state = State.make("cart", Cart, {
          ...empty,
          version: 3,
          migrate: {
            2: () => {
              throw new Error("a broken migration")
            }
          }
        }).at({ chat_id })
        const problemOf = (text: string, version: number) =>
          Effect.gen(function* () {
            yield* put(text, version)
            const errors = [yield* Effect.flip(state.get), yield* Effect.flip(state.update((cart) => cart))]
            const [error] = errors
            assert.deepStrictEqual(
              errors.map(({ _tag }) => _tag),
              ["StaleState", "StaleState"]
            )
            assert(error instanceof State.StaleState)
            assert.deepStrictEqual([error.stateName, error.scope, error.version], ["cart", "chat:1", version])
            return [error.problem, error.raw]
          })
        assert.deepStrictEqual(yield* problemOf("[1]", 1), ["There is no migration of version 1.", [1]])
        assert.deepStrictEqual(yield* problemOf("1", 2), ["a broken migration", 1])
        assert.deepStrictEqual(yield* problemOf("{", 0), ["There is no migration of version 0.", "[0,{]"])
        assert.include(yield* problemOf('{"items":[]}', 3).pipe(Effect.map(([problem]) => String(problem))), "items")
        assert.include(String((yield* problemOf("1", 9))[0]), "newer program, in version 9. This one has version 3")
        yield* state.set({ items: { tea: 1 } })
        assert.deepStrictEqual(yield* state.get, { items: { tea: 1 } })
        yield* put("[1]", 1)
        yield* state.clear
        assert.deepStrictEqual(yield* state.get, { items: {} })
      })
    )
  )

  it.effect(
    "that cannot be read are replaced by the initial one with `onStale`, with a warning without the value",
    () =>
      inMemory(
        Effect.gen(function* () {
          const messages: Array<unknown> = []
          const state = State.make("cart", Cart, { ...empty, onStale: "initial" }).at({ chat_id })
          yield* put('{"items":"a secret"}')
          const read = Effect.provide(
            state.get,
            Logger.layer([Logger.make(({ message }) => void messages.push(message))])
          )
          assert.deepStrictEqual(yield* read, { items: {} })
          assert.strictEqual(messages.length, 1)
          assert.include(String(messages[0]), 'The value of the state "cart" of chat:1 cannot be read')
          yield* state.update(({ items }) => ({ items: { ...items, tea: 1 } }))
          assert.deepStrictEqual(yield* state.get, { items: { tea: 1 } })
        })
      )
  )

  it.effect("expire when they were not written for the given time", () =>
    inMemory(
      Effect.gen(function* () {
        const state = State.make("cart", Cart, { ...empty, expireAfter: "1 minute" }).at({ chat_id })
        yield* state.set({ items: { tea: 1 } })
        yield* TestClock.adjust("59 seconds")
        yield* state.update((cart) => cart)
        yield* TestClock.adjust("59 seconds")
        assert.deepStrictEqual(yield* state.get, { items: { tea: 1 } })
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(yield* state.get, { items: {} })
        yield* state.update(({ items }) => ({ items: { ...items, milk: 1 } }))
        assert.deepStrictEqual(yield* state.get, { items: { milk: 1 } })
      })
    )
  )

  it.effect("keep large integers, numbers and dates exactly", () =>
    inMemory(
      Effect.gen(function* () {
        const Values = Schema.Struct({
          big: Schema.BigInt,
          large: Schema.Number,
          none: Schema.Number,
          date: Schema.Date
        })
        const state = State.make("values", Values, {
          of: "chat",
          initial: () => ({ big: 0n, large: 0, none: 0, date: new Date(0) })
        }).at({ chat_id })
        const value = {
          big: 2n ** 80n,
          large: 1e20,
          none: NaN,
          date: new Date(5)
        }
        yield* state.set(value)
        assert.deepStrictEqual(yield* state.get, value)
        const results = yield* Effect.result(state.set({ ...value, large: "1" as never }))
        assert.isTrue(Result.isFailure(results))
      })
    )
  )
})
