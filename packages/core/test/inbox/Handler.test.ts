import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { pipe } from "effect/Function"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import {
  Answers,
  Bot,
  Chat,
  Command,
  DeepLink,
  Handler,
  Keyboard,
  LongPolling,
  Membership,
  Message,
  Messages,
  Pattern,
  Payload,
  type Update,
  User
} from "../../src/index.ts"
import type { BotApi } from "../../src/client/BotApi.ts"
import { botStarted, message, messageCreated } from "../support/handlers.ts"

class Broken extends Data.TaggedError("Broken")<{}> {}

const started = botStarted()

const added: Update.Of<"bot_added"> = {
  ...started,
  update_type: "bot_added",
  chat_id: Chat.ChatId.make(-1),
  is_channel: false
}

const unknown: Update.Update = { update_type: "unknown", raw: { update_type: "comet_seen" } }

/** Runs a handler, and returns whether it took the update and the names that were logged, in order. */
const runAndRecord = <E>(
  make: (log: (name: string) => Effect.Effect<void>) => Handler.Handler<E>,
  update: Update.Update = started
) =>
  Effect.gen(function* () {
    const names = yield* Ref.make<ReadonlyArray<string>>([])
    const handler = make((name) => Ref.update(names, (all) => [...all, name]))
    const isHandled = yield* Handler.run(handler, update)
    return [isHandled, ...(yield* Ref.get(names))]
  })

describe("Handler.on", () => {
  const greet = Handler.on("bot_started", ({ user }) => Effect.succeed(user.first_name))

  it("returns undefined for an update of another type", () => {
    assert.isUndefined(greet(added))
    assert.isUndefined(greet(unknown))
    assert.isDefined(greet(started))
  })

  it("accepts several types, and unknown as the type of unknown updates", () => {
    const both = Handler.on(["bot_started", "unknown"], () => Effect.void)
    assert.deepStrictEqual(
      [started, added, unknown].map((update) => both(update) !== undefined),
      [true, false, true]
    )
  })

  it("handles a comment that comes as an update of a message", () => {
    const recipient = { chat_id: Chat.ChatId.make(-1), chat_type: "channel", post_id: Message.MessageId.make("mid.2") }
    const comment = { ...messageCreated("Nice"), message: { ...message("Nice"), recipient } }
    const edited: Update.Update = { ...comment, update_type: "message_edited" }
    const removed: Update.Update = {
      update_type: "message_removed",
      timestamp: 1,
      message_id: recipient.post_id,
      chat_id: recipient.chat_id,
      post_id: recipient.post_id
    }
    const typeOf = (type: Update.UpdateType | ReadonlyArray<Update.UpdateType>, update: Update.Update) => {
      let received: string | undefined
      Handler.on(type, ({ update_type }) => void (received = update_type))(update)
      return received
    }
    for (const [update, message_type, comment_type] of [
      [comment, "message_created", "comment_created"],
      [edited, "message_edited", "comment_edited"],
      [removed, "message_removed", "comment_removed"]
    ] as const) {
      assert.strictEqual(typeOf(comment_type, update), comment_type)
      assert.strictEqual(typeOf(message_type, update), message_type)
      assert.strictEqual(typeOf([comment_type, message_type], update), message_type)
    }
    assert.isUndefined(typeOf("comment_edited", comment))
    assert.isUndefined(typeOf("comment_created", messageCreated("Hello")))
    assert.isUndefined(typeOf("comment_created", started))
  })

  it.effect("takes the update whatever the effect succeeds with", () =>
    Effect.gen(function* () {
      for (const result of [undefined, null, false, "unhandled"]) {
        assert.isTrue(yield* Handler.run(() => Effect.succeed(result), unknown))
      }
    })
  )
})

describe("Handler.run", () => {
  it.effect("turns an exception into a defect, and calls the handler each time that it runs", () =>
    Effect.gen(function* () {
      let calls = 0
      const run = Handler.run(() => {
        calls++
        if (calls === 1) throw new Error("failed")
        return Effect.void
      }, started)
      const cause = yield* Effect.flip(Effect.sandbox(run))
      assert.isTrue(Cause.hasDies(cause))
      assert.isTrue(yield* run)
    })
  )
})

