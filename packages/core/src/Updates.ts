/**
 * Handles the updates of a bot: `Updates.run` with handlers, or `Updates.stream` as a stream. The updates come from the
 * inbox, which `LongPolling` or `Webhook` writes to.
 *
 * @since 0.1.0
 */
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Getter from "effect/SchemaGetter"
import * as Stream from "effect/Stream"
import * as ApiError from "./ApiError.ts"
import * as Endpoint from "./Endpoint.ts"
import type { Handler } from "./Handler.ts"
import type { Inbox } from "./Inbox.ts"
import * as consumer from "./internal/updates/consumer.ts"
import * as rules from "./internal/client/rules.ts"
import { Int64, nullish } from "./internal/client/wire.ts"
import * as Platform from "./Platform.ts"
import type { DeadLetter } from "./QueuedUpdate.ts"
import { decodeReceived, encode, type MalformedUpdate, Update } from "./Update.ts"

const UpdateResult: Schema.Codec<Result.Result<Update, MalformedUpdate>, unknown> = Schema.Unknown.pipe(
  Schema.decodeTo(
    Schema.declare((u): u is Result.Result<Update, MalformedUpdate> => Result.isResult(u), { wire: Update }),
    {
      decode: Getter.transform(decodeReceived),
      encode: Getter.transform(Result.match({ onSuccess: encode, onFailure: ({ raw }): unknown => raw }))
    }
  )
)

/**
 * A page of updates. Each update is decoded by itself, so a malformed update is a failure in the list and does not affect
 * the others.
 *
 * @assumption listUpdates
 * @category models
 * @since 0.1.0
 */
export const UpdatesPage = Schema.Struct({ updates: Schema.Array(UpdateResult), marker: nullish(Int64) })

/**
 * A page of updates. Passing its `marker` to the next call acknowledges its updates.
 *
 * @category models
 * @since 0.1.0
 */
export interface UpdatesPage extends Schema.Schema.Type<typeof UpdatesPage> {}

/**
 * What {@link list} accepts.
 *
 * @category models
 * @since 0.1.0
 */
export interface ListRequest {
  /** Maximum number of updates, 1 to 1000. Default: 100. */
  readonly limit?: number | undefined
  /** How long the platform waits for an update if there is none, in seconds, 0 to 90. Default: 30. */
  readonly timeout?: number | undefined
  /** The marker of the page before, which acknowledges its updates. Default: the platform chooses the position. */
  readonly marker?: bigint | null | undefined
  /** The types of the updates to return. Default: all types. */
  readonly types?: ReadonlyArray<string> | undefined
}

/**
 * Returns a page of updates, and waits for an update if there is none. This is a single request: `LongPolling.layer`
 * receives updates continuously.
 *
 * Long polling is for development: the platform allows 2 requests per second and keeps updates for 24 hours. Without a
 * marker, the page may contain only the latest update.
 *
 * Fails with `MethodNotAllowed` while the bot has a webhook subscription.
 *
 * **Example** (The new messages, without waiting)
 *
 * ```ts
 * import { Updates } from "@colloquy/core"
 *
 * const page = Updates.list({ timeout: 0, types: ["message_created"] })
 * ```
 *
 * API: Endpoints, Other operations (GET /updates); Events.
 *
 * @category endpoints
 * @since 0.1.0
 */
export const list: Endpoint.Endpoint<ListRequest, UpdatesPage, ApiError.MethodNotAllowed> = Endpoint.make(
  "Updates.list",
  () => ({
    method: "GET",
    path: "/updates",
    query: {
      limit: Schema.optional(rules.between(1, Platform.updatesPage)),
      timeout: Schema.optional(rules.between(0, Platform.longPollTimeout)),
      marker: Schema.optional(Schema.NullOr(Int64)),
      types: Schema.optional(rules.list(Schema.String, 1))
    },
    success: UpdatesPage,
    errors: [ApiError.MethodNotAllowed],
    limit: () => ({ scope: "polling", key: "updates" }),
    longPoll: ({ timeout = Platform.longPollTimeout.default }) => Duration.seconds(timeout)
  })
)

/**
 * The errors of a source that cannot continue.
 *
 * @category errors
 * @since 0.1.0
 */
export type SourceError = Endpoint.Errors<typeof list>

/**
 * The source of updates of a bot, and the inbox that it writes to. `LongPolling.layer` and `Webhook.layer` provide it. A
 * program has one source, because it provides this service once.
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
     * Writes updates to the inbox while it runs. Ends when there are no more updates, and fails when the source cannot
     * continue.
     */
    readonly source: Effect.Effect<void, SourceError>
  }
>()("@colloquy/core/Updates") {}

/**
 * What {@link run} accepts.
 *
 * @category models
 * @since 0.1.0
 */
export interface RunOptions<R = never> {
  /** Maximum number of handlers that run concurrently. Default: 64. */
  readonly concurrency?: number | undefined
  /** Maximum number of updates in memory, including those that are being handled. Default: 1000. */
  readonly maxInMemory?: number | undefined
  /**
   * When to retry a handler that failed. Its input is the cause of the failure. While an update is retried, later updates
   * of its chat wait. Default: after 2, 4, 8, 16 and 32 seconds, except for errors that are permanent: refusals of the
   * platform, such as `Forbidden` and `NotFound`, calls, uploads and stores that fail with `isRetryable: false`, and errors
   * that are marked by `PermanentError`, such as `InvalidArguments`.
   */
  readonly retry?: Schedule.Schedule<unknown, Cause.Cause<unknown>> | undefined
  /** Maximum duration of an attempt. An attempt that times out has failed. Default: 1 minute. */
  readonly timeout?: Duration.Input | undefined
  /** How long running handlers may continue when the program stops, before they are interrupted. Default: 10 seconds. */
  readonly shutdownTimeout?: Duration.Input | undefined
  /**
   * Runs before an update becomes a dead letter, for example to notify the user or an operator. Its calls have the priority
   * `reply`. The next update of the chat waits for it, for at most `timeout`. If it fails, the failure is logged, and the
   * update becomes a dead letter nevertheless. If the process is killed, it can run twice for an update. It does not run for
   * updates that cannot be decoded when they are received. Default: nothing runs.
   */
  readonly onDeadLetter?: ((deadLetter: DeadLetter) => Effect.Effect<unknown, unknown, R>) | undefined
}

