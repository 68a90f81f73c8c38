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
import type { Attachment, ContactAttachment, LocationAttachment } from "../model/Attachment.ts"
import type { BotApi } from "../client/BotApi.ts"
import type * as Handler from "../inbox/Handler.ts"
import type { Inbox } from "../inbox/Inbox.ts"
import * as answers from "./internal/conversation/answers.ts"
import { makePart } from "../inbox/internal/handlers/parts.ts"
import { jsonCodecOf } from "../inbox/internal/journal/results.ts"
import * as handling from "./internal/conversation/handle.ts"
import { Record } from "./internal/conversation/record.ts"
import { makeRunning, operations } from "./internal/conversation/running.ts"
import type * as turns from "./internal/conversation/turn.ts"
import * as PermanentError from "../base/PermanentError.ts"
import { PermanentTaggedError } from "../base/internal/permanentTaggedError.ts"
import * as State from "../bot/State.ts"
import type { Key, Migration } from "../bot/State.ts"
import type { StoreError } from "../base/StoreError.ts"
import * as Timer from "../bot/Timer.ts"
import type * as Update from "../model/Update.ts"
import type * as Context from "effect/Context"
import * as texts from "./internal/conversation/texts.ts"
import type { Errors } from "../client/Endpoint.ts"
import type * as Journal from "../inbox/Journal.ts"
import type * as Keyboard from "../model/Keyboard.ts"
import type * as Messages from "../endpoints/Messages.ts"
import type { ChatId } from "../model/Recipient.ts"
import type { UserId } from "../model/User.ts"
import { TaggedError } from "../base/TaggedError.ts"

/**
 * A question was not answered within its `timeout`.
 *
 * @category errors
 * @since 0.1.0
 */
export class Unanswered extends TaggedError("Unanswered", () => ({
  /** The name of the conversation. */
  conversation: Schema.String,
  /** The name of the question. */
  question: Schema.String
})) {
  override get message() {
    return `The question "${this.question}" of the conversation "${this.conversation}" was not answered in time.`
  }
}

/**
 * A conversation cannot start, because there is no user in a chat: the update has no chat or no user, or several updates or
 * none are being handled.
 *
 * @category errors
 * @since 0.1.0
 */
export class NoParticipant extends PermanentTaggedError("NoParticipant", () => ({
  /** The name of the conversation. */
  conversation: Schema.String,
  /** The type of the update. `undefined`: no single update is being handled. */
  update_type: Schema.optional(Schema.String)
})) {
  override get message() {
    const reason =
      this.update_type === undefined
        ? "no single update is being handled"
        : `the update "${this.update_type}" does not say who did it in which chat`
    return `The conversation "${this.conversation}" needs a user in a chat, but ${reason}. Start it for updates of users in chats, or for a timer of a user in a chat.`
  }
}

/**
 * The errors of the messages of a conversation, which are the errors of `Messages.send`.
 *
 * @category errors
 * @since 0.1.0
 */
export type SendError = Errors<typeof Messages.send>

/**
 * A message of a conversation: a text, or the fields of a message.
 *
 * @category models
 * @since 0.1.0
 */
export type Content = Messages.ReplyContent<Update.Of<"message_created">>

/**
 * The choices of a question: the text of each button, by the value that the choice has.
 *
 * @category models
 * @since 0.1.0
 */
export type Choices = { readonly [value: string]: string }

/**
 * The texts that conversations use by themselves. {@link CurrentTexts} and the option `texts` of a conversation replace them.
 *
 * @category models
 * @since 0.1.0
 */
