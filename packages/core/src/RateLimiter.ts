/**
 * The platform's limits, kept before it has to enforce them.
 *
 * API: Limits.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"
import { pollingPerSecond } from "./internal/assumptions.ts"

/**
 * What a limit counts: all requests to the API host, messages sent to one chat (and comments under one post), answers
 * to callbacks in one chat, calls of GET /updates. Edits and answers do not say their chat: they count at the host.
 *
 * @category models
 * @since 0.1.0
 */
export type Scope = "host" | "messages" | "answers" | "polling"

/**
 * At most `count` departures in any window of time.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limit {
  readonly count: number
  readonly window: Duration.Input
}

/**
 * The table of limits.
 *
 * @category models
 * @since 0.1.0
 */
export type Limits = { readonly [S in Scope]: Limit }

/**
 * The limits of the document, with 50 ms added to each second: the network squeezes departures together on their way.
 *
 * @category models
 * @since 0.1.0
 */
export const documented: Limits = {
  host: { count: 30, window: 1050 },
  messages: { count: 2, window: 1050 },
  answers: { count: 2, window: 1050 },
  polling: { count: pollingPerSecond, window: 1050 }
}

/**
 * No limits, for tests on a clock that stands still. A 429 still pauses everybody.
 *
 * @category models
 * @since 0.1.0
 */
export const unlimited: Limits = {
  host: { count: 1, window: 0 },
  messages: { count: 1, window: 0 },
  answers: { count: 1, window: 0 },
  polling: { count: 1, window: 0 }
}

/**
 * What a request takes besides its place at the host: a place in the lane `key` of a scope.
 *
 * @category models
 * @since 0.1.0
 */
export interface Claim {
  readonly scope: Exclude<Scope, "host">
  readonly key: string | number
}

/**
 * Lets requests depart within the limits.
 *
 * @category services
 * @since 0.1.0
 */
export class RateLimiter extends Context.Service<
  RateLimiter,
  {
    /** Waits for a place, first come first served within a lane; the caller sends right after. */
    readonly acquire: (claim: Claim | undefined) => Effect.Effect<void>
    /** Lets nobody depart for a while: the platform said that it is too much. The longest of several pauses counts. */
    readonly pause: (duration: Duration.Duration) => Effect.Effect<void>
  }
>()("@colloquy/core/RateLimiter") {}

/** The last departures of one lane: the next may go when the oldest of them has left the window. */
class Departures {
  readonly window: number
  readonly #times: Float64Array
  #next = 0

  constructor(limit: Limit) {
    this.#times = new Float64Array(limit.count).fill(-Infinity)
    this.window = Duration.toMillis(limit.window)
  }

  waitAt(now: number): number {
    // Where the clock was set back, what departed in its future departed just now.
    if (this.#last > now) this.#times.forEach((time, index) => (this.#times[index] = Math.min(time, now)))
    return this.#times[this.#next] + this.window - now
  }

  record(now: number): void {
    this.#times[this.#next] = now
    this.#next = (this.#next + 1) % this.#times.length
  }

  isIdleAt(now: number): boolean {
    return this.#last + this.window <= now
  }

  get #last(): number {
    return this.#times[(this.#next + this.#times.length - 1) % this.#times.length]
  }
}

interface Lane {
  readonly turn: Semaphore.Semaphore
  readonly departures: Departures
  waiting: number
}

const makeLane = (limit: Limit): Lane => ({
  turn: Semaphore.makeUnsafe(1),
  departures: new Departures(limit),
  waiting: 0
})

const lanesBeforeSweep = 1000

