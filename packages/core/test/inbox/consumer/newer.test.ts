import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { Bot, Command, Conversation, Handler, Menu, Messages, Scene, State, Update } from "../../../src/index.ts"
import * as InboxStore from "../../../src/inbox/InboxStore.ts"
import { deadLetters, during, layer, presses, processLayer, texts, writes } from "../../support/conversations.ts"
import { inTime } from "../../support/deliveries.ts"
import { platform } from "../../support/mortal.ts"
import { startBot } from "../../support/mortalStore.ts"

const V1 = Schema.Struct({ count: Schema.Int })
const V2 = Schema.Struct({ count: Schema.Int, last: Schema.String })

/** Counts messages, with an older and a newer schema of the state. */
const counters = (onStale?: "initial") => {
  const before = State.make("count", V1, { of: "chat", initial: () => ({ count: 0 }), onStale })
  const after = State.make("count", V2, {
    of: "chat",
    initial: () => ({ count: 0, last: "" }),
    version: 2,
    migrate: { 1: State.migration(V1, ({ count }) => ({ count, last: "" })) },
    onStale
  })
  const older = Handler.on("message_created", (update) =>
    Effect.flatMap(
      before.update(({ count }) => ({ count: count + 1 })),
      ({ count }) => Messages.reply(update, `old ${count}`)
    )
  )
  const newer = Handler.on("message_created", (update) =>
    Effect.flatMap(
      after.update((state) => ({ ...state, count: state.count + 1 })),
      ({ count }) => Messages.reply(update, `new ${count}`)
    )
  )
  return { older, newer }
}

const logged = (lines: Array<string>) =>
  Effect.provide(Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))]))

const countAttempts =
  <E, R>(handler: Handler.Handler<E, R>, attempts: Array<number>): Handler.Handler<E, R> =>
  (update) => {
    const handled = handler(update)
    return (
      handled &&
      Effect.andThen(
        Effect.map(Handler.CurrentAttempt, (attempt) => void attempts.push(attempt)),
        handled
      )
    )
  }

