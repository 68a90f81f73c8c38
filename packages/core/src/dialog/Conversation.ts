/**
 * Conversations: several questions and answers, written as one function, that continue after restarts and deploys.
 *
 * The answers are stored by name, in the transaction that acknowledges the update. The function runs again for each
 * update: a question with a stored answer returns this answer, and the first question without an answer ends the run
 * until the answer arrives. Between updates, nothing is held in memory.
 *
 * Code of the function that is not in a `step` therefore runs again in each run. The operators of Effect work as usual,
 * except that `Effect.timeout` and `Effect.race` have no effect on a question, because the run ends as soon as the
 * question is sent: use the option `timeout` of the question.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import type * as Option from "effect/Option"
import { type Pipeable, pipeArguments } from "effect/Pipeable"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { downcast } from "../base/internal/downcast.ts"
import type * as Answers from "../endpoints/Answers.ts"
import type { Attachment, ContactAttachment, LocationAttachment } from "../model/Attachment.ts"
import type { BotApi } from "../client/BotApi.ts"
import type * as Endpoint from "../client/Endpoint.ts"
import type * as Handler from "../inbox/Handler.ts"
import type { Inbox } from "../inbox/Inbox.ts"
import * as answers from "./internal/conversation/answers.ts"
import { withParts } from "../inbox/internal/handlers/parts.ts"
import { Placement } from "../inbox/internal/handlers/placement.ts"
import { makeRemoved } from "../bot/internal/handlers/removed.ts"
import * as handling from "./internal/conversation/handle.ts"
import { decode as decodePress, isPayload } from "./internal/conversation/payload.ts"
import { Record } from "./internal/conversation/record.ts"
import { makeRunning } from "./internal/conversation/running.ts"
import type { At, Due } from "./internal/conversation/turn.ts"
import * as PermanentError from "../base/PermanentError.ts"
import * as State from "../bot/State.ts"
import type { Key } from "../bot/State.ts"
import type { StoreError } from "../base/StoreError.ts"
import {
  type Answer,
  type AttachmentKind,
  type Body,
  type Choices,
  CurrentTexts,
  type Exact,
  NoParticipant,
  type SendError,
  type Talk,
  type Texts,
  Unanswered
} from "./Talk.ts"
import * as Timer from "../bot/Timer.ts"
import type * as Update from "../model/Update.ts"

export { CurrentTexts, NoParticipant, Unanswered }

/**
 * The options of {@link make}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * The owner of a conversation. `"userInChat"`: each user in a chat has a conversation. `"chat"`: a chat has one
   * conversation, in which every member can answer.
   */
  readonly of: "userInChat" | "chat"
  /**
   * The version of the code, a positive whole number. Increase the version for changes that need
   * {@link Options.onVersion}. Default: 1.
   */
  readonly version?: number | undefined
  /**
   * The handling of the next update for a conversation of an older version: `"continue"`: the conversation continues
   * with its stored answers. `"restart"`: the conversation begins again, with the same input. `"tell"`: the
   * conversation ends with the text `outdated`. A function decides by the version. Default: `"continue"`. The updates
   * for a conversation of a newer version wait for a process with the newer program.
   */
  readonly onVersion?: Policy | ((from: number) => Policy) | undefined
  /** The schema of the input. Default: no input. */
  readonly input?: Schema.Codec<unknown, unknown> | undefined
  /** The timeout of questions that have none of their own. Default: none. */
  readonly timeout?: Duration.Input | undefined
  /** Whether questions have a button that leads back to the question before. Default: `false`. */
  readonly back?: boolean | undefined
  /**
   * The handling of a start while the conversation runs: `"keep"`: the conversation continues, and its question is
   * asked again. `"restart"`: the conversation begins again. `"ask"`: the user chooses by buttons. Default: `"keep"`.
   */
  readonly ifRunning?: "keep" | "restart" | "ask" | undefined
  /** Texts that replace the texts of {@link CurrentTexts}. Default: none. */
  readonly texts?: Partial<Texts> | undefined
  /**
   * After this time without an answer, the conversation ends without a message. This time must be longer than every
   * `timeout` and `sleep`. Default: never.
   */
  readonly expireAfter?: Duration.Input | undefined
}