/**
 * A limiter of one process. No window of any limit ever holds more departures than its count: each lane remembers its
 * last departures. A request holds its chat's lane until it departs, so a busy chat holds one place at the host at the
 * most, and others go past it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (limits: Limits) {
  const useless = Object.entries(limits).find(([, { count }]) => !(Number.isInteger(count) && count > 0))
  if (useless !== undefined) {
    return yield* Effect.die(
      new RangeError(`RateLimiter: the count of \`${useless[0]}\` must be a whole number above 0`)
    )
  }
  const clock = yield* Clock.Clock
  const lanes = new Map<string, Lane>()
  const host = makeLane(limits.host)
  let pause = { since: 0, millis: 0 }
  let sweepAt = lanesBeforeSweep

  const pauseAt = (now: number): number => {
    if (pause.since > now) pause = { ...pause, since: now }
    return pause.since + pause.millis - now
  }

  const untilReady = (departures: Departures): Effect.Effect<void> =>
    Effect.suspend(() => {
      const now = clock.currentTimeMillisUnsafe()
      const wait = Math.max(departures.waitAt(now), pauseAt(now))
      return wait > 0 ? Effect.andThen(Effect.sleep(wait), untilReady(departures)) : Effect.void
    })

  const depart = (lane: Lane): Effect.Effect<void> =>
    Effect.map(untilReady(lane.departures), () => lane.departures.record(clock.currentTimeMillisUnsafe()))

  const counting = (lane: Lane, wait: Effect.Effect<void>): Effect.Effect<void> =>
    Effect.uninterruptibleMask((restore) => {
      lane.waiting++
      return Effect.ensuring(
        restore(wait),
        Effect.sync(() => {
          lane.waiting--
        })
      )
    })

  const atHost = counting(host, host.turn.withPermit(depart(host)))

  // Where nobody waits and the limits allow it, a request departs at once: the turns are for those who have to wait.
  const departsAtOnce = (lane: Lane | undefined): boolean => {
    const now = clock.currentTimeMillisUnsafe()
    if (pauseAt(now) > 0 || host.waiting > 0 || host.departures.waitAt(now) > 0) return false
    if (lane !== undefined) {
      if (lane.waiting > 0 || lane.departures.waitAt(now) > 0) return false
      lane.departures.record(now)
    }
    host.departures.record(now)
    return true
  }

  const sweep = () => {
    const now = clock.currentTimeMillisUnsafe()
    for (const [key, lane] of lanes) if (lane.waiting === 0 && lane.departures.isIdleAt(now)) lanes.delete(key)
    sweepAt = Math.max(lanesBeforeSweep, lanes.size * 2)
  }

  const laneOf = ({ scope, key }: Claim): Lane => {
    const name = `${scope}:${key}`
    const existing = lanes.get(name)
    if (existing !== undefined) return existing
    if (lanes.size >= sweepAt) sweep()
    const lane = makeLane(limits[scope])
    lanes.set(name, lane)
    return lane
  }

  const inLane = (lane: Lane): Effect.Effect<void> =>
    lane.turn.withPermit(
      Effect.flatMap(untilReady(lane.departures), () =>
        Effect.map(atHost, () => lane.departures.record(clock.currentTimeMillisUnsafe()))
      )
    )

  return RateLimiter.of({
    acquire: (claim) =>
      Effect.suspend(() => {
        const lane = claim === undefined ? undefined : laneOf(claim)
        if (departsAtOnce(lane)) return Effect.void
        return lane === undefined ? atHost : counting(lane, inLane(lane))
      }),
    pause: (duration) =>
      Effect.sync(() => {
        const since = clock.currentTimeMillisUnsafe()
        const millis = Duration.toMillis(duration)
        if (millis > pauseAt(since)) pause = { since, millis }
      })
  })
})

/**
 * The limiter of one process. Without `limits` the documented ones hold: 30 requests a second for the host, 2 messages
 * a second for each chat. Limits that are left out keep their documented value.
 *
 * **Example**
 *
 * ```ts
 * import { RateLimiter } from "@colloquy/core"
 *
 * const careful = RateLimiter.layerMemory({ host: { count: 10, window: "1 second" } })
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory = (limits?: Partial<Limits>): Layer.Layer<RateLimiter> =>
  Layer.effect(RateLimiter, make({ ...documented, ...limits }))