describe("data of a newer program", () => {
  for (const onStale of [undefined, "initial"] as const)
    it.effect(`waits for the newer program, and this is said once (onStale: ${onStale})`, () => {
      const lines: Array<string> = []
      const { newer, older } = counters(onStale)
      return Effect.gen(function* () {
        const ann = yield* Emulator.user("Ann")
        const bob = yield* Emulator.user("Bob")
        yield* during(older, writes(ann, "1"))
        yield* during(newer, writes(ann, "2"))
        yield* during(
          older,
          Effect.gen(function* () {
            for (const text of ["3", "4"]) yield* writes(ann, text)
            yield* TestClock.adjust("10 minutes")
            // Other chats do not wait.
            yield* writes(bob, "1")
            assert.deepStrictEqual(yield* texts(bob), ["old 1"])
          })
        )
        assert.deepStrictEqual(yield* texts(ann), ["old 1", "new 2"])
        yield* during(newer, TestClock.adjust("1 second"))
        assert.deepStrictEqual(yield* texts(ann), ["old 1", "new 2", "new 3", "new 4"])
        assert.deepStrictEqual(yield* deadLetters, [])
        const said = lines.filter((line) => line.includes("newer program"))
        assert.lengthOf(said, 1)
        assert.include(said[0], 'state "count" cannot be read. It was written by a newer program, in version 2.')
        assert.notInclude(lines.join("\n"), "of the handler failed")
      }).pipe(Effect.provide(layer), logged(lines))
    })

  for (const isShared of [false, true])
    it.effect(`does not keep \`Bot.drain\` from its end, which says what waits (isShared: ${isShared})`, () => {
      const lines: Array<string> = []
      const { newer, older } = counters()
      return Effect.gen(function* () {
        const store = { ...(yield* InboxStore.InboxStore), isShared }
        const drain = <E, R>(handler: Handler.Handler<E, R>) =>
          inTime(Bot.drain(handler)).pipe(
            Effect.provide(Layer.fresh(processLayer())),
            Effect.provideService(InboxStore.InboxStore, store)
          )
        const people = yield* Effect.forEach(["Ann", "Bob", "Cid"], (name) => Emulator.user(name))
        const [ann, bob, cid] = people
        for (const person of people) yield* person.send("1")
        assert.isTrue(yield* drain(newer))
        yield* cid.send("2")
        assert.isTrue(yield* drain(newer))
        for (const person of people) yield* person.send("3")
        yield* (yield* Emulator.user("Dan")).send("1")
        assert.isFalse(yield* drain(older))
        assert.strictEqual((yield* store.stats).queued, 3)
        const dialogs = yield* Effect.forEach(people, (person) => person.dialog)
        const said = lines.filter((line) => line.includes("stay in the inbox"))
        assert.lengthOf(said, 1)
        for (const { chat_id } of dialogs) assert.include(said[0], `${chat_id}`)
        assert.isTrue(yield* drain(newer))
        assert.deepStrictEqual(
          [yield* texts(ann), yield* texts(bob), yield* texts(cid)],
          [
            ["new 1", "new 2"],
            ["new 1", "new 2"],
            ["new 1", "new 2", "new 3"]
          ]
        )
      }).pipe(Effect.provide(layer), logged(lines))
    })

  it.effect("is handled by the process with the newer program at once, and the attempt does not count", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.makeMemory
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      const { newer, older } = counters()
      const attempts: Array<number> = []
      const counted = countAttempts(newer, attempts)
      const old = yield* startBot(store, older, Infinity)
      const settle = Effect.repeat(TestClock.adjust("1 second"), { times: 10 })
      yield* settle
      yield* old.kill
      const next = yield* startBot(store, counted, Infinity)
      yield* settle
      yield* ann.send("1")
      yield* settle
      // The older process starts again, and both claim.
      const again = yield* startBot(store, older, Infinity)
      for (const text of ["2", "3", "4"]) {
        yield* ann.send(text)
        yield* Effect.repeat(TestClock.adjust("1 second"), { times: 60 })
      }
      const said = (yield* Emulator.messages(dialog)).flatMap(({ body, sender }) =>
        sender?.is_bot ? [body?.text] : []
      )
      assert.deepStrictEqual(said, ["new 1", "new 2", "new 3", "new 4"])
      assert.deepStrictEqual(attempts, [1, 1, 1, 1])
      yield* next.kill
      yield* again.kill
    }).pipe(Effect.scoped, Effect.provide(platform))
  )

  it.effect("does not fail because the older process has removed a message already", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.makeMemory
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      const { newer, older } = counters()
      const removing = <E, R>(handler: Handler.Handler<E, R>) =>
        Handler.transform(handler, (handled, update) =>
          Effect.gen(function* () {
            const chat_id = Update.chatOf(update)
            if (chat_id === undefined) return yield* handled
            const { body } = yield* Messages.send({ chat_id, text: "soon gone" })
            if (body != null) yield* Messages.remove({ message_id: body.mid })
            return yield* handled
          })
        )
      const settle = Effect.repeat(TestClock.adjust("1 second"), { times: 20 })
      const first = yield* startBot(store, newer, Infinity)
      yield* settle
      yield* ann.send("1")
      yield* settle
      yield* first.kill
      yield* settle
      const old = yield* startBot(store, removing(older), Infinity)
      yield* settle
      yield* ann.send("2")
      yield* settle
      yield* old.kill
      const next = yield* startBot(store, removing(newer), Infinity)
      yield* settle
      const said = (yield* Emulator.messages(dialog)).flatMap(({ body, sender }) =>
        sender?.is_bot ? [body?.text] : []
      )
      assert.deepStrictEqual(said, ["new 1", "new 2"])
      assert.strictEqual((yield* store.stats).deadLetters, 0)
      yield* next.kill
    }).pipe(Effect.scoped, Effect.provide(platform))
  )

  it.effect("is given back also if it is claimed again before the answer of its release", () => {
    const attempts: Array<number> = []
    return Effect.gen(function* () {
      const memory = yield* InboxStore.makeMemory
      const commit = (all: Parameters<typeof memory.commit>[0]) =>
        Effect.tap(memory.commit(all), Effect.sleep("1 second"))
      const ann = yield* Emulator.user("Ann")
      const others = yield* Effect.forEach(Array.from({ length: 20 }), (_, index) => Emulator.user(`Other ${index}`))
      const dialog = yield* ann.start()
      yield* Effect.forEach(others, (other) => other.start())
      const { newer, older } = counters()
      const settle = Effect.repeat(TestClock.adjust("1 second"), { times: 10 })
      const first = yield* startBot(memory, newer, Infinity)
      yield* settle
      yield* ann.send("1")
      yield* settle
      yield* first.kill
      yield* settle
      const old = yield* startBot({ ...memory, commit }, older, Infinity)
      yield* settle
      yield* ann.send("2")
      // Each of these messages makes the process claim.
      for (const other of others) {
        yield* other.send("1")
        yield* TestClock.adjust("100 millis")
      }
      yield* settle
      const last = yield* startBot(memory, countAttempts(newer, attempts), Infinity)
      yield* Effect.repeat(TestClock.adjust("1 second"), { times: 30 })
      yield* last.kill
      yield* old.kill
      const said = (yield* Emulator.messages(dialog)).flatMap(({ body, sender }) =>
        sender?.is_bot ? [body?.text] : []
      )
      assert.deepStrictEqual(said, ["new 1", "new 2"])
      assert.deepStrictEqual(attempts, [1])
    }).pipe(Effect.scoped, Effect.provide(platform))
  })

  it.effect("waits in conversations, scenes and menus", () => {
    const lines: Array<string> = []
    return Effect.gen(function* () {
      const make = (version: number) => {
        const Order = Conversation.make("order", { of: "userInChat", version, onVersion: "end" }, (talk) =>
          Effect.flatMap(talk.ask("size", { say: "Size?" }), (size) => talk.say(`${size} by ${version}`))
        )
        const Game = Scene.make(
          "game",
          { of: "userInChat", version, states: { playing: Schema.Void } },
          {
            playing: {
              handler: ({ end }) =>
                Handler.on("message_created", (update) =>
                  Effect.andThen(Messages.reply(update, `game over by ${version}`), end)
                )
            }
          }
        )
        const menu = Menu.make("menu", { version }, () => ({
          text: "Menu",
          rows: [[Menu.button("press", "Press", () => Menu.finish(`pressed by ${version}`))]]
        }))
        return Handler.first(
          Command.make("order").on(Order.start),
          Command.make("game").on(() => Game.go("playing")),
          Command.make("menu").on((update) => menu.reply(update)),
          Order,
          Game,
          menu
        )
      }
      const [older, newer] = [make(1), make(2)]
      const [ann, bob, cid] = [yield* Emulator.user("Ann"), yield* Emulator.user("Bob"), yield* Emulator.user("Cid")]
      yield* during(
        newer,
        Effect.gen(function* () {
          yield* writes(ann, "/order")
          yield* writes(bob, "/game")
          yield* writes(cid, "/menu")
        })
      )
      yield* during(
        older,
        Effect.gen(function* () {
          yield* writes(ann, "large")
          yield* writes(bob, "stop")
          yield* presses(cid, "Press")
          yield* TestClock.adjust("5 minutes")
        })
      )
      assert.deepStrictEqual([yield* texts(ann), yield* texts(bob), yield* texts(cid)], [["Size?"], [], ["Menu"]])
      yield* during(newer, TestClock.adjust("1 second"))
      assert.deepStrictEqual(
        [yield* texts(ann), yield* texts(bob), yield* texts(cid)],
        [["Size?", "large by 2"], ["game over by 2"], ["pressed by 2"]]
      )
      for (const what of ['conversation "order"', 'state "scene:game"', 'menu "menu"'])
        assert.lengthOf(
          lines.filter((line) => line.includes(what) && line.includes("newer program")),
          1
        )
    }).pipe(Effect.provide(layer), logged(lines))
  })
})
