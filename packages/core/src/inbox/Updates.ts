/**
 * Handles the updates of a bot: `Updates.run` with handlers, or `Updates.deliveries` as a stream. The updates come from the
 * inbox, which a source writes to: `LongPolling`, `Webhook`, or a stream of your own with `Updates.layer`.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Deliveries from "./Deliveries.ts"
import type { Delivery } from "./Deliveries.ts"
import { downcast } from "../base/internal/downcast.ts"
import type * as Endpoint from "../client/Endpoint.ts"
import type { Handler } from "./Handler.ts"
import { whileRunning } from "./internal/handlers/current.ts"
import { Inbox } from "./Inbox.ts"
import { hooks } from "./internal/hooks.ts"
import * as consumer from "./internal/kernel/consumer.ts"
import * as streamSource from "./internal/sources/streamSource.ts"
import * as rules from "../base/internal/rules.ts"
import type * as Outage from "../client/Outage.ts"
import type { DeadLetter } from "./QueuedUpdate.ts"
import type { Update } from "../model/Update.ts"
import type { list } from "../endpoints/UpdatesPage.ts"
import { TaggedError } from "../base/TaggedError.ts"

/**
 * The stream of {@link layer} failed. The updates that the stream emitted before are stored.
 *
 * @category errors
 * @since 0.1.0
 */
export class UpdateStreamFailed extends TaggedError("UpdateStreamFailed", () => ({
  /** The error of the stream. */
  cause: Schema.Unknown
})) {
  override get message() {
    const { cause } = this
    return `The stream of updates failed: ${cause instanceof Error ? cause.message : String(cause)}`
  }
}

/**
 * The errors of a source that cannot continue, and why a bot ends when the platform or the inbox is away.
 *
 * @category errors
 * @since 0.1.0
 */
export type SourceError = Endpoint.Errors<typeof list> | UpdateStreamFailed | Outage.OutageError

/**
 * The source of updates of a program, and the inbox to which the source writes. `LongPolling.layer`, `Webhook.layer`
 * and {@link layer} provide this service. A program that runs several bots uses a {@link Source} for each of them.
 *
 * @category services
 * @since 0.1.0
 */
export class Updates extends Context.Service<
  Updates,
  {
    /** The inbox that the source writes to. */
    readonly inbox: Inbox["Service"]
    /**
     * Writes updates to the inbox while the effect runs. Ends when there are no more updates, and fails when the source
     * cannot continue.
     */
    readonly source: Effect.Effect<void, SourceError>
    /** Writes the updates that wait now to the inbox, and ends, for {@link drain}. Default: `source`. */
    readonly drain?: Effect.Effect<void, SourceError> | undefined
  }
>()("@colloquy/core/Updates") {}

/**
 * A source of updates as a value, with the services of its bot. A program has one source for each bot: each source is
 * the option `source` of {@link run}, {@link drain} and {@link deliveries}. {@link fromLayer}, `LongPolling.make`,
 * `Webhook.make` and {@link make} create a source.
 *
 * `Services` are provided to the handlers of its updates. If `BotApi` is one of these services, the calls of a handler
 * are made by the bot that received the update.
 *
 * @category models
 * @since 0.1.0
 */
export interface Source<out E = SourceError, in Services = never> {
  /** The inbox that the source writes to. */
  readonly inbox: Inbox["Service"]
  /** Writes updates to the inbox while the effect runs. */
  readonly source: Effect.Effect<void, E>
  /** Writes the updates that wait now to the inbox, and ends, for {@link drain}. Default: `source`. */
  readonly drain?: Effect.Effect<void, E> | undefined
  /** The services that are provided to the handlers of the updates. */
  readonly services: Context.Context<Services>
}

/**
 * An element of a stream of updates: an update or the JSON text of an update, each with or without its position in the
 * source.
 *
 * @category models
 * @since 0.1.0
 */
export type Element =
  | Update
  | string
  | {
      /** The update, or its JSON text. */
      readonly update: Update | string
      /** The position after this element. The position is stored in one transaction with the updates. */
      readonly marker: bigint
    }

/**
 * A stream of updates, or a function that returns the stream from the position that was stored last, which is `undefined` at
 * the first start.
 *
 * @category models
 * @since 0.1.0
 */
export type Elements<E = never, R = never> =
  | Stream.Stream<Element, E, R>
  | ((marker: bigint | undefined) => Stream.Stream<Element, E, R>)