export interface Texts {
  /** The button that ends a choice of several. Default: "Done". */
  readonly done: string
  /** The button that skips an optional question. Default: "Skip". */
  readonly skip: string
  /** The button that leads back to the question before. Default: "Back". */
  readonly back: string
  /** The first button of `confirm`. Default: "Yes". */
  readonly yes: string
  /** The second button of `confirm`. Default: "No". */
  readonly no: string
  /** Before the text of a button that is chosen. Default: "✓ ". */
  readonly chosen: string
  /** The reply to an answer that cannot be read. Default: "Please try again: it" and the problem. */
  readonly again: (problem: string) => string
  /** The notification if fewer choices are chosen than `min`. Default: "Please choose at least 2." */
  readonly tooFew: (min: number) => string
  /** The notification if more choices are chosen than `max`. Default: "Please choose at most 2." */
  readonly tooMany: (max: number) => string
  /** The notification after a press of a button of an old question. Default: "This question is closed." */
  readonly late: string
  /** The notification after a press of a button for another user. Default: "This question is for somebody else." */
  readonly notYours: string
  /** The message after `cancel`. An empty text is not sent. Default: "Cancelled." */
  readonly cancelled: string
  /**
   * The message if a question was not answered in time, and the function does not handle {@link Unanswered}. An empty text is not
   * sent. Default: an empty text.
   */
  readonly unanswered: string
  /** The message that ends a conversation of an older version. Default: "Something has changed here. Please begin again." */
  readonly outdated: string
  /** The question whether to start over. Default: "You have not finished yet. Start over?" */
  readonly startOver: string
  /**
   * The message if a conversation is started or cancelled while the conversation waits for an update that is a dead
   * letter, and the notification after a press. Default: "Something has gone wrong here. This continues when the
   * problem is solved."
   */
  readonly failed: string
  /**
   * The message if a conversation is started while the conversation sleeps. Default: "Please wait, this is not finished
   * yet."
   */
  readonly wait: string
}

/**
 * The texts that conversations use by themselves. Default: English texts.
 *
 * **Example** (Russian texts)
 *
 * ```ts
 * import { Bot, Conversation, Handler } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * declare const bot: Handler.Handler
 *
 * const russian = Handler.transform(
 *   bot,
 *   Effect.updateService(Conversation.CurrentTexts, (texts) => ({ ...texts, done: "Готово", skip: "Пропустить" }))
 * )
 * ```
 *
 * @category references
 * @since 0.1.0
 */
export const CurrentTexts: Context.Reference<Texts> = texts.CurrentTexts

/**
 * The options of every question.
 *
 * @category options
 * @since 0.1.0
 */
export interface QuestionOptions {
  /** The question: a text, or the fields of a message. The buttons of the question are added to the message. */
  readonly say: Content
  /**
   * The question fails with {@link Unanswered} after this time. `Duration.infinity`: never. Default: the `timeout` of the
   * conversation, or none.
   */
  readonly timeout?: Duration.Input | undefined
  /** Whether the question has a button to skip the question. The answer is then `undefined`. Default: `false`. */
  readonly optional?: boolean | undefined
  /** Whether the question has a button that leads back to the question before. Default: the `back` of the conversation. */
  readonly back?: boolean | undefined
  /**
   * Who may answer, in a conversation of a chat. Others get a notification when they press a button, and their messages go to
   * the next handler. An empty array is a defect. Default: everybody in the chat.
   */
  readonly from?: UserId | ReadonlyArray<UserId> | undefined
  /** The reply to an answer that cannot be read. A function receives the problem. Default: `again` of {@link Texts}. */
  readonly again?: Content | ((problem: string) => Content) | undefined
  /**
   * Handles messages that do not answer the question. Commands are not among them. A question, a sleep or `back` in the effect is
   * a defect. Default: such messages go to the next handler of the bot.
   */
  readonly otherwise?: ((update: Update.Of<"message_created">) => Effect.Effect<unknown, unknown, unknown>) | undefined
  /** Reads an answer of an older version that cannot be decoded. Default: the question is asked again. */
  readonly migrate?: Migration<unknown> | undefined
}

/**
 * The options of `ask`.
 *
 * @category options
 * @since 0.1.0
 */
export interface AskOptions extends QuestionOptions {
  /** The schema that decodes the text, without the spaces around the text. Default: any text that is not empty. */
  readonly read?: Schema.ConstraintCodec<unknown, string, unknown, unknown> | undefined
}

