/**
 * Sends one message to many chats, within the rate limits and with a lower priority than all other calls.
 *
 * API: POST /messages; Limits.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { pages } from "../base/internal/pages.ts"
import type { BotApi } from "../client/BotApi.ts"
import type {
  BroadcastAlreadyRunning,
  Options,
  Outcome,
  Progress,
  RecipientRecord,
  Status,
  StopError
} from "./Broadcast.ts"
import { BroadcastStore } from "./BroadcastStore.ts"
import * as ChatStore from "../bot/ChatStore.ts"
import { observe } from "./internal/progress.ts"
import * as broadcastRun from "./internal/run.ts"
import type { StoreError } from "../base/StoreError.ts"
import type { OutageError } from "../client/Outage.ts"

/**
 * Sends a message to many chats, and returns the result of each recipient as a stream. The calls have the priority
 * `broadcast`, so replies and answers are sent before them, and they keep the limit of 30 requests per second.
 *
 * A result is stored before it is emitted. A later run with the same name continues the broadcast, also after a
 * restart: no chat receives the message twice. If the process was killed after the platform answered and before the
 * result was stored, the next run looks for the message by its text, where the bot may read the chat. Elsewhere, at
 * most `concurrency` recipients may receive the message twice. If the stream is interrupted, requests in flight are
 * awaited and recorded, but not emitted; {@link records} returns them. Memory does not grow with the number of
 * recipients.
 *
 * Temporary failures do not end the stream. While the platform or the store is away, the stream waits, logs each attempt, and fails
 * after the time of `Outage.GiveUpAfter`, which is 10 minutes by default. `transient` and `retryNonIdempotent` of
 * the retry policy do not apply.
 *
 * Fails with
 * - the errors of `recipients`;
 * - a `StoreError` that a retry would not change, and `Outage.GaveUp`;
 * - {@link BroadcastAlreadyRunning} if another runner still sends the broadcast after 20 seconds, which is the longest
 *   time for which a killed process holds its lease, or if another runner takes over the broadcast because this runner
 *   could not renew its lease;
 * - {@link StopError}, an error that would occur for every recipient.
 *
 * **Example** (A broadcast to all dialogs)
 *
 * ```ts
 * import { Broadcasts, ChatStore } from "@colloquy/core"
 * import { Effect, Stream } from "effect"
 *
 * const news = Effect.gen(function* () {
 *   const total = yield* ChatStore.count({ type: "dialog" })
 *   const recipients = ChatStore.stream({ type: "dialog" }).pipe(Stream.map(({ chat_id }) => chat_id))
 *   yield* Broadcasts.run({ name: "news of May", recipients, total, message: { text: "News!" } }).pipe(
 *     Broadcasts.pruneUnreachable,
 *     Stream.runDrain
 *   )
 * })
 * ```
 *
 * API: POST /messages; Limits.
 *
 * @category running
 * @since 0.1.0
 */
export const run = <E = never, R = never>(
  options: Options<E, R>
): Stream.Stream<Outcome, E | StopError | BroadcastAlreadyRunning | OutageError, R | BotApi | BroadcastStore> =>
  Stream.unwrap(broadcastRun.run(options))

const setStatus = (name: string, status: Status) => BroadcastStore.use((store) => store.update(name, { status }))

/**
 * Pauses a broadcast within a second, in any process. Requests in flight are completed. Returns `true` if there is a
 * broadcast of this name that is not over.
 *
 * @category control
 * @since 0.1.0
 */
export const pause = (name: string): Effect.Effect<boolean, StoreError, BroadcastStore> => setStatus(name, "paused")

/**
 * Resumes a paused broadcast. If no process runs the broadcast, the broadcast continues with the next run. Returns
 * `true` if there is a broadcast of this name that is not over.
 *
 * @category control
 * @since 0.1.0
 */
export const resume = (name: string): Effect.Effect<boolean, StoreError, BroadcastStore> => setStatus(name, "running")

/**
 * Cancels a broadcast within a second. A cancelled broadcast cannot be resumed. Requests in flight are completed, and
 * the results are kept. Returns `true` if the broadcast exists and was neither finished nor cancelled.
 *
 * @category control
 * @since 0.1.0
 */
export const cancel = (name: string): Effect.Effect<boolean, StoreError, BroadcastStore> => setStatus(name, "cancelled")

/**
 * Removes a broadcast with its results, so that a broadcast of the same name starts from the beginning. A running
 * broadcast ends. Returns `true` if the broadcast existed.
 *
 * @category control
 * @since 0.1.0
 */
export const remove = (name: string): Effect.Effect<boolean, StoreError, BroadcastStore> =>
  BroadcastStore.use((store) => store.remove(name))

const pageSize = 500

/**
 * Returns the results so far, in ascending order of the chats.
 *
 * @category observing
 * @since 0.1.0
 */
export const records = (name: string): Stream.Stream<RecipientRecord, StoreError, BroadcastStore> =>
  Stream.unwrap(
    BroadcastStore.useSync((store) =>
      pages(pageSize, (after: RecipientRecord | undefined) =>
        store.records(name, { after: after?.chat_id, limit: pageSize })
      )
    )
  )

/**
 * Emits the progress of a broadcast at an interval until the broadcast is finished, cancelled or removed. Any process
 * that shares the store can observe the progress, also before the first run. `NodeProgress.render` of `@colloquy/node`
 * formats the progress.
 *
 * **Example** (Log the progress every 10 seconds)
 *
 * ```ts
 * import { Broadcasts } from "@colloquy/core"
 * import { Console, Stream } from "effect"
 *
 * const watch = Broadcasts.progress("news of May", { every: "10 seconds" }).pipe(
 *   Stream.runForEach(({ done, total }) => Console.log(`${done} of ${total}`))
 * )
 * ```
 *
 * @category observing
 * @since 0.1.0
 */
export const progress = (
  name: string,
  options: {
    /** The interval. Default: 1 second. */
    readonly every?: Duration.Input | undefined
  } = {}
): Stream.Stream<Progress, StoreError, BroadcastStore> => observe(name, options.every ?? "1 second")

/**
 * Removes unreachable chats from the chat store: chats whose result is `Forbidden` or `NotFound`, because the user
 * stopped the bot, the bot was removed from the chat, or the chat does not exist.
 *
 * @category combinators
 * @since 0.1.0
 */
export const pruneUnreachable = <E, R>(
  outcomes: Stream.Stream<Outcome, E, R>
): Stream.Stream<Outcome, E | StoreError, R | ChatStore.ChatStore> =>
  Stream.tap(outcomes, ({ _tag, chat_id }) =>
    _tag === "Forbidden" || _tag === "NotFound" ? ChatStore.remove(chat_id) : Effect.void
  )
