import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import type * as ApiError from "../ApiError.ts"
import type { BotApi } from "../BotApi.ts"
import type { Outcome } from "../Broadcast.ts"
import { BroadcastBusy } from "../Broadcast.ts"
import { BroadcastStore, type BroadcastStoreError, type Record as Served } from "../BroadcastStore.ts"
import type * as Endpoint from "../Endpoint.ts"
import * as Messages from "../Messages.ts"
import type { NewMessageBody } from "../NewMessage.ts"
import * as RateLimiter from "../RateLimiter.ts"
import type { ChatId } from "../Recipient.ts"

/** Whoever is killed keeps a broadcast from others for so long. */
const lease = 60_000

/** How soon a pause, a resumption or a cancellation by another process is noticed. */
const lookEvery = "1 second"

/** Recipients are asked for in groups: whether they have been served is one question to the store. */
const group = 200

/** A call that waits for longer lets the broadcast look whether it is paused. */
const patience = "5 seconds"

type SendError = Endpoint.Errors<typeof Messages.send>

/** What fails for one recipient alone. Anything else passes by itself, or would fail for everybody. */
export type RecipientError = ApiError.Forbidden | ApiError.NotFound | ApiError.RequestFailed

export type StopError = Exclude<SendError, ApiError.Forbidden | ApiError.NotFound | ApiError.RateLimited>

type Failure = SendError | BroadcastStoreError

const passes = (error: Failure): boolean =>
  error._tag === "RateLimited" || (error._tag === "RequestFailed" && error.isRetryable && !error.mayBeCarriedOut)

const isOfRecipient = (error: SendError): error is RecipientError =>
  error._tag === "Forbidden" || error._tag === "NotFound" || (error._tag === "RequestFailed" && error.mayBeCarriedOut)

const untilItPasses = Schedule.min([Schedule.exponential("1 second"), Schedule.spaced("30 seconds")]).pipe(
  Schedule.jittered,
  Schedule.setInputType<Failure>(),
  Schedule.tap(({ input }) =>
    passes(input) ? Effect.logWarning(`The broadcast goes on after a pause. ${input.message}`) : Effect.void
  )
)

export interface Options<E, R> {
  readonly name: string
  readonly recipients: Stream.Stream<ChatId, E, R>
  readonly message: NewMessageBody | ((chat_id: ChatId) => NewMessageBody)
  readonly concurrency: number
  readonly total: number | undefined
}

const recordOf = (outcome: Outcome, at: number): Served => ({
  chat_id: outcome.chat_id,
  kind: outcome._tag,
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
  concurrency,
  message,
  name,
  recipients,
  total
}: Options<E, R>) {
  const store = yield* BroadcastStore
  const clock = yield* Clock.Clock
  const owner = (yield* Random.nextInt).toString(36) + (yield* Random.nextInt).toString(36)
  const gate = yield* Latch.make(false)
  const idle = yield* Latch.make(true)
  let active = 0
  let isOver = false

  const acquire = Effect.suspend(() => {
    const now = clock.currentTimeMillisUnsafe()
    return store.acquire({ name, owner, now, leaseUntil: now + lease })
  })

  const look = Effect.gen(function* () {
    const standing = yield* acquire
    if (Option.isNone(standing)) return yield* new BroadcastBusy({ name })
    const { status } = standing.value
    isOver = status === "cancelled" || status === "finished"
    yield* status === "paused" ? gate.close : gate.open
  })

  yield* look
  // A stream may be ended while a send has just begun: the next run must find its record.
  const leave = Effect.suspend(() => {
    isOver = true
    return Effect.andThen(idle.await, Effect.ignore(store.acquire({ name, owner, now: 0, leaseUntil: 0 })))
  })
  yield* Effect.addFinalizer(() => leave)
  if (total !== undefined) yield* store.change(name, { total })

  const send = (chat_id: ChatId): Effect.Effect<ReadonlyArray<Outcome>, Failure, BotApi> =>
    Messages.send({ chat_id, ...(typeof message === "function" ? message(chat_id) : message) }).pipe(
      RateLimiter.withLane("broadcast"),
      RateLimiter.withDeadline(patience),
      Effect.map((sent): Outcome => ({ _tag: "Sent", chat_id, message: sent })),
      Effect.catch((error) => (isOfRecipient(error) ? Effect.succeed(outcomeOf(chat_id, error)) : Effect.fail(error))),
      Effect.tap((outcome) => store.record(name, [recordOf(outcome, clock.currentTimeMillisUnsafe())])),
      Effect.map((outcome) => [outcome]),
      // Between the platform's answer and its record, only the end of the process may come.
      Effect.uninterruptible
    )

  const counted = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      active++
      idle.closeUnsafe()
      return Effect.ensuring(
        self,
        Effect.sync(() => {
          if (--active === 0) idle.openUnsafe()
        })
      )
    })

  const serve = (chat_id: ChatId) =>
    Effect.andThen(
      gate.await,
      Effect.suspend(() => (isOver ? Effect.succeed([]) : counted(send(chat_id))))
    ).pipe(Effect.retry({ schedule: untilItPasses, while: passes }))

  const outcomes = recipients.pipe(
    Stream.takeWhile(() => !isOver),
    Stream.grouped(group),
    Stream.mapEffect((chats) => store.unserved(name, [...new Set(chats)])),
    Stream.flattenIterable,
    Stream.mapEffect(serve, { concurrency, unordered: true }),
    Stream.flattenIterable
  ) as Stream.Stream<Outcome, E | StopError | BroadcastStoreError, R | BotApi>

  const finish = Effect.suspend(() =>
    isOver ? Effect.void : Effect.asVoid(store.change(name, { status: "finished" }))
  )

  const watching = Stream.drain(Stream.fromSchedule(Schedule.spaced(lookEvery)).pipe(Stream.mapEffect(() => look)))

  return Stream.merge(Stream.concat(outcomes, Stream.drain(Stream.fromEffect(finish))), watching, {
    haltStrategy: "left"
  })
})
