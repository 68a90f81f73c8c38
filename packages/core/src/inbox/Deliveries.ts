/**
 * Deliveries, which are updates in a stream with the duty to settle them, and operators on their streams. The operators
 * keep the acknowledgement with the element, so that an update leaves the inbox when its last step has succeeded.
 *
 * `Updates.deliveries` emits deliveries. A pipeline ends with {@link runForEach} or {@link runDrain}, or settles its
 * deliveries by itself.
 *
 * @since 0.1.0
 */
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import { isTupleOf } from "effect/Predicate"
import type * as Pull from "effect/Pull"
import type * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Types from "effect/Types"
import { isArrayNonEmpty, type NonEmptyReadonlyArray } from "effect/Array"
import type * as Handler from "./Handler.ts"
import * as rules from "../base/internal/rules.ts"
import * as grouped from "./internal/consumer/groupedWithin.ts"
import * as handleEach from "./internal/consumer/handleEach.ts"
import { contextOf } from "./internal/consumer/handling.ts"
import { whileRunning } from "./internal/handlers/current.ts"
import { narrow } from "./internal/handlers/narrow.ts"
import { drain } from "./internal/consumer/drain.ts"
import { defaultRetry } from "./internal/consumer/retry.ts"
import { branches, MappedDelivery, settleable, type TypeId } from "./internal/consumer/settlement.ts"
import type { StoreError } from "../base/StoreError.ts"
import type { Of, Update } from "../model/Update.ts"

/**
 * The services that a delivery provides to the effects that handle the delivery.
 *
 * @category models
 * @since 0.1.0
 */
export interface Variance<in Services> {
  readonly _Services: Types.Contravariant<Services>
}

/**
 * An update, or the value that a pipeline derived from an update, which stays in the inbox until the delivery is
 * settled by `ack` or `reject`.
 *
 * A delivery is settled once: later calls of `ack`, `retry` and `reject` do nothing. If another process has taken over
 * the chat of the delivery and handles the update again, these effects do nothing either. The effects may be run in any
 * fiber. Temporary failures of the store are retried until they succeed. `StoreError` means that the store refuses for
 * good, for example because a table does not exist; the delivery is then not settled.
 *
 * `Services` are provided to the effects that handle the delivery, for example the `BotApi` of the bot that received
 * the update: see the option `source` of `Updates.deliveries`.
 *
 * **Example** (Settle by hand)
 *
 * ```ts
 * import { Bot, Deliveries, Messages, type Update } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const answer = (delivery: Deliveries.Delivery<Update.Of<"bot_started">>) =>
 *   Messages.reply(delivery.value, "Hello").pipe(
 *     Effect.andThen(delivery.ack),
 *     Effect.catchCause((cause) =>
 *       delivery.attempt < 3 ? delivery.retry({ after: "5 seconds" }) : delivery.reject(cause)
 *     )
 *   )
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export interface Delivery<out A = Update, in Services = never> {
  readonly [TypeId]: Variance<Services>
  /** The update, or the value that a pipeline derived from the update. */
  readonly value: A
  /**
   * The number of the attempt, beginning with 1. The number continues after a restart, and counts attempts that were
   * interrupted or whose process died. The number of a group is the highest number of its updates.
   */
  readonly attempt: number
  /** Acknowledges the delivery: its update leaves the inbox. */
  readonly ack: Effect.Effect<void, StoreError>
  /**
   * Emits the delivery again, with the next attempt, after a duration. Default: at once. Later updates of the chat wait if
   * `perChat` is 1. While the stream is closing, the update stays in the inbox.
   */
  readonly retry: (options?: { readonly after?: Duration.Input | undefined }) => Effect.Effect<void, StoreError>
  /** Makes the update a dead letter with this cause. */
  readonly reject: (cause: Cause.Cause<unknown>) => Effect.Effect<void, StoreError>
}