describe("Handler.first", () => {
  it.effect("runs only the first handler that takes the update", () =>
    Effect.gen(function* () {
      const outcome = yield* runAndRecord((log) =>
        Handler.first(
          Handler.on("bot_added", () => log("other")),
          Handler.on("bot_started", () => log("one")),
          Handler.on("bot_started", () => log("two")),
          () => log("any")
        )
      )
      assert.deepStrictEqual(outcome, [true, "one"])
    })
  )

  it.effect("does not take an update that none of its handlers takes", () =>
    Effect.gen(function* () {
      const outcome = yield* runAndRecord((log) => Handler.first(Handler.on("bot_started", () => log("one"))), added)
      assert.deepStrictEqual(outcome, [false])
      assert.isUndefined(Handler.first()(started))
    })
  )

  it.effect("runs a function of any update that is the last handler", () =>
    Effect.gen(function* () {
      for (const update of [added, unknown]) {
        const outcome = yield* runAndRecord(
          (log) =>
            Handler.first(
              Handler.on("bot_started", () => log("one")),
              log.bind(null, "any")
            ),
          update
        )
        assert.deepStrictEqual(outcome, [true, "any"])
      }
    })
  )

  it.effect("tries the next handler when an effect fails with NotHandled", () =>
    Effect.gen(function* () {
      const outcome = yield* runAndRecord((log) =>
        Handler.first(
          () => Effect.andThen(log("one"), Handler.notHandled),
          () => undefined,
          Handler.first(
            () => Handler.notHandled,
            Handler.on("bot_started", () => log("two"))
          ),
          () => log("three")
        )
      )
      assert.deepStrictEqual(outcome, [true, "one", "two"])
    })
  )

  it.effect("does not take an update when every effect fails with NotHandled", () =>
    Effect.gen(function* () {
      const declines = () => Handler.notHandled
      const ignores = () => undefined
      for (const handler of [
        Handler.first(declines),
        Handler.first(declines, Handler.first(declines, ignores)),
        Handler.first(declines, ignores, ignores)
      ]) {
        assert.isFalse(yield* Handler.run(handler, started))
      }
    })
  )

  it.effect("fails with the error of a handler and does not try the next one", () =>
    Effect.gen(function* () {
      const names = yield* Ref.make(0)
      const handler = Handler.first(
        () => Effect.fail(new Broken()),
        () => Ref.set(names, 1)
      )
      assert.instanceOf(yield* Effect.flip(Handler.run(handler, started)), Broken)
      assert.strictEqual(yield* Ref.get(names), 0)
    })
  )

  it.effect("accepts thousands of handlers", () =>
    Effect.gen(function* () {
      const others = Array.from({ length: 20_000 }, () => Handler.on("bot_added", () => Effect.void))
      assert.isTrue(
        yield* Handler.run(
          Handler.first(...others, () => Effect.void),
          started
        )
      )
    })
  )
})

const any = () => Effect.void

/** Whether the handler takes each of three updates. */
const taken = (handler: Handler.Handler) => [started, added, unknown].map((update) => handler(update) !== undefined)

describe("Handler.filter", () => {
  it("takes the updates for which the predicate holds", () => {
    assert.deepStrictEqual(taken(Handler.filter(any, (update) => "user" in update)), [true, true, false])
    assert.deepStrictEqual(
      taken(
        pipe(
          any,
          Handler.filter((update) => "is_channel" in update)
        )
      ),
      [false, true, false]
    )
  })
})

describe("Handler.inChatType", () => {
  it("takes the updates of chats of these types, and no update without a chat type", () => {
    assert.deepStrictEqual(taken(Handler.inChatType(any, "dialog")), [true, false, false])
    assert.deepStrictEqual(taken(pipe(any, Handler.inChatType(["chat", "channel"]))), [false, true, false])
    assert.deepStrictEqual(taken(Handler.inChatType(any, ["chat", "dialog", "channel"])), [true, true, false])
  })
})

describe("Handler.fromUsers", () => {
  it("takes the updates that these users caused", () => {
    assert.deepStrictEqual(taken(Handler.fromUsers(any, [started.user.user_id])), [true, true, false])
    assert.deepStrictEqual(taken(pipe(any, Handler.fromUsers([User.UserId.make(7)]))), [false, false, false])
    assert.deepStrictEqual(taken(Handler.fromUsers(any, [])), [false, false, false])
  })
})

