import { Bot, Command, Handler, Inbox, Rehearsal, Scene, State, Timer, type Chat, type User } from "@colloquy/core"
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { deadLetters, during, layer, writes } from "../../../core/test/support/conversations.ts"
import { predictions } from "../../src/deploy/parked.ts"
import { layerDry } from "../../src/deploy/world.ts"

const predict = Effect.fnUntraced(function* (
  parts: ReadonlyArray<Handler.Handler<unknown, never>>,
  states: ReadonlyArray<Rehearsal.RehearsedState> = []
) {
  const { store } = yield* Inbox.Inbox
  const now = yield* Clock.currentTimeMillis
  const all = yield* Stream.runCollect(predictions({ bot: Bot.make(...parts), states }, now)).pipe(
    Effect.provide(Layer.fresh(layerDry(store)))
  )
  return all.map(({ kind, name, outcome }) => `${kind} ${name} ${outcome}`)
})

const key = { chat_id: 1 as Chat.ChatId, user_id: 2 as User.UserId }

const Cart = Schema.Struct({ items: Schema.Array(Schema.String) })

const NewCart = Schema.Struct({ items: Schema.Array(Schema.String), city: Schema.String })

type AnyState = Pick<State.State<unknown, "userInChat">, "at"> & Parameters<typeof State.stream>[0]

const options = { of: "userInChat", initial: () => ({ items: [] }) } as const

const newOptions = { of: "userInChat", initial: () => ({ items: [], city: "none" }) } as const

const refuse = (): never => {
  throw new Error("unknown")
}

const old = (version = 1) => State.make("cart", Cart, { ...options, version })

/** Changes of a state: the state that wrote the value, the new state, and what happens. */
const states: Readonly<Record<string, readonly [before: () => unknown, after: () => unknown, outcome: string]>> = {
  nothing: [old, old, "continues"],
  "an optional field is added": [
    old,
    () => State.make("cart", Schema.Struct({ ...Cart.fields, city: Schema.optionalKey(Schema.String) }), options),
    "continues"
  ],
  "a required field is added": [old, () => State.make("cart", NewCart, newOptions), "stale"],
  "a required field is added, and the initial value replaces what is stale": [
    old,
    () => State.make("cart", NewCart, { ...newOptions, onStale: "initial" }),
    "stale"
  ],
  "a new version, with a migration": [
    old,
    () =>
      State.make("cart", NewCart, {
        ...newOptions,
        version: 2,
        migrate: { 1: State.migration(Cart, ({ items }) => ({ items, city: "Riga" })) }
      }),
    "continues"
  ],
  "a new version, without a migration": [
    old,
    () => State.make("cart", NewCart, { ...newOptions, version: 2 }),
    "stale"
  ],
  "a migration that fails": [
    old,
    () => State.make("cart", NewCart, { ...newOptions, version: 2, migrate: { 1: refuse } }),
    "stale"
  ],
  "another type of a field": [
    old,
    () =>
      State.make("cart", Schema.Struct({ items: Schema.Array(Schema.Int) }), {
        of: "userInChat",
        initial: () => ({ items: [] })
      }),
    "stale"
  ],
  "a field is removed": [
    old,
    () => State.make("cart", Schema.Struct({}), { of: "userInChat", initial: () => ({}) }),
    "continues"
  ],
  "a version that is rolled back": [() => old(2), old, "newer"],
  "a new name": [old, () => State.make("basket", Cart, options), "unhandled"],
  "values of chats in place of users": [old, () => State.make("cart", Cart, { ...options, of: "chat" }), "unhandled"],
  "values that are sorted": [
    old,
    () => State.make("cart", Cart, { ...options, sortBy: ({ items }) => items.length }),
    "continues"
  ]
}

/** What the program gets when the program reads the value. */
const readBy = Effect.fnUntraced(function* (state: AnyState, stored: unknown) {
  const entries = yield* Stream.runCollect(State.stream(state))
  if (entries.length === 0) return "unhandled"
  const read = yield* Effect.result(state.at(key).get)
  if (Result.isFailure(read)) {
    return read.failure._tag === "StaleState" && read.failure.isNewer === true ? "newer" : "stale"
  }
  // The initial value has replaced the stored value.
  return JSON.stringify(read.success).includes("tea") ||
    stored === read.success ||
    !("items" in (read.success as object))
    ? "continues"
    : "stale"
})

interface SceneChange {
  readonly name?: string
  readonly of?: "chat" | "userInChat"
  readonly version?: number
  readonly onStale?: "end" | "fail" | "move"
  readonly waiting?: Schema.Codec<unknown, unknown> | "removed"
}

const Waiting = Schema.Struct({ address: Schema.String })

const stay = { handler: () => Handler.on("message_created", () => Effect.void) }

