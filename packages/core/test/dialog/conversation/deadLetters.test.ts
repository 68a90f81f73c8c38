import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import {
  Command,
  Conversation,
  Handler,
  Inbox,
  Journal,
  Messages,
  PermanentError,
  StoreError
} from "../../../src/index.ts"
import * as InboxStore from "../../../src/inbox/InboxStore.ts"
import {
  buttonsOf,
  deadLetters,
  during,
  last,
  layer,
  left,
  nothing,
  presses,
  texts,
  textOf,
  writes
} from "../../support/conversations.ts"
import { platform } from "../../support/mortal.ts"
import { startBot } from "../../support/mortalStore.ts"

const failed = "Something has gone wrong here. This continues when the problem is solved."

/** A shop whose payments fail for a while. */
const makeShop = () => {
  const shop = { isDown: true, keys: [] as Array<string> }
  const charge = Effect.flatMap(Journal.key, (key) =>
    Effect.suspend(() => {
      shop.keys.push(key)
      return shop.isDown ? Effect.fail("The shop is down") : Effect.succeed(7)
    })
  )
  const Order = Conversation.make(
    "order",
    { of: "userInChat", timeout: "10 minutes" },
    Effect.fn(
      function* (talk) {
        if (!(yield* talk.confirm("right", { say: "Pay?" }))) return yield* talk.say("No")
        yield* talk.say("I am paying")
        const number = yield* talk.step("pay", Schema.Int, charge)
        yield* talk.say(`Order ${number}`)
      },
      (conversation, talk) => Effect.catchTag(conversation, "Unanswered", () => talk.say("I forget the order."))
    )
  )
  const bot = Handler.first(
    Command.make("order").on(Order.start),
    Command.make("cancel").on(Order.cancel),
    Order,
    Handler.on("message_created", (update) => Messages.reply(update, "(not for the conversation)"))
  )
  return { shop, Order, bot }
}

const inInbox = <A, E>(effect: Effect.Effect<A, E, Inbox.Inbox>) => Effect.provide(effect, Inbox.layer())

const replayAll = inInbox(Stream.runForEach(Inbox.deadLetters, ({ id }) => Inbox.replay(id)))

const dropAll = inInbox(Stream.runForEach(Inbox.deadLetters, ({ id }) => Inbox.drop(id)))

const sameKeys = (keys: ReadonlyArray<string>) => assert.lengthOf([...new Set(keys)], 1)

/** Ann confirms, and the press becomes a dead letter in the step that follows. */
const confirm = Effect.fnUntraced(function* (bot: ReturnType<typeof makeShop>["bot"]) {
  const ann = yield* Emulator.user("Ann")
  yield* during(
    bot,
    Effect.gen(function* () {
      yield* writes(ann, "/order")
      yield* presses(ann, "Yes")
      yield* TestClock.adjust("2 minutes")
    })
  )
  return ann
})

