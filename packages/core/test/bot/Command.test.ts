import { type BotApi, Command, Handler, Me, type Update } from "@colloquy/core"
import { Fixtures, TestBotApi } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"

const messageCreated = (text: string) => Fixtures.messageCreated({ text })

const me = Effect.succeed(Fixtures.bot({ username: "The_Bot" }))

/** A client without endpoints. */
const noBot = TestBotApi.layer()

describe("Command.on", () => {
  const remind = Command.make("remind", {
    description: "Reminds you",
    arguments: { minutes: Command.Integer, text: Schema.optionalKey(Schema.String) }
  })

  /** Returns the decoded arguments of a text, or the message of the error. */
  const argumentsOf = (text: string) =>
    Effect.gen(function* () {
      const received = yield* Ref.make<unknown>("not called")
      yield* Handler.run(
        remind.on((_, args) => Ref.set(received, args)),
        messageCreated(text)
      )
      return yield* Ref.get(received)
    }).pipe(
      Effect.catchTag("InvalidArguments", (error) => Effect.succeed(error.message)),
      Effect.provide(noBot)
    )

  it.effect("passes the decoded arguments to the handler", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* argumentsOf("/remind 10 tea 🍵\nand cake "), {
        minutes: 10,
        text: "tea 🍵\nand cake "
      })
      assert.deepStrictEqual(yield* argumentsOf("/REMIND\n-7"), { minutes: -7 })
    })
  )

  it.effect("fails with InvalidArguments, whose message names the argument and the usage", () =>
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

  it.effect("reports all wrong arguments and the update in one error", () =>
    Effect.gen(function* () {
      const add = Command.make("add", { arguments: { a: Command.Number, b: Command.Number } })
      const error = yield* Handler.run(
        add.on(() => Effect.void),
        messageCreated("/add one 2 3")
      ).pipe(Effect.flip)
      assert.instanceOf(error, Command.InvalidArguments)
      assert.strictEqual(error.message, "<a> must be a number, <b> must be a number. Usage: /add <a> <b>")
      assert.deepStrictEqual(error.update, messageCreated("/add one 2 3"))
    }).pipe(Effect.provide(noBot))
  )

  it.effect("decodes numbers, words and lists", () =>
    Effect.gen(function* () {
      const every = Command.make("every", {
        arguments: { number: Command.Number, word: Command.Word, rest: Command.words(Command.Integer) }
      })
      const received = yield* Ref.make<unknown>(undefined)
      const handler = every.on((_, args) => Ref.set(received, args))
      yield* Handler.run(handler, messageCreated("/every -.5 w@rd 1\n 2  +3"))
      assert.deepStrictEqual(yield* Ref.get(received), { number: -0.5, word: "w@rd", rest: [1, 2, 3] })
      const problem = yield* Effect.flip(Handler.run(handler, messageCreated("/every 1 word 1 2 three")))
      assert.include(problem.message, "<rest[2]> must be a whole number")
      const single = Command.make("single", { arguments: { word: Command.Word } }).on(() => Effect.void)
      assert.include(
        (yield* Effect.flip(Handler.run(single, messageCreated("/single two words")))).message,
        "must be one word"
      )
    }).pipe(Effect.provide(noBot))
  )

  it.effect("passes the rest of the text unchanged, or without the spaces at its end if the schemas need this", () =>
    Effect.gen(function* () {
      const received: Array<unknown> = []
      const take = <A extends Command.Arguments>(args: A) =>
        Command.make("take", { arguments: args }).on((_, args) => Effect.sync(() => void received.push(args)))
      const text = "/take 5  two  words \n"
      yield* Handler.run(take({ count: Command.Integer, text: Schema.String }), messageCreated(text))
      yield* Handler.run(take({ text: Schema.String }), messageCreated(text))
      yield* Handler.run(take({ text: Schema.optionalKey(Schema.String) }), messageCreated("/take  "))
      yield* Handler.run(take({ count: Command.Integer }), messageCreated("/take 5 "))
      yield* Handler.run(take({ word: Schema.Literals(["on", "off"]) }), messageCreated("/take on "))
      assert.deepStrictEqual(received, [
        { count: 5, text: "two  words \n" },
        { text: "5  two  words \n" },
        {},
        { count: 5 },
        { word: "on" }
      ])
      const error = yield* Effect.flip(Handler.run(take({ count: Command.Integer }), messageCreated("/take x ")))
      assert.strictEqual(
        (error as Command.InvalidArguments).message,
        "<count> must be a whole number. Usage: /take <count>"
      )
    }).pipe(Effect.provide(noBot))
  )

  it("takes only new messages that begin with the command, unless `types` is set", () => {
    const help = Command.make("help").on(() => Effect.void)
    for (const text of ["say /help", "/helpme", "help", ""]) assert.isUndefined(help(messageCreated(text)))
    const message = Fixtures.message({ text: "/help" })
    const edited: Update.Update = { update_type: "message_edited", timestamp: 1, message }
    assert.isUndefined(help(edited))
    assert.isUndefined(help({ update_type: "comment_created", timestamp: 1, message }))
    assert.isDefined(Command.make("help", { types: ["message_edited"] }).on(() => Effect.void)(edited))
    assert.isUndefined(help({ update_type: "message_created", timestamp: 1, message: null }))
  })

  it.effect("does not take a command for which its handler returns undefined", () =>
    Effect.gen(function* () {
      const declines = Handler.first(
        remind.on(() => undefined),
        Command.make("stop").on(() => undefined)
      )
      const updates = [messageCreated("/remind 1"), messageCreated("/stop")]
      for (const update of updates) {
        assert.isFalse(yield* Handler.run(declines, update))
        assert.isTrue(
          yield* Handler.run(
            Handler.first(declines, () => Effect.void),
            update
          )
        )
      }
    }).pipe(Effect.provide(noBot))
  )

  it("ignores the text after a command without arguments, and the case and the slash of its name", () => {
    for (const name of ["help", "Help", "/help"]) {
      assert.isDefined(Command.make(name).on(() => Effect.void)(messageCreated("/help me, please")))
    }
  })

  const runWithUsername = (handler: Handler.Handler<unknown, BotApi.BotApi>, name: string) =>
    Handler.run(handler, messageCreated(`/help@${name} me`))

  it.effect("takes a command with the username of the bot, and calls Me.get once for it", () =>
    Effect.gen(function* () {
      const calls = yield* Ref.make(0)
      const bot = TestBotApi.layer(
        TestBotApi.on(Me.get, () =>
          Effect.andThen(
            Ref.update(calls, (n) => n + 1),
            me
          )
        )
      )
      yield* Effect.gen(function* () {
        const help = Command.make("help").on(() => Effect.void)
        assert.isTrue(yield* Handler.run(help, messageCreated("/help")))
        assert.strictEqual(yield* Ref.get(calls), 0)
        assert.isTrue(yield* runWithUsername(help, "the_bot"))
        assert.isFalse(yield* runWithUsername(help, "other_bot"))
        assert.isTrue(
          yield* runWithUsername(
            Handler.first(help, () => Effect.void),
            "other_bot"
          )
        )
        assert.strictEqual(yield* Ref.get(calls), 1)
      }).pipe(Effect.provide(bot))
    })
  )

  it.effect("does not decode the arguments of a command for another bot", () =>
    Effect.gen(function* () {
      assert.isFalse(
        yield* Handler.run(
          remind.on(() => Effect.void),
          messageCreated("/remind@other_bot soon")
        )
      )
    }).pipe(Effect.provide(TestBotApi.layer(TestBotApi.on(Me.get, () => me))))
  )

  it.effect("does not take a command with a username if the bot has no username", () =>
    Effect.gen(function* () {
      assert.isFalse(
        yield* runWithUsername(
          Command.make("help").on(() => Effect.void),
          "null"
        )
      )
    }).pipe(
      Effect.provide(TestBotApi.layer(TestBotApi.on(Me.get, () => Effect.succeed(Fixtures.bot({ username: null })))))
    )
  )
})
