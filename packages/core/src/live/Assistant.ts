/**
 * Bots that answer with a language model of `effect/ai`: the answer grows in a live message, the history of the chat is state
 * with a budget of tokens, and the functions of the bot are a `Toolkit`.
 *
 * Import the module by its path, `@colloquy/core/live/Assistant`, so that a program without an assistant does not
 * contain `effect/ai`.
 *
 * @since 0.1.0
 */
import type * as AiError from "effect/ai/AiError"
import type * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import * as Tokenizer from "effect/ai/Tokenizer"
import type * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { BotApi } from "../client/BotApi.ts"
import * as budgets from "./internal/assistant/budget.ts"
import { type Added, converse, counted, textOf } from "./internal/assistant/turns.ts"
import type { Said } from "./internal/liveMessage/content.ts"
import * as Journal from "../inbox/Journal.ts"
import * as LiveMessage from "./LiveMessage.ts"
import type * as Messages from "../endpoints/Messages.ts"
import * as State from "../bot/State.ts"
import type { StoreError } from "../base/StoreError.ts"
import * as Update from "../model/Update.ts"

/**
 * Options of {@link make}.
 *
 * @category options
 * @since 0.1.0
 */
export interface Options<Tools extends Record<string, Tool.Any>, E, R> {
  /** The instructions for the model. Default: none. */
  readonly system?: string | undefined
  /** The functions that the model may call: a `Toolkit`, whose handlers its layer provides. Default: none. */
  readonly toolkit?: Effect.Effect<Toolkit.WithHandler<Tools>, E, R> | undefined
  /** The owner of a history: a user in a chat, a chat, or a user in all chats. Default: `"userInChat"`. */
  readonly of?: "userInChat" | "chat" | "user" | undefined
  /**
   * Maximum number of tokens of the history that is kept and sent with a question. The oldest exchanges are forgotten
   * first. Tokens are counted by the `Tokenizer` of the program, and otherwise estimated as a quarter of the UTF-8
   * bytes. Default: 4000.
   */
  readonly budget?: number | undefined
  /** For how long a history is kept after the last answer. Default: 30 days. */
  readonly expireAfter?: Duration.Input | undefined
  /**
   * Maximum number of requests to the model for one answer. After a request in which the model calls functions, another one sends their
   * results. If the last one calls functions too, the answer ends with the text that is there, and fails with `AiError` without one. Default: 8.
   */
  readonly maxTurns?: number | undefined
  /**
   * How the model continues an answer that was cut off, because the handler failed or its process ended:
   *
   * - `instruction`: the model receives the text of the answer so far as its message, and an instruction to continue.
   * - `prefix`: the model receives the text so far as its last message, and continues this message. Some APIs do not
   *   support this.
   *
   * Default: `"instruction"`.
   */
  readonly goOn?: "instruction" | "prefix" | undefined
}

/**
 * Options of `reply`.
 *
 * @category options
 * @since 0.1.0
 */
export type ReplyOptions<U extends LiveMessage.ReplyUpdate, E> = LiveMessage.ReplyOptions<U, E> & {
  /** Not an option here. Default: the name of the assistant, under which the journal records the answer. */
  readonly name?: undefined
  /** The question of the user, for example with an image. Default: the text of the update. */
  readonly prompt?: Prompt.RawInput | undefined
}

/**
 * The errors of an answer, besides the errors of the functions.
 *
 * @category errors
 * @since 0.1.0
 */
export type Error =
  | AiError.AiError
  | LiveMessage.Error
  | LiveMessage.IdleTimeout
  | Messages.NoChat
  | State.NoStateKey
  | State.StaleState
  | State.InvalidState
  | Journal.InvalidStepResult
  | StoreError

/**
 * An assistant. `E` are the errors of its functions, and `R` their requirements.
 *
 * @category models
 * @since 0.1.0
 */
export interface Assistant<out E = never, out R = never> {
  /** The name. */
  readonly name: string
  /** The messages of the user, of the model and of the functions, within the budget. `clear` forgets them. */
  readonly history: State.State<Prompt.Prompt, "userInChat" | "chat" | "user">
  /**
   * Answers an update with a live message. When the update is acknowledged, the question and the answer are added to the
   * history, also an answer that was stopped. An update without text ends as `completed`, and nothing is sent.
   */
  readonly reply: <U extends LiveMessage.ReplyUpdate>(
    update: U,
    options?: ReplyOptions<U, AiError.AiError | E>
  ) => Effect.Effect<LiveMessage.Result, Error | E, R | BotApi | LanguageModel.LanguageModel>
}

const defaults = {
  of: "userInChat",
  budget: 4000,
  maxTurns: 8,
  goOn: "instruction",
  expireAfter: "30 days"
} as const

const countTokens = (messages: ReadonlyArray<Prompt.Message>): Effect.Effect<number, AiError.AiError> =>
  Effect.flatMap(
    Effect.serviceOption(Tokenizer.Tokenizer),
    Option.match({
      onNone: () => Effect.succeed(budgets.estimate(messages)),
      onSome: ({ tokenize }) => Effect.map(tokenize(Prompt.fromMessages(messages)), ({ length }) => length)
    })
  )