describe("Handler.filterEffect", () => {
  for (const allowed of [true, false]) {
    const make = (log: (name: string) => Effect.Effect<void>) =>
      Handler.first(
        Handler.filterEffect(
          Handler.on("bot_started", () => log("handler")),
          () => Effect.as(log("predicate"), allowed)
        ),
        () => log("fallback")
      )

    it.effect(`runs ${allowed ? "the handler" : "the next handler"} if the predicate returns ${allowed}`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* runAndRecord(make), [true, "predicate", allowed ? "handler" : "fallback"])
      })
    )

    it.effect(`does not run a predicate that would return ${allowed} for updates of other types`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* runAndRecord(make, added), [true, "fallback"])
      })
    )
  }
})

describe("Handler.notHandled", () => {
  const declines: Handler.Handler = () => Handler.notHandled
  const decline = declines(started) ?? assert.fail("the handler returned no effect")

  const operators: Record<
    string,
    (
      effect: Effect.Effect<unknown, Handler.NotHandled>
    ) => Effect.Effect<unknown, Handler.NotHandled | Cause.TimeoutError>
  > = {
    asVoid: Effect.asVoid,
    map: Effect.map(() => "result"),
    tap: Effect.tap(() => Effect.void),
    andThen: Effect.andThen(Effect.void),
    withSpan: Effect.withSpan("handler"),
    timeout: Effect.timeout("1 second")
  }

  for (const [name, operator] of Object.entries(operators)) {
    it.effect(`passes the update on to the next handler through Effect.${name}`, () =>
      Effect.gen(function* () {
        const outcome = yield* runAndRecord((log) =>
          Handler.first(
            () => operator(Effect.onExit(decline, () => log("one"))),
            () => log("two")
          )
        )
        assert.deepStrictEqual(outcome, [true, "one", "two"])
      })
    )
  }

  it.effect("is caught by its tag, and recognized by isNotHandled", () =>
    Effect.gen(function* () {
      assert.isTrue(Handler.isNotHandled(yield* Effect.flip(Handler.notHandled)))
      assert.isFalse(Handler.isNotHandled({ _tag: "NotHandled" }))
      assert.strictEqual(yield* Effect.catchTag(decline, "NotHandled", () => Effect.succeed("caught")), "caught")
    })
  )

  for (const [name, other] of [
    ["failure", Effect.fail(new Broken())],
    ["defect", Effect.die("defect")]
  ] as const) {
    it.effect(`does not hide another ${name} of the same effect`, () =>
      Effect.gen(function* () {
        const cause = Cause.combine(
          yield* Effect.flip(Effect.sandbox(Handler.notHandled)),
          yield* Effect.flip(Effect.sandbox(other))
        )
        const handler = Handler.first(
          () => Effect.failCause(cause),
          () => Effect.void
        )
        const exit = yield* Effect.exit(Handler.run(handler, started))
        assert.isTrue(Exit.isFailure(exit))
      })
    )
  }
})

describe("Handler.transform", () => {
  const failing = Handler.on("bot_started", () => Effect.fail(new Broken()))

  it.effect("applies the function to the effect and the update", () =>
    Effect.gen(function* () {
      const outcome = yield* runAndRecord((log) =>
        Handler.transform(failing, (effect, { update_type }) =>
          Effect.catchTag(effect, "Broken", () => log(update_type))
        )
      )
      assert.deepStrictEqual(outcome, [true, "bot_started"])
    })
  )

  it("does not call the function for an update that the handler ignores", () => {
    assert.isUndefined(Handler.transform(failing, Effect.retry({ times: 1 }))(added))
  })

  it.effect("does not show NotHandled to Effect.catch, Effect.retry, Effect.ignore and Effect.tap", () =>
    Effect.gen(function* () {
      const outcome = yield* runAndRecord((log) =>
        Handler.first(
          Handler.transform(
            () => Effect.andThen(log("one"), Handler.notHandled),
            (effect) =>
              effect.pipe(
                Effect.retry({ times: 3 }),
                Effect.tap(() => log("tap")),
                Effect.catch(() => log("catch")),
                Effect.timeout("1 second"),
                Effect.ignore
              )
          ),
          () => log("two")
        )
      )
      assert.deepStrictEqual(outcome, [true, "one", "two"])
    })
  )

  it.effect("keeps the defects of the effect, and lets the function decline the update", () =>
    Effect.gen(function* () {
      const dies = Handler.transform(() => Effect.die("defect"), Effect.asVoid)
      const cause = yield* Effect.flip(Effect.sandbox(Handler.run(dies, started)))
      assert.deepStrictEqual(Cause.squash(cause), "defect")
      const declines = Handler.transform(failing, () => Handler.notHandled)
      assert.isFalse(yield* Handler.run(declines, started))
    })
  )
})

