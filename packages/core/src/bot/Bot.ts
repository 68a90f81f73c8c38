/**
 * Bots. A bot is a list of parts: commands, conversations, menus, scenes, timers, and handlers of other updates.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { downcast } from "../base/internal/downcast.ts"
import { BotApi } from "../client/BotApi.ts"
import * as Answers from "../endpoints/Answers.ts"
import * as Me from "../endpoints/Me.ts"
import type * as Deliveries from "../inbox/Deliveries.ts"
import * as Handler from "../inbox/Handler.ts"
import { hooks } from "../inbox/internal/hooks.ts"
import { provideOnce } from "../inbox/internal/handlers/current.ts"
import { type Given, given, runOf } from "../inbox/internal/consumer/running.ts"
import { makeGroup, makePart, partsOf } from "../inbox/internal/handlers/parts.ts"
import * as Updates from "../inbox/Updates.ts"
import type * as Update from "../model/Update.ts"
import { withoutKeyboard } from "./internal/handlers/keyboard.ts"

/**
 * A bot, which is the handler of the updates of its parts. `E` are the errors of its parts, and `R` the services that its
 * parts require.
 *
 * @category models
 * @since 0.1.0
 */
export interface Bot<out E = never, out R = never> extends Handler.Handler<E, R> {
  /** The parts, with their kinds, names and descriptions. */
  readonly parts: ReadonlyArray<Handler.Part>
}

/**
 * The texts that bots use by themselves.
 *
 * @category models
 * @since 0.1.0
 */
export interface Texts {
  /**
   * The notification after a press of a button of a menu or a conversation that the bot does not have any more. Default: "This
   * button is out of date."
   */
  readonly outdated: string
}

/**
 * The texts that bots use by themselves. Default: English texts.
 *
 * **Example** (A Russian text)
 *
 * ```ts
 * import { Bot, Handler } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * declare const bot: Bot.Bot
 *
 * const russian = Handler.transform(
 *   bot,
 *   Effect.provideService(Bot.CurrentTexts, { outdated: "Эта кнопка устарела." })
 * )
 * ```
 *
 * @category references
 * @since 0.1.0
 */
export const CurrentTexts: Context.Reference<Texts> = Context.Reference<Texts>("@colloquy/core/Bot/CurrentTexts", {
  defaultValue: () => ({ outdated: "This button is out of date." })
})

/** The update of a part that the bot does not have. */
type Outdated = Update.Of<"message_callback"> | Update.TimerUpdate

/**
 * Creates the part that handles the presses of buttons and the timers of parts that the bot does not have any more, because
 * the parts were removed or renamed.
 *
 * Default, also for updates that the handler declines: a press is answered with the notification `outdated` of
 * {@link CurrentTexts}, and the keyboard is removed. Other attachments of the message stay. If the message has a contact or an
 * attachment of an unknown kind, the keyboard stays, too. The name of a timer is logged once.
 *
 * **Example** (The message of a menu that was removed)
 *
 * ```ts
 * import { Answers, Bot, Command, Messages } from "@colloquy/core"
 *
 * const bot = Bot.make(
 *   Command.make("start").on((update) => Messages.reply(update, "Hello")),
 *   Bot.onOutdated((update) =>
 *     update.update_type === "message_callback"
 *       ? Answers.answer(update, { message: { text: "The shop has moved. Send /start." } })
 *       : undefined
 *   )
 * )
 * ```
 *
 * @category parts
 * @since 0.1.0
 */
export const onOutdated = <O extends Handler.Return>(
  handler: (update: Outdated) => O
): Handler.Handler<Handler.ReturnError<O>, Effect.Services<O>> =>
  makePart<object, Handler.Handler<never, never>>({
    kind: "outdated",
    name: "onOutdated",
    handle: (update) => handler(update as Outdated)
  })

/** A press that cannot be answered has no effect either way, so the press is settled. */
const answerOutdated = (update: Update.Of<"message_callback">): Effect.Effect<void, Handler.NotHandled> =>
  Effect.withFiber((fiber) => {
    const api = Context.getOrUndefined(fiber.context, BotApi)
    if (api === undefined) return Handler.notHandled
    const message = withoutKeyboard(update.message)
    return Answers.answer(update, { notification: fiber.getRef(CurrentTexts).outdated, message }).pipe(
      Effect.catch((error) => Effect.logWarning(`An outdated button was not answered: ${error.message}`)),
      Effect.provideService(BotApi, api),
      Effect.asVoid
    )
  })