type Deliveries<A, S, E, R> = Stream.Stream<Delivery<A, S>, E, R>

const derive = <B, S>(delivery: Delivery<unknown, S>, value: B): Delivery<B, S> => new MappedDelivery(delivery, value)

/**
 * Transforms the values. The delivery stays the same.
 *
 * **Example** (The texts of messages)
 *
 * ```ts
 * import { Deliveries, Update, Updates } from "@colloquy/core"
 *
 * const texts = Updates.deliveries().pipe(Deliveries.map((update) => Update.textOf(update) ?? ""))
 * ```
 *
 * @category mapping
 * @since 0.1.0
 */
export const map: {
  <A, B>(f: (value: A) => B): <S, E, R>(self: Deliveries<A, S, E, R>) => Deliveries<B, S, E, R>
  <A, S, E, R, B>(self: Deliveries<A, S, E, R>, f: (value: A) => B): Deliveries<B, S, E, R>
} = dual(2, <A, S, E, R, B>(self: Deliveries<A, S, E, R>, f: (value: A) => B): Deliveries<B, S, E, R> =>
  Stream.map(self, (delivery) => derive(delivery, f(delivery.value)))
)

/** Keeps the deliveries for which `f` returns a delivery. The others are acknowledged in one write for each array. */
const filterMap = <A, S, E, R, B>(
  self: Deliveries<A, S, E, R>,
  f: (delivery: Delivery<A, S>) => Delivery<B, S> | undefined
): Deliveries<B, S, E, R> =>
  Stream.transformPull(self, (pull) => {
    const next: Pull.Pull<NonEmptyReadonlyArray<Delivery<B, S>>, E> = Effect.flatMap(pull, (array) => {
      const kept: Array<Delivery<B, S>> = []
      const dropped: Array<Delivery<A, S>> = []
      for (const delivery of array) {
        const taken = f(delivery)
        if (taken === undefined) dropped.push(delivery)
        else kept.push(taken)
      }
      const emitted = isArrayNonEmpty(kept) ? Effect.succeed(kept) : next
      return dropped.length === 0 ? emitted : Effect.andThen(drain(dropped), emitted)
    })
    return Effect.succeed(next)
  })

/**
 * Keeps the deliveries whose value satisfies the predicate. The others are acknowledged.
 *
 * **Example** (Updates of one chat)
 *
 * ```ts
 * import { Deliveries, type Recipient, Update, Updates } from "@colloquy/core"
 *
 * const ofChat = (chat_id: Recipient.ChatId) =>
 *   Updates.deliveries().pipe(Deliveries.filter((update) => Update.chatOf(update) === chat_id))
 * ```
 *
 * @category filtering
 * @since 0.1.0
 */
export const filter: {
  <A, B extends A>(
    refinement: (value: A) => value is B
  ): <S, E, R>(self: Deliveries<A, S, E, R>) => Deliveries<B, S, E, R>
  <A>(predicate: (value: NoInfer<A>) => boolean): <S, E, R>(self: Deliveries<A, S, E, R>) => Deliveries<A, S, E, R>
  <A, S, E, R, B extends A>(self: Deliveries<A, S, E, R>, refinement: (value: A) => value is B): Deliveries<B, S, E, R>
  <A, S, E, R>(self: Deliveries<A, S, E, R>, predicate: (value: A) => boolean): Deliveries<A, S, E, R>
} = dual(2, <A, S, E, R>(self: Deliveries<A, S, E, R>, predicate: (value: A) => boolean): Deliveries<A, S, E, R> =>
  filterMap(self, (delivery) => (predicate(delivery.value) ? delivery : undefined))
)