const vote = Payload.make("vote", Schema.Struct({ choice: Schema.Literals(["tea", "coffee"]) }))

const invitation = DeepLink.make("invitation", Schema.Struct({ by: Schema.String }))

const handlers = Handler.first(
  invitation.on((update, { by }) => Messages.reply(update, `Welcome, guest of ${by}`)),
  Handler.on("bot_started", (update) => Messages.reply(update, "Welcome")),
  Command.make("ask").on((update) =>
    Effect.gen(function* () {
      const buttons = [yield* vote.button("Tea", { choice: "tea" }), yield* vote.button("Coffee", { choice: "coffee" })]
      yield* Messages.replyTo(update, { text: "Tea or coffee?", attachments: [Keyboard.make(buttons)] })
    })
  ),
  Command.make("add", { arguments: { a: Command.Integer, b: Command.Integer } }).on((update, { a, b }) =>
    Messages.reply(update, String(a + b))
  ),
  vote.on((update, { choice }) => Answers.answer(update, `One ${choice}, please`)),
  Pattern.make(/thank/i).on((update) => Messages.reply(update, "You are welcome")),
  Membership.joined((update) => Messages.reply(update, `Hello, ${update.user.first_name}`)),
  Handler.inChatType(
    Handler.on("message_created", (update) => Messages.reply(update, "Pardon?")),
    "dialog"
  )
)

const bot = Handler.transform(
  handlers,
  Effect.catchTag("InvalidArguments", (error) => Messages.reply(error.update, error.message))
)

const runBot = Bot.run((update) => Handler.run(bot, update), { concurrency: 1 })

const platform = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot({ botUsername: "test_bot" })))

/** Runs the bot until the conversation ends. */
const withBot = <A, E>(conversation: Effect.Effect<A, E, Layer.Success<typeof platform>>) =>
  Effect.raceFirst(conversation, Effect.andThen(runBot, Effect.never)).pipe(Effect.provide(platform))

describe("a bot composed by Handler.first", () => {
  it.effect("greets a user by the value of the deep link", () =>
    withBot(
      Effect.gen(function* () {
        const ann = yield* Emulator.user("Ann")
        yield* ann.start(yield* invitation.encode({ by: "Боб 🦊" }))
        assert.strictEqual((yield* ann.reply).body?.text, "Welcome, guest of Боб 🦊")
        const eve = yield* Emulator.user("Eve")
        yield* eve.start("spring_sale")
        assert.strictEqual((yield* eve.reply).body?.text, "Welcome")
      })
    )
  )

  it.effect("quotes a command, and answers the callback of a button by its value", () =>
    withBot(
      Effect.gen(function* () {
        const ann = yield* Emulator.user("Ann")
        yield* ann.start()
        yield* ann.reply
        const command = yield* ann.send("/ask")
        const question = yield* ann.reply
        assert.deepStrictEqual(question.link?.message?.mid, command.body?.mid)
        yield* ann.press(question, "Coffee")
        assert.strictEqual(yield* ann.notification, "One coffee, please")
      })
    )
  )

  it.effect("replies to commands, to patterns, to wrong arguments and to other texts", () =>
    withBot(
      Effect.gen(function* () {
        const ann = yield* Emulator.user("Ann")
        yield* ann.start()
        yield* ann.reply
        const answers: Array<string | null | undefined> = []
        for (const text of ["/add 2 3", "/add 2", "/add@test_bot 1 1", "Thank you", "hm"]) {
          yield* ann.send(text)
          answers.push((yield* ann.reply).body?.text)
        }
        assert.deepStrictEqual(answers, ["5", "<b> is missing. Usage: /add <a> <b>", "2", "You are welcome", "Pardon?"])
      })
    )
  )

  it.effect("replies to a comment by a comment, which cannot have attachments", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const channel = yield* Emulator.chat({ type: "channel", owner: ann, hasComments: true, bot: { admin: true } })
      const post = yield* ann.send(channel, "News")
      yield* ann.comment(post, "Is that so?")
      const updates = yield* Emulator.updates
      const update = updates.find((update) => update.update_type === "comment_created") ?? assert.fail("no update")
      const replyWith = (content: Messages.ReplyContent<Update.Of<"comment_created" | "message_created">>) =>
        Handler.on(["comment_created", "message_created"], (update) => Messages.replyTo(update, content))
      assert.isTrue(yield* Handler.run(replyWith("It is"), update))
      const [comment, reply] = yield* Emulator.comments(post)
      assert.deepStrictEqual([reply?.body.text, reply?.link?.message?.mid], ["It is", comment?.body.mid])
      assert.lengthOf(yield* Emulator.messages(channel), 1)
      const refused = yield* Effect.flip(Handler.run(replyWith({ text: "See", attachments: [] }), update))
      assert.include(refused.message, "`attachments` is not a field of this request")
    }).pipe(Effect.provide(platform))
  )

  it.effect("ignores the texts of a group chat and the commands of other bots, and greets new members", () =>
    withBot(
      Effect.gen(function* () {
        const ann = yield* Emulator.user("Ann")
        const bob = yield* Emulator.user("Bob")
        const chat = yield* Emulator.chat({ owner: ann })
        yield* ann.send(chat, "hm")
        yield* ann.send(chat, "/add@other_bot 1 1")
        yield* bob.join(chat)
        assert.strictEqual((yield* ann.reply).body?.text, "Hello, Bob")
      })
    )
  )
})

