import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import * as ApiError from "../../ApiError.ts"
import type { Handler } from "../../Handler.ts"
import type { Inbox } from "../../Inbox.ts"
import * as reader from "./leases.ts"
import * as turns from "./chatWorkers.ts"
import { checkPositiveInteger } from "../client/rules.ts"

export interface Options {
  readonly concurrency?: number | undefined
  readonly maxInMemory?: number | undefined
  readonly retry?: Schedule.Schedule<unknown, Cause.Cause<unknown>> | undefined
  readonly timeout?: Duration.Input | undefined
  readonly shutdownTimeout?: Duration.Input | undefined
}

const defaults = { concurrency: 64, maxInMemory: 1000, timeout: "1 minute", shutdownTimeout: "10 seconds" } as const

const refusals = [
  ApiError.Forbidden,
  ApiError.NotFound,
  ApiError.MethodNotAllowed,
  ApiError.CommentsTimeoutExceeded,
  ApiError.AddParticipantFailed,
  ApiError.OperationRejected
]

/** What the platform has refused, it refuses again; other errors say so themselves. */
const isFinal = (error: unknown): boolean =>
  refusals.some((refusal) => error instanceof refusal) ||
  (Predicate.hasProperty(error, "isRetryable") && error.isRetryable === false)

const mayPass = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) => !(Cause.isFailReason(reason) && isFinal(reason.error)))

/** After 2, 4, 8, 16 and 32 seconds: a minute in all. */
const defaultRetry = Schedule.exponential("2 seconds").pipe(
  Schedule.upTo({ times: 5 }),
  Schedule.setInputType<Cause.Cause<unknown>>(),
  Schedule.while(({ input }) => mayPass(input))
)

/** A partition gives way to others after so many updates. */
const maxTurn = 16

/** Keeps the metrics of what waits up to date: to look is to tell them. */
const watch = (inbox: Inbox["Service"]) => Effect.forever(Effect.delay(Effect.ignore(inbox.stats), "15 seconds"))

export const run = <E, R, SourceE>(
  inbox: Inbox["Service"],
  source: Effect.Effect<void, SourceE>,
  handler: Handler<E, R>,
  options: Options
): Effect.Effect<void, SourceE, R> => Effect.scoped(running(inbox, source, handler, options))

const running = Effect.fnUntraced(function* <E, R, SourceE>(
  inbox: Inbox["Service"],
  source: Effect.Effect<void, SourceE>,
  handler: Handler<E, R>,
  options: Options
) {
  const { concurrency = defaults.concurrency, maxInMemory = defaults.maxInMemory, retry = defaultRetry } = options
  yield* checkPositiveInteger("Updates.run", "concurrency", concurrency)
  yield* checkPositiveInteger("Updates.run", "maxInMemory", maxInMemory)
  const updates = Math.max(1, Math.min(maxTurn, Math.floor(maxInMemory / (2 * concurrency))))

  const { claim, more, commit, start, wake } = yield* reader.make(inbox)
  const { begin, size, stop } = yield* turns.make({
    handler,
    concurrency,
    timeout: Duration.fromInputUnsafe(options.timeout ?? defaults.timeout),
    retry,
    commit,
    onEnd: wake
  })
  const fiber = yield* start(source)
  yield* Effect.forkScoped(watch(inbox))

  const room = () => Math.floor((maxInMemory - size()) / updates)

  const take: Effect.Effect<void, SourceE> = Effect.gen(function* () {
    for (;;) {
      const wasOver = fiber.pollUnsafe() !== undefined
      const claimed = yield* claim(room, updates)
      for (const partition of claimed) begin(partition)
      if (claimed.length > 0) continue
      const ended = fiber.pollUnsafe()
      if (ended !== undefined && (Exit.isFailure(ended) || (wasOver && size() === 0))) return yield* ended
      // What it brought just before it ended may have come after the look.
      if (ended === undefined || wasOver) yield* more
    }
  })

  const stopping = Effect.andThen(
    Effect.andThen(inbox.close, Fiber.interrupt(fiber)),
    stop(options.shutdownTimeout ?? defaults.shutdownTimeout)
  )
  return yield* Effect.onExit(take, () => stopping)
})
