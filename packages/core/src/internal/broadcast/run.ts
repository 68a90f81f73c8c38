import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import type * as ApiError from "../../ApiError.ts"
import * as Backoff from "../../Backoff.ts"
import type { BotApi } from "../../BotApi.ts"
import type { Options, Outcome } from "../../Broadcast.ts"
import { BroadcastStore, type RecipientRecord as Served } from "../../BroadcastStore.ts"
import type * as Endpoint from "../../Endpoint.ts"
import * as Messages from "../../Messages.ts"
import * as RateLimiter from "../../RateLimiter.ts"
import type { ChatId } from "../../Recipient.ts"
import * as RetryPolicy from "../../RetryPolicy.ts"
import * as Hold from "./lease.ts"

/** Recipients are asked for in groups: whether they have been served is one question to the store. */
const group = 200

/** A group that fills slowly does not keep those in it waiting. */
const groupWithin = "1 second"

/** A call that waits for longer lets the broadcast look whether it is paused. */
const patience = "5 seconds"

/** How often an outage is told of. */
const tellEvery = 30_000

type SendError = Endpoint.Errors<typeof Messages.send>

/** What fails for one recipient alone. Anything else passes by itself, or would fail for everybody. */
type RecipientError = ApiError.Forbidden | ApiError.NotFound | ApiError.RequestFailed

export type StopError = Exclude<SendError, ApiError.Forbidden | ApiError.NotFound | ApiError.RateLimited>

type Failure = SendError | Hold.HoldError

const isOutage = (error: Failure): boolean =>
  error._tag === "RequestFailed" && error.isRetryable && !error.maybeExecuted

const isOfRecipient = (error: SendError): error is RecipientError =>
  error._tag === "Forbidden" || error._tag === "NotFound" || (error._tag === "RequestFailed" && error.maybeExecuted)

const untilItPasses = Backoff.make({ first: "200 millis", cap: "30 seconds" }).pipe(Schedule.setInputType<Failure>())

const untilItIsItsTurn = Schedule.spaced("1 second").pipe(Schedule.setInputType<Failure>())

const recordOf = (outcome: Outcome, at: number): Served => ({
  chat_id: outcome.chat_id,
  status: outcome._tag,
  at,
  ...(outcome._tag === "Sent" ? { message_id: outcome.message?.body?.mid } : { problem: outcome.error.message })
})

const outcomeOf = (chat_id: ChatId, error: RecipientError): Outcome =>
  error._tag === "RequestFailed"
    ? { _tag: "Failed", chat_id, error }
    : error._tag === "Forbidden"
      ? { _tag: "Forbidden", chat_id, error }
      : { _tag: "NotFound", chat_id, error }

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
  const untilItIsReady = policy.attachmentNotReady as Schedule.Schedule<unknown, unknown>
  const hold = yield* Hold.make(name)
  const idle = yield* Latch.make(true)
  const pending = new Set<ChatId>()
  let active = 0
  let toldAt = -Infinity

  // A stream may be ended while a send has just begun: the next run must find its record.
  yield* Effect.addFinalizer(() => Effect.andThen(hold.end, idle.await))
  if (total !== undefined) yield* Hold.waitingForStore(store.update(name, { total }))

  const send = (chat_id: ChatId): Effect.Effect<Outcome, Failure, BotApi> =>
    Messages.send({ chat_id, ...(typeof message === "function" ? message(chat_id) : message) }).pipe(
      RateLimiter.withPriority("broadcast"),
      RateLimiter.withMaxWait(patience),
      // These pauses are made where they can be interrupted.
      RetryPolicy.override({
        transient: RetryPolicy.none.transient,
        attachmentNotReady: RetryPolicy.none.attachmentNotReady
      }),
      Effect.map((sent): Outcome => ({ _tag: "Sent", chat_id, message: sent })),
      Effect.catchIf(isOfRecipient, (error) => Effect.succeed(outcomeOf(chat_id, error))),
      Effect.tap((outcome) =>
        Hold.waitingForStore(store.addRecords(name, [recordOf(outcome, clock.currentTimeMillisUnsafe())]))
      )
    )

  /** Between the platform's answer and its record, only the end of the process may come. */
  const toTheEnd = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      active++
      idle.closeUnsafe()
      return Effect.ensuring(
        self,
        Effect.sync(() => {
          if (--active === 0) idle.openUnsafe()
        })
      )
    }).pipe(Effect.uninterruptible)

  const tell = (error: Failure) =>
    Effect.suspend(() => {
      const now = clock.currentTimeMillisUnsafe()
      if (!isOutage(error) || now - toldAt < tellEvery) return Effect.void
      toldAt = now
      return Effect.logWarning(`The broadcast ${name} waits until this passes. ${error.message}`)
    })

  const serve = (chat_id: ChatId) =>
    Effect.suspend(() => {
      const outcomes: Array<Outcome> = []
      const sendOnce = toTheEnd(
        Effect.map(send(chat_id), (outcome) => {
          outcomes.push(outcome)
        })
      )
      const trying = Effect.flatMap(hold.goesOn, (goesOn) => (goesOn ? sendOnce : Effect.void)).pipe(
        Effect.tapError(tell),
        Effect.retry({ schedule: untilItIsItsTurn, while: ({ _tag }) => _tag === "RateLimited" }),
        Effect.retry({ schedule: untilItPasses, while: isOutage }),
        Effect.retry({ schedule: untilItIsReady, while: ({ _tag }) => _tag === "AttachmentNotReady" })
      )
      const told = Effect.tapError(trying, ({ message }) =>
        Effect.logError(`The broadcast ${name} stops at the chat ${chat_id}. ${message}`)
      )
      return Effect.raceFirst(told, hold.ended).pipe(
        Effect.as(outcomes),
        Effect.ensuring(Effect.sync(() => pending.delete(chat_id)))
      )
    })

  /** Those who have no record and are not on their way to one. */
  const unserved = (chats: ReadonlyArray<ChatId>) =>
    Effect.suspend(() => {
      const fresh = [...new Set(chats)].filter((chat_id) => !pending.has(chat_id))
      return Effect.tap(Hold.waitingForStore(store.pending(name, fresh)), (left) => {
        for (const chat_id of left) pending.add(chat_id)
        return Effect.void
      })
    })

  const outcomes = recipients.pipe(
    Stream.interruptWhen(hold.ended),
    Stream.groupedWithin(group, groupWithin),
    Stream.mapEffect(unserved),
    Stream.flattenIterable,
    Stream.mapEffect(serve, { concurrency, unordered: true }),
    Stream.flattenIterable
  ) as Stream.Stream<Outcome, E | StopError | Hold.HoldError, R | BotApi>

  return outcomes.pipe(
    Stream.concat(Stream.drain(Stream.fromEffect(hold.finish))),
    Stream.merge(Stream.drain(Stream.fromEffect(hold.watch)), { haltStrategy: "left" })
  )
})
