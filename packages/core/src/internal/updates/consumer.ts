import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as ApiError from "../../ApiError.ts"
import type { Handler } from "../../Handler.ts"
import type { Inbox } from "../../Inbox.ts"
import { isPermanentError } from "../../PermanentError.ts"
import type { DeadLetter } from "../../QueuedUpdate.ts"
import { StoreError } from "../../StoreError.ts"
import { type Update, withMalformedWarning } from "../../Update.ts"
import { UploadFailed } from "../../UploadError.ts"
import * as leases from "./leases.ts"
import * as workers from "./workers.ts"

const refusals = [
  ApiError.Forbidden,
  ApiError.NotFound,
  ApiError.MethodNotAllowed,
  ApiError.CommentsTimeoutExceeded,
  ApiError.AddParticipantFailed,
  ApiError.OperationRejected
]

/** Errors of this library that know whether a retry may succeed. The property of other errors may mean something else. */
const isRetryableError = (error: unknown): boolean | undefined =>
  error instanceof ApiError.RequestFailed || error instanceof StoreError || error instanceof UploadFailed
    ? error.isRetryable
    : undefined

const isPermanent = (error: unknown): boolean =>
  refusals.some((refusal) => error instanceof refusal) || isPermanentError(error) || isRetryableError(error) === false

const isRetryable = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) => !(Cause.isFailReason(reason) && isPermanent(reason.error)))

/** Retries after 2, 4, 8, 16 and 32 seconds, unless the error is permanent. */
export const defaultRetry = Schedule.exponential("2 seconds").pipe(
  Schedule.upTo({ times: 5 }),
  Schedule.setInputType<Cause.Cause<unknown>>(),
  Schedule.while(({ input }) => isRetryable(input))
)

/** A partition is released after this many updates, so that partitions with many updates do not delay the others. */
const maxUpdatesPerClaim = 16

interface Options<E, R> {
  readonly onDeadLetter: ((deadLetter: DeadLetter) => Effect.Effect<unknown, unknown, R>) | undefined
  readonly handler: Handler<E, R>
  readonly concurrency: number
  readonly maxInMemory: number
  readonly retry: Schedule.Schedule<unknown, Cause.Cause<unknown>>
  readonly timeout: Duration.Duration
  /** `undefined` for an immediate shutdown. */
  readonly shutdownTimeout: Duration.Duration | undefined
}

/** Reading the statistics updates the gauges of the inbox. */
const refreshMetrics = (inbox: Inbox["Service"]) =>
  Effect.forever(Effect.delay(Effect.ignore(inbox.stats), "15 seconds"))

/** Runs a source, and handles the updates of an inbox. */
export const run = <E, R, SourceE>(
  inbox: Inbox["Service"],
  source: Effect.Effect<void, SourceE>,
  options: Options<E, R>
): Effect.Effect<void, SourceE, R> => Effect.scoped(runScoped(inbox, source, options))

const runScoped = Effect.fnUntraced(function* <E, R, SourceE>(
  inbox: Inbox["Service"],
  source: Effect.Effect<void, SourceE>,
  options: Options<E, R>
) {
  const { concurrency, handler, maxInMemory, onDeadLetter, retry, shutdownTimeout, timeout } = options
  const maxUpdates = Math.max(1, Math.min(maxUpdatesPerClaim, Math.floor(maxInMemory / (2 * concurrency))))
  const { claim, commit, forkSource, isHeld, waitForMore, wake } = yield* leases.make(inbox)
  const pool = yield* workers.make({ handler, concurrency, timeout, retry, commit, isHeld, onDeadLetter, onEnd: wake })
  const fiber = yield* forkSource(source)
  yield* Effect.forkScoped(refreshMetrics(inbox))

  const maxPartitions = () => Math.floor((maxInMemory - pool.size()) / maxUpdates)

  const consume: Effect.Effect<void, SourceE> = Effect.gen(function* () {
    for (;;) {
      const wasDone = fiber.pollUnsafe() !== undefined
      const claimed = yield* claim(maxPartitions, maxUpdates)
      for (const partition of claimed) pool.start(partition)
      if (claimed.length > 0) continue
      const exit = fiber.pollUnsafe()
      if (exit !== undefined && (Exit.isFailure(exit) || (wasDone && pool.size() === 0))) return yield* exit
      // If the source ended during the claim, its last updates may not have been claimed.
      if (exit === undefined || wasDone) yield* waitForMore
    }
  })

  const shutDown = inbox.close.pipe(
    Effect.andThen(Fiber.interrupt(fiber)),
    Effect.andThen(shutdownTimeout === undefined ? pool.stopNow : pool.stop(shutdownTimeout))
  )
  return yield* Effect.onExit(consume, () => shutDown)
})

/** An update that the stream has emitted. It is acknowledged when the next one is requested. */
interface Emitted {
  readonly partitionKey: string
  readonly id: string
}

/** Runs a source, and emits the updates of an inbox one at a time, the oldest first. */
export const stream = Effect.fnUntraced(function* <E>(inbox: Inbox["Service"], source: Effect.Effect<void, E>) {
  const { claim, commit, forkSource, waitForMore } = yield* leases.make(inbox)
  const clock = yield* Clock.Clock
  const fiber = yield* forkSource(source)

  const next: Effect.Effect<readonly [ReadonlyArray<Update>, Option.Option<Emitted>], E> = Effect.gen(function* () {
    for (;;) {
      const wasDone = fiber.pollUnsafe() !== undefined
      const [partition] = yield* claim(() => 1, 1)
      if (partition === undefined) {
        if (wasDone) {
          yield* Fiber.join(fiber)
          return [[], Option.none()]
        }
        if (fiber.pollUnsafe() === undefined) yield* waitForMore
        continue
      }
      const { key, updates } = partition
      const [entry] = updates
      // The updates may have been deleted from the database by hand.
      if (entry === undefined) {
        yield* commit(leases.releaseOf(key))
        continue
      }
      const { id, update } = entry
      const { decoded } = update
      if (Result.isSuccess(decoded)) {
        yield* withMalformedWarning(decoded.success, Effect.void)
        return [[decoded.success], Option.some({ partitionKey: key, id })]
      }
      const failure = { error: decoded.failure.message, attempts: 0, failedAt: clock.currentTimeMillisUnsafe() }
      yield* commit({ ...leases.releaseOf(key), completed: [{ id, failure }] })
    }
  })

  const acknowledge = ({ id, partitionKey }: Emitted) =>
    commit({ ...leases.releaseOf(partitionKey), completed: [{ id }] })

  return Stream.paginate(undefined as Emitted | undefined, (emitted) =>
    emitted === undefined ? next : Effect.andThen(acknowledge(emitted), next)
  )
})
