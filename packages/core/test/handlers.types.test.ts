import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { pipe } from "effect/Function"
import * as Schema from "effect/Schema"
import { describe, expectTypeOf, it } from "vitest"
import {
  Answers,
  type ApiError,
  type BotApi,
  Command,
  DeepLink,
  type Endpoint,
  Handler,
  type Keyboard,
  type Me,
  Membership,
  Messages,
  Pattern,
  Payload,
  Update,
  Updates,
  User
} from "../src/index.ts"

class Tired extends Data.TaggedError("Tired")<{}> {}
class Lost extends Data.TaggedError("Lost")<{}> {}
class Memory extends Context.Service<Memory, { readonly size: number }>()("test/Memory") {}
class Diary extends Context.Service<Diary, { readonly isOpen: boolean }>()("test/Diary") {}

type Bot = BotApi.BotApi
type SendErrors = Endpoint.Errors<typeof Messages.send>
type Of<Type extends Update.UpdateType> = Update.Of<Type>

const tired = Effect.fail(new Tired())
const lost = Memory.use(({ size }) => (size > 0 ? Effect.void : Effect.fail(new Lost())))
const isOpen = Diary.use(({ isOpen }) => (isOpen ? Effect.succeed(true) : tired))

const created = Handler.on("message_created", () => tired)
const started = Handler.on("bot_started", () => lost)

describe("the types of handlers", () => {
  it("narrow the update to one type or to several", () => {
    Handler.on("message_created", (update) => {
      expectTypeOf(update).toEqualTypeOf<Of<"message_created">>()
      return undefined
    })
    Updates.on(["bot_added", "user_added"], (update) => {
      expectTypeOf(update).toEqualTypeOf<Of<"bot_added" | "user_added">>()
      return undefined
    })
    // @ts-expect-error there is no such type
    Handler.on("message_sent", () => Effect.void)
    // @ts-expect-error a handler gives an effect
    Handler.on("message_created", () => 1)
  })

  it("hold errors and requirements exactly", () => {
    expectTypeOf(created).toEqualTypeOf<Handler.Handler<Tired>>()
    expectTypeOf(started).toEqualTypeOf<Handler.Handler<Lost, Memory>>()
    expectTypeOf<Handler.Error<typeof started>>().toEqualTypeOf<Lost>()
    expectTypeOf<Handler.Services<typeof started>>().toEqualTypeOf<Memory>()
    const either = Handler.on("bot_added", ({ chat_id }) => (chat_id > 0 ? tired : chat_id < 0 ? lost : undefined))
    expectTypeOf(either).toEqualTypeOf<Handler.Handler<Tired | Lost, Memory>>()
  })

  it("take any function of an update that gives an effect", () => {
    expectTypeOf((_: Update.Update) => Effect.void).toExtend<Handler.Handler>()
    expectTypeOf((_: Update.Update) => lost).toExtend<Handler.Handler<Lost, Memory>>()
    expectTypeOf((_: Of<"bot_started">) => Effect.void).not.toExtend<Handler.Handler>()
    expectTypeOf((_: Update.Update) => tired).not.toExtend<Handler.Handler>()
  })

  it("add up in first, also inside of on and from a list", () => {
    expectTypeOf(Handler.first(created, started)).toEqualTypeOf<Handler.Handler<Tired | Lost, Memory>>()
    const listed = [created, started]
    expectTypeOf(Handler.first(...listed)).toEqualTypeOf<Handler.Handler<Tired | Lost, Memory>>()
    const fallback = Handler.first(created, (update) => {
      expectTypeOf(update).toEqualTypeOf<Update.Update>()
      return Effect.void
    })
    expectTypeOf(fallback).toEqualTypeOf<Handler.Handler<Tired>>()
    const inside = Handler.on(
      "bot_started",
      Handler.first((update) => (update.payload === "a" ? lost : undefined), created)
    )
    expectTypeOf(inside).toEqualTypeOf<Handler.Handler<Tired | Lost, Memory>>()
  })

  it("stay the same behind a filter, with those of the filter added", () => {
    type Started = Handler.Handler<Lost, Memory>
    expectTypeOf(Handler.filter(started, (update) => "user" in update)).toEqualTypeOf<Started>()
    expectTypeOf(
      pipe(
        started,
        Handler.filter((update) => "user" in update)
      )
    ).toEqualTypeOf<Started>()
    expectTypeOf(Handler.inChatType(started, "dialog")).toEqualTypeOf<Started>()
    expectTypeOf(pipe(started, Handler.inChatType(["dialog", "chat"]), Handler.fromUsers([]))).toEqualTypeOf<Started>()
    type Asking = Handler.Handler<Lost | Tired, Memory | Diary>
    expectTypeOf(Handler.filterEffect(started, () => isOpen)).toEqualTypeOf<Asking>()
    expectTypeOf(
      pipe(
        started,
        Handler.filterEffect(() => isOpen)
      )
    ).toEqualTypeOf<Asking>()
  })

  it("narrow by a refinement", () => {
    const isStart = (update: Update.Update): update is Of<"bot_started"> => update.update_type === "bot_started"
    const greet = ({ user }: Of<"bot_started">) => Effect.log(user.first_name)
    expectTypeOf(Handler.filter(greet, isStart)).toEqualTypeOf<Handler.Handler>()
    expectTypeOf(pipe(greet, Handler.filter(isStart))).toEqualTypeOf<Handler.Handler>()
    const isPress = (update: Update.Update): update is Of<"message_callback"> =>
      update.update_type === "message_callback"
    expectTypeOf(Handler.filter(greet, isPress)).not.toExtend<Handler.Handler>()
  })

  it("change with the effect", () => {
    const both = Handler.first(created, started)
    const withMemory = Effect.provideService(Memory, { size: 1 })
    expectTypeOf(Handler.transform(both, withMemory)).toEqualTypeOf<Handler.Handler<Tired | Lost>>()
    expectTypeOf(pipe(both, Handler.transform(withMemory))).toEqualTypeOf<Handler.Handler<Tired | Lost>>()
    const found = Handler.transform(
      both,
      Effect.catchTag("Lost", () => Effect.void)
    )
    expectTypeOf(found).toEqualTypeOf<Handler.Handler<Tired, Memory>>()
    const named = Handler.transform(both, (work, update) => Effect.annotateLogs(work, { type: update.update_type }))
    expectTypeOf(named).toEqualTypeOf<Handler.Handler<Tired | Lost, Memory>>()
    expectTypeOf(Handler.run(both, { update_type: "unknown", raw: 1 })).toEqualTypeOf<
      Effect.Effect<boolean, Tired | Lost, Memory>
    >()
  })
})

