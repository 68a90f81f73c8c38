import {
  Answers,
  Command,
  DeepLink,
  Handler,
  Keyboard,
  LongPolling,
  Membership,
  Messages,
  Pattern,
  Payload,
  type Update,
  Updates
} from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

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

const runBot = Updates.stream.pipe(Stream.runForEach((update) => Handler.run(bot, update)))

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