/**
 * The handling of a conversation of an older version.
 *
 * @category models
 * @since 0.1.0
 */
export type Policy = "continue" | "restart" | "tell"

/**
 * The errors of a conversation that its handler can fail with. A body that fails with {@link Unanswered} ends its
 * conversation.
 *
 * @category models
 * @since 0.1.0
 */
export type HandlerError<E> = Exclude<E, Unanswered> | SendError | NoParticipant | StoreError

type InputOf<O> = O extends { readonly input: infer S extends Schema.Constraint } ? S["Type"] : void

type DefaultError<O> = O extends { readonly timeout: Duration.Input } ? Unanswered : never

/**
 * A conversation with the input `I` and the result `A`. Its body can fail with `E` and requires `R`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Conversation<I, A, E, R, O extends Options["of"]> extends Body<I, A, E, R>, Pipeable {
  /** The name. */
  readonly name: string
  /** The owner of the conversation. */
  readonly of: O
  /**
   * Starts the conversation for the user of an update, who must have a chat. `start` returns when the first question
   * was sent. The second argument is the input, if the conversation has an input. If a conversation waits for a dead
   * letter, the conversation does not change, and the text `failed` is sent.
   */
  readonly start: [I] extends [void]
    ? (update: Update.Update) => Effect.Effect<void, HandlerError<E>, R | BotApi>
    : (update: Update.Update, input: I) => Effect.Effect<void, HandlerError<E> | Schema.SchemaError, R | BotApi>
  /**
   * Handles the answers: messages and presses of buttons of a user whose conversation runs, and timeouts. The handler
   * declines messages that do not answer the question.
   */
  readonly handler: Handler.Handler<HandlerError<E>, R | BotApi>
  /**
   * Ends the conversation of the user of an update, and says so. Declines the update if none runs. A conversation that waits for
   * a dead letter stays, and the text `failed` is sent.
   */
  readonly cancel: (
    update: Update.Update
  ) => Effect.Effect<void, SendError | NoParticipant | StoreError | Handler.NotHandled, BotApi>
  /** Returns the same conversation, whose result is also passed to a function. {@link onDone} calls this function. */
  readonly withOnDone: <E2, R2>(
    f: (result: A, update: Update.KnownUpdate | Update.TimerUpdate) => Effect.Effect<unknown, E2, R2>
  ) => Conversation<I, A, E | E2, R | R2, O>
  /** The operations of {@link status}, {@link stop} and {@link stream}. */
  readonly running: Running<O>
}

/**
 * Where a conversation is.
 *
 * @category models
 * @since 0.1.0
 */
export interface Status {
  /**
   * The name of the question or the sleep for which the conversation waits. `undefined`: the conversation does not
   * wait.
   */
  readonly waitingFor: string | undefined
  /** When the timeout or the sleep ends, in Unix milliseconds. `undefined`: never. */
  readonly until: number | undefined
  /** The time of the start, in Unix milliseconds. */
  readonly startedAt: number
  /** The version of the code that ran last. */
  readonly version: number
  /**
   * The id of the dead letter for which the conversation waits: `Inbox.replay` continues the conversation, and after
   * `Inbox.drop` the conversation continues with the next update. `undefined`: none.
   */
  readonly deadLetter: string | undefined
  /** The names of the questions, steps and sleeps that have a result, in order. */
  readonly results: ReadonlyArray<string>
}

/**
 * The operations on conversations that run.
 *
 * @category models
 * @since 0.1.0
 */