/**
 * The options of `choose`.
 *
 * @category options
 * @since 0.1.0
 */
export interface ChooseOptions extends QuestionOptions {
  /**
   * The text of each button, by the value of the choice: at most 210 in 30 rows. A value, the name of the
   * conversation and the name of the question can have about 900 characters together, because the payload of the button contains
   * them.
   */
  readonly choices: Choices
  /** Whether several can be chosen. The keyboard shows them, and has a button that ends the choice. Default: `false`. */
  readonly several?: boolean | undefined
  /** With `several`, how many must be chosen. Default: 0. */
  readonly min?: number | undefined
  /** With `several`, how many can be chosen. Default: all. */
  readonly max?: number | undefined
  /** Number of buttons in a row. Default: 3. */
  readonly columns?: number | undefined
}

/**
 * The options of `confirm`.
 *
 * @category options
 * @since 0.1.0
 */
export interface ConfirmOptions extends QuestionOptions {
  /** The text of the first button. Default: `yes` of {@link Texts}. */
  readonly yes?: string | undefined
  /** The text of the second button. Default: `no` of {@link Texts}. */
  readonly no?: string | undefined
}

/**
 * The types of attachments that a question can ask for.
 *
 * @category models
 * @since 0.1.0
 */
export type AttachmentKind = Exclude<Attachment["type"], "unknown" | "inline_keyboard">

/**
 * The options of `attachment`.
 *
 * @category options
 * @since 0.1.0
 */
export interface AttachmentOptions extends QuestionOptions {
  /** The type of the attachment. */
  readonly kind: AttachmentKind
}

/**
 * The options of `contact` and `location`.
 *
 * @category options
 * @since 0.1.0
 */
export interface RequestOptions extends QuestionOptions {
  /**
   * The text of a button by which the user sends the attachment. Default: no button, the user attaches the file to a
   * message.
   */
  readonly button?: string | undefined
}

/**
 * The options of `any`.
 *
 * @category options
 * @since 0.1.0
 */
export interface AnyOptions extends QuestionOptions {
  /** The kinds of answers, by the `_tag` that the result has. The first kind that accepts a message is taken. */
  readonly answers: { readonly [tag: string]: Answer<unknown, unknown> }
  /** Number of buttons in a row. Default: 3. */
  readonly columns?: number | undefined
}

/**
 * The answer of a user to a question: a message, or the press of the button of a choice.
 *
 * @category models
 * @since 0.1.0
 */
export type AnswerInput =
  | { readonly _tag: "Message"; readonly update: Update.Of<"message_created"> }
  | { readonly _tag: "Choice"; readonly value: string }

/**
 * A kind of answer. `Conversation.text`, `choice`, `attachment`, `contact`, `location` and `command` create them.
 *
 * @category models
 * @since 0.1.0
 */
export interface Answer<out A, out R = never> {
  /** Identifies the accepted answers. If the signature differs after a deploy, a question that waits is asked again. */
  readonly signature: string
  /** The buttons of the answer, by value. */
  readonly choices?: Choices | undefined
  /** Other buttons of the question. */
  readonly buttons?: ReadonlyArray<Keyboard.Button> | undefined
  /** Reads an answer. Returns `undefined` for an answer of another kind, and fails with the problem of the answer. */
  readonly read: (input: AnswerInput) => Effect.Effect<A, string, R> | undefined
  /** Returns the JSON value that is stored. */
  encode(value: unknown): Effect.Effect<Schema.Json, string, R>
  /** Reads the JSON value that is stored. */
  decode(stored: Schema.Json): Effect.Effect<A, string, R>
}

/**
 * Rejects options that do not exist. No value has the type of such an option, and the error message names the option.
 *
 * @category utility types
 * @since 0.1.0
 */
export type Exact<O, Options> = {
  readonly [K in Exclude<keyof O, keyof Options> & string]: { readonly [P in `The option "${K}" does not exist`]: true }
}

type Read<O> = O extends { readonly read: infer S extends Schema.Constraint }
  ? { readonly value: S["Type"]; readonly services: S["DecodingServices"] | S["EncodingServices"] }
  : { readonly value: string; readonly services: never }

