import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { timeoutBySystemClock } from "../../base/internal/systemClock.ts"
import { withSpan } from "../../base/internal/tracing.ts"
import type * as ApiError from "../../client/ApiError.ts"
import type { BotApi } from "../../client/BotApi.ts"
import type { Options, Outcome, RecipientRecord, StopError } from "../Broadcast.ts"
import { BroadcastStore } from "../BroadcastStore.ts"
import type * as Endpoint from "../../client/Endpoint.ts"
import { CurrentLease } from "../../client/internal/currentLease.ts"
import { ImmediateShutdown } from "../../inbox/Deliveries.ts"
import { CurrentUpdate, withoutJournal } from "../../inbox/internal/consumer/currentUpdate.ts"
import * as Messages from "../../endpoints/Messages.ts"
import * as RateLimiter from "../../client/RateLimiter.ts"
import type { ChatId } from "../../model/Recipient.ts"
import * as RetryPolicy from "../../client/RetryPolicy.ts"
import * as Outage from "../../client/Outage.ts"
import * as Begun from "./begun.ts"
import * as Lease from "./lease.ts"

/** Recipients that are looked up in the store at once. */
const groupSize = 200

/** A group that fills slowly is looked up after this time. */
const groupTimeout = "1 second"

type SendError = Endpoint.Errors<typeof Messages.send>

/** Errors of one recipient. All others are temporary, or would occur for every recipient. */
type RecipientError = ApiError.Forbidden | ApiError.NotFound | ApiError.RequestFailed

type Failure = SendError | Lease.LeaseError

const isOutage = (error: Failure): boolean =>
  error._tag === "RequestFailed" && error.isRetryable && !error.maybeExecuted

const isRecipientError = (error: SendError): error is RecipientError =>
  error._tag === "Forbidden" || error._tag === "NotFound" || (error._tag === "RequestFailed" && error.maybeExecuted)

const rateLimitSchedule = Schedule.spaced("1 second").pipe(Schedule.setInputType<Failure>())

const recordOf = (outcome: Outcome, at: number): RecipientRecord => ({
  chat_id: outcome.chat_id,
  status: outcome._tag,
  at,
  ...(outcome._tag === "Sent" ? { message_id: outcome.message?.body?.mid } : { problem: outcome.error.message })
})

const outcomeOf = (chat_id: ChatId, error: RecipientError) =>
  ({ _tag: error._tag === "RequestFailed" ? "Failed" : error._tag, chat_id, error }) as Outcome

const immediateTimeout = "50 millis"

/** Completes an effect that is interrupted, for a moment by the clock of the system, and then interrupts the effect. */
const completedSoon = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Effect.forkDetach(Effect.interruptible(self)), (fiber) => {
      const moment = timeoutBySystemClock(Fiber.await(fiber), immediateTimeout)
      return Effect.onInterrupt(restore(Fiber.join(fiber)), () => Effect.andThen(moment, Fiber.interrupt(fiber)))
    })
  )