const defaultOutdated = {}

/** Handles the presses and timers of parts that a bot does not have. */
const makeOutdated = (): Handler.Part => {
  const logged = new Set<string>()
  return {
    kind: "outdated",
    name: "default",
    definition: defaultOutdated,
    handle: (update) => {
      if (update.update_type === "message_callback") return answerOutdated(update)
      if (update.update_type !== "colloquy_timer") return undefined
      const { name } = update
      return Effect.suspend(() => {
        if (logged.has(name)) return Effect.void
        logged.add(name)
        return Effect.logWarning(`The timer "${name}" was due, and the bot has no handler of the timer any more.`)
      })
    }
  }
}

/** Throws if a part starts a conversation that is no part. */
const checkStarts = (parts: ReadonlyArray<Handler.Part>): void => {
  for (const { kind, name, starts } of parts) {
    if (starts === undefined || parts.some(({ definition }) => definition === starts.definition)) continue
    throw new Error(
      `The ${kind} "${name}" starts the ${starts.kind} "${starts.name}", which is not a part of the bot. Add it to Bot.make.`
    )
  }
}

/**
 * Creates a bot of its parts. A part is a handler: what `Handler.on`, `Command.on`, `Timer.on` and similar functions return, a
 * conversation, a menu, a scene, another bot, or any other function from an update to an effect. The order of the parts of
 * different kinds has no effect: see `Handler.Part` for the order in which the parts are asked.
 *
 * `Handler.first`, `Handler.filter` and the other functions of `Handler` make groups of parts, which are parts. A filter around a
 * group concerns each of its parts, except for timeouts of conversations and scenes.
 *
 * Throws if two different parts have the same kind and name, and if a command or a handler starts a conversation that is no part. A
 * function that starts a conversation or a scene, shows a menu or sets a timer without a part in the bot dies in the attempt,
 * which is not retried. The error has the name of the missing part.
 *
 * Presses of buttons and timers of parts that the bot does not have any more are handled by {@link onOutdated}.
 *
 * **Example** (A command, a conversation, and the answer to everything else)
 *
 * ```ts
 * import { Bot, Command, Conversation, Handler, Messages } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const Introduction = Conversation.make(
 *   "introduction",
 *   { of: "userInChat" },
 *   Effect.fn(function* (talk) {
 *     yield* talk.say(`Hello, ${yield* talk.ask("name", { say: "What is your name?" })}!`)
 *   })
 * )
 *
 * export const bot = Bot.make(
 *   Command.make("start", { description: "Says hello" }).on(Introduction.start),
 *   Introduction,
 *   Handler.on("message_created", (update) => Messages.reply(update, "Send /start"))
 * )
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <const P extends ReadonlyArray<Handler.Handler<unknown, unknown>>>(
  ...parts: P
): Bot<Handler.Error<P[number]>, Handler.Services<P[number]>> => {
  const all = parts.flatMap(partsOf)
  const isDefault = ({ definition }: Handler.Part) => definition === defaultOutdated
  const defaults = all.filter(isDefault)
  if (defaults.every(({ isConditional }) => isConditional === true)) defaults.push(makeOutdated())
  checkStarts(all)
  return makeGroup([...all.filter((part) => !isDefault(part)), ...defaults]) as Bot<
    Handler.Error<P[number]>,
    Handler.Services<P[number]>
  >
}

/**
 * Provides services to a group of parts. The layer is built once for each run of the bot, and not for each update.
 *
 * The layer cannot fail: handle its errors, for example with `Layer.orDie`. A defect of the layer ends the run.
 *
 * **Example** (A cache of a group of parts)
 *
 * ```ts
 * import { Bot, Command, Messages } from "@colloquy/core"
 * import { Context, Effect, Layer, Ref } from "effect"
 *
 * class Count extends Context.Service<Count, Ref.Ref<number>>()("Count") {}
 *
 * const counting = Bot.provide(
 *   Bot.make(
 *     Command.make("count").on((update) =>
 *       Effect.gen(function* () {
 *         const count = yield* Ref.updateAndGet(yield* Count, (count) => count + 1)
 *         yield* Messages.reply(update, `You are number ${count}`)
 *       })
 *     )
 *   ),
 *   Layer.effect(Count, Ref.make(0))
 * )
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const provide = <E, R, ROut, RIn>(
  parts: Handler.Handler<E, R>,
  layer: Layer.Layer<ROut, never, RIn>
): Bot<E, Exclude<R, ROut> | RIn> => {
  const own = layer as Layer.Layer<never, never, unknown>
  const group = partsOf(parts).map((part): Handler.Part => ({
    ...part,
    // The layers in the group can require services of this layer.
    layers: [...(part.layers ?? []).map(([id, inner]) => [id, Layer.provide(inner, own)] as const), [own, own]],
    handle: (update) => {
      const effect = part.handle(update)
      return effect && provideOnce(effect, own)
    }
  }))
  return makeGroup(group) as Bot<E, Exclude<R, ROut> | RIn>
}

/**
 * Options of {@link run}.
 *
 * @category models
 * @since 0.1.0
 */
