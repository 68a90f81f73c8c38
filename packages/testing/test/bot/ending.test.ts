/** Tests of bots that fail while something waits in virtual time: each test ends at once, and shows its assertion. */
import {
  Bot,
  Broadcasts,
  Command,
  Conversation,
  Handler,
  Journal,
  LiveMessage,
  LongPolling,
  Messages,
  Timer,
  type Update
} from "@colloquy/core"
import * as BroadcastStore from "@colloquy/core/broadcast/BroadcastStore"
import { Emulator, type Person } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import {
  Cause,
  type Duration,
  Effect,
  Exit,
  Fiber,
  Layer,
  Logger,
  Option,
  Schedule,
  Schema,
  type Scope,
  Stream
} from "effect"
import * as TestClock from "effect/testing/TestClock"

const assertion = "Ann has got the wrong answer"

const fail = Effect.sync(() => assert.fail(assertion))

/** The time of the system after which a test counts as hanging. */
const limit = "50 seconds"

const slow = LongPolling.layer().pipe(
  Layer.provideMerge(Emulator.layerBot({ clientLimits: { host: { count: 1, window: "1 minute" } } })),
  Layer.provideMerge(BroadcastStore.layerMemory)
)

type Services = Layer.Success<typeof slow>

/** The ways in which a test runs a bot beside its own steps. */
const ways = {
  forkChild: (bot, test) => Effect.andThen(Effect.forkChild(bot, { startImmediately: true }), test),
  forkScoped: (bot, test) => Effect.andThen(Effect.forkScoped(bot, { startImmediately: true }), test),
  raceFirst: (bot, test) => Effect.raceFirst(bot, test),
  interrupt: (bot, test) =>
    Effect.flatMap(Effect.forkDetach(bot, { startImmediately: true }), (fiber) =>
      Effect.ensuring(test, Fiber.interrupt(fiber))
    )
} satisfies {
  readonly [way: string]: (
    bot: Effect.Effect<unknown, unknown, Services>,
    test: Effect.Effect<never, unknown, Services>
  ) => Effect.Effect<unknown, unknown, Services | Scope.Scope>
}

interface Case {
  readonly bot: Effect.Effect<unknown, unknown, Services>
  readonly act: (ann: Person.Person) => Effect.Effect<unknown, unknown, Services>
  readonly wait: Duration.Input
}

const ending = (
  bot: Effect.Effect<unknown, unknown, Services>,
  act: Case["act"],
  wait: Duration.Input = "1 second"
): Case => ({ bot, act, wait })

/** The platform answers no request that changes something. */
const stuck = Emulator.intercept((request, next) => (request.method === "GET" ? next : Effect.delay(next, "1 hour")))

/** Runs the test of a bot that fails after `wait`. Returns what the test shows. */
const shownBy = ({ act, bot, wait }: Case, way: keyof typeof ways, isStuck = false) =>
  Effect.gen(function* () {
    const ann = yield* Emulator.user("Ann")
    yield* ann.start()
    if (isStuck) yield* stuck
    const test = Effect.gen(function* () {
      yield* TestClock.adjust("100 millis")
      yield* act(ann)
      yield* TestClock.adjust(wait)
      return yield* fail
    })
    return yield* ways[way](bot, test)
  }).pipe(
    Effect.scoped,
    Effect.provide(Layer.provideMerge(slow, Layer.merge(Logger.layer([]), TestClock.layer()))),
    Effect.exit,
    Effect.timeoutOption(limit),
    Effect.map(
      Option.match({
        onNone: () => "The test hangs.",
        onSome: Exit.match({
          onSuccess: () => "The test passes.",
          onFailure: (cause) => (Cause.squash(cause) as Error).message
        })
      })
    )
  )

const send = (ann: Person.Person) => ann.send("go")

const onMessage = <E, R>(handle: (update: Update.Of<"message_created">) => Effect.Effect<unknown, E, R>) =>
  Bot.run((update) => (update.update_type === "message_created" ? handle(update) : undefined))

