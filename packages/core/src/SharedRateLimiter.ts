/**
 * One limit for several processes. The order of calls is kept in each process as `RateLimiter` keeps it; what departed,
 * the pauses and what was learnt stand in a store that all of them ask. `RedisRateLimiter` of the Node package is one.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import { coldMargins, lateness, type Driver, type Request } from "./internal/rateLimiter/driver.ts"
import * as Ledger from "./internal/rateLimiter/buckets.ts"
import { climb, learn, type Lessons as Learnt, none } from "./internal/rateLimiter/adaptiveLimit.ts"
import * as Queue from "./internal/rateLimiter/waiters.ts"
import * as Room from "./internal/rateLimiter/waitingQueue.ts"
import * as RateLimiter from "./RateLimiter.ts"
import type { StoreError } from "./StoreError.ts"

/**
 * A limit in numbers: `window` is in milliseconds and includes the margin.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limit {
  readonly count: number
  readonly window: number
}

/**
 * Somebody who wants to depart. `line` is that of a chat, none where only the host's limit holds; paced departures are
 * spread over the host's window beyond a burst of a third of it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Wish {
  readonly line: (Limit & { readonly name: string }) | undefined
  readonly isPaced: boolean
}

/**
 * What became of a wish: it departed, or its line has no place for so many milliseconds, or there is none at the host.
 *
 * @category models
 * @since 0.1.0
 */
export type Outcome =
  | {
      readonly _tag: "Departed"
      readonly at: number
      readonly counted: number
      readonly load: number
      readonly isLast: boolean
    }
  | { readonly _tag: "LineFull"; readonly millis: number }
  | { readonly _tag: "HostFull"; readonly millis: number }

/**
 * What 429s have taught, as a record of numbers.
 *
 * @category models
 * @since 0.1.0
 */
export interface Lessons extends Learnt {}

/**
 * What a store does. Times are milliseconds of the store's own clock.
 *
 * - `take` lets depart, in one atomic step and in the order of the wishes, whoever may. A process whose wishes are not
 *   all fulfilled waits for its turn: places at the host go to those who wait longest.
 *   What departs counts as if it were `late` by so many milliseconds.
 * - `learn` changes what was learnt, in one atomic step.
 * - `pause` lets nobody depart for a while; the longest pause counts.
 * - `merge` makes two lines one.
 * - `postpone` changes the time that a departure counts for, where it is still known.
 *
 * @category models
 * @since 0.1.0
 */
export interface Store {
  readonly take: (
    wishes: ReadonlyArray<Wish>,
    host: Limit,
    late: number
  ) => Effect.Effect<{ readonly outcomes: ReadonlyArray<Outcome>; readonly level: number }, StoreError>
  readonly learn: (change: (lessons: Lessons | undefined, now: number) => Lessons) => Effect.Effect<void, StoreError>
  readonly pause: (millis: number) => Effect.Effect<void, StoreError>
  readonly merge: (from: string, to: string) => Effect.Effect<void, StoreError>
  readonly postpone: (line: string | undefined, from: number, to: number) => Effect.Effect<void, StoreError>
}

/**
 * What happens while the store is away: calls wait, or they go by a share of the limits. With a share that is no more
 * than one part of as many as there are processes, the limits are kept all the same.
 *
 * @category models
 * @since 0.1.0
 */
export type WhenAway = "wait" | { readonly share: number }

/** As many wishes are asked for at once. */
const mostWishes = 16

const betweenAttempts = 500

const shareOf = (share: number, { count, window }: Limit): Limit => {
  const places = Math.max(1, Math.floor(count * share))
  return { count: places, window: Math.ceil((window * places) / (count * share)) }
}