/**
 * Keeps the updates of one type or of several types, and narrows them. The others are acknowledged. Comments that the
 * platform sends as messages are treated as by `Handler.on`.
 *
 * **Example** (Greet everybody who starts the bot)
 *
 * ```ts
 * import { Deliveries, Messages, Updates } from "@colloquy/core"
 *
 * const greet = Updates.deliveries().pipe(
 *   Deliveries.on("bot_started"),
 *   Deliveries.runForEach((update) => Messages.reply(update, `Hello, ${update.user.first_name}`))
 * )
 * ```
 *
 * API: Events.
 *
 * @category filtering
 * @since 0.1.0
 */
export const on: {
  <const Type extends Update["update_type"]>(
    types: Type | ReadonlyArray<Type>
  ): <S, E, R>(self: Deliveries<Update, S, E, R>) => Deliveries<Of<Type>, S, E, R>
  <S, E, R, const Type extends Update["update_type"]>(
    self: Deliveries<Update, S, E, R>,
    types: Type | ReadonlyArray<Type>
  ): Deliveries<Of<Type>, S, E, R>
} = dual(
  2,
  <S, E, R, Type extends Update["update_type"]>(
    self: Deliveries<Update, S, E, R>,
    types: Type | ReadonlyArray<Type>
  ): Deliveries<Update, S, E, R> => {
    const narrowed = narrow(types)
    return filterMap(self, (delivery) => {
      const update = narrowed(delivery.value)
      if (update === undefined) return undefined
      return update === delivery.value ? delivery : derive(delivery, update)
    })
  }
)

/**
 * How effects are run for deliveries.
 *
 * @category models
 * @since 0.1.0
 */
export interface HandleOptions {
  /** Maximum number of effects that run concurrently. Default: 64. */
  readonly concurrency?: number | undefined
  /**
   * When to retry an effect that failed. Its input is the cause of the failure. The delivery is emitted again after the
   * delay, with the next attempt, and the schedule starts again after a restart. Default: after 2, 4, 8, 16 and 32 seconds,
   * except for errors that are permanent: refusals of the platform, such as `Forbidden` and `NotFound`, calls, uploads and
   * stores that fail with `isRetryable: false`, and errors and defects that are marked by `PermanentError`, such as
   * `InvalidArguments`. A `StoreError` of the inbox does not reach the schedule: the attempt begins again until the inbox works.
   */
  readonly retry?: Schedule.Schedule<unknown, Cause.Cause<unknown>> | undefined
  /** Maximum duration of an attempt. An attempt that times out has failed. Default: 1 minute. */
  readonly timeout?: Duration.Input | undefined
}

/**
 * Options of {@link runForEach}.
 *
 * @category models
 * @since 0.1.0
 */
export interface RunForEachOptions extends HandleOptions {
  /** How long running handlers may continue when the program stops, before they are interrupted. Default: 10 seconds. */
  readonly shutdownTimeout?: Duration.Input | undefined
}

/**
 * Whether {@link runForEach} and `Bot.run` interrupt their handlers immediately when they stop, and ignore
 * `shutdownTimeout`. The layers of `@colloquy/testing` set this reference, because virtual time does not advance while
 * a test ends. A broadcast then waits for its requests in flight for at most 50 milliseconds of real time. Default: `false`.
 *
 * **Example** (Test the shutdown of a bot with the emulator)
 *
 * ```ts
 * import { Deliveries } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const slowly = <E, R>(bot: Effect.Effect<void, E, R>) => Effect.provideService(bot, Deliveries.ImmediateShutdown, false)
 * ```
 *
 * @category references
 * @since 0.1.0
 */
export const ImmediateShutdown = Context.Reference<boolean>("@colloquy/core/Deliveries/ImmediateShutdown", {
  defaultValue: () => false
})

const defaults = { concurrency: 64, timeout: "1 minute", shutdownTimeout: "10 seconds", capacity: 16 } as const

const toOptions = ({
  concurrency = defaults.concurrency,
  retry = defaultRetry,
  timeout = defaults.timeout
}: HandleOptions) => ({ concurrency, retry, timeout: Duration.fromInputUnsafe(timeout) })