type Choice<O extends ChooseOptions> = `${Extract<keyof O["choices"], string | number>}`

type Otherwise<O> = O extends { readonly otherwise: (update: never) => Effect.Effect<unknown, infer E, infer R> }
  ? { readonly error: E; readonly services: R }
  : { readonly error: never; readonly services: never }

/**
 * The effect of a question with the options `O`. `D` is the error of the conversation's own `timeout`.
 *
 * @category utility types
 * @since 0.1.0
 */
export type Asked<A, O, D, R = never> = Effect.Effect<
  A | (O extends { readonly optional: true } ? undefined : never),
  SendError | Otherwise<O>["error"] | (O extends { readonly timeout: Duration.Input } ? Unanswered : D),
  BotApi | Otherwise<O>["services"] | R
>

/**
 * A conversation in the form that `Talk.run` accepts.
 *
 * @category models
 * @since 0.1.0
 */
export interface Body<in I, out A, out E, out R> {
  /** The name. */
  readonly name: string
  /** The function that asks and says. */
  readonly body: (talk: Talk, input: I) => Effect.Effect<A, E, R>
}

/**
 * The operations of the body of a conversation: questions, messages, steps and sleeps. Each question, step and sleep
 * has a name, under which its result is stored. The body runs again for each answer, and operations with a stored
 * result return this result at once.
 *
 * A name can be used once in a run: a second use is a defect. Name the questions of a loop by its index. A question
 * that was not answered in time may be asked again under the same name, so `Effect.retry` works.
 *
 * @category models
 * @since 0.1.0
 */