const Talk = Conversation.make(
  "talk",
  { of: "userInChat" },
  Effect.fn(function* (talk) {
    yield* talk.say("Good night")
    yield* talk.sleep("night", "8 hours")
    yield* talk.ask("name", { say: "Who are you?", timeout: "1 day" })
  })
)

const News = Timer.make("news")

/** A broadcast to ten people, of whom one is told in a minute. */
const broadcast = Effect.gen(function* () {
  const chats = yield* Effect.forEach(Array.from({ length: 10 }), (_, index) =>
    Effect.map(
      Effect.flatMap(Emulator.user(`Person ${index}`), (person) => person.start()),
      ({ chat_id }) => chat_id
    )
  )
  const message = { text: "News!" }
  yield* Stream.runDrain(Broadcasts.run({ name: "news", recipients: Stream.fromIterable(chats), message }))
})

const cases: { readonly [what: string]: Case } = {
  "a broadcast that waits for permits": ending(broadcast, () => Effect.void),
  "a long poll": ending(
    onMessage(() => Effect.void),
    () => Effect.void
  ),
  "a handler that sleeps": ending(
    onMessage(() => Effect.sleep("1 hour")),
    send
  ),
  "a handler that never ends": ending(
    onMessage(() => Effect.never),
    send
  ),
  "a call that waits for a permit": ending(
    onMessage((update) => Effect.repeat(Messages.reply(update, "again"), { times: 5 })),
    send
  ),
  "calls beside each other that wait for permits": ending(
    onMessage((update) =>
      Effect.all(
        [1, 2, 3].map((index) => Messages.reply(update, `${index}`)),
        { concurrency: "unbounded" }
      )
    ),
    send
  ),
  "a live message without a text": ending(
    onMessage((update) => LiveMessage.reply(update, Stream.never)),
    send
  ),
  "a live message that grows": ending(
    onMessage((update) =>
      LiveMessage.reply(update, Stream.schedule(Stream.fromIterable(["a ", "b ", "c "]), Schedule.spaced("1 second")))
    ),
    send,
    "3 seconds"
  ),
  "work whose progress is shown": ending(
    onMessage((update) =>
      LiveMessage.progress(update, {}, (report) => Effect.andThen(report({ done: 1 }), Effect.sleep("1 hour")))
    ),
    send
  ),
  "a conversation that sleeps": ending(Bot.run(Handler.first(Command.make("go").on(Talk.start), Talk)), (ann) =>
    ann.send("/go")
  ),
  "a conversation that waits for an answer": ending(
    Bot.run(Handler.first(Command.make("go").on(Talk.start), Talk)),
    (ann) => ann.send("/go"),
    "9 hours"
  ),
  "a timer": ending(
    Bot.run(
      Handler.first(
        News.on(() => Effect.void),
        Handler.on("message_created", () => News.in("1 hour", undefined))
      )
    ),
    send
  ),
  "a handler that is tried again later": ending(
    onMessage(() => Effect.fail("not yet")),
    send
  ),
  "a step of the journal": ending(
    onMessage(() => Journal.step("slow", Schema.Void, Effect.sleep("1 hour"))),
    send
  ),
  "a person who waits for a reply": ending(
    onMessage(() => Effect.void),
    (ann) => Effect.forkChild(ann.reply, { startImmediately: true })
  )
}

describe("a test that fails while something waits", () => {
  for (const way of Object.keys(ways) as ReadonlyArray<keyof typeof ways>) {
    it.live.each(Object.keys(cases))(`ends at once, and shows its assertion, with ${way}: %s`, (what) =>
      Effect.map(shownBy(cases[what]!, way), (shown) => assert.strictEqual(shown, assertion))
    )
  }

  it.live.each(Object.keys(cases))("ends at once while the platform does not answer: %s", (what) =>
    Effect.map(shownBy(cases[what]!, "forkChild", true), (shown) => assert.strictEqual(shown, assertion))
  )
})
