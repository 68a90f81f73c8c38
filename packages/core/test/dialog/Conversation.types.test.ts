import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { describe, expectTypeOf, it } from "vitest"
import { type BotApi, Command, Conversation, Handler, Messages, type StoreError, type Update } from "../../src/index.ts"

class Broken extends Data.TaggedError("Broken")<{}> {}
class Kitchen extends Context.Service<Kitchen, { readonly isOpen: boolean }>()("test/Kitchen") {}

type Failure<E = never> = Conversation.SendError | Conversation.NoParticipant | StoreError.StoreError | E

const of = "userInChat"

describe("the types of Conversation", () => {
  it("contain the errors and services of the body, and no Unanswered, which ends the conversation", () => {
    const Order = Conversation.make(
      "order",
      { of },
      Effect.fn(function* (talk) {
        expectTypeOf(talk).toEqualTypeOf<Conversation.Talk>()
        yield* talk.ask("name", { say: "Name?", timeout: "1 minute" })
        if (!(yield* Kitchen).isOpen) return yield* new Broken()
        return 1
      })
    )
    expectTypeOf(Order).toExtend<Handler.Handler<Failure<Broken>, BotApi.BotApi | Kitchen>>()
    expectTypeOf<Handler.Error<typeof Order>>().toEqualTypeOf<Failure<Broken>>()
    expectTypeOf<Handler.Services<typeof Order>>().toEqualTypeOf<BotApi.BotApi | Kitchen>()
    expectTypeOf(Order.start).toEqualTypeOf<
      Conversation.Starting & ((update: Update.Update) => Effect.Effect<void, Failure<Broken>, BotApi.BotApi | Kitchen>)
    >()
    Command.make("order").on(Order.start)
    const done = Conversation.onDone(Order, (result) => {
      expectTypeOf(result).toEqualTypeOf<number>()
      return Effect.fail("down" as const)
    })
    expectTypeOf(done).toExtend<Handler.Handler<Failure<Broken | "down">, BotApi.BotApi | Kitchen>>()
  })

  it("have the answer of each question, and Unanswered only where there is a timeout", () => {
    Conversation.make(
      "form",
      { of },
      Effect.fn(function* (talk) {
        const name = talk.ask("name", { say: "Name?" })
        expectTypeOf(name).toEqualTypeOf<Effect.Effect<string, Conversation.SendError, BotApi.BotApi>>()
        const age = talk.ask("age", { say: "Age?", read: Schema.FiniteFromString, timeout: "1 minute" })
        expectTypeOf(age).toEqualTypeOf<
          Effect.Effect<number, Conversation.SendError | Conversation.Unanswered, BotApi.BotApi>
        >()
        const choices = { s: "Small", m: "Medium" }
        const size = talk.choose("size", { say: "Size?", choices, optional: true })
        expectTypeOf<Effect.Success<typeof size>>().toEqualTypeOf<"s" | "m" | undefined>()
        const sizes = talk.choose("sizes", { say: "Sizes?", choices, several: true })
        expectTypeOf<Effect.Success<typeof sizes>>().toEqualTypeOf<ReadonlyArray<"s" | "m">>()
        const image = talk.attachment("image", { say: "Image?", kind: "image" })
        expectTypeOf<Effect.Success<typeof image>["payload"]["photo_id"]>().toEqualTypeOf<bigint>()
        const any = talk.any("any", {
          say: "Any?",
          answers: { size: Conversation.choice(choices), age: Conversation.text(Schema.FiniteFromString) }
        })
        expectTypeOf<Effect.Success<typeof any>>().toEqualTypeOf<
          { readonly _tag: "size"; readonly value: "s" | "m" } | { readonly _tag: "age"; readonly value: number }
        >()
        const picky = talk.ask("picky", { say: "Picky?", otherwise: () => Effect.andThen(Kitchen, new Broken()) })
        expectTypeOf(picky).toEqualTypeOf<
          Effect.Effect<string, Conversation.SendError | Broken, BotApi.BotApi | Kitchen>
        >()
        const numbers = talk.choose("numbers", { say: "Number?", choices: { 1: "One", 2: "Two" } })
        expectTypeOf<Effect.Success<typeof numbers>>().toEqualTypeOf<"1" | "2">()
        return yield* talk.say("Done")
      })
    )
    const askAddress = <D>(talk: Conversation.Talk<D>) => talk.ask("address", { say: "Where to?" })
    Conversation.make("part", { of, timeout: "1 hour" }, (talk) => {
      const address = askAddress(talk)
      expectTypeOf<Effect.Error<typeof address>>().toEqualTypeOf<Conversation.SendError | Conversation.Unanswered>()
      return address
    })
    Conversation.make("timed", { of, timeout: "1 hour" }, (talk) => {
      const name = talk.ask("name", { say: "Name?" })
      expectTypeOf<Effect.Error<typeof name>>().toEqualTypeOf<Conversation.SendError | Conversation.Unanswered>()
      return name
    })
  })

  it("pass an update to which a result can be replied", () => {
    const Name = Conversation.make("name", { of }, (talk) => talk.ask("name", { say: "Name?" }))
    const greet = Conversation.onDone(Name, (name, update) => Messages.reply(update, `Hello, ${name}`))
    expectTypeOf(greet.of).toEqualTypeOf<"userInChat">()
  })

  it("require the input", () => {
    const Greet = Conversation.make("greet", { of, input: Schema.Struct({ name: Schema.String }) }, (talk, { name }) =>
      talk.say(`Hello, ${name}`)
    )
    Command.make("greet", { arguments: { name: Schema.String } }).on(Greet.start)
    // @ts-expect-error the input is missing
    Handler.on("bot_started", (update) => Greet.start(update))
    const both = Conversation.make("both", { of }, (talk) => {
      // @ts-expect-error the input of the part has another type
      void talk.run("wrong", Greet, { name: 1 })
      // @ts-expect-error the input of the part is missing
      void talk.run("missing", Greet)
      return talk.run("right", Greet, { name: "Ann" })
    })
    expectTypeOf(both.start).parameters.toEqualTypeOf<[Update.Update]>()
  })

  it("reject options that do not exist, and a body that returns no effect", () => {
    // The error is at the option that does not exist, and nowhere else.
    const options = { read: Schema.String, optional: true } as const
    Conversation.make(
      "typo",
      {
        of: "userInChat",
        // @ts-expect-error The option "timeOut" does not exist
        timeOut: "1 hour"
      },
      (talk) => talk.ask("name", { say: "Name?", ...options })
    )
    // @ts-expect-error a conversation belongs to a user in a chat or to a chat
    const owner = () => Conversation.make("owner", { of: "bot" }, (talk: Conversation.Talk) => talk.say("Hello"))
    expectTypeOf(owner).toBeFunction()
    // @ts-expect-error the body returns no effect
    Conversation.make("none", { of }, () => 1)
    Conversation.make("questions", { of }, (talk) => {
      // @ts-expect-error The option "timout" does not exist
      void talk.ask("name", { say: "Name?", timout: "1 minute" })
      // @ts-expect-error the choices are missing
      void talk.choose("size", { say: "Size?" })
      // @ts-expect-error the question is missing
      return talk.ask("name", {})
    })
  })
})
