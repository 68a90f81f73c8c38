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
  Membership,
  Messages,
  Pattern,
  Payload,
  Update,
  User
} from "../../src/index.ts"

class Broken extends Data.TaggedError("Broken")<{}> {}
class Missing extends Data.TaggedError("Missing")<{}> {}
class Counter extends Context.Service<Counter, { readonly count: number }>()("test/Counter") {}
class Flags extends Context.Service<Flags, { readonly isOpen: boolean }>()("test/Flags") {}

type Bot = BotApi.BotApi
type SendErrors = Endpoint.Errors<typeof Messages.send>
type Of<Type extends Update.UpdateType> = Update.Of<Type>

const broken = Effect.fail(new Broken())
const missing = Counter.use(({ count }) => (count > 0 ? Effect.void : Effect.fail(new Missing())))
const isOpen = Flags.use(({ isOpen }) => (isOpen ? Effect.succeed(true) : broken))

const created = Handler.on("message_created", () => broken)
const started = Handler.on("bot_started", () => missing)

describe("the types of Handler", () => {
  it("narrow the update to one type or to several types", () => {
    Handler.on("message_created", (update) => {
      expectTypeOf(update).toEqualTypeOf<Of<"message_created">>()
      return undefined
    })
    Handler.on(["bot_added", "user_added"], (update) => {
      expectTypeOf(update).toEqualTypeOf<Of<"bot_added" | "user_added">>()
      return undefined
    })
    // @ts-expect-error the type of update does not exist
    Handler.on("message_sent", () => Effect.void)
    // @ts-expect-error a handler returns an effect
    Handler.on("message_created", () => 1)
  })

  it("accept functions over updates that can be replied to, also of a group of types", () => {
    const reply = (update: Update.Repliable) => Messages.reply(update, "Hello")
    const quote = (update: Update.WithMessage) => Messages.replyTo(update, "Hello")
    const keyboard = (update: Update.RepliableByMessage) => Messages.reply(update, { text: "Hello", attachments: [] })
    const shout = (update: Update.Of<Update.TextType>) => quote(update)
    const comment = (update: Update.Comment) => Messages.reply(update, "Hello")
    Handler.on(["bot_started", "comment_created", "message_callback"], reply)
    Handler.on(["message_callback", "comment_edited"], quote)
    Handler.on(["bot_started", "message_callback"], keyboard)
    Handler.on(["message_created", "comment_created"], shout)
    Handler.on(["comment_created", "comment_removed"], comment)
    expectTypeOf<Update.Repliable>().toEqualTypeOf<Exclude<Update.Update, Update.UnknownUpdate>>()
    // @ts-expect-error an update of an unknown type has no chat
    Handler.on("unknown", reply)
    // @ts-expect-error nobody wrote a message
    Handler.on("bot_started", quote)
    // @ts-expect-error a comment has no keyboard
    Handler.on("comment_created", keyboard)
  })

  it("contain the errors and the services of the effect", () => {
    expectTypeOf(created).toEqualTypeOf<Handler.Handler<Broken>>()
    expectTypeOf(started).toEqualTypeOf<Handler.Handler<Missing, Counter>>()
    expectTypeOf<Handler.Error<typeof started>>().toEqualTypeOf<Missing>()
    expectTypeOf<Handler.Services<typeof started>>().toEqualTypeOf<Counter>()
    const either = Handler.on("bot_added", ({ chat_id }) => (chat_id > 0 ? broken : chat_id < 0 ? missing : undefined))
    expectTypeOf(either).toEqualTypeOf<Handler.Handler<Broken | Missing, Counter>>()
  })

  it("accept any function from an update to an effect", () => {
    expectTypeOf((_: Update.Update) => Effect.void).toExtend<Handler.Handler>()
    expectTypeOf((_: Update.Update) => missing).toExtend<Handler.Handler<Missing, Counter>>()
    expectTypeOf((_: Of<"bot_started">) => Effect.void).not.toExtend<Handler.Handler>()
    expectTypeOf((_: Update.Update) => broken).not.toExtend<Handler.Handler>()
  })

  it("unite the errors and the services in first, also inside on and from an array", () => {
    expectTypeOf(Handler.first(created, started)).toEqualTypeOf<Handler.Handler<Broken | Missing, Counter>>()
    const listed = [created, started]
    expectTypeOf(Handler.first(...listed)).toEqualTypeOf<Handler.Handler<Broken | Missing, Counter>>()
    const fallback = Handler.first(created, (update) => {
      expectTypeOf(update).toEqualTypeOf<Update.Update>()
      return Effect.void
    })
    expectTypeOf(fallback).toEqualTypeOf<Handler.Handler<Broken>>()
    const inside = Handler.on(
      "bot_started",
      Handler.first((update) => (update.payload === "a" ? missing : undefined), created)
    )
    expectTypeOf(inside).toEqualTypeOf<Handler.Handler<Broken | Missing, Counter>>()
  })

  it("add the errors and the services of a filter to those of the handler", () => {
    type Started = Handler.Handler<Missing, Counter>
    expectTypeOf(Handler.filter(started, (update) => "user" in update)).toEqualTypeOf<Started>()
    expectTypeOf(
      pipe(
        started,
        Handler.filter((update) => "user" in update)
      )
    ).toEqualTypeOf<Started>()
    expectTypeOf(Handler.inChatType(started, "dialog")).toEqualTypeOf<Started>()
    expectTypeOf(pipe(started, Handler.inChatType(["dialog", "chat"]), Handler.fromUsers([]))).toEqualTypeOf<Started>()
    type Asking = Handler.Handler<Missing | Broken, Counter | Flags>
    expectTypeOf(Handler.filterEffect(started, () => isOpen)).toEqualTypeOf<Asking>()
    expectTypeOf(
      pipe(
        started,
        Handler.filterEffect(() => isOpen)
      )
    ).toEqualTypeOf<Asking>()
  })

  it("accept a handler in place with a predicate that has a name", () => {
    const isUnknown = (update: Update.Update): boolean => update.update_type === "unknown"
    const isKnown = (update: Update.Update) => Effect.as(broken, isUnknown(update))
    const filtered = Handler.filter(
      Handler.on("message_created", (update) => Messages.reply(update, "Hello")),
      isUnknown
    )
    expectTypeOf(filtered).toEqualTypeOf<Handler.Handler<SendErrors | Messages.NoChat, Bot>>()
    const asked = Handler.filterEffect(
      Handler.on("bot_started", (update) => Messages.reply(update, "Hello")),
      isKnown
    )
    expectTypeOf(asked).toEqualTypeOf<Handler.Handler<SendErrors | Broken, Bot>>()
  })

  it("narrow the update by a refinement", () => {
    const isStart = (update: Update.Update): update is Of<"bot_started"> => update.update_type === "bot_started"
    const greet = ({ user }: Of<"bot_started">) => Effect.log(user.first_name)
    expectTypeOf(Handler.filter(greet, isStart)).toEqualTypeOf<Handler.Handler>()
    expectTypeOf(pipe(greet, Handler.filter(isStart))).toEqualTypeOf<Handler.Handler>()
    const isCallback = (update: Update.Update): update is Of<"message_callback"> =>
      update.update_type === "message_callback"
    expectTypeOf(Handler.filter(greet, isCallback)).not.toExtend<Handler.Handler>()
  })

  it("follow the effect that transform returns", () => {
    const both = Handler.first(created, started)
    const withCounter = Effect.provideService(Counter, { count: 1 })
    expectTypeOf(Handler.transform(both, withCounter)).toEqualTypeOf<Handler.Handler<Broken | Missing>>()
    expectTypeOf(pipe(both, Handler.transform(withCounter))).toEqualTypeOf<Handler.Handler<Broken | Missing>>()
    const found = Handler.transform(
      both,
      Effect.catchTag("Missing", () => Effect.void)
    )
    expectTypeOf(found).toEqualTypeOf<Handler.Handler<Broken, Counter>>()
    expectTypeOf(Handler.transform(both, Effect.ignore())).toEqualTypeOf<Handler.Handler<never, Counter>>()
    const named = Handler.transform(both, (work, update) => Effect.annotateLogs(work, { type: update.update_type }))
    expectTypeOf(named).toEqualTypeOf<Handler.Handler<Broken | Missing, Counter>>()
    expectTypeOf(Handler.run(both, { update_type: "unknown", raw: 1 })).toEqualTypeOf<
      Effect.Effect<boolean, Broken | Missing, Counter>
    >()
  })
})