export interface Running<O extends Options["of"]> {
  /** Returns where a conversation is. */
  readonly get: (key: Key<O>) => Effect.Effect<Option.Option<Status>, StoreError, Inbox>
  /** Ends a conversation without a message. Returns whether the conversation was running. */
  readonly stop: (key: Key<O>) => Effect.Effect<boolean, StoreError, Inbox>
  /** Emits all conversations. */
  readonly all: Stream.Stream<{ readonly key: Key<O>; readonly status: Status }, StoreError, Inbox>
}

const Due: Schema.Codec<Due, unknown> = Schema.Tuple([Schema.String, Schema.Finite])

const check = (name: string, { of, version = 1 }: Options): void => {
  const refuse = (problem: string): never => {
    throw new Error(`The conversation "${name}" ${problem}`)
  }
  if (name === "") refuse("needs a name that is not empty.")
  if (of !== "chat" && of !== "userInChat")
    refuse(`needs an \`of\` that is "userInChat" or "chat", but it is ${JSON.stringify(of)}.`)
  if (!Number.isSafeInteger(version) || version < 1) refuse("needs a `version` that is a positive whole number.")
}

/**
 * Defines a conversation with a name, options, and a function that asks questions and sends messages. Conversations of
 * one bot have different names: `Handler.first` throws if two conversations have the same name.
 *
 * Place `handler` among the handlers of the bot: otherwise answers are not received, and a warning is logged at the
 * first answer. `start` and `cancel` can be called in any handler of an update. If the function fails, the handler
 * fails with its error. While the update of an answer, or an update in which a step has begun, is a dead letter, the
 * conversation waits for this update: `Inbox.replay` continues the conversation. If the function fails with
 * {@link Unanswered}, the conversation ends. When the conversation ends, its stored data is deleted.
 *
 * Throws if the name is empty or an option is invalid.
 *
 * **Example** (An order)
 *
 * ```ts
 * import { Command, Conversation, Handler } from "@colloquy/core"
 * import { Effect, Schema } from "effect"
 *
 * declare const pay: (size: string, address: string) => Effect.Effect<string>
 *
 * const Order = Conversation.make(
 *   "order",
 *   { of: "userInChat" },
 *   Effect.fn(function* (talk) {
 *     const size = yield* talk.choose("size", { say: "Which size?", choices: { s: "Small", m: "Medium", l: "Large" } })
 *     const address = yield* talk.ask("address", { say: "Where to?", read: Schema.NonEmptyString })
 *     const receipt = yield* talk.step("pay", Schema.String, pay(size, address))
 *     yield* talk.sleep("oven", "20 minutes")
 *     return yield* talk.say(`On its way: ${receipt}`)
 *   })
 * )
 *
 * const bot = Handler.first(
 *   Command.make("cancel").on(Order.cancel),
 *   Command.make("order").on(Order.start),
 *   Order.handler
 * )
 * ```
 *
 * **Example** (An input and a timeout)
 *
 * ```ts
 * import { Command, Conversation } from "@colloquy/core"
 * import { Effect, Schema } from "effect"
 *
 * const Survey = Conversation.make(
 *   "survey",
 *   { of: "userInChat", input: Schema.Struct({ topic: Schema.String }), timeout: "1 day" },
 *   Effect.fn(
 *     function* (talk, { topic }) {
 *       const answer = yield* talk.ask("opinion", { say: `What do you think of ${topic}?` })
 *       yield* talk.say(`Thank you for "${answer}".`)
 *     },
 *     (conversation, talk) => Effect.catchTag(conversation, "Unanswered", () => talk.say("Another time, then."))
 *   )
 * )
 *
 * const survey = Command.make("survey", { arguments: { topic: Schema.String } }).on(Survey.start)
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <const O extends Options, A, E, R>(
  name: string,
  options: O & Exact<O, Options>,
  body: (talk: Talk<DefaultError<O>>, input: InputOf<O>) => Effect.Effect<A, E, R>
): Conversation<InputOf<O>, A, E, R, O["of"]> => {
  check(name, options)
  const { onVersion = "continue", version = 1 } = options
  const state = State.make(`conversation/${name}`, Record, {
    of: options.of,
    initial: () => undefined,
    expireAfter: options.expireAfter,
    onStale: "initial"
  })
  const timer = Timer.make(`conversation/${name}`, Due)
  const json = options.input === undefined ? undefined : Schema.toCodecJson(options.input)
  const encode = json && Schema.encodeEffect(json)
  const decode = json && Schema.decodeUnknownEffect(json)
  const definition = {
    name,
    version,
    state,
    timer,
    placement: new Placement(`The conversation "${name}"`, (update) =>
      update.update_type === "message_callback"
        ? decodePress(name, update.callback.payload) !== undefined
        : update.update_type === "colloquy_timer" && update.name === timer.name
    ),
    texts: options.texts ?? {},
    timeout: options.timeout,
    back: options.back,
    ifRunning: options.ifRunning ?? "keep",
    onVersion: typeof onVersion === "function" ? onVersion : () => onVersion,
    body,
    encodeInput: (input: unknown) =>
      encode === undefined
        ? Effect.succeed(undefined)
        : Effect.mapError(encode(input) as Effect.Effect<Schema.Json, Schema.SchemaError>, PermanentError.mark),
    decodeInput: (stored: Schema.Json | undefined) =>
      decode === undefined ? Effect.succeed(undefined) : decode(stored ?? null)
  }
  const running = makeRunning(state, timer)
  const build = (onDone: (result: A, update: At["update"]) => Effect.Effect<unknown, unknown, unknown>) => {
    const self: handling.Conversation = { ...definition, onDone }
    return {
      name,
      of: options.of,
      timeout: options.timeout,
      back: options.back,
      body,
      start: (update: Update.Update, input: unknown) => handling.start(self, update, input),
      cancel: (update: Update.Update) => handling.cancel(self, update),
      handler: withParts(handling.handle(self), [{ kind: "conversation", name, definition, timeouts: timer.name }]),
      withOnDone: (f: typeof onDone) =>
        build((result, update) => Effect.andThen(onDone(result, update), f(result, update))),
      running,
      pipe() {
        // oxlint-disable-next-line prefer-rest-params
        return pipeArguments(this, arguments)
      }
    }
  }
  return build(() => Effect.void) as never
}

/**
 * Passes the result of a conversation to a function when the conversation ends, with the update that ended the
 * conversation. A conversation that is cancelled, or whose function fails with {@link Unanswered}, has no result.
 *
 * **Example** (A result that is stored)
 *
 * ```ts
 * import { Conversation, State } from "@colloquy/core"
 * import { Schema } from "effect"
 *
 * const Name = State.make("name", Schema.String, { of: "user", initial: () => "" })
 *
 * const Introduction = Conversation.make("introduction", { of: "userInChat" }, (talk) =>
 *   talk.ask("name", { say: "What is your name?" })
 * ).pipe(Conversation.onDone((name) => Name.set(name)))
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const onDone: {
  <A, E2, R2>(
    f: (result: A, update: Update.KnownUpdate | Update.TimerUpdate) => Effect.Effect<unknown, E2, R2>
  ): <I, E, R, O extends Options["of"]>(self: Conversation<I, A, E, R, O>) => Conversation<I, A, E | E2, R | R2, O>
  <I, A, E, R, O extends Options["of"], E2, R2>(
    self: Conversation<I, A, E, R, O>,
    f: (result: A, update: Update.KnownUpdate | Update.TimerUpdate) => Effect.Effect<unknown, E2, R2>
  ): Conversation<I, A, E | E2, R | R2, O>
} = dual(
  2,
  <I, A, E, R, O extends Options["of"], E2, R2>(
    self: Conversation<I, A, E, R, O>,
    f: (result: A, update: Update.KnownUpdate | Update.TimerUpdate) => Effect.Effect<unknown, E2, R2>
  ) => self.withOnDone(f)
)

/** A conversation of which only the runs are of interest. */
type Any<O extends Options["of"]> = { readonly running: Running<O> }