/**
 * Returns the text of a response of `LanguageModel.streamText` as a stream of strings, for `LiveMessage.reply`. A part that
 * reports an error fails the stream, and another part is an empty string, so that a model that thinks is not silent. {@link make} does this, keeps the history, and runs functions.
 *
 * **Example** (An answer without a history)
 *
 * ```ts
 * import { Handler, LiveMessage } from "@colloquy/core"
 * import * as Assistant from "@colloquy/core/live/Assistant"
 * import { LanguageModel } from "effect/ai"
 *
 * const chat = Handler.on("message_created", (update) =>
 *   LiveMessage.reply(
 *     update,
 *     Assistant.text(LanguageModel.streamText({ prompt: update.message?.body?.text ?? "" }))
 *   )
 * )
 * ```
 *
 * @category streams
 * @since 0.1.0
 */
export const text: <P extends { readonly type: string }, E, R>(
  parts: Stream.Stream<P, E, R>
) => Stream.Stream<string, E | AiError.AiError, R> = textOf

/**
 * Creates an assistant. The name must be unique among the states of a bot.
 *
 * The functions run in the handler: they can use `State`, `Messages.reply` and all other services. If the handler is
 * retried while the model answers, also after its process was killed, the model continues the text of the earlier
 * attempt: see `goOn`. Functions whose results the model has already answered do not run again. Functions that the
 * model has just called can run again: use `Journal.step` in functions that must run once. After the model has
 * answered, later attempts call neither the model nor the functions.
 *
 * `reply` fails with `AiError` if the model fails, with the errors of the functions, with the errors of
 * `LiveMessage.reply`, and with `NoStateKey` if the update has no such chat or user.
 *
 * **Example** (An assistant that can look up orders)
 *
 * ```ts
 * import { Handler, Keyboard, LiveMessage, Updates } from "@colloquy/core"
 * import * as Assistant from "@colloquy/core/live/Assistant"
 * import { Effect, Schema } from "effect"
 * import { Tool, Toolkit } from "effect/ai"
 *
 * const OrderStatus = Tool.make("OrderStatus", {
 *   description: "Returns the status of an order",
 *   parameters: Schema.Struct({ id: Schema.String }),
 *   success: Schema.String
 * })
 *
 * const Shop = Toolkit.make(OrderStatus)
 *
 * const functions = Shop.toLayer({ OrderStatus: ({ id }) => Effect.succeed(`Order ${id} was sent`) })
 *
 * const Helper = Assistant.make("helper", { system: "You help customers of a shop.", toolkit: Shop })
 *
 * const chat = Handler.on("message_created", (update) =>
 *   Helper.reply(update, { keyboard: Keyboard.make([LiveMessage.stopButton("Stop")]) })
 * )
 *
 * const bot = Updates.run(Handler.first(LiveMessage.onStop, chat), { timeout: "5 minutes" }).pipe(
 *   Effect.provide(functions)
 * )
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <Tools extends Record<string, Tool.Any> = {}, E = never, R = never>(
  name: string,
  options: Options<Tools, E, R> = {}
): Assistant<
  E | Tool.HandlerError<Tools[keyof Tools]>,
  R | LanguageModel.ExtractServices<{ readonly toolkit: Toolkit.WithHandler<Tools> }>
> => {
  const { budget = defaults.budget, goOn = defaults.goOn, maxTurns = defaults.maxTurns, system } = options
  const toolkit = (options.toolkit ?? Toolkit.empty) as Effect.Effect<Toolkit.WithHandler<Tools>, E, R>
  const history = State.make(name, Prompt.Prompt, {
    of: options.of ?? defaults.of,
    initial: () => Prompt.empty,
    expireAfter: options.expireAfter ?? defaults.expireAfter
  })
  const instructions = system === undefined ? Prompt.empty : Prompt.make([{ role: "system", content: system }])

  type Failure = AiError.AiError | E | Tool.HandlerError<Tools[keyof Tools]>

  const reply = Effect.fnUntraced(function* <U extends LiveMessage.ReplyUpdate>(
    update: U,
    replyOptions: ReplyOptions<U, Failure> = {} as ReplyOptions<U, Failure>
  ) {
    const prompt = replyOptions.prompt ?? Update.textOf(update) ?? ""
    if (prompt === "") return { outcome: "completed", text: "", messages: [] } satisfies LiveMessage.Result
    const question = Prompt.make(prompt)
    const before = yield* history.get
    const known = yield* budgets.withinBudget(before.content, budget, countTokens)
    const asked = Prompt.concat(Prompt.concat(instructions, Prompt.fromMessages(known)), question)
    const added: Added = { messages: [] }
    const running = { functions: 0 }
    const after = (said: Said) =>
      Stream.unwrap(
        Effect.map(toolkit, (handled) =>
          converse({ prompt: asked, toolkit: counted(handled, running), maxTurns, goOn, added }, said)
        )
      )
    const source = { goesOn: true, isBusy: () => running.functions > 0, after }
    const result = yield* LiveMessage.replyFrom(update, source, { ...replyOptions, name })
    if (result.text === "") return result
    const said = result.outcome === "completed" && added.messages.length > 0
    const answered = yield* Journal.step(
      `${name} answered`,
      Prompt.Prompt,
      Effect.sync(() =>
        said ? Prompt.fromMessages(added.messages) : Prompt.make([{ role: "assistant", content: result.text }])
      )
    )
    const all = [...known, ...question.content, ...answered.content]
    yield* history.set(Prompt.fromMessages(yield* budgets.withinBudget(all, budget, countTokens)))
    return result
  })
  return { name, history, reply }
}
