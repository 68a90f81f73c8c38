/**
 * Repeats operations with growing pauses while the platform or a store is away, and ends the bot after a time limit.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schedule from "effect/Schedule"
import * as Backoff from "../base/Backoff.ts"
import * as Settings from "./Settings.ts"
import * as Schema from "effect/Schema"
import { reasonOf, StoreError } from "../base/StoreError.ts"
import { TaggedError } from "../base/TaggedError.ts"

/**
 * The platform or a store was away for longer than the time limit. The message names the remedy.
 *
 * @category errors
 * @since 0.1.0
 */
export class GaveUp extends TaggedError("GaveUp", () => ({
  /** The name of the platform or store, such as `"The platform"`. */
  what: Schema.String,
  /** The number of attempts. */
  attempts: Schema.Number,
  /** The time since the first failure. */
  duration: Schema.Duration,
  /** The last failure. */
  cause: Schema.Unknown
})) {
  override get message() {
    const { attempts, cause, duration, what } = this
    return (
      `${what} was unavailable for ${Duration.format(duration)}, in ${attempts} attempts, so the bot ends. Nothing that was ` +
      `stored is lost: repair the connection and start the bot again, or let a supervisor restart the bot. ` +
      `BOT_GIVE_UP_AFTER sets the time. The last failure: ${reasonOf(cause).replace(/\.$/, "")}.`
    )
  }
}

/**
 * The reason for which an outage ends the bot: the time limit has passed, or a store failed in a way that a retry
 * repeats.
 *
 * @category errors
 * @since 0.1.0
 */
export type OutageError = GaveUp | StoreError

/**
 * The time for which operations are repeated. `undefined`, the default, is the setting `BOT_GIVE_UP_AFTER`, whose
 * default is 10 minutes. With zero, an operation fails with its first failure.
 *
 * **Example** (A bot that never gives up)
 *
 * ```ts
 * import { Bot, Handler, Messages, Outage } from "@colloquy/core"
 * import { Duration, Effect } from "effect"
 *
 * const bot = Bot.run(Handler.on("bot_started", (update) => Messages.reply(update, "Hello"))).pipe(
 *   Effect.provideService(Outage.GiveUpAfter, Duration.infinity)
 * )
 * ```
 *
 * @category references
 * @since 0.1.0
 */
export const GiveUpAfter = Context.Reference<Duration.Duration | undefined>("@colloquy/core/Outage/GiveUpAfter", {
  defaultValue: () => undefined
})

const monotonic = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

/** A malformed setting is reported by the layer of the bot. */
const limit = Effect.flatMap(GiveUpAfter, (duration) =>
  duration === undefined
    ? Effect.orElseSucceed(Settings.giveUpAfter, () => Settings.defaultGiveUpAfter)
    : Effect.succeed(duration)
)

const pauses = Backoff.make(Backoff.pauses.storeUnavailable)

/**
 * The failed attempts of one operation.
 *
 * @category models
 * @since 0.1.0
 */
export interface Attempts {
  /**
   * Counts a failure. Returns the number of failures and the pause before the next attempt. Fails with {@link GaveUp}
   * after the time limit, and with the failure itself if the limit is zero.
   */
  readonly failed: <E>(failure: E) => Effect.Effect<{ readonly count: number; readonly pause: number }, E | GaveUp>
}

/**
 * Begins to count the attempts of an operation that has failed, for a caller that cannot use {@link Outage.retry}.
 * Pauses grow from 0.2 to 10 seconds, by up to 20 % longer or shorter at random. All times are times of the monotonic
 * clock.
 *
 * @category constructors
 * @since 0.1.0
 */
export const attempts = Effect.fnUntraced(function* (what: string): Effect.fn.Return<Attempts> {
  const clock = yield* Clock.Clock
  const giveUpAfter = Duration.toMillis(yield* limit)
  const step = yield* Schedule.toStep(pauses)
  const since = monotonic(clock)
  let count = 0
  return {
    failed: Effect.fnUntraced(function* <E>(failure: E) {
      count++
      const elapsed = monotonic(clock) - since
      if (giveUpAfter === 0) return yield* Effect.fail(failure)
      if (elapsed >= giveUpAfter) {
        const duration = Duration.millis(Math.round(elapsed))
        return yield* new GaveUp({ what, attempts: count, duration, cause: failure })
      }
      const [, pause] = yield* Effect.orDie(step(clock.currentTimeMillisUnsafe(), undefined))
      // The last attempt is at the end of the time.
      return { count, pause: Math.ceil(Math.min(Duration.toMillis(pause), giveUpAfter - elapsed)) }
    })
  }
})