/**
 * Returns the status of a conversation, or none if the conversation does not run.
 *
 * **Example** (The question that a user has not answered yet)
 *
 * ```ts
 * import { type Chat, Conversation, type User } from "@colloquy/core"
 * import { Effect, Option } from "effect"
 *
 * const Feedback = Conversation.make("feedback", { of: "userInChat" }, (talk) => talk.ask("text", { say: "Well?" }))
 *
 * const open = (chat_id: Chat.ChatId, user_id: User.UserId) =>
 *   Effect.map(
 *     Conversation.status(Feedback, { chat_id, user_id }),
 *     Option.map(({ waitingFor }) => waitingFor)
 *   )
 * ```
 *
 * @category operations
 * @since 0.1.0
 */
export const status = <O extends Options["of"]>(
  self: Any<O>,
  key: Key<O>
): Effect.Effect<Option.Option<Status>, StoreError, Inbox> => self.running.get(key)

/**
 * Ends a conversation without a message, including a conversation that waits for a dead letter. Returns whether the
 * conversation was running. The buttons of its question stay, and a press is answered as late.
 *
 * **Example**
 *
 * ```ts
 * import { type Chat, Conversation, type User } from "@colloquy/core"
 *
 * const Feedback = Conversation.make("feedback", { of: "userInChat" }, (talk) => talk.ask("text", { say: "Well?" }))
 *
 * const end = (chat_id: Chat.ChatId, user_id: User.UserId) => Conversation.stop(Feedback, { chat_id, user_id })
 * ```
 *
 * @category operations
 * @since 0.1.0
 */
