import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Semaphore from "effect/Semaphore"
import type { Inbox } from "../Inbox.ts"
import type { Death, Mailbox } from "../InboxStore.ts"
import type * as Letter from "../Letter.ts"
import type { Update } from "../Update.ts"
import * as metrics from "./handlerMetrics.ts"
import { originOf } from "./origin.ts"
import * as reader from "./reader.ts"

export interface Options {
  readonly concurrency?: number | undefined
  readonly inMemory?: number | undefined
  readonly retry?: Schedule.Schedule<unknown, Cause.Cause<unknown>> | undefined
  readonly timeout?: Duration.Input | undefined
  readonly deadline?: Duration.Input | undefined
}

const defaults = { concurrency: 64, inMemory: 1000, timeout: "1 minute", deadline: "10 seconds" } as const

/** Two seconds, four, eight, and so on: a minute in all. */
const defaultRetry = Schedule.exponential("2 seconds").pipe(Schedule.jittered, Schedule.upTo({ times: 5 }))

/** A mailbox gives way to others after so many letters. */
const maxTurn = 16

const wholeNumber = (name: string, value: number) =>
  Number.isInteger(value) && value > 0
    ? Effect.void
    : Effect.die(new RangeError(`Updates.run: \`${name}\` must be a whole number above 0`))

export const run = Effect.fnUntraced(function* <E, R, SourceE>(
  inbox: Inbox["Service"],
  intake: Effect.Effect<void, SourceE>,
  handler: (update: Update) => Effect.Effect<unknown, E, R>,
  options: Options
): Effect.fn.Return<void, SourceE, R> {
  const { concurrency = defaults.concurrency, inMemory = defaults.inMemory, retry = defaultRetry } = options
  const timeout = Duration.fromInputUnsafe(options.timeout ?? defaults.timeout)
  const deadline = options.deadline ?? defaults.deadline
  yield* wholeNumber("concurrency", concurrency)
  yield* wholeNumber("inMemory", inMemory)

  const clock = yield* Clock.Clock
  const permits = yield* Semaphore.make(concurrency)
  const turn = Math.max(1, Math.min(maxTurn, Math.floor(inMemory / (2 * concurrency))))
  const mailboxes = Math.max(1, Math.floor(inMemory / turn))
  let held = 0
  let isStopping = false

  const once = (update: Update): Effect.Effect<unknown, E | Cause.TimeoutError, R> =>
    permits.withPermit(
      Effect.suspend(() => {
        const from = clock.currentTimeMillisUnsafe()
        const handling = Effect.suspend(() => handler(update)).pipe(
          Duration.isFinite(timeout) ? Effect.timeout(timeout) : (self) => self,
          Effect.withSpan("Updates.handle", { attributes: { update_type: update.update_type } })
        )
        return Effect.tap(handling, () => metrics.handledIn(clock.currentTimeMillisUnsafe() - from))
      })
    )

  const again = (
    update: Update,
    first: Cause.Cause<E | Cause.TimeoutError>
  ): Effect.Effect<Death | undefined, never, R> => {
    let attempts = 0
    const attempt = Effect.suspend(() => (attempts++ === 0 ? Effect.failCause(first) : once(update))).pipe(
      Effect.sandbox,
      Effect.tapError((cause) => Effect.andThen(metrics.failedOnce, logFailure(update, cause, attempts)))
    )
    return Effect.retry(attempt, retry).pipe(
      Effect.as(undefined),
      Effect.catch((cause) => {
        const death = { problem: Cause.pretty(cause), attempts, at: clock.currentTimeMillisUnsafe() }
        return Effect.as(buried(update, death), death)
      })
    )
  }

  const handle = (letter: Letter.Letter): Effect.Effect<Death | undefined, never, R> => {
    const { read } = letter
    if (Result.isFailure(read)) {
      return Effect.succeed({ problem: read.failure.message, attempts: 0, at: clock.currentTimeMillisUnsafe() })
    }
    return Effect.matchCauseEffect(once(read.success), {
      onSuccess: () => Effect.undefined,
      onFailure: (cause) => again(read.success, cause)
    })
  }

  const body = Effect.fnUntraced(function* () {
    const { claim, settle, more, start, wake } = yield* reader.make(inbox)
    const workers = yield* FiberSet.make<void>()
    const fork = yield* FiberSet.runtime(workers)<R>()

    const work = Effect.fnUntraced(function* ({ key, letters }: Mailbox) {
      for (const [index, { id, letter }] of letters.entries()) {
        if (isStopping) return yield* settle({ key, release: true })
        const death = yield* handle(letter)
        yield* settle({ key, letter: { id, death }, release: index === letters.length - 1 })
      }
    })

    const begin = (mailbox: Mailbox) => {
      held++
      const working = Effect.onExit(work(mailbox), (exit) => {
        held--
        wake()
        return Exit.isSuccess(exit) ? Effect.void : settle({ key: mailbox.key, release: true })
      })
      fork(Effect.interruptible(working))
    }

    const source = yield* start(intake)

    const take: Effect.Effect<void, SourceE> = Effect.gen(function* () {
      for (;;) {
        const claimed = held < mailboxes ? yield* claim(mailboxes - held, turn) : []
        for (const mailbox of claimed) begin(mailbox)
        if (claimed.length > 0) continue
        const ended = source.pollUnsafe()
        if (ended !== undefined && (held === 0 || Exit.isFailure(ended))) return yield* ended
        yield* more
      }
    })

    yield* Effect.onExit(Effect.interruptible(take), () =>
      Effect.gen(function* () {
        isStopping = true
        yield* Effect.andThen(inbox.close, Fiber.interrupt(source))
        yield* Effect.timeoutOption(FiberSet.awaitEmpty(workers), deadline)
      })
    )
  })

  return yield* Effect.scoped(body())
})

const about = (update: Update) => ({ update_type: update.update_type, chat: originOf(update) })

const logFailure = (update: Update, cause: Cause.Cause<unknown>, attempts: number) =>
  Effect.annotateLogs(Effect.logWarning(`A handler failed, attempt ${attempts}.`, cause), about(update))

const buried = (update: Update, { attempts }: Death) =>
  Effect.andThen(
    metrics.diedOnce,
    Effect.annotateLogs(
      Effect.logError(`An update is a dead letter after ${attempts} attempts: see Inbox.deadLetters.`),
      about(update)
    )
  )
