/**
 * Handles the updates of a bot: `Bot.run` with the parts of a bot, or `Updates.deliveries` as a stream. The updates come from the
 * inbox, which a source writes to: `LongPolling`, `Webhook`, or a stream of your own with `Updates.layer`.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Delivery } from "./Deliveries.ts"
import { downcast } from "../base/internal/downcast.ts"
import type * as Endpoint from "../client/Endpoint.ts"
import { deliveriesOf, given } from "./internal/consumer/running.ts"
import { Inbox } from "./Inbox.ts"
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
  /**
   * The stream is pulled until this many updates are queued in the inbox, and again when at most half of them are left.
   * Default: 1000.
   */
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
 * import { Bot, type Update, Updates } from "@colloquy/core"
 * import { Effect, type Stream } from "effect"
 *
 * const countTypes = <E>(lines: Stream.Stream<string, E>) =>
 *   Effect.gen(function* () {
 *     const counts = new Map<string, number>()
 *     const source = yield* Updates.make(lines)
 *     const count = ({ update_type }: Update.Update) =>
 *       Effect.sync(() => void counts.set(update_type, (counts.get(update_type) ?? 0) + 1))
 *     yield* Bot.run(count, { source })
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
 * import { Bot, Inbox, Updates } from "@colloquy/core"
 * import { Effect, Layer, Stream } from "effect"
 *
 * const updates = <E>(lines: Stream.Stream<string, E>) =>
 *   Updates.layer(lines).pipe(Layer.provideMerge(Inbox.layerMemory()))
 *
 * const replay = <E>(lines: Stream.Stream<string, E>) =>
 *   Bot.run((update) => Effect.log(update.update_type)).pipe(Effect.provide(updates(lines)))
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
 * import { Bot, Handler, Inbox, LongPolling, Messages, Updates } from "@colloquy/core"
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
 *   const bots = [Bot.run(reply, { source: shop }), Bot.run(reply, { source: support })]
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

/**
 * A source as the type of the option `source`. Without the option, the type is `never`.
 *
 * @category models
 * @since 0.1.0
 */
export type AnySource = Source<unknown, never>

/**
 * The errors of a source, or of the source of the program.
 *
 * @category utility types
 * @since 0.1.0
 */
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

/**
 * The services that a program requires whose effects require `R`, without the services of its source.
 *
 * @category utility types
 * @since 0.1.0
 */
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
   * `Bot.run`. If the effect fails, the failure is logged, and the update becomes a dead letter nevertheless. If
   * the process is killed, the effect can run twice for an update. The effect does not run for received updates that
   * cannot be decoded. Default: no effect runs.
   */
  readonly onDeadLetter?: ((deadLetter: DeadLetter) => Effect.Effect<unknown, unknown, R>) | undefined
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
      Effect.map(given(options.source, Updates), (source) => deliveriesOf("Updates.deliveries", source, options))
    )
  )

// The endpoint is in the module of its page, so that the endpoints do not depend on the inbox.
export { list, type ListRequest, UpdatesPage } from "../endpoints/UpdatesPage.ts"
