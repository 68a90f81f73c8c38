/** Bots with conversations whose processes end and begin again, with the store and the platform of the one before. */
import { Bot, BotApi, Command, Handler, Inbox, LongPolling, type Message, RateLimiter } from "@colloquy/core"
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { Emulator, type Person } from "@colloquy/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"

/** What outlives the processes of the bot: the platform and the store. */
export const layer = Layer.merge(Emulator.layer(), Layer.effect(InboxStore.InboxStore, InboxStore.makeMemory))

/** The layers of one process. */
export const processLayer = () =>
  LongPolling.layer().pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        BotApi.layer({ token: Redacted.make("emulator-token"), baseUrl: Emulator.baseUrl }).pipe(
          Layer.provide(RateLimiter.layerMemory(RateLimiter.unlimited))
        ),
        Inbox.layer()
      )
    )
  )

/** Runs an effect while a process of a bot runs, which is interrupted at the end. */
export const during = <E, R, A, E2, R2>(handler: Handler.Handler<E, R>, effect: Effect.Effect<A, E2, R2>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const bot = Effect.provide(Bot.run(handler), Layer.fresh(processLayer()))
      const fiber = yield* Effect.forkScoped(bot, { startImmediately: true })
      yield* TestClock.adjust("1 second")
      const result = yield* effect
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(fiber)
      return result
    })
  )

export const textOf = (message: Message.Message): string | undefined => message.body?.text ?? undefined

/** The texts of the buttons of a message. */
export const buttonsOf = (message: Message.Message): ReadonlyArray<string> =>
  (message.body?.attachments ?? []).flatMap((attachment) =>
    attachment.type === "inline_keyboard"
      ? attachment.payload.buttons.flat().map((button) => ("text" in button ? String(button.text) : ""))
      : []
  )

/** Sends a text, and waits until it is handled. */
export const writes = (person: Person.Person, text: string, options?: Person.SendOptions) =>
  Effect.andThen(person.send(text, options), TestClock.adjust("1 second"))

/** Everything that the bot has sent to a person in their dialog, as it is shown now. */
export const sent = Effect.fnUntraced(function* (person: Person.Person) {
  const messages = yield* Emulator.messages(yield* person.dialog)
  return messages.filter(({ sender }) => sender?.is_bot === true)
})

export const texts = (person: Person.Person) => Effect.map(sent(person), (messages) => messages.map(textOf))

/** The last message of the bot. */
export const last = (person: Person.Person) => Effect.map(sent(person), (messages) => messages.at(-1)!)

/** Presses a button of the last message with buttons. */
export const presses = Effect.fnUntraced(function* (person: Person.Person, button: string) {
  const message = (yield* sent(person)).findLast((message) => buttonsOf(message).length > 0)
  if (message === undefined) return yield* Effect.die(new Error(`No message has buttons, so none is "${button}".`))
  yield* person.press(message, button)
  yield* TestClock.adjust("1 second")
})

/** What the store keeps: values of conversations, timers, and dead letters. */
export const left = Effect.fnUntraced(function* (...names: ReadonlyArray<string>) {
  const store = yield* InboxStore.InboxStore
  const values = yield* Effect.forEach(names, (name) =>
    store.rows({ prefix: `state/conversation%2F${name}/`, by: "key", limit: 100 })
  )
  const { deadLetters } = yield* store.stats
  return { values: values.flat().length, timer: yield* store.untilNext, deadLetters }
})

export const nothing = { values: 0, timer: undefined, deadLetters: 0 }

/** Starts a conversation, writes answers, and returns the texts that the bot has sent. */
export const play = Effect.fnUntraced(function* <E, R>(
  conversation: Handler.Handler<E, R> & { readonly start: (update: never) => Effect.Effect<void, E, R> },
  ...answers: ReadonlyArray<string>
) {
  const ann = yield* Emulator.user("Ann")
  yield* during(
    Handler.first(
      Command.make("go").on((update) => conversation.start(update as never)),
      conversation
    ),
    Effect.gen(function* () {
      for (const answer of ["/go", ...answers]) yield* writes(ann, answer)
      yield* TestClock.adjust("10 minutes")
    })
  )
  return yield* texts(ann)
})

/** The errors of the dead letters. */
export const deadLetters = Effect.provide(
  Effect.map(Stream.runCollect(Inbox.deadLetters), (all) => all.map(({ error }) => error)),
  Inbox.layer()
)