export interface RunOptions<R = never, From extends Updates.AnySource = never, Publish extends boolean = false>
  extends
    Deliveries.RunForEachOptions,
    Pick<Updates.DeliveriesOptions<R, From>, "maxCrashes" | "maxInMemory" | "onDeadLetter" | "source"> {
  /**
   * Whether the {@link commands} of the bot are set at the platform when the bot starts. If the platform refuses the commands,
   * the refusal is logged. Default: `false`.
   */
  readonly publishCommands?: Publish | undefined
}

/** The bot of a handler. */
const toBot = <E, R>(handler: Handler.Handler<E, R>): Bot<E, R> => make(handler) as Bot<E, R>

/** Sets the commands of a bot, with the services of its source. */
const publish = (bot: Bot<unknown, unknown>, services: Context.Context<never> | undefined) =>
  Me.setCommands({ commands: commands(bot) }).pipe(
    Effect.catch((error) => Effect.logWarning(`The commands of the bot were not set: ${error.message}`)),
    Effect.catchDefect((defect) => Effect.logError("The commands of the bot were not set.", defect)),
    Effect.provideContext(services ?? Context.empty())
  )

/**
 * Runs the source of the program, and handles its updates by the parts of a bot. Any handler is a bot of its parts.
 *
 * - Each update is handled at least once: the update leaves the inbox when its handler has succeeded, or as a dead
 *   letter.
 * - Updates of one chat are handled one at a time, in order, also while an update is retried. Different chats do not wait
 *   for each other.
 * - An update that no handler takes counts as handled, and is counted by the metric `colloquy_updates_unhandled_total`. To react
 *   to such updates, let the last part be a handler that takes every update.
 * - A handler that fails, dies or times out is retried by `retry`. After the last attempt, the update becomes a dead
 *   letter, and the next update of the chat is handled. Failures of handlers never end `run`.
 * - Calls that a handler makes have the priority `reply` in the rate limiter.
 * - When `run` is interrupted, the source is stopped, and running handlers are interrupted at `shutdownTimeout`. In a
 *   test with the emulator, handlers are interrupted at once: see `Deliveries.ImmediateShutdown`. Updates that are not
 *   handled stay in the inbox. `run` ends at most 5 seconds after `shutdownTimeout` if a handler cannot be interrupted or
 *   the store is unavailable, and at most 10 seconds after `shutdownTimeout` if both problems occur.
 *
 * Ends when the source has ended and all its updates are handled. Fails with the error of the source if the source
 * cannot continue, after running handlers had their `shutdownTimeout`. Dies if `concurrency` or `maxInMemory` is not a
 * positive whole number, and with a defect of a fiber that the inbox, the rate limiter or the source runs in the
 * background.
 *
 * **Example** (A bot with two handlers)
 *
 * ```ts
 * import { Bot, Handler, Messages } from "@colloquy/core"
 *
 * const greet = Handler.on("bot_started", (update) => Messages.reply(update, `Hello, ${update.user.first_name}`))
 * const thank = Handler.on("message_created", (update) => Messages.reply(update, "Thank you"))
 *
 * const bot = Bot.run(Bot.make(greet, thank), { concurrency: 16 })
 * ```
 *
 * **Example** (A bot whose commands are in the menu of the messenger)
 *
 * ```ts
 * import { Bot, Command, Messages } from "@colloquy/core"
 *
 * const bot = Bot.make(
 *   Command.make("help", { description: "What this bot can do" }).on((update) => Messages.reply(update, "Nothing yet"))
 * )
 *
 * const program = Bot.run(bot, { publishCommands: true })
 * ```
 *
 * **Example** (Tell the user when a message could not be handled)
 *
 * ```ts
 * import { Bot, type Handler, Messages, Update } from "@colloquy/core"
 * import { Effect, Result } from "effect"
 *
 * const bot = <E, R>(handler: Handler.Handler<E, R>) =>
 *   Bot.run(handler, {
 *     onDeadLetter: ({ error, id, update }) =>
 *       Effect.gen(function* () {
 *         yield* Effect.logFatal(`The update ${id} is a dead letter: ${error}`)
 *         const chat_id = Result.isSuccess(update.decoded) ? Update.chatOf(update.decoded.success) : undefined
 *         if (chat_id !== undefined) {
 *           yield* Messages.send({ chat_id, text: "Sorry, something is broken. We were notified." })
 *         }
 *       })
 *   })
 * ```
 *
 * **Example** (Two bots in one program)
 *
 * ```ts
 * import { Bot, type BotApi, Handler, Messages, Updates } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * type Bot = Updates.Source<Updates.SourceError, BotApi.BotApi>
 *
 * const order = Handler.on("message_created", (update) => Messages.reply(update, "Your order is on its way"))
 * const help = Handler.on("message_created", (update) => Messages.reply(update, "How can I help?"))
 *
 * const program = (shop: Bot, support: Bot) =>
 *   Effect.all([Bot.run(order, { source: shop }), Bot.run(help, { source: support })], { concurrency: 2 })
 * ```
 *
 * API: Events.
 *
 * @category running
 * @since 0.1.0
 */