export const run = Effect.fnUntraced(function* <E, R>({
  concurrency = 16,
  message,
  name,
  recipients,
  total
}: Options<E, R>) {
  const store = yield* BroadcastStore
  const clock = yield* Clock.Clock
  const policy = yield* RetryPolicy.RetryPolicy
  const notReadySchedule = policy.attachmentNotReady as Schedule.Schedule<unknown, unknown>
  const completed = (yield* ImmediateShutdown) ? completedSoon : Effect.uninterruptible
  const lease = yield* Lease.acquire(name)
  const { retryStore } = lease
  const platform = Outage.make(`The platform, for the broadcast "${name}",`)
  const idle = yield* Latch.make(true)
  const inProgress = new Set<ChatId>()
  let sending = 0

  if (total !== undefined) yield* retryStore(store.update(name, { total }))

  const begun = yield* Begun.open(name, lease, platform)
  // The stream may end after a request was sent: the next run must find its record.
  yield* Effect.addFinalizer(() => Effect.andThen(Effect.andThen(lease.end, idle.await), begun.close))

  const record = (outcome: Outcome) =>
    Effect.map(retryStore(store.addRecords(name, [recordOf(outcome, clock.currentTimeMillisUnsafe())])), () =>
      begun.end(outcome.chat_id, outcome._tag === "Sent" ? outcome.message : undefined)
    )

  const asBroadcast = <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    call.pipe(
      RateLimiter.withPriority("broadcast"),
      Effect.provideService(CurrentLease, lease.callLease),
      // A broadcast has its own records, also if a handler runs the broadcast.
      Effect.updateService(CurrentUpdate, withoutJournal)
    )

  const send = (request: Begun.Request): Effect.Effect<Outcome, Failure, BotApi> =>
    Messages.send(request).pipe(
      asBroadcast,
      // Requests are not interruptible, so retries and their pauses are outside of them.
      RetryPolicy.override({
        transient: RetryPolicy.none.transient,
        attachmentNotReady: RetryPolicy.none.attachmentNotReady
      }),
      Effect.map((sent): Outcome => ({ _tag: "Sent", chat_id: request.chat_id, message: sent })),
      Effect.catchIf(isRecipientError, (error) => Effect.succeed(outcomeOf(request.chat_id, error))),
      Effect.tap(record)
    )

  /** Only the end of the process can separate the response of the platform from its record. The wait for a permit can be interrupted. */
  const uninterrupted = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      sending++
      idle.closeUnsafe()
      return Effect.ensuring(
        self,
        Effect.sync(() => {
          if (--sending === 0) idle.openUnsafe()
        })
      )
    }).pipe(completed)

  const serve = (chat_id: ChatId) =>
    Effect.suspend(() => {
      const outcomes: Array<Outcome> = []
      const request = { chat_id, ...(typeof message === "function" ? message(chat_id) : message) }
      const sendOnce = Effect.flatMap(asBroadcast(begun.find(request)), (found) => {
        const earlier = Effect.suspend(() => {
          const outcome: Outcome = { _tag: "Sent", chat_id, message: found! }
          return Effect.as(record(outcome), outcome)
        })
        return uninterrupted(
          Effect.map(found === undefined ? send(request) : earlier, (outcome) => {
            outcomes.push(outcome)
          })
        )
      }) as Effect.Effect<void, Failure, BotApi>
      const retried = Effect.flatMap(lease.mayContinue, (mayContinue) => (mayContinue ? sendOnce : Effect.void)).pipe(
        Effect.retry({ schedule: rateLimitSchedule, while: ({ _tag }) => _tag === "RateLimited" }),
        (sent) => platform.retry(sent, isOutage),
        Effect.retry({ schedule: notReadySchedule, while: ({ _tag }) => _tag === "AttachmentNotReady" })
      )
      const logged = Effect.tapError(retried, ({ message }) =>
        Effect.logError(`The broadcast "${name}" stops at the chat ${chat_id}. ${message}`)
      )
      const attributes = { broadcast: name, chat: String(chat_id) }
      return Effect.raceFirst(
        withSpan(logged, "Broadcasts.send", () => ({ attributes })),
        lease.ended
      ).pipe(Effect.as(outcomes), Effect.ensuring(Effect.sync(() => inProgress.delete(chat_id))))
    })

  /** Returns the recipients that have no result and are not in progress. */
  const selectPending = (chats: ReadonlyArray<ChatId>) =>
    Effect.suspend(() => {
      const candidates = [...new Set(chats)].filter((chat_id) => !inProgress.has(chat_id))
      return Effect.tap(retryStore(store.pending(name, candidates)), (pending) => {
        for (const chat_id of pending) inProgress.add(chat_id)
        return begun.begin(pending)
      })
    })

  const outcomes = recipients.pipe(
    Stream.interruptWhen(lease.ended),
    Stream.groupedWithin(groupSize, groupTimeout),
    Stream.mapEffect(selectPending),
    Stream.flattenIterable,
    Stream.mapEffect(serve, { concurrency, unordered: true }),
    Stream.flattenIterable
  ) as Stream.Stream<Outcome, E | StopError | Lease.LeaseError, R | BotApi>

  return outcomes.pipe(
    Stream.concat(Stream.drain(Stream.fromEffect(lease.finish))),
    Stream.merge(Stream.drain(Stream.fromEffect(lease.keepRenewing)), { haltStrategy: "left" })
  )
})