/**
 * Options of {@link make} and {@link layer}.
 *
 * @category models
 * @since 0.1.0
 */
export interface SourceOptions {
  /**
   * The name under which the inbox stores the position of the stream. Two streams that write to one inbox have different
   * names. Default: `"stream"`.
   */
  readonly name?: string | undefined
  /** The stream is not pulled while this many updates are queued in the inbox. Default: 1000. */
  readonly maxQueued?: number | undefined
}

const sourceDefaults = { name: "stream", maxQueued: 1000 } as const

const toPositioned = (element: Element): streamSource.Positioned =>
  typeof element === "string" || "update_type" in element ? { update: element } : element

/**
 * Creates a source from a stream of updates, as {@link layer} does, but as a value: the errors of the source are the
 * errors of the stream.
 *
 * **Example** (Count the updates of a file by type)
 *
 * ```ts
 * import { type Update, Updates } from "@colloquy/core"
 * import { Effect, type Stream } from "effect"
 *
 * const countTypes = <E>(lines: Stream.Stream<string, E>) =>
 *   Effect.gen(function* () {
 *     const counts = new Map<string, number>()
 *     const source = yield* Updates.make(lines)
 *     const count = ({ update_type }: Update.Update) =>
 *       Effect.sync(() => void counts.set(update_type, (counts.get(update_type) ?? 0) + 1))
 *     yield* Updates.run(count, { source })
 *     return counts
 *   })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: <E, R>(
  elements: Elements<E, R>,
  options?: SourceOptions
) => Effect.Effect<Source<E>, never, Inbox | R> = Effect.fnUntraced(function* <E, R>(
  elements: Elements<E, R>,
  options: SourceOptions = {}
) {
  const { maxQueued = sourceDefaults.maxQueued, name = sourceDefaults.name } = options
  yield* rules.checkPositiveInteger("Updates.layer", "maxQueued", maxQueued)
  const inbox = yield* Inbox
  const context = yield* Effect.context<R>()
  const from = (marker: bigint | undefined) =>
    Stream.map(Stream.isStream(elements) ? elements : elements(marker), toPositioned)
  const source = Effect.provideContext(streamSource.run(inbox, from, { name, maxQueued }), context)
  return { inbox, source, services: Context.empty() }
})

/**
 * Provides a source that takes its updates from a stream: from a relay, a topic of Kafka, or a file to replay. The
 * elements are updates or JSON texts.
 *
 * - The stream is pulled while fewer than `maxQueued` updates are queued in the inbox, so it may be endless.
 * - An element may have its position, the `marker`. The last position of a batch is stored in one transaction with the
 *   updates of the batch. If `elements` is a function, its argument is the position that was stored last, so that the
 *   stream resumes there after a restart. Elements that the stream emits again are duplicates within the
 *   `deduplicationWindow` of the inbox.
 * - A text that is no valid update becomes a dead letter, and the stream continues.
 * - While the store of the inbox is unavailable, the stream waits.
 * - The source ends when the stream ends, and fails with `UpdateStreamFailed` when the stream fails. {@link make} keeps the type of
 *   the error.
 *
 * Dies if `maxQueued` is not a positive whole number.
 *
 * **Example** (Replay the dead letters of another bot, which are lines of a text)
 *
 * ```ts
 * import { Inbox, Updates } from "@colloquy/core"
 * import { Effect, Layer, Stream } from "effect"
 *
 * const updates = <E>(lines: Stream.Stream<string, E>) =>
 *   Updates.layer(lines).pipe(Layer.provideMerge(Inbox.layerMemory()))
 *
 * const replay = <E>(lines: Stream.Stream<string, E>) =>
 *   Updates.run((update) => Effect.log(update.update_type)).pipe(Effect.provide(updates(lines)))
 * ```
 *
 * **Example** (Resume a topic at its offset)
 *
 * ```ts
 * import { Updates } from "@colloquy/core"
 * import { Stream } from "effect"
 *
 * interface Message {
 *   readonly offset: bigint
 *   readonly value: string
 * }
 *
 * const updates = (topic: (from: bigint) => Stream.Stream<Message>) =>
 *   Updates.layer((marker = 0n) =>
 *     topic(marker).pipe(Stream.map(({ offset, value }) => ({ update: value, marker: offset + 1n })))
 *   )
 * ```
 *
 * API: Events.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <E, R>(
  elements: Elements<E, R>,
  options?: SourceOptions
): Layer.Layer<Updates, never, Inbox | R> =>
  Layer.effect(
    Updates,
    Effect.map(make(elements, options), ({ inbox, source }) => ({
      inbox,
      source: Effect.mapError(source, (cause) => new UpdateStreamFailed({ cause }))
    }))
  )

/**
 * Builds the layer of one bot, and returns its source as a value that has all services of the layer. A program that
 * runs several bots calls `fromLayer` once for each bot.
 *
 * Two calls share no service, even if their layers have common parts: each bot has its own client, rate limiter and
 * inbox. A resource that the bots share, such as the connections to a database, is a requirement of the layers. Inboxes
 * in one database, or in one file, have different prefixes.
 *
 * The layer is released when the scope closes.
 *
 * **Example** (Two bots in one program)
 *
 * ```ts
 * import { Handler, Inbox, LongPolling, Messages, Updates } from "@colloquy/core"
 * import { NodeBot } from "@colloquy/node"
 * import { Config, Effect, Layer } from "effect"
 *
 * const bot = (name: string) =>
 *   LongPolling.layer().pipe(
 *     Layer.provideMerge(
 *       NodeBot.layerConfig({ token: Config.Redacted(`${name}_TOKEN`), inbox: { prefix: Config.succeed(name) } })
 *     ),
 *     Updates.fromLayer
 *   )
 *
 * const program = Effect.gen(function* () {
 *   const shop = yield* bot("shop")
 *   const support = yield* bot("support")
 *   const reply = Handler.on("message_created", (update) => Messages.reply(update, "Thank you"))
 *   const bots = [Updates.run(reply, { source: shop }), Updates.run(reply, { source: support })]
 *   yield* Effect.all(bots, { concurrency: 2 })
 * }).pipe(Effect.scoped)
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromLayer = <S, E, R>(
  layer: Layer.Layer<Updates | S, E, R>
): Effect.Effect<Source<SourceError, Updates | S>, E, R | Scope.Scope> =>
  Effect.flatMap(Effect.scope, (scope) =>
    Effect.map(Layer.buildWithMemoMap(layer, Layer.makeMemoMapUnsafe(), scope), (services) => ({
      ...Context.get(services as Context.Context<Updates | S>, Updates),
      services
    }))
  )

/** A source as the type of the option `source`. Without the option, the type is `never`. */
/** Any source.
 *
 * @category models
 * @since 0.1.0
 */
