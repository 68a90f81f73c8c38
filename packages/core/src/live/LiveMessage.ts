/**
 * Messages that change while people read them: answers that grow while a model writes them, progress, and dashboards.
 *
 * A live message is edited as often as the limits of the platform allow. At most one edit of a live message waits, and
 * shows the newest content when the rate limiter permits the edit. Replies of other chats are sent before such edits.
 *
 * API: POST /messages; PUT /messages; Limits.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Answers from "../endpoints/Answers.ts"
import type { AttachmentRequest } from "../model/AttachmentRequest.ts"
import { BotApi } from "../client/BotApi.ts"
import type * as Endpoint from "../client/Endpoint.ts"
import * as Handler from "../inbox/Handler.ts"
import type { Inbox } from "../inbox/Inbox.ts"
import * as dashboards from "./internal/liveMessage/dashboard.ts"
import { messageIdOf, notificationOf, runningOf, stopPayload } from "./internal/liveMessage/presses.ts"
import { render } from "./internal/liveMessage/progressText.ts"
import * as contents from "./internal/liveMessage/content.ts"
import { common, grow, type SendError } from "./internal/liveMessage/grow.ts"
import { run } from "./internal/liveMessage/run.ts"
import type * as Journal from "../inbox/Journal.ts"
import * as Keyboard from "../model/Keyboard.ts"
import type * as Comments from "../endpoints/Comments.ts"
import type * as Messages from "../endpoints/Messages.ts"
import type { NewMessageLink } from "../model/NewMessage.ts"
import type { ChatId, MessageId } from "../model/Recipient.ts"
import type { StoreError } from "../base/StoreError.ts"
import * as Text from "../model/Text.ts"
import type * as Update from "../model/Update.ts"
import { PermanentTaggedError } from "../base/internal/permanentTaggedError.ts"
import { TaggedError } from "../base/TaggedError.ts"

/**
 * The text of {@link reply} and {@link send}: a stream, or a function that returns a stream that continues the text
 * `said`.
 *
 * `said` is `""` in the first attempt of a handler. If the handler failed, or its process ended, while the stream ran,
 * `said` is the text until then, up to the last complete word. The text is then `said`, followed by the elements of the
 * stream of the function.
 *
 * A stream without a function begins again in that case: see {@link reply}.
 *
 * **Example** (A model that completes its answer)
 *
 * ```ts
 * import { Bot, Handler, LiveMessage } from "@colloquy/core"
 * import type { Stream } from "effect"
 *
 * declare const complete: (question: string, beginning: string) => Stream.Stream<string, Error>
 *
 * const chat = Handler.on("message_created", (update) =>
 *   LiveMessage.reply(update, (said) => complete(update.message?.body?.text ?? "", said))
 * )
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export type Source<E, R> = Stream.Stream<string, E, R> | ((said: string) => Stream.Stream<string, E, R>)

/**
 * How a live message ended.
 *
 * - `completed`: all of its text was shown.
 * - `stopped`: a stop button was pressed, or `isStop` returned `true`.
 * - `replaced`: the user sent the next message, and `onNextMessage` is `replace`.
 * - `removed`: a user removed the message, or stopped the dialog.
 * - `dropped`: nothing was sent, because an earlier live message ran when the update arrived, and `onNextMessage` is `drop`.
 *
 * @category models
 * @since 0.1.0
 */
export type Outcome = "completed" | "stopped" | "replaced" | "removed" | "dropped"

/**
 * The result of a live message.
 *
 * @category models
 * @since 0.1.0
 */
export interface Result {
  /** How the live message ended. */
  readonly outcome: Outcome
  /** All text that the stream emitted. */
  readonly text: string
  /** The ids of the messages, in order. A text of more than 4000 characters has several. */
  readonly messages: ReadonlyArray<MessageId>
}

/**
 * The errors of a live message, besides the errors of its stream. `StoreError` occurs only with
 * `onNextMessage: "drop"`, `Uncertain` only with the policy `skip` of the journal, and `CommentsTimeoutExceeded` only
 * for a comment.
 *
 * @category errors
 * @since 0.1.0
 */