/**
 * Applies an effect to each value, concurrently, and emits deliveries of the results as the effects succeed: results of
 * different chats in any order, and results of one chat in order if `perChat` is 1.
 *
 * An effect that fails, dies or times out is retried by `retry`. After the last attempt, the update becomes a dead
 * letter. The stream never fails because of the effect. The effect runs in the context of its delivery, as
 * {@link provide} describes. When the stream is closed, running effects are interrupted, and their updates stay in the
 * inbox.
 *
 * Dies if `concurrency` is not a positive whole number.
 *
 * **Example** (Classify messages, and store the results in batches)
 *
 * ```ts
 * import { Deliveries, Update, Updates } from "@colloquy/core"
 * import type { Effect } from "effect"
 *
 * const pipeline = <E, E2>(
 *   classify: (text: string) => Effect.Effect<string, E>,
 *   insert: (rows: ReadonlyArray<string>) => Effect.Effect<void, E2>
 * ) =>
 *   Updates.deliveries({ perChat: "unbounded" }).pipe(
 *     Deliveries.on("message_created"),
 *     Deliveries.mapEffect((update) => classify(Update.textOf(update) ?? ""), { concurrency: 16 }),
 *     Deliveries.groupedWithin(500, "1 second"),
 *     Deliveries.runForEach(insert)
 *   )
 * ```
 *
 * @category mapping
 * @since 0.1.0
 */
export const mapEffect: {
  <A, B, E2, R2>(
    f: (value: A) => Effect.Effect<B, E2, R2>,
    options?: HandleOptions
  ): <S, E, R>(self: Deliveries<A, S, E, R>) => Deliveries<B, S, E, R | Exclude<R2, S>>
  <A, S, E, R, B, E2, R2>(
    self: Deliveries<A, S, E, R>,
    f: (value: A) => Effect.Effect<B, E2, R2>,
    options?: HandleOptions
  ): Deliveries<B, S, E, R | Exclude<R2, S>>
} = dual(
  (args) => Stream.isStream(args[0]),
  <A, S, E, R, B, E2, R2>(
    self: Deliveries<A, S, E, R>,
    f: (value: A) => Effect.Effect<B, E2, R2>,
    options: HandleOptions = {}
  ): Deliveries<B, S, E, R | Exclude<R2, S>> => {
    const all = toOptions(options)
    const checked = rules.checkPositiveInteger("Deliveries.mapEffect", "concurrency", all.concurrency)
    const mapped = handleEach.mapEffect<A, E, R, B, E2, R2>(self, f, all)
    return Stream.unwrap(Effect.as(checked, mapped)) as Deliveries<B, S, E, R | Exclude<R2, S>>
  }
)

/**
 * Groups several deliveries into one: at most `size` deliveries, or the deliveries that arrive within `duration` after
 * the first. A group is settled in one write to the inbox. `retry` emits each delivery of the group again, and `reject`
 * makes each update of the group a dead letter.
 *
 * With `perChat: 1`, a group has at most one update of each chat. Larger groups need a greater `perChat`, for example
 * `"unbounded"`. An update whose process died during its handling is a group by itself, which is emitted at once.
 *
 * Dies if `size` is not a positive whole number.
 *
 * **Example** (Batches of rows)
 *
 * ```ts
 * import { Deliveries, QueuedUpdate, Updates } from "@colloquy/core"
 * import type { Effect } from "effect"
 *
 * const sink = <E>(upsert: (rows: ReadonlyArray<{ readonly id: string; readonly type: string }>) => Effect.Effect<void, E>) =>
 *   Updates.deliveries({ perChat: "unbounded" }).pipe(
 *     Deliveries.map((update) => ({ id: QueuedUpdate.fingerprintOf(update), type: update.update_type })),
 *     Deliveries.groupedWithin(500, "1 second"),
 *     Deliveries.runForEach(upsert)
 *   )
 * ```
 *
 * @category grouping
 * @since 0.1.0
 */