export type AnySource = Source<unknown, never>

export type ErrorOf<From> = [From] extends [never]
  ? SourceError
  : From extends Source<infer E, infer _>
    ? E | Outage.OutageError
    : never

type ServicesOf<From> = From extends Source<unknown, infer Services> ? Services : never

/**
 * The services of a handler, or none if the compiler could not infer them, because the handler has an error. The error of the handler
 * is then the only error, and each program that provides the services of the bot has none.
 */
type Inferred<R> = unknown extends R ? never : R

export type RequiredBy<R, From> = [From] extends [never]
  ? Inferred<R> | Updates
  : Exclude<Inferred<R>, ServicesOf<From>>

/**
 * Options of {@link deliveries}.
 *
 * @category models
 * @since 0.1.0
 */
export interface DeliveriesOptions<R = never, From extends AnySource = never> {
  /**
   * The source of the updates. The effects that handle an update are run with the services of the source, so that their
   * calls are made by the bot that received the update, also after the streams of several bots were merged. Default: the
   * source that the service {@link Updates} provides.
   */
  readonly source?: From | undefined
  /**
   * How many updates of a chat may be emitted and not settled at a time. With 1, the next update is emitted when the
   * previous update is acknowledged or rejected. With more, or with `"unbounded"`, updates are emitted in order and may
   * be settled in any order. Default: 1.
   */
  readonly perChat?: number | "unbounded" | undefined
  /** Maximum number of updates in memory. Default: 1000, or 4000 if `perChat` is not 1, so that several batches are collected. */
  readonly maxInMemory?: number | undefined
  /** Maximum number of deliveries that are emitted and not settled. Default: `maxInMemory`. */
  readonly maxUnsettled?: number | undefined
  /**
   * An update whose process died this many times during its handling becomes a dead letter. The last time counts only
   * if no other update was being handled, so that an update does not become a dead letter because of another one: after
   * the second time, other updates wait for the update for a short time. At least 2; with 2, other updates wait after
   * the first time. Default: 3.
   */
  readonly maxCrashes?: number | undefined
  /**
   * A delivery that is not settled within this time is logged and counted by `colloquy_updates_unsettled_total`. Its chat stays
   * with this process. Default: 1 minute.
   */
  readonly unsettledAfter?: Duration.Input | undefined
  /**
   * Runs before an update becomes a dead letter, for example to notify the user or an operator. Its calls have the
   * priority `reply`. The next update of the chat waits for this effect, for at most 1 minute or the `timeout` of
   * `Updates.run`. If the effect fails, the failure is logged, and the update becomes a dead letter nevertheless. If
   * the process is killed, the effect can run twice for an update. The effect does not run for received updates that
   * cannot be decoded. Default: no effect runs.
   */
  readonly onDeadLetter?: ((deadLetter: DeadLetter) => Effect.Effect<unknown, unknown, R>) | undefined
}

