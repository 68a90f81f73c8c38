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
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { BotApi } from "../client/BotApi.ts"
import * as budgets from "./internal/assistant/budget.ts"
import * as Conversation from "../dialog/Conversation.ts"
import * as approvals from "./internal/assistant/approvals.ts"
import { type Added, converse, counted, type Decided, messagesOf, textOf } from "./internal/assistant/turns.ts"
import type { Note, Said } from "./internal/liveMessage/content.ts"
import { grow } from "./internal/liveMessage/grow.ts"
import * as Journal from "../inbox/Journal.ts"
import * as LiveMessage from "./LiveMessage.ts"
import * as Messages from "../endpoints/Messages.ts"
import { postOf } from "../model/internal/postOf.ts"
import type { UserId } from "../model/User.ts"
import * as State from "../bot/State.ts"
import type { StoreError } from "../base/StoreError.ts"
import * as Update from "../model/Update.ts"

/**
 * A call of a function that a person is asked to approve.
 *
 * @category models
 * @since 0.1.0
 */
export interface Call {
  /** The id of the request for an approval. */
  readonly approvalId: string
  /** The id of the call. */
  readonly id: string
  /** The name of the function. */
  readonly name: string
  /** The parameters, as the model has sent them. */
  readonly params: unknown
}

/**
 * The texts with which an assistant asks for an approval. {@link CurrentTexts} and the option `texts` replace them.
 *
 * @category models
 * @since 0.1.0
 */
export interface Texts {
  /** The question. Default: "May I do this?" with the name of the function and its parameters. */
  readonly approval: (call: Call) => Conversation.Content
  /** The first button. Default: "Approve". */
  readonly approve: string
  /** The second button. Default: "Decline". */
  readonly decline: string
}

/**
 * The texts with which assistants ask for an approval. Default: English texts.
 *
 * **Example** (A question for one function)
 *
 * ```ts
 * import { Bot, Handler } from "@colloquy/core"
 * import * as Assistant from "@colloquy/core/live/Assistant"
 * import { Effect } from "effect"
 *
 * declare const bot: Handler.Handler
 *
 * const russian = Handler.transform(
 *   bot,
 *   Effect.updateService(Assistant.CurrentTexts, (texts) => ({ ...texts, approve: "Да", decline: "Нет" }))
 * )
 * ```
 *
 * @category references
 * @since 0.1.0
 */
export const CurrentTexts: Context.Reference<Texts> = Context.Reference<Texts>(
  "@colloquy/core/Assistant/CurrentTexts",
  {
    defaultValue: () => ({
      approval: ({ name, params }) => `May I do this?\n\n${name} ${JSON.stringify(params)}`,
      approve: "Approve",
      decline: "Decline"
    })
  }
)

/**
 * How persons approve calls of functions.
 *
 * @category options
 * @since 0.1.0
 */
export interface ApprovalOptions {
  /** After this time, the calls count as declined. Default: 1 day. */
  readonly timeout?: Duration.Input | undefined
  /** The users who may approve, if the history is that of a chat. Default: everybody in the chat. */
  readonly from?: UserId | ReadonlyArray<UserId> | undefined
  /** The options of the live message that goes on with the answer after a decision. Default: none. */
  readonly reply?: LiveMessage.Options<unknown> | undefined
}

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
  /** How persons approve calls of the functions that have `needsApproval`. Default: the defaults of {@link ApprovalOptions}. */
  readonly approval?: ApprovalOptions | undefined
  /** Texts that replace the texts of {@link CurrentTexts}. Default: none. */
  readonly texts?: Partial<Texts> | undefined
}

/**
 * Options of `reply`.
 *
 * @category options
 * @since 0.1.0
 */
export type ReplyOptions<U extends Update.Repliable, E> = LiveMessage.ReplyOptions<U, E> & {
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
  | Conversation.SendError
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
  readonly reply: <U extends Update.Repliable>(
    update: U,
    options?: ReplyOptions<U, AiError.AiError | E>
  ) => Effect.Effect<LiveMessage.Result, Error | E, R | BotApi | LanguageModel.LanguageModel>
  /**
   * The conversation that asks for the approval of calls: a part of the bot, if a function has `needsApproval`. The
   * answer goes on after the decision.
   */
  readonly approval: Conversation.Conversation<
    { readonly calls: ReadonlyArray<Call> },
    unknown,
    Error | E,
    R | BotApi | LanguageModel.LanguageModel,
    "userInChat" | "chat"
  >
}

const defaults = {
  of: "userInChat",
  budget: 4000,
  maxTurns: 8,
  goOn: "instruction",
  expireAfter: "30 days",
  approvalTimeout: "1 day"
} as const

/** Whether there is a user in a chat who can press buttons. */
const canAskIn = (update: Update.Repliable): boolean =>
  Update.chatOf(update) !== undefined &&
  Update.userIdOf(update) !== undefined &&
  !update.update_type.startsWith("comment_") &&
  postOf(update) === undefined

