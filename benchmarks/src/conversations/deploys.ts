/**
 * Prints how many conversations are `stuck` after the code of a running conversation was changed, and how many updates became
 * `deadLetters`: each mutation of the code is deployed while conversations wait at each place. Runs in virtual time.
 */
import { type BotApi, Command, Conversation, Handler, Inbox, LongPolling, type Message, Updates } from "@colloquy/core"
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { Emulator, type Person } from "@colloquy/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as TestClock from "effect/testing/TestClock"
import { printCosts } from "../child.ts"
import { type Code, make, mutations, original, waits } from "./mutations.ts"

/** A conversation that has not ended after this many actions of its user is stuck. */
const maxActions = 40

const texts = ["Long Lane 7", "12"]

const buttonsOf = (message: Message.Message) =>
  (message.body?.attachments ?? []).flatMap((attachment) =>
    attachment.type === "inline_keyboard"
      ? attachment.payload.buttons.flat().flatMap((button) => (button.type === "callback" ? button.text : []))
      : []
  )

/** Does what a user would do next, after the last message of the bot. */
const act = Effect.fnUntraced(function* (person: Person.Person, action: number) {
  const messages = yield* Emulator.messages(yield* person.dialog)
  const last = messages.findLast(({ sender }) => sender?.is_bot === true)
  const labels = last === undefined ? [] : buttonsOf(last)
  if (last !== undefined && labels.length > 0) {
    const isChosen = labels.some((label) => label.startsWith("✓"))
    return yield* person.press(last, isChosen ? "Done" : labels[0])
  }
  if (last?.body?.text?.includes("location") === true) {
    const location = { type: "location" as const, latitude: 52.5, longitude: 13.4 }
    return yield* person.send("", { attachments: [location] })
  }
  return yield* person.send(texts[action % texts.length])
})

/** Starts a program with some code of the conversation. */
const deploy = Effect.fnUntraced(function* (code: Code, store: InboxStore.InboxStore["Service"]) {
  const order = make(code)
  const inbox = Layer.provide(Inbox.layer(), Layer.succeed(InboxStore.InboxStore, store))
  const bot = Handler.first(Command.make("order").on(order.start), order.handler) as Handler.Handler<
    unknown,
    BotApi.BotApi
  >
  const fiber = yield* Updates.run(bot).pipe(
    Effect.provide(Layer.fresh(Layer.provideMerge(LongPolling.layer(), inbox))),
    Effect.forkDetach
  )
  return { stop: Fiber.interrupt(fiber) }
})

const play = Effect.fnUntraced(function* (name: string, code: Code, place: string) {
  const store = yield* InboxStore.makeMemory
  const inbox = Layer.provide(Inbox.layer(), Layer.succeed(InboxStore.InboxStore, store))
  const person = yield* Emulator.user("Ann")
  const chat = yield* person.start()
  const status = Conversation.status(make(original), { chat_id: chat.chat_id, user_id: person.user_id }).pipe(
    Effect.provide(inbox)
  )
  const before = yield* deploy(original, store)
  yield* person.send("/order")
  let action = 0
  for (;;) {
    yield* TestClock.adjust("1 second")
    const current = yield* status
    if (Option.isSome(current) && current.value.waitingFor === place) break
    if (++action > maxActions) throw new Error(`The original does not reach "${place}"`)
    yield* waits.indexOf("rest") < waits.indexOf(place) && Option.isSome(current) && current.value.waitingFor === "rest"
      ? TestClock.adjust("20 minutes")
      : act(person, action)
  }
  yield* before.stop
  yield* TestClock.adjust("1 minute")
  const after = yield* deploy(code, store)
  let isStuck = true
  for (action = 0; action < maxActions; action++) {
    yield* TestClock.adjust("1 second")
    if (Option.isNone(yield* status)) {
      isStuck = false
      break
    }
    // A user waits now and then.
    if (action % 4 === 3) yield* TestClock.adjust("25 minutes")
    else yield* act(person, action)
  }
  yield* after.stop
  const { deadLetters, queued } = yield* store.stats
  if (isStuck || deadLetters + queued > 0)
    console.error(`${name}, at "${place}": ${isStuck ? "stuck" : ""} ${deadLetters} dead letters`)
  return { stuck: isStuck || queued > 0 ? 1 : 0, deadLetters }
})

const all = Effect.forEach(Object.entries(mutations), ([name, code]) =>
  Effect.forEach(waits, (place) =>
    Effect.provide(Effect.scoped(play(name, code, place)), [
      Layer.fresh(Emulator.layerBot()),
      Layer.fresh(TestClock.layer()),
      Logger.layer([])
    ])
  )
)

const plays = (await Effect.runPromise(all)).flat()

printCosts({
  mutations: [Object.keys(mutations).length],
  plays: [plays.length],
  stuck: [plays.reduce((sum, { stuck }) => sum + stuck, 0)],
  deadLetters: [plays.reduce((sum, { deadLetters }) => sum + deadLetters, 0)]
})