export const run = <E, R, R2 = never, From extends Updates.AnySource = never, const Publish extends boolean = false>(
  bot: Handler.Handler<E, R>,
  { publishCommands, ...options }: RunOptions<R2, From, Publish> = {}
): Effect.Effect<
  void,
  Updates.ErrorOf<From>,
  Updates.RequiredBy<R | NoInfer<R2> | (true extends Publish ? BotApi : never), From>
> =>
  downcast(
    Effect.flatMap(given(options.source, Updates.Updates), (source) => {
      const made = toBot(bot)
      const running = runOf("Bot.run", source, made, options)
      return publishCommands === true
        ? Effect.andThen(Effect.forkChild(publish(made, source.services)), running)
        : running
    })
  )

/**
 * Options of {@link drain}.
 *
 * @category models
 * @since 0.1.0
 */
export interface DrainOptions<R = never, From extends Updates.AnySource = never> extends Omit<
  RunOptions<R, From>,
  "publishCommands"
> {
  /**
   * The end of the call: `"empty"`, when no update is left that this program can handle, or a duration, after which the call ends even if updates
   * are left. Running handlers then have their `shutdownTimeout`. Default: `"empty"`.
   */
  readonly until?: "empty" | Duration.Input | undefined
}

/**
 * Handles the updates that wait at the platform and in the inbox, and ends. For a program that runs at intervals, such
 * as a cron job, and for a function that a request starts. Apart from that, `drain` is {@link run}.
 *
 * - `LongPolling` polls without waiting until a page is empty.
 * - With `Webhook`, `drain` handles the updates that the webhook has stored. The inbox accepts deliveries also after
 *   `drain` has ended.
 * - With `Updates.layer`, the stream runs to its end.
 *
 * `drain` waits for retries of a handler: with the default schedule, up to 62 seconds for an update. Several calls may
 * run at the same time: each update is handled by one call.
 *
 * Succeeds with `true` if no update is left, and with `false` if the time is over, or if the updates that are left need a
 * newer program, as during a rolling deploy: a warning names their chats. Updates that are left stay in the inbox for the
 * next call. Updates that another call or another process is handling are not waited for.
 *
 * **Example** (A cron job: at most 50 seconds of every minute)
 *
 * ```ts
 * import { Bot, Handler, LongPolling, Messages } from "@colloquy/core"
 * import { NodeBot, NodeMain } from "@colloquy/node"
 * import { Effect, Layer } from "effect"
 *
 * const handler = Handler.on("message_created", (update) => Messages.reply(update, "Thank you"))
 *
 * const platform = LongPolling.layer().pipe(Layer.provideMerge(NodeBot.layerConfig()))
 *
 * export const main = () =>
 *   NodeMain.runMain(Effect.provide(Bot.drain(handler, { until: "50 seconds" }), platform))
 * ```
 *
 * **Example** (A function that handles the update of a request before responding)
 *
 * ```ts
 * import { Bot, Handler, Messages, Webhook } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const handler = Handler.on("message_created", (update) => Messages.reply(update, "Thank you"))
 *
 * const respond = Effect.gen(function* () {
 *   const receive = yield* Webhook.toWebHandler
 *   return Effect.fn(function* (request: Request) {
 *     const response = yield* Effect.promise(() => receive(request))
 *     yield* Bot.drain(handler, { until: "15 seconds" })
 *     return response
 *   })
 * })
 * ```
 *
 * API: Events.
 *
 * @category running
 * @since 0.1.0
 */
