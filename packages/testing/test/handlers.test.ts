import {
  Answers,
  type BotApi,
  Command,
  Comments,
  DeepLink,
  Handler,
  Keyboard,
  LongPolling,
  Me,
  Membership,
  Messages,
  Pattern,
  Payload,
  type Update,
  Updates
} from "@colloquy/core"
import { Emulator, Fixtures, TestBotApi } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

const said = (text: string) => Fixtures.messageCreated({ text })

const me = Effect.succeed(Fixtures.bot({ username: "The_Bot" }))

/** A client that answers nothing. */
const alone = TestBotApi.layer()

describe("a command", () => {
  const remind = Command.make("remind", {
    description: "Reminds you",
    arguments: { minutes: Command.Integer, text: Schema.optionalKey(Schema.String) }
  })

  /** The arguments that a text gives, or the problem. */
  const argumentsOf = (text: string) =>
    Effect.gen(function* () {
      const given = yield* Ref.make<unknown>("not asked")
      yield* Handler.run(
        remind.on((_, args) => Ref.set(given, args)),
        said(text)
      )
      return yield* Ref.get(given)
    }).pipe(
      Effect.catchTag("InvalidArguments", (error) => Effect.succeed(error.message)),
      Effect.provide(alone)
    )

  it.effect("has its arguments as their schemas read them", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* argumentsOf("/remind 10 tea 🍵\nand cake "), {
        minutes: 10,
        text: "tea 🍵\nand cake"
      })
      assert.deepStrictEqual(yield* argumentsOf("/REMIND\n-7"), { minutes: -7 })
    })
  )

  it.effect("tells what is wrong with what it was given, and how it is used", () =>
    Effect.gen(function* () {
      const usage = "Usage: /remind <minutes> [text]"
      assert.strictEqual(yield* argumentsOf("/remind"), `<minutes> is missing. ${usage}`)
      for (const wrong of ["soon", "1.5", "0x10", "1e3", "٣"]) {
        assert.strictEqual(yield* argumentsOf(`/remind ${wrong}`), `<minutes> must be a whole number. ${usage}`)
      }
      const beyond = "<minutes> must be a whole number of at most 9007199254740991"
      assert.strictEqual(yield* argumentsOf("/remind 9007199254740993 tea"), `${beyond}. ${usage}`)
    })
  )

  it.effect("tells all that is wrong at once, and which update it came by", () =>
    Effect.gen(function* () {
      const add = Command.make("add", { arguments: { a: Command.Number, b: Command.Number } })
      const error = yield* Handler.run(
        add.on(() => Effect.void),
        said("/add one 2 3")
      ).pipe(Effect.flip)
      assert.instanceOf(error, Command.InvalidArguments)
      assert.strictEqual(error.message, "<a> must be a number, <b> must be a number. Usage: /add <a> <b>")
      assert.deepStrictEqual(error.update, said("/add one 2 3"))
    }).pipe(Effect.provide(alone))
  )

  it.effect("reads numbers, words and lists of them", () =>
    Effect.gen(function* () {
      const every = Command.make("every", {
        arguments: { number: Command.Number, word: Command.Word, rest: Command.words(Command.Integer) }
      })
      const given = yield* Ref.make<unknown>(undefined)
      const handler = every.on((_, args) => Ref.set(given, args))
      yield* Handler.run(handler, said("/every -.5 w@rd 1\n 2  +3"))
      assert.deepStrictEqual(yield* Ref.get(given), { number: -0.5, word: "w@rd", rest: [1, 2, 3] })
      const problem = yield* Effect.flip(Handler.run(handler, said("/every 1 word 1 2 three")))
      assert.include(problem.message, "<rest[2]> must be a whole number")
      const single = Command.make("single", { arguments: { word: Command.Word } }).on(() => Effect.void)
      assert.include((yield* Effect.flip(Handler.run(single, said("/single two words")))).message, "must be one word")
    }).pipe(Effect.provide(alone))
  )

  it("is none in the middle of a text, of another name, in an edit or in a comment, unless asked for", () => {
    const help = Command.make("help").on(() => Effect.void)
    for (const text of ["say /help", "/helpme", "help", ""]) assert.isUndefined(help(said(text)))
    const message = Fixtures.message({ text: "/help" })
    const edited: Update.Update = { update_type: "message_edited", timestamp: 1, message }
    assert.isUndefined(help(edited))
    assert.isUndefined(help({ update_type: "comment_created", timestamp: 1, message }))
    assert.isDefined(Command.make("help", { types: ["message_edited"] }).on(() => Effect.void)(edited))
    assert.isUndefined(help({ update_type: "message_created", timestamp: 1, message: null }))
  })

  it.effect("whose handler declines is left to the next one, like a payload's and a deep link's", () =>
    Effect.gen(function* () {
      const updates = [
        said("/remind 1"),
        said("/stop"),
        Fixtures.messageCallback({ payload: "again" }),
        Fixtures.botStarted({ payload: "promo" })
      ]
      const declining = Handler.first(
        remind.on(() => undefined),
        Command.make("stop").on(() => undefined),
        Payload.make("again").on(() => undefined),
        DeepLink.make("promo").on(() => undefined)
      )
      for (const update of updates) {
        assert.isFalse(yield* Handler.run(declining, update))
        assert.isTrue(
          yield* Handler.run(
            Handler.first(declining, () => Effect.void),
            update
          )
        )
      }
    }).pipe(Effect.provide(alone))
  )

  it("without arguments does not mind what follows it", () => {
    for (const name of ["help", "Help", "/help"]) {
      assert.isDefined(Command.make(name).on(() => Effect.void)(said("/help me, please")))
    }
  })

  it("is told to the messenger by name and description", () => {
    assert.deepStrictEqual(Command.menu(remind, Command.make("help")), [
      { name: "remind", description: "Reminds you" },
      { name: "help", description: undefined }
    ])
  })

  const mentioned = (handler: Handler.Handler<unknown, BotApi.BotApi>, name: string) =>
    Handler.run(handler, said(`/help@${name} me`))

  it.effect("with a username is for that bot alone, whose own is asked for once, and not before", () =>
    Effect.gen(function* () {
      const asked = yield* Ref.make(0)
      const bot = TestBotApi.layer(
        TestBotApi.on(Me.get, () =>
          Effect.andThen(
            Ref.update(asked, (n) => n + 1),
            me
          )
        )
      )
      yield* Effect.gen(function* () {
        const help = Command.make("help").on(() => Effect.void)
        assert.isTrue(yield* Handler.run(help, said("/help")))
        assert.strictEqual(yield* Ref.get(asked), 0)
        assert.isTrue(yield* mentioned(help, "the_bot"))
        assert.isFalse(yield* mentioned(help, "other_bot"))
        assert.isTrue(
          yield* mentioned(
            Handler.first(help, () => Effect.void),
            "other_bot"
          )
        )
        assert.strictEqual(yield* Ref.get(asked), 1)
      }).pipe(Effect.provide(bot))
    })
  )

  it.effect("of another bot is not even read", () =>
    Effect.gen(function* () {
      assert.isFalse(
        yield* Handler.run(
          remind.on(() => Effect.void),
          said("/remind@other_bot soon")
        )
      )
    }).pipe(Effect.provide(TestBotApi.layer(TestBotApi.on(Me.get, () => me))))
  )

  it.effect("with a username is nobody's where the bot has none", () =>
    Effect.gen(function* () {
      assert.isFalse(
        yield* mentioned(
          Command.make("help").on(() => Effect.void),
          "null"
        )
      )
    }).pipe(
      Effect.provide(TestBotApi.layer(TestBotApi.on(Me.get, () => Effect.succeed(Fixtures.bot({ username: null })))))
    )
  )
})