describe("the types of Handler.notHandled", () => {
  const declines = (_: Update.Update) => Handler.notHandled
  const mayDecline = (update: Update.Update) => (update.update_type === "unknown" ? Handler.notHandled : broken)

  it("leave NotHandled out of the errors of a handler", () => {
    expectTypeOf(declines).toExtend<Handler.Handler>()
    expectTypeOf<Handler.Error<typeof mayDecline>>().toEqualTypeOf<Broken>()
    expectTypeOf(Handler.on("bot_started", declines)).toEqualTypeOf<Handler.Handler>()
    expectTypeOf(Handler.on("bot_started", mayDecline)).toEqualTypeOf<Handler.Handler<Broken>>()
    expectTypeOf(Handler.first(mayDecline, () => missing)).toEqualTypeOf<Handler.Handler<Broken | Missing, Counter>>()
    expectTypeOf(Handler.run(mayDecline, { update_type: "unknown", raw: 1 })).toEqualTypeOf<
      Effect.Effect<boolean, Broken>
    >()
  })

  it("leave NotHandled out of the errors of a function that a combinator receives directly", () => {
    expectTypeOf(Handler.run(declines, { update_type: "unknown", raw: 1 })).toEqualTypeOf<Effect.Effect<boolean>>()
    expectTypeOf(Handler.filter(declines, () => true)).toEqualTypeOf<Handler.Handler>()
    expectTypeOf(Handler.inChatType(declines, "dialog")).toEqualTypeOf<Handler.Handler>()
    expectTypeOf(Handler.fromUsers(declines, [])).toEqualTypeOf<Handler.Handler>()
    expectTypeOf(Handler.filter(mayDecline, () => true)).toEqualTypeOf<Handler.Handler<Broken>>()
    expectTypeOf(Handler.transform(declines, Effect.asVoid)).toEqualTypeOf<Handler.Handler>()
    expectTypeOf(Handler.transform(mayDecline, Effect.asVoid)).toEqualTypeOf<Handler.Handler<Broken>>()
    expectTypeOf(Handler.filterEffect(created, () => Handler.notHandled)).toEqualTypeOf<Handler.Handler<Broken>>()
    expectTypeOf(Handler.transform(created, () => Handler.notHandled)).toEqualTypeOf<Handler.Handler>()
  })

  it("have NotHandled in the error channel of the effect of a handler", () => {
    const effect = Effect.map(created({ update_type: "unknown", raw: 1 }) ?? Effect.void, () => 1)
    expectTypeOf(effect).toEqualTypeOf<Effect.Effect<number, Broken | Handler.NotHandled>>()
    const caught = Effect.catchTag(effect, "NotHandled", () => Effect.succeed(2))
    expectTypeOf(caught).toEqualTypeOf<Effect.Effect<number, Broken>>()
  })

  it("hide NotHandled from the function of transform", () => {
    Handler.transform(mayDecline, (effect) => {
      expectTypeOf(effect).toEqualTypeOf<Effect.Effect<unknown, Broken>>()
      return effect
    })
  })
})