export type Error =
  | Endpoint.Errors<typeof Messages.send>
  | Endpoint.Errors<typeof Messages.edit>
  | Endpoint.Errors<typeof Comments.edit>
  | Journal.Uncertain
  | StoreError

/**
 * The stream of a live message has emitted nothing for the time of its option `idleTimeout`.
 *
 * @category errors
 * @since 0.1.0
 */
export class IdleTimeout extends TaggedError("IdleTimeout", () => ({
  /** The name of the live message. */
  messageName: Schema.String,
  /** The limit, in milliseconds. */
  timeout: Schema.Finite
})) {
  override get message() {
    return `The stream of the live message "${this.messageName}" has emitted nothing for ${Duration.format(Duration.millis(this.timeout))}. The option \`idleTimeout\` changes this limit.`
  }
}

/**
 * The texts that live messages use by themselves. {@link CurrentTexts} replaces them. A string is plain text.
 *
 * @category models
 * @since 0.1.0
 */
export interface Texts {
  /** The notice if the stream fails. Default: "The answer could not be completed.", in italics. */
  readonly failed: Text.Input
  /**
   * The notice if the stream fails with {@link IdleTimeout}. Default: "There is no answer at the moment. Please try again
   * later.", in italics.
   */
  readonly idle: Text.Input
}

/**
 * The texts that live messages use by themselves. Default: English texts.
 *
 * **Example** (Russian texts)
 *
 * ```ts
 * import { Handler, LiveMessage } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * declare const bot: Handler.Handler
 *
 * const russian = Handler.transform(
 *   bot,
 *   Effect.updateService(LiveMessage.CurrentTexts, (texts) => ({ ...texts, idle: "Сейчас ответа нет." }))
 * )
 * ```
 *
 * @category references
 * @since 0.1.0
 */
export const CurrentTexts: Context.Reference<Texts> = Context.Reference<Texts>(
  "@colloquy/core/LiveMessage/CurrentTexts",
  {
    defaultValue: () => ({
      failed: Text.italic("The answer could not be completed."),
      idle: Text.italic("There is no answer at the moment. Please try again later.")
    })
  }
)

/**
 * The content that is added at the end of a message.
 *
 * @category models
 * @since 0.1.0
 */
export interface AtEnd {
  /** The keyboard. Default: none, the keyboard that was shown before is removed. */
  readonly keyboard?: Keyboard.Keyboard | undefined
  /**
   * Attachments of the last message, such as an image that was made meanwhile. Attachments are added after the text,
   * which does not wait for the platform to process the attachments. Default: none.
   */
  readonly attachments?: ReadonlyArray<AttachmentRequest> | undefined
  /** A paragraph that is added to the text. A string is plain text. Default: none. */
  readonly notice?: Text.Input | undefined
}

/**
 * Options of all live messages.
 *
 * @category options
 * @since 0.1.0
 */
export interface CommonOptions {
  /** The keyboard while the live message runs, such as a keyboard with a {@link stopButton}. Default: none. */
  readonly keyboard?: Keyboard.Keyboard | undefined
  /**
   * The content at the end of the message, or a function that returns this content for the outcome. Default: no
   * content.
   */
  readonly atEnd?: AtEnd | ((ended: { readonly outcome: Outcome; readonly text: string }) => AtEnd) | undefined
  /**
   * Whether an arrived update stops the live message, in addition to presses of its stop button. Default: no update
   * does.
   */
  readonly isStop?: ((update: Update.Update) => boolean) | undefined
  /**
   * Minimum time between two edits of the message. The rate limiter may make this time longer. Default: half a second,
   * which is the limit of the platform in a chat.
   */
  readonly interval?: Duration.Input | undefined
  /** Whether the chat shows that the bot is typing until the first text is there. Default: `true`. */
  readonly typing?: boolean | undefined
  /** A message to quote. Default: none. */
  readonly link?: NewMessageLink | undefined
  /** Whether members receive a push notification. Default: `true`. */
  readonly notify?: boolean | undefined
  /** Whether links are shown without a preview. Default: `false`. */
  readonly disable_link_preview?: boolean | undefined
  /**
   * The name under which the journal records the live message. Each of several concurrent live messages of a handler
   * needs a name of its own. Default: `"LiveMessage"`.
   */
  readonly name?: string | undefined
}