describe("the types of commands and patterns", () => {
  it("give the arguments as their schemas read them", () => {
    const minutes = Command.Integer
    Command.make("remind", { arguments: { minutes, text: Schema.optionalKey(Schema.String) } }).on((update, args) => {
      expectTypeOf(update).toEqualTypeOf<Of<"message_created">>()
      expectTypeOf(args).toEqualTypeOf<{ readonly minutes: number; readonly text?: string }>()
      return undefined
    })
    const who = Command.Integer.pipe(Schema.decodeTo(User.UserId))
    Command.make("ban", { arguments: { who, why: Command.words(Command.Word) } }).on((_, args) => {
      expectTypeOf(args).toEqualTypeOf<{ readonly who: User.UserId; readonly why: ReadonlyArray<string> }>()
      return undefined
    })
    // @ts-expect-error an argument is read from a text
    Command.make("add", { arguments: { number: Schema.Finite } })
  })

  it("can go wrong by their arguments only where there are some", () => {
    const start = Command.make("start").on(() => tired)
    expectTypeOf(start).toEqualTypeOf<Handler.Handler<Tired | ApiError.Common, Bot>>()
    const add = Command.make("add", { arguments: { number: Command.Number } }).on(() => lost)
    type Failure = Lost | ApiError.Common | Command.InvalidArguments
    expectTypeOf(add).toEqualTypeOf<Handler.Handler<Failure, Bot | Memory>>()
    const told = Handler.transform(
      Handler.first(start, add),
      Effect.catchTag("InvalidArguments", (error) => Messages.reply(error.update, error.message))
    )
    expectTypeOf(told).toEqualTypeOf<Handler.Handler<Tired | Lost | Messages.NoChat | SendErrors, Bot | Memory>>()
  })

  it("look at those updates that they are told to", () => {
    Command.make("add", { types: ["message_created", "message_edited"] }).on((update) => {
      expectTypeOf(update).toEqualTypeOf<Of<"message_created" | "message_edited">>()
      return undefined
    })
    Pattern.make(/a/, { types: ["comment_created"] }).on((update) => {
      expectTypeOf(update).toEqualTypeOf<Of<"comment_created">>()
      return undefined
    })
    // @ts-expect-error nobody writes anything there
    Command.make("add", { types: ["bot_started"] })
  })

  it("give what a pattern matched", () => {
    Pattern.make("hello").on((_, matched) => {
      expectTypeOf(matched).toEqualTypeOf<string>()
      return undefined
    })
    Pattern.make(/hello/).on((_, matched) => {
      expectTypeOf(matched).toEqualTypeOf<RegExpExecArray>()
      return undefined
    })
    const dated = Pattern.make(/(?<day>\d+)/, { groups: { day: Command.Integer } }).on((_, matched) => {
      expectTypeOf(matched).toEqualTypeOf<{ readonly day: number }>()
      return tired
    })
    expectTypeOf(dated).toEqualTypeOf<Handler.Handler<Tired>>()
  })

  it("make a menu for the messenger", () => {
    const add = Command.make("add", { arguments: { number: Command.Number } })
    expectTypeOf(Command.menu(Command.make("start"), add)).toEqualTypeOf<ReadonlyArray<Me.NewCommand>>()
  })
})