describe("a pattern", () => {
  it("is looked for in what is written anew, and not where there is no text", () => {
    const any = Pattern.make(/^.*$/s).on(() => Effect.void)
    const message = Fixtures.message({ text: "hello" })
    assert.isDefined(any(said("hello")))
    for (const text of ["", null]) assert.isUndefined(any(Fixtures.messageCreated({ text })))
    assert.isUndefined(any({ update_type: "message_edited", timestamp: 1, message }))
    assert.isUndefined(any({ ...Fixtures.messageCallback(), message }))
  })

  it.effect("hands on what it matched, and the update where the handler declines", () =>
    Effect.gen(function* () {
      const matched = yield* Ref.make<unknown>(undefined)
      const odd = Pattern.make(/(\d+)/).on((_, [, number]) =>
        Number(number) % 2 === 1 ? Ref.set(matched, number) : undefined
      )
      assert.isTrue(yield* Handler.run(odd, said("no. 17")))
      assert.strictEqual(yield* Ref.get(matched), "17")
      assert.isUndefined(odd(said("no. 18")))
    })
  )
})

describe("membership", () => {
  it.effect("tells who came and went by themselves from who was added and removed", () =>
    Effect.gen(function* () {
      const seen = yield* Ref.make<ReadonlyArray<unknown>>([])
      const see = (update: Update.Update, by: unknown) => Ref.update(seen, (all) => [...all, [update.update_type, by]])
      const handler = Handler.first(Membership.joined(see), Membership.left(see))
      const place = { timestamp: 1, chat_id: Fixtures.groupId, user: Fixtures.user(), is_channel: false }
      const by = Fixtures.botId
      yield* Handler.run(handler, { update_type: "user_added", ...place })
      yield* Handler.run(handler, { update_type: "user_added", ...place, inviter_id: by })
      yield* Handler.run(handler, { update_type: "user_removed", ...place, admin_id: null })
      yield* Handler.run(handler, { update_type: "user_removed", ...place, admin_id: by })
      assert.isFalse(yield* Handler.run(handler, { update_type: "bot_added", ...place }))
      assert.deepStrictEqual(yield* Ref.get(seen), [
        ["user_added", undefined],
        ["user_added", by],
        ["user_removed", undefined],
        ["user_removed", by]
      ])
    })
  )
})