/**
 * Options of {@link reply} and {@link send}. `E` is the error of the stream.
 *
 * @category options
 * @since 0.1.0
 */
export interface Options<in E = unknown> extends CommonOptions {
  /** The format of the text: markdown, as models write, or plain text. Default: `markdown`. */
  readonly format?: "markdown" | "plain" | undefined
  /**
   * The handling of the next messages of the user that arrive while the live message runs:
   *
   * - `queue`: the messages are handled after the live message.
   * - `replace`: the live message ends with its current text, and the next message is handled.
   * - `drop`: the messages are not answered. A live message in their handler, with the same option, ends at once with
   *   `dropped`.
   *
   * Default: `queue`.
   */
  readonly onNextMessage?: "queue" | "replace" | "drop" | undefined
  /**
   * Maximum time in which the stream emits nothing, at its beginning and between two elements, after which the effect
   * fails with {@link IdleTimeout}. In a handler, the time is at most three quarters of the `timeout` of `Bot.run`, so
   * that the user is told. `Duration.infinity`: no limit of the stream. Default: 60 seconds.
   */
  readonly idleTimeout?: Duration.Input | undefined
  /**
   * The text that is appended if the stream fails. A string is plain text. If the function returns `undefined`, no text
   * is appended. The effect fails with the error in any case. Default: `failed` of {@link Texts}, or `idle` for
   * {@link IdleTimeout}.
   */
  readonly onFailure?: ((error: E | IdleTimeout) => Text.Input | undefined) | undefined
}

/**
 * Options of {@link reply} for an update about a comment. Comments have no buttons, no attachments and no links: the address of
 * a link is shown behind its text.
 *
 * @category options
 * @since 0.1.0
 */
export interface CommentOptions<in E = unknown> extends Pick<
  Options<E>,
  "format" | "onNextMessage" | "idleTimeout" | "onFailure" | "isStop" | "interval" | "disable_link_preview" | "name"
> {
  /** The text that is appended at the end, or a function that returns this text for the outcome. Default: no text. */
  readonly atEnd?:
    | Pick<AtEnd, "notice">
    | ((ended: { readonly outcome: Outcome; readonly text: string }) => Pick<AtEnd, "notice">)
    | undefined
  /** The comment to reply to. Default: none. */
  readonly link?: { readonly type: "reply"; readonly mid: MessageId } | undefined
}

/**
 * The options of {@link reply} for an update: {@link CommentOptions} if the update can be about a comment.
 *
 * @category options
 * @since 0.1.0
 */
export type ReplyOptions<U extends Update.Repliable, E> = [Extract<U, Update.Comment>] extends [never]
  ? Options<E>
  : CommentOptions<E>

const own = { CurrentTexts, IdleTimeout }

const toSource = <E, R>(source: Source<E, R>): contents.Source<E, R> =>
  typeof source === "function"
    ? { goesOn: true, after: ({ text }) => source(text) }
    : { goesOn: false, after: () => source }