export const stop = <O extends Options["of"]>(self: Any<O>, key: Key<O>): Effect.Effect<boolean, StoreError, Inbox> =>
  self.running.stop(key)

/**
 * Emits all conversations that run, with their keys, in pages. Conversations that start or continue meanwhile may be missing.
 *
 * **Example** (How many wait for each question)
 *
 * ```ts
 * import { Conversation } from "@colloquy/core"
 * import { Stream } from "effect"
 *
 * const Feedback = Conversation.make("feedback", { of: "userInChat" }, (talk) => talk.ask("text", { say: "Well?" }))
 *
 * const waiting = Conversation.stream(Feedback).pipe(
 *   Stream.map(({ status }) => status.waitingFor ?? "nothing"),
 *   Stream.runFold(
 *     () => new Map<string, number>(),
 *     (counts, question) => counts.set(question, (counts.get(question) ?? 0) + 1)
 *   )
 * )
 * ```
 *
 * @category operations
 * @since 0.1.0
 */
export const stream = <O extends Options["of"]>(
  self: Any<O>
): Stream.Stream<{ readonly key: Key<O>; readonly status: Status }, StoreError, Inbox> => self.running.all

/**
 * Ends all conversations of this name without a message, as {@link stop} does. Returns how many there were.
 *
 * **Example**
 *
 * ```ts
 * import { Conversation } from "@colloquy/core"
 *
 * const Feedback = Conversation.make("feedback", { of: "userInChat" }, (talk) => talk.ask("text", { say: "Well?" }))
 *
 * const endAll = Conversation.cancelAll(Feedback)
 * ```
 *
 * @category operations
 * @since 0.1.0
 */
export const cancelAll = <O extends Options["of"]>(self: Any<O>): Effect.Effect<number, StoreError, Inbox> =>
  self.running.all.pipe(
    Stream.mapEffect(({ key }) => self.running.stop(key)),
    Stream.runFold(
      () => 0,
      (count, wasRunning) => (wasRunning ? count + 1 : count)
    )
  )