const Asked = Schema.Struct({ calls: Schema.Array(approvals.Call) })

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
 * A function with `needsApproval` runs after a person has approved its call by a button: `approval` of the assistant is
 * a part of the bot then. The model receives a refusal as the result of a call that is declined.
 *
 * `reply` fails with `AiError` if the model fails, with the errors of the functions, with the errors of
 * `LiveMessage.reply`, and with `NoStateKey` if the update has no such chat or user.
 *
 * **Example** (An assistant that can look up orders)
 *
 * ```ts
 * import { Bot, Handler, Keyboard, LiveMessage } from "@colloquy/core"
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
 * const bot = Bot.run(Bot.make(LiveMessage.onStop, chat), { timeout: "5 minutes" }).pipe(
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
  type Services =
    | R
    | BotApi
    | LanguageModel.LanguageModel
    | LanguageModel.ExtractServices<{ readonly toolkit: Toolkit.WithHandler<Tools> }>

  /** Answers after the messages `known` and `opening`, keeps all of them, and asks for the approval of calls. */
  const answer = Effect.fnUntraced(function* (
    update: Update.Repliable,
    known: ReadonlyArray<Prompt.Message>,
    opening: ReadonlyArray<Prompt.Message>,
    replyOptions: LiveMessage.Options<Failure>,
    decided?: Decided
  ) {
    const prompt = Prompt.concat(instructions, Prompt.fromMessages([...known, ...opening]))
    const added: Added = { messages: [] }
    const running = { functions: 0 }
    const canAsk = canAskIn(update)
    let restored: ReadonlyArray<Note> = []
    const after = (said: Said) =>
      Stream.unwrap(
        Effect.map(toolkit, (handled) =>
          converse({ prompt, toolkit: counted(handled, running), maxTurns, goOn, added, canAsk, decided }, said)
        )
      )
    const source = {
      goesOn: true,
      isBusy: () => running.functions > 0,
      onRestored: (notes: ReadonlyArray<Note>) => void (restored = notes),
      after
    }
    const own = { CurrentTexts: LiveMessage.CurrentTexts, IdleTimeout: LiveMessage.IdleTimeout }
    const result = yield* grow(own, update, source, { ...replyOptions, name })
    const kept = Effect.gen(function* () {
      const turns = added.messages.length > 0 ? added.messages : (yield* messagesOf(restored)).flat()
      if (result.outcome === "completed" && turns.length > 0) return Prompt.fromMessages(turns)
      const said = result.text === "" ? Prompt.empty : Prompt.make([{ role: "assistant", content: result.text }])
      if (decided === undefined) return said
      const isResolved = turns[0]?.role === "tool"
      const first = isResolved ? turns.slice(0, 1) : approvals.refusalOf(decided.calls, approvals.reasons.stopped)
      return Prompt.concat(Prompt.fromMessages(first), said)
    })
    const { content: answered } = yield* Journal.step(`${name} answered`, Prompt.Prompt, kept)
    if (answered.length === 0) return result
    const all = [...known, ...opening, ...answered]
    const calls = approvals.pendingIn(all)
    // An exchange that waits for an approval is kept as a whole, because the answer goes on with this exchange.
    yield* history.set(
      Prompt.fromMessages(calls.length > 0 ? all : yield* budgets.withinBudget(all, budget, countTokens))
    )
    if (calls.length > 0) yield* Effect.catchTag(approval.start(update, { calls }), programErrors, Effect.die)
    return result
  })

  const reply = Effect.fnUntraced(function* <U extends Update.Repliable>(
    update: U,
    replyOptions: ReplyOptions<U, Failure> = {} as ReplyOptions<U, Failure>
  ) {
    const prompt = replyOptions.prompt ?? Update.textOf(update) ?? ""
    if (prompt === "") return { outcome: "completed", text: "", messages: [] } satisfies LiveMessage.Result
    const before = (yield* history.get).content
    const pending = approvals.pendingIn(before)
    if (pending.length > 0) {
      yield* Effect.catchTag(approval.cancel(update), ["NotHandled", "NoParticipant"], () => Effect.void)
    }
    const refusal = approvals.refusalOf(pending, approvals.reasons.other)
    const known = yield* budgets.withinBudget([...before, ...refusal], budget, countTokens)
    return yield* answer(update, known, Prompt.make(prompt).content, replyOptions)
  })

  const texts = Effect.map(CurrentTexts, (texts) => ({ ...texts, ...options.texts }))
  const { from, reply: goingOn, timeout = defaults.approvalTimeout } = options.approval ?? {}

  /** Goes on with an answer. The history may have been cleared, or continued by another message, meanwhile. */
  const goOnWith = Effect.fnUntraced(function* (
    update: Update.Repliable,
    decisions: ReadonlyArray<approvals.Decision>
  ): Effect.fn.Return<void, Error | Failure, Services> {
    const before = (yield* history.get).content
    const calls = approvals.pendingIn(before)
    if (!calls.some(({ approvalId }) => decisions.some((decision) => decision.approvalId === approvalId))) {
      const { late } = yield* Conversation.CurrentTexts
      return yield* Effect.asVoid(Messages.reply(update as Update.RepliableByMessage, late))
    }
    yield* answer(update, before, [], { ...goingOn }, { calls, decisions })
  })

  const approval = Conversation.make(
    `${name} approval`,
    { of: history.of === "chat" ? "chat" : "userInChat", input: Asked, texts: { cancelled: "" } },
    Effect.fnUntraced(function* (talk, { calls }) {
      const { approval: say, approve, decline } = yield* texts
      const decisions: Array<approvals.Decision> = []
      for (const [index, call] of calls.entries()) {
        const { approvalId } = call
        const asked = talk.confirm(`call ${index + 1}`, { say: say(call), yes: approve, no: decline, timeout, from })
        const approved = yield* Effect.catchTag(asked, "Unanswered", () => Effect.succeed(undefined))
        if (approved === undefined) {
          const rest = calls.slice(index)
          return [...decisions, ...rest.map((late) => approvals.decline(late, approvals.reasons.late))]
        }
        decisions.push(approved ? { approvalId, approved } : approvals.decline(call, approvals.reasons.declined))
      }
      return decisions
    })
  ).pipe(Conversation.onDone((decisions, update) => goOnWith(update, decisions)))

  return { name, history, reply, approval }
}

/** The update has a user in a chat, and the input of the conversation can be encoded. */
const programErrors = ["NoParticipant", "SchemaError"] as const