/**
 * Options of {@link run}.
 *
 * @category models
 * @since 0.1.0
 */
export interface RunOptions<R = never, From extends AnySource = never>
  extends
    Deliveries.RunForEachOptions,
    Pick<DeliveriesOptions<R, From>, "maxCrashes" | "maxInMemory" | "onDeadLetter" | "source"> {}

const defaults = {
  concurrency: 64,
  maxInMemory: 1000,
  maxInMemoryOfBatches: 4000,
  maxCrashes: 3,
  timeout: "1 minute"
} as const

const checkCrashes = (name: string, maxCrashes: number): Effect.Effect<void> =>
  Number.isInteger(maxCrashes) && maxCrashes >= 2
    ? Effect.void
    : Effect.die(
        new RangeError(`${name}: the option \`maxCrashes\` must be an integer of at least 2, but is ${maxCrashes}`)
      )

/** The source of a call. `services` is `undefined` if the effects that handle an update have the services of the caller. */
interface Given extends Pick<Source<unknown>, "drain" | "inbox" | "source"> {
  readonly services: Context.Context<never> | undefined
  /** Called at the end if updates are left that need a newer program. */
  readonly onWaiting?: () => void
}

const given = (source: AnySource | undefined): Effect.Effect<Given, never, Updates> =>
  source === undefined
    ? Updates.use((program) => Effect.succeed({ ...program, services: undefined }))
    : Effect.succeed({ ...source, services: downcast(source.services) })

const deliveriesOf = <R>(
  name: string,
  { inbox, onWaiting, services, source }: Given,
  options: DeliveriesOptions<R, AnySource>,
  onDeadLetterTimeout: Duration.Input
): Stream.Stream<Delivery, unknown, R> => {
  const { maxCrashes = defaults.maxCrashes, onDeadLetter, perChat = 1 } = options
  const { maxInMemory = perChat === 1 ? defaults.maxInMemory : defaults.maxInMemoryOfBatches } = options
  const { maxUnsettled = maxInMemory, unsettledAfter = defaults.timeout } = options
  const ofChat = perChat === "unbounded" ? Infinity : perChat
  const check = Effect.gen(function* () {
    yield* rules.checkPositiveInteger(name, "perChat", ofChat === Infinity ? 1 : ofChat)
    yield* rules.checkPositiveInteger(name, "maxInMemory", maxInMemory)
    yield* rules.checkPositiveInteger(name, "maxUnsettled", maxUnsettled)
    yield* checkCrashes(name, maxCrashes)
  })
  const emitted = consumer.deliveries(inbox, source, {
    perChat: ofChat,
    maxInMemory,
    maxUnsettled,
    maxCrashes,
    unsettledAfter: Duration.fromInputUnsafe(unsettledAfter),
    onDeadLetter,
    onDeadLetterTimeout: Duration.fromInputUnsafe(onDeadLetterTimeout),
    services,
    onWaiting
  })
  return Stream.unwrap(Effect.as(check, emitted))
}