/**
 * Answers an update with a text that grows while a stream emits its parts, and returns when the whole text is shown.
 *
 * - The message is sent when the first words have been emitted. Until then, the chat shows that the bot is typing.
 * - The message is sent and edited when the rate limiter permits a request, at most twice a second, with the priority
 *   `normal`. The final text is sent with the priority `reply`.
 * - Markdown that is open is closed for each edit. All text is sent as HTML.
 * - A text of more than 4000 characters continues in another message. The text is cut at the end of a paragraph, a line
 *   or a sentence, from 2400 characters on, and inside a block of code or other formatting only if the block alone is
 *   longer than a message.
 * - A press of its {@link stopButton}, the next message of the user, and the removal of the message take effect at once,
 *   although the updates of a chat are handled in order: within half a second if another process receives them.
 * - If the stream fails, the text stays, with the notice of `onFailure`, and the effect fails with the error. The next
 *   attempt of the handler edits the same message.
 * - The journal records the text while the text grows, at most once a second. If the handler is retried, also after its
 *   process was killed, a {@link Source} that is a function continues after the recorded text. A stream runs again from
 *   its beginning; the message does not change until the stream emits a different or a longer text.
 * - When the stream has ended, its text is recorded, and the stream does not run again.
 * - If the effect is interrupted, the text so far is shown in the background.
 *
 * The answer to an update about a comment consists of comments, which have no buttons and no attachments: see
 * {@link CommentOptions}.
 *
 * The `timeout` of `Bot.run`, 1 minute by default, includes the duration of the stream: increase the timeout for a
 * slow model.
 *
 * Fails with the error of the stream, with {@link IdleTimeout} if the stream is silent, with {@link Error}, and with the
 * errors of `Messages.reply`.
 *
 * **Example** (Stream an answer, with a button that stops the stream)
 *
 * ```ts
 * import { Bot, Handler, Keyboard, LiveMessage } from "@colloquy/core"
 * import { Stream } from "effect"
 *
 * declare const answer: (question: string) => Stream.Stream<string, Error>
 *
 * const chat = Handler.on("message_created", (update) =>
 *   LiveMessage.reply(update, answer(update.message?.body?.text ?? ""), {
 *     keyboard: Keyboard.make([LiveMessage.stopButton("Stop")])
 *   })
 * )
 *
 * const bot = Bot.run(Bot.make(LiveMessage.onStop, chat), { timeout: "10 minutes" })
 * ```
 *
 * API: POST /messages; PUT /messages; POST /messages/{messageId}/comments; PUT /messages/{messageId}/comments.
 *
 * @category constructors
 * @since 0.1.0
 */
export const reply = <U extends Update.Repliable, E, R>(
  update: U,
  text: Source<E, R>,
  options: ReplyOptions<U, E> = {} as ReplyOptions<U, E>
): Effect.Effect<Result, E | IdleTimeout | Error | Messages.NoChat, R | BotApi> =>
  grow(own, update, toSource(text), options)

/**
 * Sends a text that grows to a chat or a user, as {@link reply} does. `send` can be used outside of handlers. There,
 * the live message is stopped by presses of its {@link stopButton} that {@link onStop} handles, and by the removal of
 * the message before its next edit; the text is not recorded, and `onNextMessage` has no effect.
 *
 * Fails with the error of the stream, with {@link IdleTimeout}, and with {@link Error}.
 *
 * **Example** (A report for an administrator)
 *
 * ```ts
 * import { type Chat, LiveMessage } from "@colloquy/core"
 * import type { Stream } from "effect"
 *
 * const report = (chat_id: Chat.ChatId, lines: Stream.Stream<string>) => LiveMessage.send({ chat_id }, lines)
 * ```
 *
 * API: POST /messages; PUT /messages.
 *
 * @category constructors
 * @since 0.1.0
 */
export const send = <E, R>(
  to: Messages.To,
  text: Source<E, R>,
  options: Options<E> = {}
): Effect.Effect<Result, E | IdleTimeout | Error, R | BotApi> =>
  // The chat of a recipient is known, so `Messages.NoChat` can only be an error of the stream.
  grow(own, to, toSource(text), options) as Effect.Effect<Result, E | IdleTimeout | Error, R | BotApi>

/**
 * Shows contents that replace each other in one message: the latest content that the limits allow, and always the last
 * content. Content that is longer than a message is cut off. Apart from that, `show` is {@link reply}; the stream is
 * not recorded.
 *
 * Fails with the error of the stream, with {@link Error}, and with `Messages.NoChat` if the platform left out the chat.
 *
 * **Example** (A countdown)
 *
 * ```ts
 * import { Handler, LiveMessage, Text } from "@colloquy/core"
 * import { Schedule, Stream } from "effect"
 *
 * const seconds = Stream.range(0, 9).pipe(Stream.schedule(Schedule.spaced("1 second")))
 *
 * const countdown = Handler.on("bot_started", (update) =>
 *   LiveMessage.show(update, Stream.map(seconds, (second) => Text.bold(`${10 - second}`)))
 * )
 * ```
 *
 * API: POST /messages; PUT /messages.
 *
 * @category constructors
 * @since 0.1.0
 */