describe("the types of Command and Pattern", () => {
  it("contain the decoded arguments", () => {
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
    // @ts-expect-error an argument is decoded from a string
    Command.make("add", { arguments: { number: Schema.Finite } })
  })

  it("contain InvalidArguments only if the command has required arguments", () => {
    const start = Command.make("start").on(() => broken)
    expectTypeOf(start).toEqualTypeOf<Handler.Handler<Broken | ApiError.Common, Bot>>()
    const add = Command.make("add", { arguments: { number: Command.Number } }).on(() => missing)
    type Failure = Missing | ApiError.Common | Command.InvalidArguments
    expectTypeOf(add).toEqualTypeOf<Handler.Handler<Failure, Bot | Counter>>()
    const replied = Handler.transform(
      Handler.first(start, add),
      Effect.catchTag("InvalidArguments", (error) => Messages.reply(error.update, error.message))
    )
    expectTypeOf(replied).toEqualTypeOf<
      Handler.Handler<Broken | Missing | Messages.NoChat | SendErrors, Bot | Counter>
    >()
  })

  it("narrow the update to the types in the options", () => {
    Command.make("add", { types: ["message_created", "message_edited"] }).on((update) => {
      expectTypeOf(update).toEqualTypeOf<Of<"message_created" | "message_edited">>()
      return undefined
    })
    Pattern.make(/a/, { types: ["comment_created"] }).on((update) => {
      expectTypeOf(update).toEqualTypeOf<Of<"comment_created">>()
      return undefined
    })
    // @ts-expect-error this type of update has no text
    Command.make("add", { types: ["bot_started"] })
  })

  it("contain the match of a pattern", () => {
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
      return broken
    })
    expectTypeOf(dated).toEqualTypeOf<Handler.Handler<Broken>>()
  })
})