export const groupedWithin: {
  (
    size: number,
    duration: Duration.Input
  ): <A, S, E, R>(self: Deliveries<A, S, E, R>) => Deliveries<NonEmptyReadonlyArray<A>, S, E, R>
  <A, S, E, R>(
    self: Deliveries<A, S, E, R>,
    size: number,
    duration: Duration.Input
  ): Deliveries<NonEmptyReadonlyArray<A>, S, E, R>
} = dual(
  3,
  <A, S, E, R>(
    self: Deliveries<A, S, E, R>,
    size: number,
    duration: Duration.Input
  ): Deliveries<NonEmptyReadonlyArray<A>, S, E, R> => {
    const groups = grouped.groupedWithin(self, size, Duration.fromInputUnsafe(duration))
    const checked = rules.checkPositiveInteger("Deliveries.groupedWithin", "size", size)
    return Stream.unwrap(Effect.as(checked, groups))
  }
)

/**
 * Divides a stream into `n` streams that each emit every delivery. A delivery is settled when all branches have settled
 * it: acknowledged if all branches acknowledged it, rejected if a branch rejected it, and otherwise retried, in all
 * branches.
 *
 * The source starts when all branches are running, and waits for the slowest one. A branch that ends early must not leave
 * deliveries unsettled: see `Updates.deliveries`.
 *
 * **Example** (Answer, and write an audit log)
 *
 * ```ts
 * import { Deliveries, Messages, type Update, Updates } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const program = <E>(audit: (update: Update.Update) => Effect.Effect<void, E>) =>
 *   Effect.gen(function* () {
 *     const [answers, log] = yield* Deliveries.broadcast(Updates.deliveries(), { n: 2 })
 *     const answer = answers.pipe(
 *       Deliveries.on("message_created"),
 *       Deliveries.runForEach((update) => Messages.reply(update, "Thank you"))
 *     )
 *     yield* Effect.all([answer, Deliveries.runForEach(log, audit)], { concurrency: "unbounded" })
 *   }).pipe(Effect.scoped)
 * ```
 *
 * @category broadcasting
 * @since 0.1.0
 */
export const broadcast: {
  <const N extends number>(
    options: BroadcastOptions<N>
  ): <A, S, E, R>(
    self: Deliveries<A, S, E, R>
  ) => Effect.Effect<Types.TupleOf<N, Deliveries<A, S, E, never>>, never, R | Scope.Scope>
  <A, S, E, R, const N extends number>(
    self: Deliveries<A, S, E, R>,
    options: BroadcastOptions<N>
  ): Effect.Effect<Types.TupleOf<N, Deliveries<A, S, E, never>>, never, R | Scope.Scope>
} = dual(
  2,
  <A, S, E, R, const N extends number>(
    self: Deliveries<A, S, E, R>,
    { capacity = defaults.capacity, n }: BroadcastOptions<N>
  ): Effect.Effect<Types.TupleOf<N, Deliveries<A, S, E, never>>, never, R | Scope.Scope> =>
    Effect.flatMap(
      Stream.broadcastN(
        Stream.map(self, (delivery) => branches(delivery, n)),
        { n, capacity }
      ),
      (copies: ReadonlyArray<Stream.Stream<ReadonlyArray<Delivery<A, S>>, E>>) => {
        const streams = copies.map((copy, index) => Stream.map(copy, (branch) => branch[index]!))
        return isTupleOf(streams, n)
          ? Effect.succeed(streams)
          : Effect.die(new RangeError(`Deliveries.broadcast: the option \`n\` must be a whole number, but is ${n}`))
      }
    )
)

/**
 * Options of {@link broadcast}.
 *
 * @category models
 * @since 0.1.0
 */
export interface BroadcastOptions<N extends number> {
  /** Number of branches. */
  readonly n: N
  /** By how many arrays of deliveries the fastest branch may be ahead of the slowest. Default: 16. */
  readonly capacity?: number | undefined
}