export const drain = <E, R, R2 = never, From extends Updates.AnySource = never>(
  bot: Handler.Handler<E, R>,
  { until = "empty", ...options }: DrainOptions<R2, From> = {}
): Effect.Effect<boolean, Updates.ErrorOf<From>, Updates.RequiredBy<R | NoInfer<R2>, From>> =>
  downcast(
    Effect.flatMap(given(options.source, Updates.Updates), ({ drain, inbox, services, source }) => {
      let isEmpty = true
      const given: Given = {
        // A webhook delivers to the inbox also while nothing is drained, and another `drain` may be running.
        inbox: { ...inbox, [hooks]: { ...inbox[hooks], close: Effect.void } },
        source: drain ?? source,
        services,
        onWaiting: () => {
          isEmpty = false
        }
      }
      const run = runOf("Bot.drain", given, toBot(bot), options)
      const ended = until === "empty" ? Effect.asSome(run) : Effect.timeoutOption(run, until)
      return Effect.map(ended, (result) => Option.isSome(result) && isEmpty)
    })
  )

/**
 * Returns the names and descriptions of the commands of a bot, for `Me.setCommands`. Commands without a description, such as
 * commands for administrators, are left out.
 *
 * **Example** (Set the commands in a program of their own)
 *
 * ```ts
 * import { Bot, Me } from "@colloquy/core"
 *
 * declare const bot: Bot.Bot
 *
 * const publish = Me.setCommands({ commands: Bot.commands(bot) })
 * ```
 *
 * API: Endpoints, Other operations (PATCH /me/commands).
 *
 * @category getters
 * @since 0.1.0
 */
export const commands = (bot: Handler.Handler<unknown, unknown>): ReadonlyArray<Me.NewCommand> => {
  const described = partsOf(bot).filter(({ description, kind }) => kind === "command" && description !== undefined)
  return [...new Map(described.map(({ description, name }) => [name, { name, description }])).values()]
}

const titles = {
  command: "Commands",
  conversation: "Conversations",
  menu: "Menus",
  scene: "Scenes",
  timer: "Timers",
  button: "Buttons",
  link: "Deep links",
  handler: "Other updates"
} as const

/**
 * Returns the documentation of a bot in Markdown: its parts by kind, with their names and descriptions.
 *
 * **Example** (A bot with a command)
 *
 * ```ts
 * import { Bot, Command, Messages } from "@colloquy/core"
 *
 * const start = Command.make("start", { description: "Says hello" })
 *
 * Bot.describe(Bot.make(start.on((update) => Messages.reply(update, "Hello"))))
 * // => "## Commands\n\n- `/start`: Says hello\n"
 * ```
 *
 * @category getters
 * @since 0.1.0
 */
export const describe = (bot: Handler.Handler<unknown, unknown>): string => {
  const parts = partsOf(bot)
  const sections = Object.entries(titles).flatMap(([kind, title]) => {
    const lines = parts
      .filter((part) => part.kind === kind)
      .map(({ description, name }) => {
        const shown = `- \`${kind === "command" ? "/" : ""}${name}\``
        return description === undefined ? shown : `${shown}: ${description}`
      })
    return lines.length === 0 ? [] : [`## ${title}\n\n${[...new Set(lines)].join("\n")}\n`]
  })
  return sections.join("\n")
}