/**
 * A stream of the updates of the program, each with its acknowledgement: an update leaves the inbox when its delivery
 * is acknowledged or rejected, whatever operators are between. {@link run} is this stream and `Deliveries.runForEach`.
 *
 * - With `perChat: 1`, the default, a chat's next update is emitted when the previous update is acknowledged or
 *   rejected. Every operator of `Stream`, also a concurrent one or a buffer, therefore keeps the order of each chat.
 * - Updates that are not acknowledged when the program stops or dies are emitted again, in order.
 * - When the stream is closed, its source is stopped, and updates that are not acknowledged return to the inbox at
 *   once. If effects of `Deliveries` are handling updates of the stream, as after `Stream.interruptWhen`, closing waits
 *   for these effects for 10 seconds, and interrupts them.
 * - Every delivery has to be settled. If an operator drops a delivery, for example `Stream.filter` or
 *   `Stream.debounce`, its chat waits until the stream is closed: use the operators of `Deliveries`, or acknowledge the
 *   delivery.
 * - Deliveries are emitted in arrays, and claimed and settled in batches.
 *
 * Ends when the source has ended and every delivery is settled. Fails with the error of the source. Dies if an option is
 * not a positive whole number, or `maxCrashes` is below 2.
 *
 * **Example** (Answer four chats at a time, and skip the updates of other types)
 *
 * ```ts
 * import { Deliveries, Messages, Updates } from "@colloquy/core"
 *
 * const echo = Updates.deliveries().pipe(
 *   Deliveries.on("message_created"),
 *   Deliveries.mapEffect((update) => Messages.reply(update, update.message?.body?.text ?? "?"), { concurrency: 4 }),
 *   Deliveries.runDrain
 * )
 * ```
 *
 * **Example** (One pipeline for two bots)
 *
 * ```ts
 * import { type BotApi, Deliveries, Messages, Updates } from "@colloquy/core"
 * import { Stream } from "effect"
 *
 * type Bot = Updates.Source<Updates.SourceError, BotApi.BotApi>
 *
 * const program = (shop: Bot, support: Bot) =>
 *   Stream.merge(Updates.deliveries({ source: shop }), Updates.deliveries({ source: support })).pipe(
 *     Deliveries.on("message_created"),
 *     Deliveries.runForEach((update) => Messages.reply(update, "Thank you"))
 *   )
 * ```
 *
 * API: Events.
 *
 * @category running
 * @since 0.1.0
 */
export const deliveries = <R = never, From extends AnySource = never>(
  options: DeliveriesOptions<R, From> = {}
): Stream.Stream<Delivery<Update, ServicesOf<From>>, ErrorOf<From>, RequiredBy<NoInfer<R>, From>> =>
  downcast(
    Stream.unwrap(
      Effect.map(given(options.source), (source) =>
        deliveriesOf("Updates.deliveries", source, options, defaults.timeout)
      )
    )
  )

const runOf = <E, R, R2>(
  name: string,
  source: Given,
  handler: Handler<E, R>,
  options: RunOptions<R2, AnySource>
): Effect.Effect<void, unknown, R | R2> => {
  const { concurrency = defaults.concurrency, maxCrashes, maxInMemory, onDeadLetter } = options
  const timeout = options.timeout ?? defaults.timeout
  // Handlers settle their deliveries, and time out.
  const emitted = { maxCrashes, maxInMemory, onDeadLetter, maxUnsettled: concurrency, unsettledAfter: Infinity }
  const handled = deliveriesOf(name, source, emitted, timeout).pipe(
    Deliveries.runForEach((update: Update) => handler(update), { ...options, concurrency })
  )
  return Effect.andThen(
    rules.checkPositiveInteger(name, "concurrency", concurrency),
    handler.parts === undefined ? handled : whileRunning(handled, handler.parts, source.services)
  )
}