export const show = <E, R>(
  to: Update.RepliableByMessage | Messages.To,
  content: Stream.Stream<Text.Input, E, R>,
  options: CommonOptions = {}
): Effect.Effect<Result, E | Error | Messages.NoChat, R | BotApi> =>
  Effect.suspend(() =>
    run<E, R, SendError>({
      ...common(to, options),
      content: () => contents.replacedContent((show) => Stream.runForEach(content, (next) => show(() => next)))
    })
  )

/**
 * How far some work is.
 *
 * @category models
 * @since 0.1.0
 */
export interface Progress {
  /** How much is done. */
  readonly done: number
  /** The total amount of work. With a total, a bar and the percentage are shown, otherwise `done`. */
  readonly total?: number | undefined
  /** A line above. Default: none. */
  readonly label?: string | undefined
}

/**
 * Options of {@link progress}.
 *
 * @category options
 * @since 0.1.0
 */
export interface ProgressOptions extends CommonOptions {
  /** The content before the first report. Default: no message is sent before the first report. */
  readonly initial?: Progress | undefined
  /** The content for a progress. Default: its label, and a bar with the percentage or the count. */
  readonly render?: ((progress: Progress) => Text.Input) | undefined
}

/**
 * The work of {@link progress} was stopped by its stop button. `Bot.run` does not retry the handler.
 *
 * @category errors
 * @since 0.1.0
 */
export class ProgressStopped extends PermanentTaggedError("ProgressStopped") {
  override get message() {
    return "The work was stopped by the button of its message."
  }
}

/**
 * Runs work, and shows its progress in a message: as often as the limits allow, and always the last progress. `report`
 * only stores the progress in memory, so `report` can be called often. If the user removes the message, the work
 * continues.
 *
 * Returns the result of the work. Fails with its error, with {@link ProgressStopped} if a {@link stopButton} was pressed, with
 * {@link Error}, and with `Messages.NoChat` if the platform left out the chat.
 *
 * **Example** (The progress of an import)
 *
 * ```ts
 * import { Handler, LiveMessage } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * declare const items: ReadonlyArray<string>
 * declare const store: (item: string) => Effect.Effect<void>
 *
 * const copy = Handler.on("bot_started", (update) =>
 *   LiveMessage.progress(update, { atEnd: { notice: "Done" } }, (report) =>
 *     Effect.forEach(items, (item, index) =>
 *       Effect.andThen(store(item), report({ done: index + 1, total: items.length, label: "Copying" }))
 *     )
 *   )
 * )
 * ```
 *
 * API: POST /messages; PUT /messages.
 *
 * @category constructors
 * @since 0.1.0
 */