/**
 * Runs a second pipeline beside a stream. A delivery is settled when the stream and the second pipeline have settled
 * it, as with {@link broadcast}. If the second pipeline fails, so does the stream.
 *
 * **Example** (An audit log beside the answers)
 *
 * ```ts
 * import { Deliveries, Messages, type Update, Updates } from "@colloquy/core"
 * import type { Effect } from "effect"
 *
 * const program = <E>(audit: (updates: ReadonlyArray<Update.Update>) => Effect.Effect<void, E>) =>
 *   Updates.deliveries().pipe(
 *     Deliveries.tee((log) => log.pipe(Deliveries.groupedWithin(100, "1 second"), Deliveries.runForEach(audit))),
 *     Deliveries.on("message_created"),
 *     Deliveries.runForEach((update) => Messages.reply(update, "Thank you"))
 *   )
 * ```
 *
 * @category broadcasting
 * @since 0.1.0
 */
export const tee: {
  <A, S, E, E2, R2>(
    branch: (deliveries: Deliveries<A, S, E, never>) => Effect.Effect<unknown, E2, R2>
  ): <R>(self: Deliveries<A, S, E, R>) => Deliveries<A, S, E | E2, R | R2>
  <A, S, E, R, E2, R2>(
    self: Deliveries<A, S, E, R>,
    branch: (deliveries: Deliveries<A, S, E, never>) => Effect.Effect<unknown, E2, R2>
  ): Deliveries<A, S, E | E2, R | R2>
} = dual(
  2,
  <A, S, E, R, E2, R2>(
    self: Deliveries<A, S, E, R>,
    branch: (deliveries: Deliveries<A, S, E, never>) => Effect.Effect<unknown, E2, R2>
  ): Deliveries<A, S, E | E2, R | R2> =>
    Stream.unwrap(
      Effect.map(broadcast(self, { n: 2 }), ([main, second]) =>
        Stream.merge(main, Stream.fromEffectDrain(branch(second)))
      )
    )
)

/**
 * Runs an effect in the context of a delivery, for pipelines that use the operators of `Stream`. The other operators of
 * this module provide the same context. `provide` does not settle the delivery.
 *
 * - Calls are made by the bot that received the update. The calls have the priority `reply` in the rate limiter, and
 *   answers to callbacks count for the chat of the update.
 * - `Handler.CurrentAttempt` is the attempt of the delivery.
 * - If other processes use the inbox, no request is sent after this process has lost the chat, and the effect is interrupted.
 *
 * **Example** (Moderation with the state of each chat)
 *
 * ```ts
 * import { Deliveries, Messages, Update, Updates } from "@colloquy/core"
 * import { Effect, Stream } from "effect"
 *
 * const moderate = Updates.deliveries().pipe(
 *   Deliveries.on("message_created"),
 *   Stream.groupByKey(({ value }) => Update.chatOf(value)),
 *   Stream.flatMap(
 *     ([, ofChat]) =>
 *       ofChat.pipe(
 *         Stream.mapAccum(
 *           () => 0,
 *           (count, delivery) => [count + 1, [{ delivery, count }]] as const
 *         ),
 *         Stream.mapEffect(({ count, delivery }) =>
 *           (count === 10 ? Messages.reply(delivery.value, "Slow down, please") : Effect.void).pipe(
 *             Deliveries.provide(delivery),
 *             Effect.andThen(delivery.ack)
 *           )
 *         )
 *       ),
 *     { concurrency: "unbounded" }
 *   ),
 *   Stream.runDrain
 * )
 * ```
 *
 * @category running
 * @since 0.1.0
 */