describe("the types of Payload and DeepLink", () => {
  const vote = Payload.make("vote", Schema.Struct({ poll: Schema.Int }))
  const yes = Payload.make("yes")
  const invitation = DeepLink.make("invitation", Schema.Struct({ by: User.UserId }))

  it("require a value of the schema, and no value without a schema", () => {
    type Button = Effect.Effect<Keyboard.Button, Payload.InvalidPayload>
    expectTypeOf(vote.button("Yes", { poll: 1 })).toEqualTypeOf<Button>()
    expectTypeOf(yes.button("Yes")).toEqualTypeOf<Button>()
    expectTypeOf(DeepLink.make("promo").encode()).toEqualTypeOf<Effect.Effect<string, Payload.InvalidPayload>>()
    // @ts-expect-error the payload has a value
    const without = () => vote.button("Yes")
    // @ts-expect-error the value has another type
    const another = () => vote.button("Yes", { poll: "1" })
    // @ts-expect-error a number is not a user id
    const notAnId = () => invitation.encode({ by: 1 })
    expectTypeOf([without, another, notAnId]).toBeArray()
  })

  it("pass the value to the handler, and contain the malformed error only if there is a value", () => {
    const count = vote.on((update, value) => {
      expectTypeOf(value).toEqualTypeOf<{ readonly poll: number }>()
      return Answers.answer(update, "Thank you")
    })
    type Failure = Payload.MalformedPayload | Endpoint.Errors<typeof Answers.send>
    expectTypeOf(count).toEqualTypeOf<Handler.Handler<Failure, Bot>>()
    expectTypeOf(yes.on(() => broken)).toEqualTypeOf<Handler.Handler<Broken>>()
    const greet = invitation.on((update, { by }) => (by > 1 ? Messages.reply(update, "Hello") : undefined))
    expectTypeOf(greet).toEqualTypeOf<Handler.Handler<DeepLink.MalformedLink | SendErrors, Bot>>()
  })
})

describe("the types of Messages.reply and Messages.replyTo", () => {
  it("contain NoChat only for updates that may have no chat", () => {
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

  it("accept timers, and reject unknown updates, and updates without a message to quote", () => {
    const reply = Messages.reply<Of<Update.UpdateType>>
    expectTypeOf(reply).parameter(0).toEqualTypeOf<Of<Update.UpdateType>>()
    const toTimer = (update: Update.TimerUpdate) => Messages.reply(update, "Hello")
    expectTypeOf(toTimer).returns.toEqualTypeOf<Messages.Reply<Update.TimerUpdate>>()
    expectTypeOf<Effect.Error<ReturnType<typeof toTimer>>>().toEqualTypeOf<SendErrors>()
    // @ts-expect-error the chat of an unknown update is not known
    const toUnknown = (update: Update.Update) => Messages.reply(update, "Hello")
    // @ts-expect-error the update has no message to quote
    const toStart = (update: Of<"bot_started">) => Messages.replyTo(update, "Hello")
    expectTypeOf([toUnknown, toStart]).toBeArray()
  })

  it("reject attachments in a reply to a comment", () => {
    const toComment = (update: Of<"comment_created">) => Messages.replyTo(update, { text: "Hello", format: "html" })
    expectTypeOf(toComment).returns.toExtend<Effect.Effect<unknown, SendErrors | Messages.NoChat, Bot>>()
    // @ts-expect-error a comment has no attachments
    const withPicture = (update: Of<"comment_created">) => Messages.reply(update, { text: "Hello", attachments: [] })
    expectTypeOf(withPicture).toBeFunction()
  })
})

describe("the types of Update.textOf and Update.userOf", () => {
  it("accept any update", () => {
    expectTypeOf(Update.textOf).toEqualTypeOf<(update: Update.Update) => string | undefined>()
    expectTypeOf(Update.userOf).returns.toEqualTypeOf<User.User | undefined>()
  })
})
