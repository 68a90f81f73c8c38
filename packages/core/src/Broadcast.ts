/**
 * One message to many chats, within the limits, and out of the way of everything else.
 *
 * API: POST /messages; Limits.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type * as ApiError from "./ApiError.ts"
import type { BotApi } from "./BotApi.ts"
import * as BroadcastStore from "./BroadcastStore.ts"
import * as ChatStore from "./ChatStore.ts"
import * as broadcastRun from "./internal/broadcast/run.ts"
import { type Sample, sampleOf, timeLeftOf } from "./internal/broadcast/timeLeft.ts"
import type { Message } from "./Message.ts"
import type { NewMessageBody } from "./NewMessage.ts"
import type { ChatId } from "./Recipient.ts"
import type { StoreError } from "./StoreError.ts"

/**
 * A broadcast of this name is being sent by another process, or by another part of this one.
 *
 * @category errors
 * @since 0.1.0
 */
export class BroadcastAlreadyRunning extends Data.TaggedError("BroadcastAlreadyRunning")<{ readonly name: string }> {
  override get message() {
    return (
      `The broadcast ${this.name} is being sent elsewhere. ` +
      "Send it from one place at a time; for another broadcast, choose another name."
    )
  }
}

/**
 * What became of a recipient. `Failed`: the message may have been sent all the same, so it is not sent again.
 *
 * @category models
 * @since 0.1.0
 */
export type Outcome =
  | { readonly _tag: "Sent"; readonly chat_id: ChatId; readonly message: Message }
  | { readonly _tag: "Forbidden"; readonly chat_id: ChatId; readonly error: ApiError.Forbidden }
  | { readonly _tag: "NotFound"; readonly chat_id: ChatId; readonly error: ApiError.NotFound }
  | { readonly _tag: "Failed"; readonly chat_id: ChatId; readonly error: ApiError.RequestFailed }

/**
 * Why a broadcast ends before everybody was reached. What would fail for everybody ends it: a wrong token, a message that
 * breaks a rule, an attachment that does not become ready. It goes on where it was when it is run again.
 *
 * @category errors
 * @since 0.1.0
 */
export type StopError = broadcastRun.StopError

/**
 * What to send to whom.
 *
 * - `name`: the same name goes on with the same broadcast; nobody gets it twice;
 * - `recipients`: read as they are needed, from the beginning at each run; a chat that comes twice gets one message;
 * - `message`: for all, or for each;
 * - `concurrency`: how many requests are on their way at once, 16 unless told, which keeps the pace where an answer takes
 *   half a second; 30 are needed for each second that it takes;
 * - `total`: how many recipients there are, for the time left.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<E, R> {
  readonly name: string
  readonly recipients: Stream.Stream<ChatId, E, R>
  readonly message: NewMessageBody | ((chat_id: ChatId) => NewMessageBody)
  readonly concurrency?: number | undefined
  readonly total?: number | undefined
}

/**
 * Sends a message to many chats, and gives what became of each as a stream. It departs in the lane `broadcast`, so replies
 * and answers go past it, and it keeps the platform's 30 requests a second.
 *
 * Each outcome is stored before it is given. Run it again under the same name, after a restart too, and it goes on where
 * it was: nobody gets the message twice, unless the process was killed between the platform's answer and its record; then
 * at most `concurrency` recipients may. What is on its way when the stream is interrupted is waited for and recorded, but
 * not given any more: {@link records} has everything. Memory does not grow with the number of recipients.
 *
 * What passes by itself is waited out: an outage of the platform or of the network for as long as it lasts, which is
 * logged; a store that is away, for a minute. The policy's `transient` and `retryNonIdempotent` do not apply.
 *
 * Errors: those of the recipients and of the store; {@link BroadcastAlreadyRunning} where it is being sent elsewhere for the 20
 * seconds after which a process that was killed is given up, also when another takes over what this one could not hold; {@link StopError} for what would fail for
 * everybody.
 *
 * **Example**
 *
 * ```ts
 * import { Broadcast, ChatStore } from "@colloquy/core"
 * import { Effect, Stream } from "effect"
 *
 * const news = Effect.gen(function* () {
 *   const total = yield* ChatStore.count({ type: "dialog" })
 *   const recipients = ChatStore.stream({ type: "dialog" }).pipe(Stream.map(({ chat_id }) => chat_id))
 *   yield* Broadcast.run({ name: "news of May", recipients, total, message: { text: "News!" } }).pipe(
 *     Broadcast.pruneUnreachable,
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
): Stream.Stream<
  Outcome,
  E | StopError | BroadcastAlreadyRunning | StoreError,
  R | BotApi | BroadcastStore.BroadcastStore
> => Stream.unwrap(broadcastRun.run(options))

const changing = (name: string, status: BroadcastStore.Status) =>
  BroadcastStore.BroadcastStore.use((store) => store.update(name, { status }))

/**
 * Lets a broadcast wait, within a second, whichever process sends it. What is on its way arrives. Gives whether there is
 * one of that name that is not over.
 *
 * @category control
 * @since 0.1.0
 */