/**
 * Whether {@link run} interrupts its handlers immediately when it stops, and ignores `shutdownTimeout`. The layers of
 * `@colloquy/testing` set it, because virtual time does not advance while a test ends. Default: `false`.
 *
 * **Example** (Test the shutdown of a bot with the emulator)
 *
 * ```ts
 * import { Updates } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const slowly = <E, R>(bot: Effect.Effect<void, E, R>) => Effect.provideService(bot, Updates.ImmediateShutdown, false)
 * ```
 *
 * @category references
 * @since 0.1.0
 */
export const ImmediateShutdown = Context.Reference<boolean>("@colloquy/core/Updates/ImmediateShutdown", {
  defaultValue: () => false
})

const defaults = { concurrency: 64, maxInMemory: 1000, timeout: "1 minute", shutdownTimeout: "10 seconds" } as const

/**
 * Runs the source of the program, and handles its updates.
 *
 * - Each update is handled at least once: it leaves the inbox when its handler has succeeded, or as a dead letter.
 * - Updates of one chat are handled one at a time, in order, also while an update is retried. Different chats do not wait
 *   for each other.
 * - An update that no handler takes counts as handled, and is counted by the metric `colloquy_updates_unhandled_total`. To react
 *   to such updates, pass a handler that takes every update as the last one to `Handler.first`.
 * - A handler that fails, dies or times out is retried by `retry`. After the last attempt, the update becomes a dead
 *   letter, and the next update of the chat is handled. Failures of handlers never end `run`.
 * - Calls that a handler makes have the priority `reply` in the rate limiter.
 * - When `run` is interrupted, it stops the source, waits for running handlers until `shutdownTimeout`, and interrupts
 *   them. In a test with the emulator it interrupts them at once: see {@link ImmediateShutdown}. Updates that are not handled stay in the inbox. It ends at most 5 seconds after `shutdownTimeout`, even if a
 *   handler cannot be interrupted or the store is unavailable.
 *
 * Ends when the source has ended and all its updates are handled. Fails with the error of the source if the source cannot
 * continue, after running handlers had their `shutdownTimeout`. Dies if `concurrency` or `maxInMemory` is not a positive
 * whole number.
 *
 * **Example** (A bot with two handlers)
 *
 * ```ts
 * import { Handler, Messages, Updates } from "@colloquy/core"
 *
 * const greet = Updates.on("bot_started", (update) => Messages.reply(update, `Hello, ${update.user.first_name}`))
 * const thank = Updates.on("message_created", (update) => Messages.reply(update, "Thank you"))
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
 * API: Events.
 *
 * @category running
 * @since 0.1.0
 */
export const run: <E, R, R2 = never>(
  handler: Handler<E, R>,
  options?: RunOptions<R2>
) => Effect.Effect<void, SourceError, R | R2 | Updates> = Effect.fnUntraced(function* <E, R, R2 = never>(
  handler: Handler<E, R>,
  options: RunOptions<R2> = {}
) {
  const { concurrency = defaults.concurrency, maxInMemory = defaults.maxInMemory } = options
  yield* rules.checkPositiveInteger("Updates.run", "concurrency", concurrency)
  yield* rules.checkPositiveInteger("Updates.run", "maxInMemory", maxInMemory)
  const { inbox, source } = yield* Updates
  return yield* consumer.run<E, R | R2, SourceError>(inbox, source, {
    handler,
    onDeadLetter: options.onDeadLetter,
    concurrency,
    maxInMemory,
    retry: options.retry ?? consumer.defaultRetry,
    timeout: Duration.fromInputUnsafe(options.timeout ?? defaults.timeout),
    shutdownTimeout: (yield* ImmediateShutdown)
      ? undefined
      : Duration.fromInputUnsafe(options.shutdownTimeout ?? defaults.shutdownTimeout)
  })
})

/**
 * A stream of the updates of the bot, one at a time, the oldest first. It is an alternative to {@link run}.
 *
 * An update is acknowledged when the next one is requested, so an update that is being handled when the program stops is
 * emitted again after the restart. This holds only for consumers that handle one update at a time. With concurrency
 * (`Stream.mapEffect`) or a buffer, updates are acknowledged before they are handled: use {@link run} instead.
 *
 * **Example** (An echo bot)
 *
 * ```ts
 * import { Messages, Updates } from "@colloquy/core"
 * import { Effect, Stream } from "effect"
 *
 * const echo = Updates.stream.pipe(
 *   Stream.filter((update) => update.update_type === "message_created"),
 *   Stream.runForEach(({ message }) =>
 *     message?.recipient.chat_id == null
 *       ? Effect.void
 *       : Messages.send({ chat_id: message.recipient.chat_id, text: message.body?.text ?? "?" })
 *   )
 * )
 * ```
 *
 * API: Events.
 *
 * @category running
 * @since 0.1.0
 */
export const stream: Stream.Stream<Update, SourceError, Updates> = Stream.unwrap(
  Updates.use(({ inbox, source }) => consumer.stream(inbox, source))
)

// Re-exported because bots that need no other function of `Handler` do not have to import it.
export { CurrentAttempt, on } from "./Handler.ts"