/**
 * A limiter whose departures are kept by a store.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (
  store: Store,
  { settings, whenAway }: { readonly settings: RateLimiter.Options; readonly whenAway: WhenAway }
): Effect.fn.Return<RateLimiter.RateLimiter["Service"], never, Scope.Scope> {
  const clock = yield* Clock.Clock
  const limits = yield* RateLimiter.inNumbers(settings)
  const share = whenAway === "wait" ? 1 : whenAway.share
  const alone = Ledger.make(
    {
      host: shareOf(share, limits.host),
      messages: shareOf(share, limits.messages),
      answers: shareOf(share, limits.answers),
      polling: shareOf(share, limits.polling)
    },
    0
  )
  const cold = Duration.toMillis(settings.margin) * coldMargins
  const late = lateness(cold)
  const least = cold / coldMargins / 2
  let coldLeft = Math.ceil(limits.host.count / 3)
  const room = Room.make()
  const watcher = yield* RateLimiter.Watcher
  const isWanted = Latch.makeUnsafe(false)
  let isAway = false
  let retryAt = -Infinity
  let known = limits.host.count

  const now = () => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

  const wishOf = (line: Room.Line): Wish => {
    const { name, scope } = line
    return {
      line: name === undefined ? undefined : { ...limits[scope as RateLimiter.Scope], name },
      isPaced: Room.isPaced(room.rankOf(line))
    }
  }

  const waitFor = ({ scope, line, rank }: Request) => {
    const { ahead, inLine } = room.ahead(line, rank)
    const { count, window } = limits[scope as RateLimiter.Scope]
    const { host } = limits
    return Duration.millis(Math.ceil(Math.max((ahead + 1) * (host.window / host.count), (inLine / count) * window)))
  }

  const wake = () => {
    isWanted.openUnsafe()
  }

  const queue = Queue.make(room, { now, moved: wake, emptied: wake, waitFor }, watcher)

  const takeAlone = (lines: ReadonlyArray<Room.Line>): ReadonlyArray<Outcome> => {
    const at = now()
    return lines.map((line) => {
      const isPaced = Room.isPaced(room.rankOf(line))
      const hostWait = alone.hostWait(at)
      if (hostWait > 0) alone.spreadFrom(at + hostWait)
      const millis = Math.max(hostWait, isPaced ? alone.paceWait(at) : 0)
      if (millis > 0) return { _tag: "HostFull", millis }
      const lineWait = alone.lineWait(line.name, at)
      if (lineWait > 0) return { _tag: "LineFull", millis: lineWait }
      return { _tag: "Departed", ...alone.depart(line.scope, line.name, isPaced, at) }
    })
  }

  // What departed by the store before, or without it since, is out of every window after the longest of them.
  const longest = Math.max(...Object.values(limits).map(({ window }) => window))

  const gone = (error: StoreError) =>
    Effect.suspend(() => {
      if (isAway) return Effect.void
      isAway = true
      alone.pause(now(), longest)
      return Effect.logWarning(
        whenAway === "wait"
          ? "The store of the rate limiter is away: calls wait until it is back."
          : `The store of the rate limiter is away: calls go by ${share} of the limits until it is back.`,
        error
      )
    })

  const back = Effect.suspend(() =>
    Effect.andThen(
      store.pause(whenAway === "wait" ? 0 : longest),
      Effect.suspend(() => {
        isAway = false
        return Effect.logInfo("The store of the rate limiter is back.")
      })
    )
  )

  const higher = (level: number, outcomes: ReadonlyArray<Outcome>) => {
    const { count, window } = limits.host
    const load = Math.max(...outcomes.map((outcome) => (outcome._tag === "Departed" ? outcome.load : -1)))
    return level < count && load + 1 >= level
      ? store.learn((lessons = none(count), now) => climb(lessons, count, load, now, window))
      : Effect.void
  }

  const takeShared = Effect.fnUntraced(function* (lines: ReadonlyArray<Room.Line>) {
    if (isAway) yield* back
    const { level, outcomes } = yield* store.take(lines.map(wishOf), limits.host, coldLeft > 0 ? cold : 0)
    coldLeft -= outcomes.filter(({ _tag }) => _tag === "Departed").length
    known = level
    yield* higher(level, outcomes)
    return outcomes
  })

  const take = (lines: ReadonlyArray<Room.Line>): Effect.Effect<ReadonlyArray<Outcome>> =>
    Effect.suspend(() => {
      if (isAway && now() < retryAt) return Effect.sync(() => (whenAway === "wait" ? waiting(lines) : takeAlone(lines)))
      return Effect.catch(takeShared(lines), (away) => {
        retryAt = now() + betweenAttempts
        return Effect.as(gone(away), whenAway === "wait" ? waiting(lines) : takeAlone(lines))
      })
    })

  const waiting = (lines: ReadonlyArray<Room.Line>): ReadonlyArray<Outcome> =>
    lines.map(() => ({ _tag: "HostFull", millis: Math.max(1, retryAt - now()) }))

  const step = Effect.suspend(() => {
    isWanted.closeUnsafe()
    room.wake(now())
    const lines = Room.candidates(room, mostWishes)
    const turn = queue.nextTurn()
    return Effect.flatMap(lines.length === 0 ? Effect.succeed([]) : take(lines), (outcomes) => {
      const at = now()
      let hostWait = Infinity
      outcomes.forEach((outcome, index) => {
        const line = lines[index]
        if (outcome._tag === "HostFull") hostWait = Math.min(hostWait, outcome.millis)
        else if (line.tickets.size === 0) return
        else if (outcome._tag === "LineFull") room.delay(line, at + outcome.millis)
        else room.depart(line, outcome)
      })
      room.expire(at, turn)
      if (hostWait === Infinity && room.hasReady()) return Effect.void
      const wait = Math.min(hostWait, room.nextAt() - at)
      return room.isEmpty() ? isWanted.await : Effect.race(isWanted.await, Effect.sleep(Math.max(0, Math.ceil(wait))))
    })
  })

  yield* Effect.forkScoped(Effect.forever(step))

  const ignoringAway = Effect.catch((away: StoreError) => gone(away))

  const driver: Driver = {
    acquire: (request) => Effect.suspend(() => queue.wait(request, now())),
    pause: (millis) =>
      Effect.suspend(() => {
        watcher?.paused(millis)
        alone.pause(now(), millis)
        return ignoringAway(store.pause(millis))
      }),
    answered: ({ at, counted, left, line }) =>
      Effect.suspend(() => {
        const to = at + late(now() - left)
        if (isAway || to < counted + least) return Effect.void
        return ignoringAway(store.postpone(line, counted, to))
      }),
    refused: (departure, pause = limits.host.window) =>
      Effect.suspend(() => {
        watcher?.refused()
        watcher?.paused(pause)
        alone.pause(now(), pause)
        if (isAway) alone.refused(departure, now(), pause)
        const learnt = store.learn((lessons = none(limits.host.count), now) => learn(lessons, departure, now, pause))
        return ignoringAway(Effect.andThen(store.pause(pause), learnt))
      }),
    merge: (from, to) =>
      Effect.suspend(() => {
        alone.merge(from, to)
        room.merge(from, to)
        return ignoringAway(store.merge(from, to))
      }),
    status: Effect.sync(() => ({ waiting: [...room.waiting], lines: alone.lines, level: isAway ? alone.level : known }))
  }
  return RateLimiter.fromDriver(driver, settings)
})