export interface Talk<D = never> {
  /** The chat. */
  readonly chat_id: ChatId
  /** The user who started the conversation. */
  readonly user_id: UserId
  /**
   * Sends a message once: the message is not sent again when the body runs again. In concurrent branches, messages are
   * identified by their content, or by the option `name`.
   */
  readonly say: (
    content: Content,
    options?: { readonly name?: string | undefined }
  ) => Effect.Effect<void, SendError, BotApi>
  /** Asks for a text. The schema `read` decodes the text. If the text does not match, the user receives `again`. */
  readonly ask: <const O extends AskOptions>(
    name: string,
    options: O & Exact<O, AskOptions> & { readonly migrate?: Migration<Read<O>["value"]> | undefined }
  ) => Asked<Read<O>["value"], O, D, Read<O>["services"]>
  /**
   * Asks for a choice by buttons. A text that equals the text of a button is accepted as well. With `several`, the
   * keyboard shows the chosen choices, and the result is an array in the order of the choices. The buttons are removed
   * at the end. A question without a possible answer, because there are no choices or `min` exceeds their number, is a
   * defect.
   */
  readonly choose: <const O extends ChooseOptions>(
    name: string,
    options: O & Exact<O, ChooseOptions>
  ) => Asked<O extends { readonly several: true } ? ReadonlyArray<Choice<O>> : Choice<O>, O, D>
  /** Asks a question with the answers yes and no. */
  readonly confirm: <const O extends ConfirmOptions>(
    name: string,
    options: O & Exact<O, ConfirmOptions>
  ) => Asked<boolean, O, D>
  /** Asks for an attachment of a type. The first such attachment of the message is taken. */
  readonly attachment: <const O extends AttachmentOptions>(
    name: string,
    options: O & Exact<O, AttachmentOptions>
  ) => Asked<Extract<Attachment, { readonly type: O["kind"] }>, O, D>
  /** Asks for a contact. With `button`, the user sends their own by a button. */
  readonly contact: <const O extends RequestOptions>(
    name: string,
    options: O & Exact<O, RequestOptions>
  ) => Asked<typeof ContactAttachment.Type, O, D>
  /** Asks for a location. With `button`, the user sends their own by a button. */
  readonly location: <const O extends RequestOptions>(
    name: string,
    options: O & Exact<O, RequestOptions>
  ) => Asked<typeof LocationAttachment.Type, O, D>
  /** Asks for an answer of one of several kinds: a text, a button, a command. The result has the `_tag` of the kind. */
  readonly any: <const O extends AnyOptions>(
    name: string,
    options: O & Exact<O, AnyOptions>
  ) => Asked<
    {
      readonly [K in keyof O["answers"]]: {
        readonly _tag: K
        readonly value: O["answers"][K] extends Answer<infer A, unknown> ? A : never
      }
    }[keyof O["answers"]],
    O,
    D,
    O["answers"][keyof O["answers"]] extends Answer<unknown, infer R> ? R : never
  >
  /**
   * Runs an effect once in the conversation, and stores its result: a payment, a call of another service. A failure is
   * not stored: the effect runs again in the next run, also in a later update. `Journal.key` is a key for services that
   * accept idempotency keys. The key stays the same until the result is stored, and changes when `back` has forgotten
   * the result. A different operation after a failure, such as a payment by another card, needs another name. If the
   * schema changes and does not accept the stored result, the effect runs again. A question, a sleep or `back` in the
   * effect is a defect. An effect whose error is `unknown` does not compile: the body could not catch any other error.
   */
  readonly step: <A, I, E, R>(
    name: string,
    schema: Schema.Codec<A, I>,
    effect: Effect.Effect<A, E, R> & TypedError<E>
  ) => Effect.Effect<A, (unknown extends E ? never : E) | Journal.InvalidStepResult | Journal.Uncertain, R>
  /** Waits for a finite time, and continues after restarts. Messages of the user go to the next handler. */
  readonly sleep: (name: string, duration: Duration.Input) => Effect.Effect<void>
  /**
   * Forgets the answer to the previous question, or to the named question, with all later results, and runs the body
   * again. With the name of a part, `back` forgets the whole part and all later results.
   */
  readonly back: (name?: string) => Effect.Effect<never>
  /**
   * Runs another conversation as a part of this conversation. The names of the part do not collide with the names of
   * this conversation. The questions of the part have the `timeout` and `back` of the part. All other options are taken
   * from this conversation.
   */
  readonly run: <A, E, R, I = void>(
    name: string,
    conversation: Body<I, A, E, R>,
    ...input: [I] extends [void] ? [] : [input: I]
  ) => Effect.Effect<A, E, R>
  /** The user who answered a question, in a conversation of a chat. `None` if the question was not answered. */
  readonly answeredBy: (name: string) => Effect.Effect<Option.Option<UserId>>
}

/**
 * The options of {@link make}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * The owner of a conversation. `"userInChat"`: each user in a chat has a conversation. `"chat"`: a chat has one
   * conversation, in which every member can answer. A timeout of such a conversation is an update without a user: a state of
   * a user fails with `NoStateKey`, and `onDone` receives the update with the user who started the conversation.
   */
  readonly of: "userInChat" | "chat"
  /**
   * The version of the code, a positive whole number. Increase the version for changes that need
   * {@link Options.onVersion}. Default: 1.
   */
  readonly version?: number | undefined
  /**
   * The handling of the next update for a conversation of an older version: `"continue"`: the conversation continues
   * with its stored answers. `"restart"`: the conversation begins again, with the same input. `"end"`: the
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
export type Policy = "continue" | "restart" | "end"

/**
 * The errors of a conversation that its handler can fail with. A body that fails with {@link Unanswered} ends its
 * conversation.
 *
 * @category models
 * @since 0.1.0
 */
export type HandlerError<E> = Exclude<E, Unanswered> | SendError | NoParticipant | StoreError

/** No effect of an `unknown` error has this type, which tells the remedy in the type error. */
type TypedError<E> = unknown extends E
  ? { readonly "The error is unknown: let `catch` of Effect.tryPromise return an error with a _tag": true }
  : unknown

/** A function such as `Effect.catchTag("Declined", f)`, which has no effect yet. */
type Operator<E> = (self: Effect.Effect<never, E, never>) => Effect.Effect<unknown, E, unknown>