export const provide: {
  <S>(delivery: Delivery<unknown, S>): <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, Exclude<R, S>>
  <A, E, R, S>(effect: Effect.Effect<A, E, R>, delivery: Delivery<unknown, S>): Effect.Effect<A, E, Exclude<R, S>>
} = dual(
  2,
  <A, E, R, S>(effect: Effect.Effect<A, E, R>, delivery: Delivery<unknown, S>): Effect.Effect<A, E, Exclude<R, S>> => {
    const settled = settleable(delivery)
    const provided = Effect.updateContext(effect, (context: Context.Context<Exclude<R, S>>) =>
      contextOf<R, S>(context, settled)
    )
    return handleEach.whileHeld(provided, settled.updates)
  }
)

/**
 * Runs a handler for each delivery, concurrently, and acknowledges the deliveries whose handler has succeeded.
 *
 * - An update that the handler declines counts as handled, as in `Bot.run`.
 * - A handler that fails, dies or times out is retried by `retry`. After the last attempt, the update becomes a dead letter.
 * - Handlers run in the context of their delivery, as {@link provide} describes.
 * - When the effect is interrupted, the sources of its deliveries are stopped, running handlers have until
 *   `shutdownTimeout`, and all other deliveries stay in the inbox. The effect ends at most 5 seconds after
 *   `shutdownTimeout` if a handler cannot be interrupted or the store is unavailable, and at most 10 seconds after
 *   `shutdownTimeout` if both problems occur.
 *
 * Ends when the stream has ended and all deliveries are handled. Fails with the error of the stream, after running handlers
 * had their `shutdownTimeout`. Dies if `concurrency` is not a positive whole number.
 *
 * **Example** (The pipeline of `Bot.run`)
 *
 * ```ts
 * import { Deliveries, Handler, Messages, Updates } from "@colloquy/core"
 *
 * const greet = Handler.on("bot_started", (update) => Messages.reply(update, "Hello"))
 *
 * const bot = Updates.deliveries({ maxUnsettled: 64 }).pipe(Deliveries.runForEach(greet, { concurrency: 64 }))
 * ```
 *
 * @category running
 * @since 0.1.0
 */
export const runForEach: {
  <A, E2, R2>(
    handler: (value: A) => Handler.Return<E2, R2>,
    options?: RunForEachOptions
  ): <S, E, R>(self: Deliveries<A, S, E, R>) => Effect.Effect<void, E, R | Exclude<R2, S>>
  <A, S, E, R, E2, R2>(
    self: Deliveries<A, S, E, R>,
    handler: (value: A) => Handler.Return<E2, R2>,
    options?: RunForEachOptions
  ): Effect.Effect<void, E, R | Exclude<R2, S>>
} = dual(
  (args) => Stream.isStream(args[0]),
  <A, S, E, R, E2, R2>(
    self: Deliveries<A, S, E, R>,
    handler: (value: A) => Handler.Return<E2, R2>,
    options: RunForEachOptions = {}
  ): Effect.Effect<void, E, R | Exclude<R2, S>> =>
    Effect.gen(function* () {
      const all = toOptions(options)
      yield* rules.checkPositiveInteger("Deliveries.runForEach", "concurrency", all.concurrency)
      const shutdownTimeout = (yield* ImmediateShutdown)
        ? undefined
        : Duration.fromInputUnsafe(options.shutdownTimeout ?? defaults.shutdownTimeout)
      const { parts } = handler as Handler.Handler<E2, never, A>
      const handled = handleEach.runForEach<A, E, R, E2, Exclude<R2, S>>(
        self,
        handler as Handler.Handler<E2, never, A>,
        { ...all, shutdownTimeout }
      )
      yield* parts === undefined ? handled : whileRunning(handled, parts)
    })
)

/**
 * Acknowledges every delivery: one write for each array. The end of a pipeline whose last step is {@link mapEffect}.
 *
 * @category running
 * @since 0.1.0
 */
export const runDrain = <A, S, E, R>(self: Deliveries<A, S, E, R>): Effect.Effect<void, E, R> =>
  Stream.runForEachArray(self, drain)