describe("a reply", () => {
  const sent = (reply: Effect.Effect<unknown, unknown, BotApi.BotApi>) =>
    Effect.gen(function* () {
      const requests = yield* Ref.make<ReadonlyArray<unknown>>([])
      const keep = <A>(request: unknown, answer: A) =>
        Effect.as(
          Ref.update(requests, (all) => [...all, request]),
          answer
        )
      const bot = TestBotApi.layer(
        TestBotApi.on(Messages.send, (request) => keep(request, Fixtures.message())),
        TestBotApi.on(Comments.send, (request) => keep(request, Fixtures.comment()))
      )
      yield* Effect.provide(reply, bot)
      return yield* Ref.get(requests)
    })

  const comment: Update.Of<"comment_created"> = {
    update_type: "comment_created",
    timestamp: 1,
    message: Fixtures.comment()
  }

  it.effect("goes to the chat of the update, as a text or as the parts of a message", () =>
    Effect.gen(function* () {
      const { dialogId: chat_id } = Fixtures
      assert.deepStrictEqual(yield* sent(Messages.reply(said("hi"), "Hello")), [{ chat_id, text: "Hello" }])
      const content = { text: "<b>Hello</b>", format: "html", disable_link_preview: true } as const
      assert.deepStrictEqual(yield* sent(Messages.reply(Fixtures.botStarted(), content)), [{ ...content, chat_id }])
    })
  )

  it.effect("quotes the message where it is asked to and there is one", () =>
    Effect.gen(function* () {
      const { dialogId: chat_id, messageId: mid } = Fixtures
      const link = { type: "reply", mid }
      assert.deepStrictEqual(yield* sent(Messages.replyTo(said("hi"), "Hello")), [{ chat_id, text: "Hello", link }])
      const withoutBody = Fixtures.messageCreated({ body: null })
      assert.deepStrictEqual(yield* sent(Messages.replyTo(withoutBody, "Hello")), [{ chat_id, text: "Hello" }])
    })
  )

  it.effect("to a comment stands under the same post, and is never a post itself", () =>
    Effect.gen(function* () {
      const { channelId: chat_id, messageId: message_id } = Fixtures
      const { mid } = comment.message.body ?? assert.fail("no body")
      assert.deepStrictEqual(yield* sent(Messages.reply(comment, "Thanks")), [{ message_id, text: "Thanks" }])
      assert.deepStrictEqual(yield* sent(Messages.replyTo(comment, { text: "Thanks", format: "html" })), [
        { message_id, text: "Thanks", format: "html", link: { type: "reply", mid } }
      ])
      const removed: Update.Of<"comment_removed"> = {
        update_type: "comment_removed",
        timestamp: 1,
        message_id: mid,
        chat_id,
        post_id: message_id
      }
      assert.deepStrictEqual(yield* sent(Messages.reply(removed, "Pity")), [{ message_id, text: "Pity" }])
      const failure = yield* Effect.flip(sent(Messages.reply({ ...removed, post_id: null }, "Pity")))
      assert.instanceOf(failure, Messages.NoChat)
    })
  )

  it.effect("goes to the person where a dialog comes without its chat", () =>
    Effect.gen(function* () {
      const recipient = { chat_id: null, chat_type: "dialog", user_id: Fixtures.botId }
      const update = Fixtures.messageCreated({ recipient })
      assert.deepStrictEqual(yield* sent(Messages.reply(update, "Hello")), [
        { user_id: Fixtures.userId, text: "Hello" }
      ])
    })
  )

  it.effect("fails with what can be done where nobody knows the chat", () =>
    Effect.gen(function* () {
      const { message: _, ...gone } = Fixtures.messageCallback()
      const grouped = Fixtures.messageCreated({ recipient: { chat_type: "chat" } })
      for (const update of [gone, grouped, { ...grouped, message: null }]) {
        const error = yield* Effect.flip(sent(Messages.reply(update, "Hello")))
        assert.instanceOf(error, Messages.NoChat)
        assert.include(error.message, `${update.update_type}: the platform does not say in which chat`)
      }
    })
  )

  it.effect("to a press is an answer with its id", () =>
    Effect.gen(function* () {
      const answers = yield* Ref.make<ReadonlyArray<unknown>>([])
      const bot = TestBotApi.layer(
        TestBotApi.on(Answers.send, (request) => Ref.update(answers, (all) => [...all, request]))
      )
      yield* Effect.gen(function* () {
        yield* Answers.answer(Fixtures.messageCallback({ callback_id: "c" }), "Thanks")
        yield* Answers.answer(Fixtures.messageCallback({ callback_id: "d" }), { message: { text: "Done" } })
      }).pipe(Effect.provide(bot))
      assert.deepStrictEqual(yield* Ref.get(answers), [
        { callback_id: "c", notification: "Thanks" },
        { callback_id: "d", message: { text: "Done" } }
      ])
    })
  )
})