/**
 * A dependency that can be away, and that repeats the operations that need the dependency.
 *
 * @category models
 * @since 0.1.0
 */
export interface Outage {
  /**
   * Repeats an operation while `isTemporary` returns `true` for its failure, with growing pauses. Fails with {@link GaveUp} after the
   * time limit. Operations that are repeated at the same time log each attempt once; the cause is logged with the first attempt, and
   * with the others at the level `Debug`.
   */
  readonly retry: <A, E, R>(
    self: Effect.Effect<A, E, R>,
    isTemporary: (failure: E) => boolean
  ) => Effect.Effect<A, E | GaveUp, R>
  /** Like `retry`, but dies with {@link GaveUp}, which ends the bot with that error. */
  readonly retryOrDie: <A, E, R>(
    self: Effect.Effect<A, E, R>,
    isTemporary: (failure: E) => boolean
  ) => Effect.Effect<A, E, R>
}

const seconds = (millis: number): string => `${Math.max(1, Math.round(millis / 100)) / 10} seconds`

/**
 * Creates an {@link Outage} for the operations of one dependency. `what` begins the lines of the log.
 *
 * **Example** (A source of updates that waits for its server)
 *
 * ```ts
 * import { Outage } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * declare const connect: Effect.Effect<void, { readonly _tag: "Refused" | "WrongPassword" }>
 *
 * const broker = Outage.make("The broker")
 * const connected = broker.retry(connect, ({ _tag }) => _tag === "Refused")
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (what: string): Outage => {
  /** The number of operations that are being repeated. */
  let repeated = 0
  /** The highest attempt that was logged since the first of them failed. */
  let logged = 0
  let since = 0

  const log = (count: number, pause: number, failure: unknown) =>
    Effect.suspend(() => {
      const next = `Attempt ${count} failed, and the next one follows in ${seconds(pause)}.`
      if (count <= logged) return Effect.void
      logged = count
      return count === 1
        ? Effect.logWarning(`${what} is unavailable. ${next} ${reasonOf(failure)}`)
        : Effect.andThen(Effect.logWarning(`${what} is still unavailable. ${next}`), Effect.logDebug(reasonOf(failure)))
    })

  const logEnd = (clock: Clock.Clock) => {
    const elapsed = seconds(monotonic(clock) - since)
    return Effect.logInfo(`${what} is available again after ${elapsed}.`)
  }

  const retry: Outage["retry"] = <A, E, R>(self: Effect.Effect<A, E, R>, isTemporary: (failure: E) => boolean) =>
    Effect.catchIf(self, isTemporary, (first) =>
      Effect.gen(function* () {
        const clock = yield* Clock.Clock
        const { failed } = yield* attempts(what)
        if (repeated++ === 0) {
          logged = 0
          since = monotonic(clock)
        }
        const again = (failure: E): Effect.Effect<A, E | GaveUp, R> =>
          Effect.flatMap(failed(failure), ({ count, pause }) =>
            Effect.andThen(
              Effect.andThen(log(count, pause, failure), Effect.sleep(pause)),
              Effect.catchIf(self, isTemporary, again)
            )
          )
        return yield* Effect.onExit(again(first), (exit) => {
          const isLast = --repeated === 0
          return isLast && logged > 0 && Exit.isSuccess(exit) ? logEnd(clock) : Effect.void
        })
      })
    )

  return {
    retry,
    retryOrDie: <A, E, R>(self: Effect.Effect<A, E, R>, isTemporary: (failure: E) => boolean) =>
      Effect.catchIf(
        retry(self, isTemporary),
        (error): error is GaveUp => error instanceof GaveUp,
        (error) => Effect.die(error)
      ) as Effect.Effect<A, E, R>
  }
}

/**
 * Returns why a bot has to end, if a cause has such a defect.
 *
 * @category guards
 * @since 0.1.0
 */
export const errorIn = (cause: Cause.Cause<unknown>): OutageError | undefined => {
  for (const reason of cause.reasons) {
    if (!Cause.isDieReason(reason)) continue
    if (reason.defect instanceof GaveUp || reason.defect instanceof StoreError) return reason.defect
  }
  return undefined
}