describe("the types of payloads and deep links", () => {
  const vote = Payload.make("vote", Schema.Struct({ poll: Schema.Int }))
  const yes = Payload.make("yes")
  const invitation = DeepLink.make("invitation", Schema.Struct({ by: User.UserId }))

  it("carry what the schema says, and nothing without one", () => {
    type Button = Effect.Effect<Keyboard.Button, Payload.InvalidPayload>
    expectTypeOf(vote.button("Yes", { poll: 1 })).toEqualTypeOf<Button>()
    expectTypeOf(yes.button("Yes")).toEqualTypeOf<Button>()
    expectTypeOf(DeepLink.make("promo").encode()).toEqualTypeOf<Effect.Effect<string, Payload.InvalidPayload>>()
    // @ts-expect-error it carries a value
    const without = () => vote.button("Yes")
    // @ts-expect-error it carries another one
    const another = () => vote.button("Yes", { poll: "1" })
    // @ts-expect-error a number is nobody's id
    const nobody = () => invitation.encode({ by: 1 })
    expectTypeOf([without, another, nobody]).toBeArray()
  })

  it("give it back, and can be malformed only where there is a value", () => {
    const count = vote.on((update, value) => {
      expectTypeOf(value).toEqualTypeOf<{ readonly poll: number }>()
      return Answers.answer(update, "Thank you")
    })
    type Failure = Payload.MalformedPayload | Endpoint.Errors<typeof Answers.send>
    expectTypeOf(count).toEqualTypeOf<Handler.Handler<Failure, Bot>>()
    expectTypeOf(yes.on(() => tired)).toEqualTypeOf<Handler.Handler<Tired>>()
    const greet = invitation.on((update, { by }) => (by > 1 ? Messages.reply(update, "Hello") : undefined))
    expectTypeOf(greet).toEqualTypeOf<Handler.Handler<DeepLink.MalformedLink | SendErrors, Bot>>()
  })
})

describe("the types of replies", () => {
  it("can lack a chat only where the platform may leave it out", () => {
    const toStart = Handler.on("bot_started", (update) => Messages.reply(update, "Hello"))
    expectTypeOf(toStart).toEqualTypeOf<Handler.Handler<SendErrors, Bot>>()
    const toAny = Handler.on(["bot_started", "message_created"], (update) => Messages.reply(update, { text: "Hello" }))
    expectTypeOf(toAny).toEqualTypeOf<Handler.Handler<SendErrors | Messages.NoChat, Bot>>()
    const welcome = Membership.joined((update, by) => {
      expectTypeOf(by).toEqualTypeOf<User.UserId | undefined>()
      return Messages.reply(update, "Hello")
    })
    expectTypeOf(welcome).toEqualTypeOf<Handler.Handler<SendErrors, Bot>>()
  })

  it("take no update of an unknown kind, and quote only what is there", () => {
    const reply = Messages.reply<Of<Update.UpdateType>>
    expectTypeOf(reply).parameter(0).toEqualTypeOf<Of<Update.UpdateType>>()
    // @ts-expect-error an update of an unknown kind has no chat that anybody knows
    const toUnknown = (update: Update.Update) => Messages.reply(update, "Hello")
    // @ts-expect-error there is nothing to quote
    const toStart = (update: Of<"bot_started">) => Messages.replyTo(update, "Hello")
    expectTypeOf([toUnknown, toStart]).toBeArray()
  })

  it("hold nothing in a comment that a comment cannot", () => {
    const toComment = (update: Of<"comment_created">) => Messages.replyTo(update, { text: "Hello", format: "html" })
    expectTypeOf(toComment).returns.toExtend<Effect.Effect<unknown, SendErrors | Messages.NoChat, Bot>>()
    // @ts-expect-error a comment has no attachments
    const withPicture = (update: Of<"comment_created">) => Messages.reply(update, { text: "Hello", attachments: [] })
    expectTypeOf(withPicture).toBeFunction()
  })
})

describe("the types of what an update is about", () => {
  it("are those of any update", () => {
    expectTypeOf(Update.textOf).toEqualTypeOf<(update: Update.Update) => string | undefined>()
    expectTypeOf(Update.userOf).returns.toEqualTypeOf<User.User | undefined>()
  })
})