export const pause = (name: string): Effect.Effect<boolean, StoreError, BroadcastStore.BroadcastStore> =>
  changing(name, "paused")

/**
 * Lets a broadcast that waits go on. One that no process runs goes on when it is run. Gives whether there is one of that
 * name that is not over.
 *
 * @category control
 * @since 0.1.0
 */
export const resume = (name: string): Effect.Effect<boolean, StoreError, BroadcastStore.BroadcastStore> =>
  changing(name, "running")

/**
 * Ends a broadcast for good, within a second. What is on its way arrives, and its records stay. Gives whether there is
 * one of that name that is not over.
 *
 * @category control
 * @since 0.1.0
 */
export const cancel = (name: string): Effect.Effect<boolean, StoreError, BroadcastStore.BroadcastStore> =>
  changing(name, "cancelled")

/**
 * Forgets a broadcast and whom it has reached: under the same name, everybody gets it again. One that is being sent ends.
 * Gives whether there was one.
 *
 * @category control
 * @since 0.1.0
 */
export const remove = (name: string): Effect.Effect<boolean, StoreError, BroadcastStore.BroadcastStore> =>
  BroadcastStore.BroadcastStore.use((store) => store.remove(name))

const page = 500

/**
 * What became of the recipients so far, in ascending order of their chats.
 *
 * @category looking
 * @since 0.1.0
 */
export const records = (
  name: string
): Stream.Stream<BroadcastStore.RecipientRecord, StoreError, BroadcastStore.BroadcastStore> =>
  Stream.unwrap(
    BroadcastStore.BroadcastStore.use((store) =>
      Effect.succeed(
        Stream.paginate(undefined as ChatId | undefined, (after) =>
          Effect.map(store.records(name, { after, limit: page }), (found) => {
            const last = found.at(-1)?.chat_id
            return [found, found.length < page ? Option.none() : Option.some(last)] as const
          })
        )
      )
    )
  )

/**
 * How far a broadcast is: `done` of `total` recipients, at `rate` a second over the last seconds. `timeLeft` is known
 * where `total` is, and while it moves.
 *
 * @category models
 * @since 0.1.0
 */
export interface Progress extends BroadcastStore.Summary {
  readonly done: number
  readonly rate: number
  readonly timeLeft: Duration.Duration | undefined
}

const doneOf = ({ counts }: BroadcastStore.Summary): number =>
  counts.Sent + counts.Forbidden + counts.NotFound + counts.Failed

const isOver = ({ status }: BroadcastStore.Summary): boolean => status === "finished" || status === "cancelled"

/**
 * How far a broadcast is, each second or as told, until it is finished or cancelled; from any process that shares the
 * store. Where there is no broadcast of that name yet, it waits for one. `NodeProgress.show` of `@colloquy/node` shows it in a terminal.
 *
 * **Example**
 *
 * ```ts
 * import { Broadcast } from "@colloquy/core"
 * import { Console, Stream } from "effect"
 *
 * const watch = Broadcast.progress("news of May").pipe(
 *   Stream.runForEach((progress) => Console.log(`${progress.done} of ${progress.total}`))
 * )
 * ```
 *
 * @category looking
 * @since 0.1.0
 */
export const progress = (
  name: string,
  { every = "1 second" }: { readonly every?: Duration.Input | undefined } = {}
): Stream.Stream<Progress, StoreError, BroadcastStore.BroadcastStore> =>
  Stream.paginate([] as ReadonlyArray<Sample>, (samples) =>
    Effect.gen(function* () {
      if (samples.length > 0) yield* Effect.sleep(every)
      const store = yield* BroadcastStore.BroadcastStore
      const found = yield* store.summary(name)
      if (Option.isNone(found)) {
        if (samples.length > 0) return [[], Option.none()] as const
        yield* Effect.sleep(every)
        return [[], Option.some(samples)] as const
      }
      const standing = found.value
      const done = doneOf(standing)
      const { kept, rate } = sampleOf(samples, { at: yield* Clock.currentTimeMillis, done })
      const now: Progress = { ...standing, done, rate, timeLeft: timeLeftOf(standing.total, done, rate) }
      return [[now], isOver(standing) ? Option.none() : Option.some(kept)] as const
    })
  )

/**
 * Takes the chats that refuse, because the user stopped the bot, the bot was removed, or there is no such chat, out of
 * the chat store.
 *
 * @category operators
 * @since 0.1.0
 */
export const pruneUnreachable = <E, R>(
  outcomes: Stream.Stream<Outcome, E, R>
): Stream.Stream<Outcome, E | StoreError, R | ChatStore.ChatStore> =>
  Stream.tap(outcomes, ({ _tag, chat_id }) =>
    _tag === "Forbidden" || _tag === "NotFound" ? ChatStore.remove(chat_id) : Effect.void
  )