/**
 * The type of a call `Effect.catchTag(effect, …)` after a mistake in the effect, whose errors are then unknown. The body may have this
 * type, so that the compiler does not report the mistake once more. A body with an operator of any errors is refused.
 */
type Mistaken<F> = F extends Operator<"any"> ? never : F

type InputOf<O> = O extends { readonly input: infer S extends Schema.Constraint } ? S["Type"] : void

type DefaultError<O> = O extends { readonly timeout: Duration.Input } ? Unanswered : never

/**
 * The conversation that a function starts, as a member of the function.
 *
 * @category models
 * @since 0.1.0
 */
export interface Starting {
  /** The conversation that the function starts. */
  readonly starts: Handler.Started
}

/**
 * A conversation with the input `I` and the result `A`. Its body can fail with `E` and requires `R`. A conversation is a
 * part of a bot: the handler of the answers, which are messages and presses of buttons of a user whose conversation runs, and of
 * timeouts. Messages that do not answer the question go to other parts of the bot.
 *
 * @category models
 * @since 0.1.0
 */
export interface Conversation<I, A, E, R, O extends Options["of"]>
  extends Body<I, A, E, R>, Pipeable, Handler.Handler<HandlerError<E>, R | BotApi> {
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
    ? Starting & ((update: Update.Update) => Effect.Effect<void, HandlerError<E>, R | BotApi>)
    : Starting &
        ((update: Update.Update, input: I) => Effect.Effect<void, HandlerError<E> | Schema.SchemaError, R | BotApi>)
  /**
   * Ends the conversation of the user of an update, and says so. Declines the update if none runs. A conversation that waits for
   * a dead letter stays, and the text `failed` is sent.
   */
  readonly cancel: (
    update: Update.Update
  ) => Effect.Effect<void, SendError | NoParticipant | StoreError | Handler.NotHandled, BotApi>
  /** The operations of {@link onDone}, {@link status}, {@link stop} and {@link stream}. */
  readonly [operations]: {
    readonly running: Running<O>
    readonly onDone: <E2, R2>(
      f: (result: A, update: Update.Repliable) => Effect.Effect<unknown, E2, R2>
    ) => Conversation<I, A, E | E2, R | R2, O>
  }
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

/** The operations on conversations that run. */
interface Running<O extends Options["of"]> {
  /** Returns where a conversation is. */
  readonly get: (key: Key<O>) => Effect.Effect<Option.Option<Status>, StoreError, Inbox>
  /** Ends a conversation without a message. Returns whether the conversation was running. */
  readonly stop: (key: Key<O>) => Effect.Effect<boolean, StoreError, Inbox>
  /** Emits all conversations. */
  readonly all: Stream.Stream<{ readonly key: Key<O>; readonly status: Status }, StoreError, Inbox>
}

const Due: Schema.Codec<turns.Due, unknown> = Schema.Tuple([Schema.String, Schema.Finite])

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
 * one bot have different names: `Bot.make` throws if two conversations have the same name.
 *
 * The conversation is a part of the bot: pass the conversation to `Bot.make`. `Bot.make` throws if a command of the bot
 * starts a conversation that the bot does not have, and an attempt to start the conversation in another function dies.
 * `start` and `cancel` can be called in any handler of an update. If the function fails, the handler
 * fails with its error. While the update of an answer, or an update in which a step has begun, is a dead letter, the
 * conversation waits for this update: `Inbox.replay` continues the conversation. If the function fails with
 * {@link Unanswered}, the conversation ends with the text `unanswered`. When the conversation ends, its stored data is deleted.
 *
 * Throws if the name is empty or an option is invalid.
 *
 * **Example** (An order)
 *
 * ```ts
 * import { Bot, Command, Conversation } from "@colloquy/core"
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
 * const bot = Bot.make(
 *   Command.make("order").on(Order.start),
 *   Command.make("cancel").on(Order.cancel),
 *   Order
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
 *   {
 *     of: "userInChat",
 *     input: Schema.Struct({ topic: Schema.String }),
 *     timeout: "1 day",
 *     texts: { unanswered: "Another time, then." }
 *   },
 *   Effect.fn(function* (talk, { topic }) {
 *     const answer = yield* talk.ask("opinion", { say: `What do you think of ${topic}?` })
 *     yield* talk.say(`Thank you for "${answer}".`)
 *   })
 * )
 *
 * const survey = Command.make("survey", { arguments: { topic: Schema.String } }).on(Survey.start)
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <const O extends Options, A, E, R, F extends Operator<unknown> = never>(
  name: string,
  options: O & Exact<O, Options>,
  body: (talk: Talk<DefaultError<O>>, input: InputOf<O>) => Effect.Effect<A, E, R> | Mistaken<F>
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
  const codec = options.input && jsonCodecOf(options.input)
  const definition = {
    name,
    version,
    state,
    timer,
    texts: options.texts ?? {},
    noParticipant: (update_type?: string) => new NoParticipant({ conversation: name, update_type }),
    unanswered: (question: string) => new Unanswered({ conversation: name, question }),
    isUnanswered: (error: unknown) => error instanceof Unanswered,
    timeout: options.timeout,
    back: options.back,
    ifRunning: options.ifRunning ?? "keep",
    onVersion: typeof onVersion === "function" ? onVersion : () => onVersion,
    body: body as Body<unknown, unknown, unknown, unknown>["body"],
    encodeInput: (input: unknown) =>
      codec === undefined ? Effect.succeed(undefined) : Effect.mapError(codec.encode(input), PermanentError.mark),
    decodeInput: (stored: Schema.Json | undefined) =>
      codec === undefined ? Effect.succeed(undefined) : codec.decode(stored ?? null)
  }
  const running = makeRunning(state, timer)
  const starts = { kind: "conversation", name, definition: state } as const
  const build = (onDone: (result: A, update: turns.Place["update"]) => Effect.Effect<unknown, unknown, unknown>) => {
    const self: turns.Conversation = { ...definition, onDone }
    const members = {
      name,
      of: options.of,
      timeout: options.timeout,
      back: options.back,
      body,
      start: Object.assign((update: Update.Update, input: unknown) => handling.start(self, update, input), { starts }),
      cancel: (update: Update.Update) => handling.cancel(self, update),
      [operations]: {
        running,
        onDone: (f: typeof onDone): unknown =>
          build((result, update) => Effect.andThen(onDone(result, update), f(result, update)))
      },
      pipe() {
        // oxlint-disable-next-line prefer-rest-params
        return pipeArguments(this, arguments)
      }
    }
    return makePart({ ...starts, timer: timer.name, handle: handling.handle(self) }, members)
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
    f: (result: A, update: Update.Repliable) => Effect.Effect<unknown, E2, R2>
  ): <I, E, R, O extends Options["of"]>(self: Conversation<I, A, E, R, O>) => Conversation<I, A, E | E2, R | R2, O>
  <I, A, E, R, O extends Options["of"], E2, R2>(
    self: Conversation<I, A, E, R, O>,
    f: (result: A, update: Update.Repliable) => Effect.Effect<unknown, E2, R2>
  ): Conversation<I, A, E | E2, R | R2, O>
} = dual(
  2,
  <I, A, E, R, O extends Options["of"], E2, R2>(
    self: Conversation<I, A, E, R, O>,
    f: (result: A, update: Update.Repliable) => Effect.Effect<unknown, E2, R2>
  ) => self[operations].onDone(f)
)

/** A conversation of which only the runs are of interest. */
type Any<O extends Options["of"]> = { readonly [operations]: { readonly running: Running<O> } }

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
): Effect.Effect<Option.Option<Status>, StoreError, Inbox> => self[operations].running.get(key)

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
  self[operations].running.stop(key)

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
): Stream.Stream<{ readonly key: Key<O>; readonly status: Status }, StoreError, Inbox> => self[operations].running.all

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
  self[operations].running.all.pipe(
    Stream.filterEffect(({ key }) => self[operations].running.stop(key)),
    Stream.runCount
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