describe("Handler.promise", () => {
  const talk = <A, E>(
    handler: Handler.Handler<unknown, BotApi>,
    conversation: Effect.Effect<A, E, Emulator.Emulator>
  ) =>
    Effect.raceFirst(conversation, Bot.run(handler, { retry: Schedule.recurs(1), timeout: "1 minute" })).pipe(
      Effect.provide(platform)
    )

  it.effect("makes the calls of an async function, and does not repeat them after a rejection", () => {
    let attempts = 0
    return talk(
      Handler.on(
        "message_created",
        Handler.promise(async (update, { reply, run, send }) => {
          const { body } = await reply("one")
          assert.strictEqual(body?.text, "one")
          if (++attempts === 1) throw new Error("the service is away")
          await send({ chat_id: update.message!.recipient.chat_id!, text: "two" })
          await run(Messages.reply(update, "three"))
        })
      ),
      Effect.gen(function* () {
        const ann = yield* Emulator.user("Ann")
        yield* ann.send("hi")
        const texts: Array<string | null | undefined> = []
        for (let i = 0; i < 3; i++) texts.push((yield* ann.reply).body?.text)
        assert.deepStrictEqual(texts, ["one", "two", "three"])
        assert.strictEqual(attempts, 2)
      })
    )
  })

  it.effect("rejects with the error of a call, and fails with the reason of the rejection", () =>
    Effect.gen(function* () {
      const broken = new Broken()
      const handler = Handler.promise(async (_: Update.Update, { run }) => {
        const error: unknown = await run(Effect.fail(broken)).catch((reason: unknown) => reason)
        assert.strictEqual(error, broken)
        throw broken
      })
      assert.strictEqual(yield* Effect.flip(handler(started)), broken)
    }).pipe(Effect.provide(platform))
  )

  it.effect("aborts the signal and the calls when the handler is interrupted", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const ended = yield* Deferred.make<boolean>()
      const handler = Handler.promise(async (_: Update.Update, { run, signal }) => {
        await run(Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)).catch(() => undefined)
        await Effect.runPromise(Deferred.succeed(ended, signal.aborted))
      })
      const fiber = yield* Effect.forkChild(handler(started))
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(fiber)
      assert.isTrue(yield* Deferred.await(ended))
    }).pipe(Effect.provide(platform))
  )

  it("has calls from outside by a ManagedRuntime", async () => {
    const runtime = ManagedRuntime.make(Emulator.layerBot())
    const ann = await runtime.runPromise(Emulator.user("Ann"))
    await runtime.runPromise(ann.start())
    await runtime.runPromise(Messages.send({ user_id: ann.user_id, text: "shipped" }))
    const unknown = await runtime
      .runPromise(Messages.send({ user_id: User.UserId.make(1), text: "shipped" }))
      .catch((error: unknown) => error)
    assert.strictEqual((await runtime.runPromise(ann.reply)).body?.text, "shipped")
    assert.propertyVal(unknown, "_tag", "NotFound")
    await runtime.dispose()
  })
})