describe("a conversation whose update is a dead letter", () => {
  for (const wait of ["1 second", "20 minutes"] as const)
    it.effect(`continues by a replay after ${wait}, with the same key, and without the timeout of the answer`, () =>
      Effect.gen(function* () {
        const { bot, shop } = makeShop()
        const ann = yield* confirm(bot)
        yield* during(bot, TestClock.adjust(wait))
        assert.deepStrictEqual(yield* texts(ann), ["Pay?\n✓ Yes", "I am paying"])
        shop.isDown = false
        yield* replayAll
        yield* during(bot, TestClock.adjust("1 minute"))
        assert.deepStrictEqual(yield* texts(ann), ["Pay?\n✓ Yes", "I am paying", "Order 7"])
        sameKeys(shop.keys)
        assert.lengthOf(shop.keys, 7)
        assert.deepStrictEqual(yield* left("order"), nothing)
      }).pipe(Effect.provide(layer))
    )

  it.effect("says so to who starts or cancels it, or presses a button, and leaves messages to other handlers", () =>
    Effect.gen(function* () {
      const { Order, bot, shop } = makeShop()
      const ann = yield* confirm(bot)
      yield* during(
        bot,
        Effect.gen(function* () {
          for (const text of ["/order", "/cancel", "Hello?"]) yield* writes(ann, text)
        })
      )
      assert.deepStrictEqual((yield* texts(ann)).slice(2), [failed, failed, "(not for the conversation)"])
      const [dead] = yield* inInbox(Stream.runCollect(Inbox.deadLetters))
      const { chat_id } = yield* ann.dialog
      const status = inInbox(Conversation.status(Order, { chat_id, user_id: ann.user_id }))
      assert.strictEqual(Option.getOrThrow(yield* status).deadLetter, dead!.id)
      const [listed] = yield* inInbox(Stream.runCollect(Conversation.stream(Order)))
      assert.strictEqual(listed?.status.deadLetter, dead!.id)
      // A replay gives the update another id, and the conversation waits for it while it is queued.
      yield* replayAll
      assert.isUndefined(Option.getOrThrow(yield* status).deadLetter)
      yield* during(bot, TestClock.adjust("2 minutes"))
      const [again] = yield* inInbox(Stream.runCollect(Inbox.deadLetters))
      assert.notStrictEqual(again!.id, dead!.id)
      assert.strictEqual(Option.getOrThrow(yield* status).deadLetter, again!.id)
      shop.isDown = false
      yield* replayAll
      yield* during(bot, Effect.void)
      assert.strictEqual(textOf(yield* last(ann)), "Order 7")
      sameKeys(shop.keys)
    }).pipe(Effect.provide(layer))
  )

  it.effect("continues with the next update, and the same key, after the dead letter was dropped", () =>
    Effect.gen(function* () {
      const { bot, shop } = makeShop()
      const ann = yield* confirm(bot)
      shop.isDown = false
      yield* dropAll
      yield* during(bot, writes(ann, "/order"))
      assert.deepStrictEqual((yield* texts(ann)).slice(1), ["I am paying", "Order 7"])
      sameKeys(shop.keys)
      assert.deepStrictEqual(yield* left("order"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("can be cancelled after the dead letter was dropped", () =>
    Effect.gen(function* () {
      const { bot } = makeShop()
      const ann = yield* confirm(bot)
      yield* dropAll
      yield* during(bot, writes(ann, "/cancel"))
      assert.deepStrictEqual((yield* texts(ann)).slice(1), ["I am paying", "Cancelled."])
      assert.deepStrictEqual(yield* left("order"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("waits for the update that started it, if a step came first", () =>
    Effect.gen(function* () {
      const keys: Array<string> = []
      let isDown = true
      const step = Effect.map(Journal.key, (key) => void keys.push(key)).pipe(
        Effect.andThen(Effect.suspend(() => (isDown ? Effect.fail("down") : Effect.succeed(1))))
      )
      const First = Conversation.make(
        "first",
        { of: "userInChat", ifRunning: "restart" },
        Effect.fn(function* (talk) {
          yield* talk.say("Welcome")
          yield* talk.step("reserve", Schema.Int, step)
          yield* talk.ask("name", { say: "Name?" })
        })
      )
      const bot = Handler.first(Command.make("go").on(First.start), First)
      const ann = yield* Emulator.user("Ann")
      yield* during(bot, Effect.andThen(writes(ann, "/go"), TestClock.adjust("2 minutes")))
      yield* during(bot, writes(ann, "/go"))
      isDown = false
      yield* replayAll
      yield* during(bot, Effect.void)
      assert.deepStrictEqual(yield* texts(ann), ["Welcome", failed, "Name?"])
      sameKeys(keys)
    }).pipe(Effect.provide(layer))
  )

  it.effect("waits for the dead letter of a body that fails outside of a step, and a replay answers the question", () =>
    Effect.gen(function* () {
      let isBroken = true
      const Broken = Conversation.make(
        "broken",
        { of: "userInChat", timeout: "10 minutes" },
        Effect.fn(function* (talk) {
          const name = yield* talk.ask("name", { say: "Name?" })
          if (isBroken) return yield* Effect.die(PermanentError.mark(new Error("not yet")))
          const place = yield* talk.ask("place", { say: "Place?" })
          return yield* talk.say(`${name} in ${place}`)
        })
      )
      const bot = Handler.first(Command.make("go").on(Broken.start), Broken)
      const ann = yield* Emulator.user("Ann")
      yield* during(
        bot,
        Effect.gen(function* () {
          for (const text of ["/go", "Ann", "Bob"]) yield* writes(ann, text)
          yield* TestClock.adjust("20 minutes")
        })
      )
      assert.deepStrictEqual(yield* texts(ann), ["Name?"])
      assert.lengthOf(yield* deadLetters, 1)
      isBroken = false
      yield* replayAll
      yield* during(bot, Effect.andThen(TestClock.adjust("1 second"), writes(ann, "Riga")))
      assert.deepStrictEqual(yield* texts(ann), ["Name?", "Place?", "Ann in Riga"])
      assert.deepStrictEqual(yield* left("broken"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("takes another answer after the dead letter of a body that fails outside of a step was dropped", () =>
    Effect.gen(function* () {
      const Strict = Conversation.make(
        "strict",
        { of: "userInChat" },
        Effect.fn(function* (talk) {
          const name = yield* talk.ask("name", { say: "Name?" })
          if (name === "Bob") return yield* Effect.die(PermanentError.mark(new Error("not Bob")))
          return yield* talk.say(`Hello, ${name}`)
        })
      )
      const bot = Handler.first(Command.make("go").on(Strict.start), Strict)
      const ann = yield* Emulator.user("Ann")
      yield* during(bot, Effect.andThen(writes(ann, "/go"), writes(ann, "Bob")))
      yield* dropAll
      yield* during(bot, writes(ann, "Ann"))
      assert.deepStrictEqual(yield* texts(ann), ["Name?", "Hello, Ann"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("runs `onDone` again in a replay if it has failed", () =>
    Effect.gen(function* () {
      let isBroken = true
      const done: Array<string> = []
      const Name = Conversation.make("name", { of: "userInChat", timeout: "10 minutes" }, (talk) =>
        talk.ask("name", { say: "Name?" })
      ).pipe(
        Conversation.onDone((name) =>
          isBroken ? Effect.die(PermanentError.mark(new Error("not yet"))) : Effect.sync(() => done.push(name))
        )
      )
      const bot = Handler.first(Command.make("go").on(Name.start), Name)
      const ann = yield* Emulator.user("Ann")
      yield* during(bot, Effect.andThen(writes(ann, "/go"), writes(ann, "Ann")))
      isBroken = false
      yield* during(bot, TestClock.adjust("20 minutes"))
      yield* replayAll
      yield* during(bot, Effect.void)
      assert.deepStrictEqual(done, ["Ann"])
      assert.deepStrictEqual(yield* left("name"), nothing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("is told in the log why a replay changes nothing, after the conversation was stopped", () => {
    const lines: Array<string> = []
    const logger = Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))])
    return Effect.gen(function* () {
      const { Order, bot, shop } = makeShop()
      const ann = yield* confirm(bot)
      yield* inInbox(Conversation.stop(Order, { chat_id: (yield* ann.dialog).chat_id, user_id: ann.user_id }))
      shop.isDown = false
      yield* replayAll
      yield* during(bot, Effect.void)
      assert.lengthOf(shop.keys, 6)
      assert.include(lines.join("\n"), 'A press of a button of the conversation "order" changes nothing')
      assert.isEmpty(buttonsOf(yield* last(ann)))
    }).pipe(Effect.provide([layer, logger]))
  })

  it.effect("begins no step while the store does not take the answer", () => {
    let failures = 8
    const failing = (store: InboxStore.InboxStore["Service"]): InboxStore.InboxStore["Service"] => ({
      ...store,
      write: (writes) =>
        Effect.suspend(() => {
          if (writes.some(({ journal }) => journal !== undefined) || --failures < 0) return store.write(writes)
          const reason = "the connection was lost"
          return Effect.fail(
            new StoreError.StoreError({ store: "inbox", operation: "writeState", reason, isRetryable: true })
          )
        })
    })
    return Effect.gen(function* () {
      const { bot, shop } = makeShop()
      shop.isDown = false
      const ann = yield* Emulator.user("Ann")
      yield* during(
        bot,
        Effect.gen(function* () {
          yield* writes(ann, "/order")
          yield* presses(ann, "Yes")
          assert.lengthOf(shop.keys, 0)
          yield* TestClock.adjust("1 minute")
        })
      )
      assert.deepStrictEqual(yield* texts(ann), ["Pay?\n✓ Yes", "I am paying", "Order 7"])
      assert.lengthOf(shop.keys, 1)
      assert.deepStrictEqual(yield* left("order"), nothing)
    }).pipe(Effect.updateService(InboxStore.InboxStore, failing), Effect.provide(layer))
  })

  it.effect("has stored the answer before the step that ends the process three times", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.makeMemory
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      let kill: Effect.Effect<unknown> = Effect.void
      let isDeadly = true
      let runs = 0
      const Order = Conversation.make(
        "order",
        { of: "userInChat", timeout: "10 minutes" },
        Effect.fn(
          function* (talk) {
            yield* talk.confirm("right", { say: "Pay?" })
            const number = yield* talk.step(
              "pay",
              Schema.Int,
              Effect.suspend(() => {
                runs++
                return isDeadly ? Effect.andThen(kill, Effect.never) : Effect.succeed(7)
              })
            )
            yield* talk.say(`Order ${number}`)
          },
          (conversation, talk) => Effect.catchTag(conversation, "Unanswered", () => talk.say("I forget the order."))
        )
      )
      const bot = Handler.first(Command.make("order").on(Order.start), Order)
      const settle = Effect.repeat(TestClock.adjust("1 second"), { times: 20 })
      const process = yield* startBot(store, bot, Infinity, 3)
      kill = process.kill
      yield* settle
      yield* ann.send("/order")
      yield* settle
      yield* ann.press((yield* Emulator.messages(dialog)).at(-1)!, "Yes")
      for (let crash = 0; crash < 4; crash++) {
        yield* settle
        yield* process.restart
      }
      yield* TestClock.adjust("20 minutes")
      assert.strictEqual(runs, 3)
      assert.strictEqual((yield* store.stats).deadLetters, 1)
      isDeadly = false
      const [dead] = yield* store.updates({ of: "deadLetters", limit: 1 })
      yield* store.takeDeadLetters({ ids: [dead!.id], replay: true })
      yield* settle
      yield* process.kill
      const said = (yield* Emulator.messages(dialog)).flatMap(({ body, sender }) =>
        sender?.is_bot ? [body?.text] : []
      )
      assert.deepStrictEqual(said, ["Pay?\n✓ Yes", "Order 7"])
    }).pipe(Effect.scoped, Effect.provide(platform))
  )
})