/**
 * Runs the source of the program, and handles its updates.
 *
 * - Each update is handled at least once: the update leaves the inbox when its handler has succeeded, or as a dead
 *   letter.
 * - Updates of one chat are handled one at a time, in order, also while an update is retried. Different chats do not wait
 *   for each other.
 * - An update that no handler takes counts as handled, and is counted by the metric `colloquy_updates_unhandled_total`. To react
 *   to such updates, pass a handler that takes every update as the last one to `Handler.first`.
 * - A handler that fails, dies or times out is retried by `retry`. After the last attempt, the update becomes a dead
 *   letter, and the next update of the chat is handled. Failures of handlers never end `run`.
 * - Calls that a handler makes have the priority `reply` in the rate limiter.
 * - When `run` is interrupted, the source is stopped, and running handlers are interrupted at `shutdownTimeout`. In a
 *   test with the emulator, handlers are interrupted at once: see {@link ImmediateShutdown}. Updates that are not
 *   handled stay in the inbox. `run` ends at most 5 seconds after `shutdownTimeout`, even if a handler cannot be
 *   interrupted or the store is unavailable.
 *
 * Ends when the source has ended and all its updates are handled. Fails with the error of the source if the source
 * cannot continue, after running handlers had their `shutdownTimeout`. Dies if `concurrency` or `maxInMemory` is not a
 * positive whole number, and with a defect of a fiber that the inbox, the rate limiter or the source runs in the
 * background.
 *
 * **Example** (A bot with two handlers)
 *
 * ```ts
 * import { Handler, Messages, Updates } from "@colloquy/core"
 *
 * const greet = Handler.on("bot_started", (update) => Messages.reply(update, `Hello, ${update.user.first_name}`))
 * const thank = Handler.on("message_created", (update) => Messages.reply(update, "Thank you"))
 *
 * const bot = Updates.run(Handler.first(greet, thank), { concurrency: 16 })
 * ```
 *
 * **Example** (Tell the user when a message could not be handled)
 *
 * ```ts
 * import { type Handler, Messages, Update, Updates } from "@colloquy/core"
 * import { Effect, Result } from "effect"
 *
 * const bot = <E, R>(handler: Handler.Handler<E, R>) =>
 *   Updates.run(handler, {
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
 * import { type BotApi, Handler, Messages, Updates } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * type Bot = Updates.Source<Updates.SourceError, BotApi.BotApi>
 *
 * const order = Handler.on("message_created", (update) => Messages.reply(update, "Your order is on its way"))
 * const help = Handler.on("message_created", (update) => Messages.reply(update, "How can I help?"))
 *
 * const program = (shop: Bot, support: Bot) =>
 *   Effect.all([Updates.run(order, { source: shop }), Updates.run(help, { source: support })], { concurrency: 2 })
 * ```
 *
 * API: Events.
 *
 * @category running
 * @since 0.1.0
 */
export const run = <E, R, R2 = never, From extends AnySource = never>(
  handler: Handler<E, R>,
  options: RunOptions<R2, From> = {}
): Effect.Effect<void, ErrorOf<From>, RequiredBy<R | NoInfer<R2>, From>> =>
  downcast(Effect.flatMap(given(options.source), (source) => runOf("Updates.run", source, handler, options)))

/**
 * Options of {@link drain}.
 *
 * @category models
 * @since 0.1.0
 */
export interface DrainOptions<R = never, From extends AnySource = never> extends RunOptions<R, From> {
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
 * - With {@link layer}, the stream runs to its end.
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
 * import { Handler, LongPolling, Messages, Updates } from "@colloquy/core"
 * import { NodeBot, NodeMain } from "@colloquy/node"
 * import { Effect, Layer } from "effect"
 *
 * const handler = Handler.on("message_created", (update) => Messages.reply(update, "Thank you"))
 *
 * const platform = LongPolling.layer().pipe(Layer.provideMerge(NodeBot.layerConfig()))
 *
 * export const main = () =>
 *   NodeMain.runMain(Effect.provide(Updates.drain(handler, { until: "50 seconds" }), platform))
 * ```
 *
 * **Example** (A function that handles the update of a request before responding)
 *
 * ```ts
 * import { Handler, Messages, Updates, Webhook } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const handler = Handler.on("message_created", (update) => Messages.reply(update, "Thank you"))
 *
 * const respond = Effect.gen(function* () {
 *   const receive = yield* Webhook.toWebHandler
 *   return Effect.fn(function* (request: Request) {
 *     const response = yield* Effect.promise(() => receive(request))
 *     yield* Updates.drain(handler, { until: "20 seconds" })
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
export const drain = <E, R, R2 = never, From extends AnySource = never>(
  handler: Handler<E, R>,
  { until = "empty", ...options }: DrainOptions<R2, From> = {}
): Effect.Effect<boolean, ErrorOf<From>, RequiredBy<R | NoInfer<R2>, From>> =>
  downcast(
    Effect.flatMap(given(options.source), ({ drain, inbox, services, source }) => {
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
      const run = runOf("Updates.drain", given, handler, options)
      const ended = until === "empty" ? Effect.asSome(run) : Effect.timeoutOption(run, until)
      return Effect.map(ended, (result) => Option.isSome(result) && isEmpty)
    })
  )

// The endpoint is in the module of its page, so that the endpoints do not depend on the inbox.
export { list, type ListRequest, UpdatesPage } from "../endpoints/UpdatesPage.ts"