const sceneOf = ({
  name = "ride",
  of = "userInChat",
  onStale = "end",
  version = 1,
  waiting = Waiting
}: SceneChange) => {
  const scene = Scene.make(
    name,
    {
      of,
      version,
      states: { ...(waiting === "removed" ? {} : { waiting }), riding: Schema.Void },
      onStale: onStale === "move" ? () => ["riding"] as never : onStale
    },
    { ...(waiting === "removed" ? {} : { waiting: stay }), riding: stay } as never
  )
  return scene as unknown as Scene.Scene<{ waiting: unknown; riding: void }, "userInChat">
}

const scenes: Readonly<Record<string, readonly [before: SceneChange, after: SceneChange, outcome: string]>> = {
  nothing: [{}, {}, "continues"],
  "a new version": [{}, { version: 2 }, "continues"],
  "the data have another type, and the scene ends": [{}, { waiting: Schema.Int }, "ends"],
  "the data have another type, and the handler fails": [{}, { waiting: Schema.Int, onStale: "fail" }, "stale"],
  "the data have another type, and the scene moves": [{}, { waiting: Schema.Int, onStale: "move" }, "moves"],
  "the state is removed, and the scene ends": [{}, { waiting: "removed" }, "ends"],
  "the state is removed, and the scene moves": [{}, { waiting: "removed", onStale: "move" }, "moves"],
  "a new name": [{}, { name: "trip" }, "unhandled"],
  "a scene of the chat": [{}, { of: "chat" }, "unhandled"],
  "a version that is rolled back": [{ version: 2 }, {}, "newer"]
}

const rest = Handler.on("message_created", () => Effect.void)

const stateOfRow = Effect.map(
  Inbox.Inbox.use(({ store }) => store.rows({ prefix: "state/scene:", by: "key", limit: 9 })),
  (rows) => rows.map(({ text }) => /"state":"(\w+)"/.exec(text)?.[1]).at(0)
)

const programLayer = Layer.provideMerge(Inbox.layer(), layer)

describe("check-deploy and states", () => {
  it.effect.each(Object.entries(states))("predicts what a program reads: %s", ([, [before, after, outcome]]) =>
    Effect.gen(function* () {
      const written = before() as AnyState
      yield* written.at(key).set({ items: ["tea"] })
      const made = Rehearsal.collectStates()
      const earlier = made.length
      const state = after() as AnyState
      assert.deepStrictEqual(yield* predict([rest], made.slice(earlier)), [`state cart ${outcome}`])
      assert.strictEqual(yield* readBy(state, undefined), outcome)
    }).pipe(Effect.provide(Layer.fresh(programLayer)))
  )
})

describe("check-deploy and scenes", () => {
  it.effect.each(Object.entries(scenes))("predicts what happens in a scene: %s", ([, [before, after, outcome]]) =>
    Effect.gen(function* () {
      const written = sceneOf(before)
      const person = yield* Emulator.user("Ann")
      yield* person.start()
      const start = Command.make("go").on(() => written.go("waiting", { address: "Main Street 1" }))
      yield* during(Bot.make(start, written, rest), writes(person, "/go"))
      const changed = sceneOf(after)
      assert.deepStrictEqual(yield* predict([changed, rest]), [`scene ride ${outcome}`])
      assert.strictEqual(yield* stateOfRow, "waiting", "the check changes nothing")
      yield* during(Bot.make(changed, rest), writes(person, "hello"))
      const { queued } = yield* InboxStore.InboxStore.use(({ stats }) => stats)
      const seen = [yield* stateOfRow, (yield* deadLetters).length, queued]
      const expected: Readonly<Record<string, ReadonlyArray<unknown>>> = {
        continues: ["waiting", 0, 0],
        ends: [undefined, 0, 0],
        stale: ["waiting", 1, 0],
        moves: ["riding", 0, 0],
        unhandled: ["waiting", 0, 0],
        newer: ["waiting", 0, 1]
      }
      assert.deepStrictEqual(seen, expected[outcome])
    }).pipe(Effect.provide(Layer.fresh(programLayer)))
  )
})

describe("check-deploy and timers", () => {
  const setTimer = Timer.make("remind", Schema.String).for({ chat_id: key.chat_id }).in("1 hour", "tea")
  const never = (): never => assert.fail("the handler ran")

  it.effect.each([
    ["no handler", [], "unhandled"],
    ["the same value", [Timer.make("remind", Schema.String).on(never)], "continues"],
    ["another value", [Timer.make("remind", Schema.Int).on(never)], "stale"]
  ] as const)("predicts whether the value is read, and runs no handler: %s", ([, parts, outcome]) =>
    Effect.gen(function* () {
      yield* setTimer
      assert.deepStrictEqual(yield* predict([...parts, rest]), [`timer remind ${outcome}`])
    }).pipe(Effect.provide(Layer.fresh(programLayer)))
  )
})
