/**
 * The operations of the body of a `Conversation`: `Talk`, the options of its questions, and its errors.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Attachment, ContactAttachment, LocationAttachment } from "../model/Attachment.ts"
import type { BotApi } from "../client/BotApi.ts"
import type { Errors } from "../client/Endpoint.ts"
import type * as Journal from "../inbox/Journal.ts"
import type * as Keyboard from "../model/Keyboard.ts"
import type * as Messages from "../endpoints/Messages.ts"
import type { ChatId } from "../model/Recipient.ts"
import type { Migration } from "../bot/State.ts"
import type * as Update from "../model/Update.ts"
import type { UserId } from "../model/User.ts"
import * as PermanentError from "../base/PermanentError.ts"
import { TaggedError } from "../base/TaggedError.ts"

/**
 * Nobody has answered a question within its `timeout`.
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
export class NoParticipant extends TaggedError("NoParticipant", () => ({
  /** The name of the conversation. */
  conversation: Schema.String,
  /** The type of the update. `undefined`: no single update is being handled. */
  update_type: Schema.optional(Schema.String)
})) {
  get [PermanentError.TypeId](): true {
    return true
  }

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
 * import { Conversation, Handler } from "@colloquy/core"
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
export const CurrentTexts = Context.Reference<Texts>("@colloquy/core/Talk/CurrentTexts", {
  defaultValue: () => ({
    done: "Done",
    skip: "Skip",
    back: "Back",
    yes: "Yes",
    no: "No",
    chosen: "✓ ",
    again: (problem) => `Please try again: it ${problem}.`,
    tooFew: (min) => `Please choose at least ${min}.`,
    tooMany: (max) => `Please choose at most ${max}.`,
    late: "This question is closed.",
    notYours: "This question is for somebody else.",
    cancelled: "Cancelled.",
    outdated: "Something has changed here. Please begin again.",
    startOver: "You have not finished yet. Start over?",
    failed: "Something has gone wrong here. This continues when the problem is solved.",
    wait: "Please wait, this is not finished yet."
  })
})

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
   * effect is a defect.
   */
  readonly step: <A, I, E, R>(
    name: string,
    schema: Schema.Codec<A, I>,
    effect: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | Journal.InvalidStepResult | Journal.Uncertain, R>
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
  /** The user who answered a question, in a conversation of a chat. `undefined` if the question was not answered. */
  readonly answeredBy: (name: string) => Effect.Effect<UserId | undefined>
}