/**
 * Creates a handler of the buttons of conversations that the program no longer has, because they were removed or
 * renamed. The handler removes the buttons, and shows a notification. Other attachments of the message stay. If the
 * message has a contact or an attachment of an unknown kind, the buttons stay, too. Place the handler after the
 * handlers of all conversations. Default of `notification`: `late` of {@link CurrentTexts}.
 *
 * **Example** (After a conversation was removed from the program)
 *
 * ```ts
 * import { Conversation, Handler } from "@colloquy/core"
 *
 * const Feedback = Conversation.make("feedback", { of: "userInChat" }, (talk) => talk.ask("text", { say: "Well?" }))
 *
 * const bot = Handler.first(Feedback.handler, Conversation.removed())
 * ```
 *
 * @category handlers
 * @since 0.1.0
 */
export const removed = (
  notification?: string | ((update: Update.Of<"message_callback">) => string)
): Handler.Handler<Endpoint.Errors<typeof Answers.send>, BotApi> =>
  makeRemoved(
    isPayload,
    notification === undefined ? Effect.map(CurrentTexts, ({ late }) => late) : Effect.succeed(notification)
  )

/**
 * The answer is a text. A schema decodes the text without the spaces around the text. Default: any text that is not
 * empty. Commands are not accepted.
 *
 * **Example** (A number, a button, or a command)
 *
 * ```ts
 * import { Conversation } from "@colloquy/core"
 * import { Effect, Schema } from "effect"
 *
 * const Guess = Conversation.make(
 *   "guess",
 *   { of: "userInChat" },
 *   Effect.fn(function* (talk) {
 *     const answer = yield* talk.any("guess", {
 *       say: "Guess a number, or ask for a /hint.",
 *       answers: {
 *         number: Conversation.text(Schema.FiniteFromString),
 *         button: Conversation.choice({ stop: "I give up" }),
 *         hint: Conversation.command("hint")
 *       }
 *     })
 *     switch (answer._tag) {
 *       case "number":
 *         return yield* talk.say(answer.value === 7 ? "Yes!" : "No.")
 *       case "button":
 *         return yield* talk.say("It was 7.")
 *       case "hint":
 *         return yield* talk.say("It is odd.")
 *     }
 *   })
 * )
 * ```
 *
 * @category answers
 * @since 0.1.0
 */
export const text = <
  S extends Schema.ConstraintCodec<unknown, string, unknown, unknown> = typeof Schema.NonEmptyString
>(
  schema?: S
): Answer<S["Type"], S["DecodingServices"] | S["EncodingServices"]> => downcast(answers.text(schema))

/**
 * The answer is one of several choices: the press of a button, or a text that equals the text of the button. The keys
 * are the values, and are stored.
 *
 * @category answers
 * @since 0.1.0
 */
export const choice = <const C extends Choices>(choices: C): Answer<`${Extract<keyof C, string | number>}`> =>
  downcast(answers.choice(choices))

/**
 * The answer is an attachment of a type. The first such attachment of the message is taken.
 *
 * @category answers
 * @since 0.1.0
 */
export const attachment = <const K extends AttachmentKind>(
  kind: K
): Answer<Extract<Attachment, { readonly type: K }>> => downcast(answers.attachment(kind))

/**
 * The answer is a contact. With a text, the question has a button by which the user sends their own.
 *
 * @category answers
 * @since 0.1.0
 */
export const contact = (button?: string): Answer<typeof ContactAttachment.Type> => downcast(answers.contact(button))

/**
 * The answer is a location. With a text, the question has a button by which the user sends their own.
 *
 * @category answers
 * @since 0.1.0
 */
export const location = (button?: string): Answer<typeof LocationAttachment.Type> => downcast(answers.location(button))

/**
 * The answer is a command of this name, without regard to case and to a leading slash. Its value is the text after the command.
 *
 * @category answers
 * @since 0.1.0
 */
export const command = (name: string): Answer<string> => answers.command(name)