export const progress = <A, E, R>(
  to: Update.RepliableByMessage | Messages.To,
  options: ProgressOptions,
  work: (report: (progress: Progress) => Effect.Effect<void>) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | ProgressStopped | Error | Messages.NoChat, R | BotApi> =>
  Effect.suspend(() => {
    const toContent = options.render ?? render
    let result: Option.Option<A> = Option.none()
    const source = (show: contents.Show) => {
      const report = (progress: Progress) => show(() => toContent(progress))
      const begun = options.initial === undefined ? Effect.void : report(options.initial)
      return Effect.flatMap(begun, () => Effect.map(work(report), (value) => void (result = Option.some(value))))
    }
    const shown = run<E, R, SendError>({
      ...common(to, options),
      stopsWhenRemoved: false,
      content: () => contents.replacedContent(source)
    })
    return Effect.flatMap(shown, () =>
      Option.isSome(result) ? Effect.succeed(result.value) : Effect.fail(new ProgressStopped())
    )
  })

/**
 * The content of a {@link dashboard}: a text, or a text with a keyboard. A string is plain text.
 *
 * @category models
 * @since 0.1.0
 */
export type DashboardContent =
  | Text.Input
  | { readonly text: Text.Input; readonly keyboard?: Keyboard.Keyboard | undefined }

/**
 * The errors of a {@link dashboard}.
 *
 * @category errors
 * @since 0.1.0
 */
export type DashboardError = Endpoint.Errors<typeof Messages.send> | Endpoint.Errors<typeof Messages.edit> | StoreError

/**
 * A message of a chat that is edited for days.
 *
 * @category models
 * @since 0.1.0
 */
export interface Dashboard {
  /** The name. */
  readonly name: string
  /**
   * Shows content in the dashboard of a chat, and returns the id of its message. The same content again costs no request. Of
   * several edits that wait, the newest replaces the others.
   */
  readonly show: (
    chat_id: ChatId,
    content: DashboardContent
  ) => Effect.Effect<MessageId, DashboardError, BotApi | Inbox>
}

/**
 * Creates a dashboard: a message that each chat has at most once, and that is edited after each change, also after
 * restarts. The id of the message is kept in the state of the chat.
 *
 * If the message was removed, or the platform does not allow edits any more, a new message is sent; in the second case,
 * the old message is removed. Content that is longer than a message is cut off. The name must be unique among the
 * dashboards of a bot.
 *
 * Errors of `show`: the errors of `Messages.send` and `Messages.edit`, and `StoreError`.
 *
 * **Example** (Sales, updated by a timer)
 *
 * ```ts
 * import { Bot, Handler, LiveMessage, Text, Timer } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * declare const sales: Effect.Effect<number>
 *
 * const Board = LiveMessage.dashboard("sales")
 * const Refresh = Timer.make("refresh")
 *
 * const bot = Bot.make(
 *   Handler.on("bot_added", () => Refresh.cron("* * * * *", undefined)),
 *   Refresh.on((_, { chat_id }) =>
 *     chat_id === undefined
 *       ? undefined
 *       : Effect.flatMap(sales, (count) => Board.show(chat_id, Text.t`Sales today: ${Text.bold(`${count}`)}`))
 *   )
 * )
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const dashboard = (name: string): Dashboard => {
  const showIn = dashboards.make(name)
  return {
    name,
    show: (chat_id, content) =>
      showIn(chat_id, typeof content === "object" && !Text.isText(content) ? content : { text: content })
  }
}

/**
 * Creates a button that stops the live message of the button. `notification` answers the press, and is shown to the
 * user who pressed the button. Default of `notification`: `"Stopped"`.
 *
 * Presses are answered by the live message while the live message runs, and by {@link onStop} later.
 *
 * @category buttons
 * @since 0.1.0
 */
export const stopButton = (
  text: string,
  options?: {
    /** The answer to the press. Default: `"Stopped"`. */
    readonly notification?: string | undefined
  }
): Keyboard.Button => Keyboard.callback(text, stopPayload(options?.notification ?? "Stopped"))

/**
 * Handles presses of stop buttons: place `onStop` before the other handlers. The handler stops live messages that run
 * outside of handlers in this process, and answers presses that came too late. A live message in a handler reacts to
 * presses without `onStop`.
 *
 * **Example** (A bot with live messages)
 *
 * ```ts
 * import { Bot, Handler, LiveMessage } from "@colloquy/core"
 *
 * declare const chat: Handler.Handler
 *
 * const bot = Bot.run(Bot.make(LiveMessage.onStop, chat))
 * ```
 *
 * @category handlers
 * @since 0.1.0
 */
export const onStop: Handler.Handler<Endpoint.Errors<typeof Answers.send>, BotApi> = Handler.on(
  "message_callback",
  (update) => {
    const notification = notificationOf(update)
    if (notification === undefined) return undefined
    return BotApi.use((bot) => {
      const running = runningOf(bot)
      const mid = messageIdOf(update)
      if (mid !== undefined) running.stops.get(mid)?.()
      if (running.isAnswered(update.callback.callback_id)) return Effect.void
      return Effect.catchTag(Answers.answer(update, notification), "MethodNotAllowed", () => Effect.void)
    })
  }
)