const vote = Payload.make("vote", Schema.Struct({ choice: Schema.Literals(["tea", "coffee"]) }))

const invitation = DeepLink.make("invitation", Schema.Struct({ by: Schema.String }))

const club = Handler.first(
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
  club,
  Effect.catchTag("InvalidArguments", (error) => Messages.reply(error.update, error.message))
)

const running = Updates.stream.pipe(Stream.runForEach((update) => Handler.run(bot, update)))

const platform = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot({ botUsername: "club_bot" })))

const talking = <A, E>(conversation: Effect.Effect<A, E, Layer.Success<typeof platform>>) =>
  Effect.raceFirst(conversation, Effect.andThen(running, Effect.never)).pipe(Effect.provide(platform))

describe("a bot of handlers", () => {
  it.effect("greets whom a deep link brings by what it carries", () =>
    talking(
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

  it.effect("takes what a button carries when it is pressed", () =>
    talking(
      Effect.gen(function* () {
        const ann = yield* Emulator.user("Ann")
        yield* ann.start()
        yield* ann.reply
        const asked = yield* ann.send("/ask")
        const question = yield* ann.reply
        assert.deepStrictEqual(question.link?.message.mid, asked.body?.mid)
        yield* ann.press(question, "Coffee")
        assert.strictEqual(yield* ann.notification, "One coffee, please")
      })
    )
  )

  it.effect("calculates, and explains itself to whom it could not follow", () =>
    talking(
      Effect.gen(function* () {
        const ann = yield* Emulator.user("Ann")
        yield* ann.start()
        yield* ann.reply
        const answers: Array<string | null | undefined> = []
        for (const text of ["/add 2 3", "/add 2", "/add@club_bot 1 1", "Thank you", "hm"]) {
          yield* ann.send(text)
          answers.push((yield* ann.reply).body?.text)
        }
        assert.deepStrictEqual(answers, ["5", "<b> is missing. Usage: /add <a> <b>", "2", "You are welcome", "Pardon?"])
      })
    )
  )

  it.effect("replies to a comment by a comment, which cannot hold what comments cannot", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const channel = yield* Emulator.chat({ type: "channel", owner: ann, hasComments: true, bot: { admin: true } })
      const post = yield* ann.send(channel, "News")
      yield* ann.comment(post, "Is that so?")
      const updates = yield* Emulator.updates
      const update = updates.find((update) => update.update_type === "comment_created") ?? assert.fail("no update")
      const replying = (content: Messages.ReplyContent<Update.Of<"comment_created" | "message_created">>) =>
        Handler.on(["comment_created", "message_created"], (update) => Messages.replyTo(update, content))
      assert.isTrue(yield* Handler.run(replying("It is"), update))
      const [asked, answered] = yield* Emulator.comments(post)
      assert.deepStrictEqual([answered?.body.text, answered?.link?.message.mid], ["It is", asked?.body.mid])
      assert.lengthOf(yield* Emulator.messages(channel), 1)
      const refused = yield* Effect.flip(Handler.run(replying({ text: "See", attachments: [] }), update))
      assert.include(refused.message, "`attachments` is not a field of this request")
    }).pipe(Effect.provide(platform))
  )

  it.effect("says nothing in a group chat to what is not its own, and greets who comes", () =>
    talking(
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
