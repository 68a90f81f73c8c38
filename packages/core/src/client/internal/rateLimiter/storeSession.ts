import * as Effect from "effect/Effect"
import type { AcquireResult, Limit, PermitResult, RateLimiterStore } from "../../RateLimiterStore.ts"
import * as adaptive from "./adaptive.ts"
import type * as Fallback from "./fallback.ts"
import type { Candidate } from "./order.ts"
import type * as Queue from "./queue.ts"
import * as Windows from "./window.ts"

/** The store ignores a call that arrives later than this, in milliseconds. */
const maxLateness = 1000

/** A member that has not called the store for this time is absent, in milliseconds. */
const absentAfter = 2500

/**
 * Maximum time between the grant of a permit and the time at which the permit counts, in milliseconds. A permit whose answer takes
 * longer cannot be used.
 */
const maxDelay = 1000

/** After this many answers in a row that took longer, a warning is logged. Fewer can be due to this process. */
const slowAnswers = 10

export interface Share {
  /** Share of the limits that this process sends while the store is unavailable. 0 if calls wait. */
  readonly share: number
  /** Maximum time for which this process sends its share, in milliseconds. */
  readonly duration: number
}

export interface Options extends Share {
  readonly store: RateLimiterStore["Service"]
  readonly limits: Windows.Limits
  readonly margin: number
  readonly processId: string
  readonly now: () => number
  /** Knows the requests that this process sent without the store, for the store to count. */
  readonly fallback: ReturnType<typeof Fallback.make>
}

/** The last known time of the store's clock. */
interface ClockReading {
  readonly time: number
  readonly receivedAt: number
}

/** The clocks of two machines differ by at most this part of the time that passes. */
const maxDrift = 0.0005

/**
 * The lead of the local clock over the clock of the store: at least `least` and at most `most` milliseconds. A faster
 * call gives narrower bounds, so the narrowest bounds are kept.
 */
const makeOffset = () => {
  let [least, most, knownAt] = [-Infinity, Infinity, 0]
  return {
    /** The store answered `time` between two times of the local clock. */
    observe: (time: number, calledAt: number, answeredAt: number): void => {
      const drift = (answeredAt - knownAt) * maxDrift
      const [low, high] = [calledAt - time, answeredAt - time]
      const isConsistent = low <= most + drift && high >= least - drift
      // If a clock was set, the earlier bounds are invalid.
      least = isConsistent ? Math.max(low, least - drift) : low
      most = isConsistent ? Math.min(high, most + drift) : high
      knownAt = answeredAt
    },
    /** The earliest local time that a time of the store may be. */
    earliest: (time: number): number => time + least,
    /** The latest local time that a time of the store may be. */
    latest: (time: number): number => time + most
  }
}

/**
 * The calls of one process to the store: their clocks, delays and results.
 *
 * A process may not know whether the store executed a call that failed. So the process counts as present until
 * `maxLateness` after its last call, and as absent `absentAfter` later. The process sends its share when all permits
 * that the store granted to others before the reservation are out of the windows.
 */
export const make = ({ duration, fallback, limits, margin, now, processId, share, store }: Options) => {
  const { host } = limits
  const coldDelay = margin * Windows.coldMargins
  const longestDelay = Math.max(maxDelay, coldDelay)
  const usableFor = margin * Windows.usablePart
  // A shorter delay is not worth an operation of the store.
  const minDelay = margin / 2
  const offset = makeOffset()
  let coldLeft = Math.ceil(host.count / 3)
  let reading: ClockReading | undefined
  let epoch: string | undefined
  let reserved = 0
  let reservedForOthers = 0
  let reservedUntil = -Infinity
  let lastCallAt = -Infinity
  let hostLimit = host.count
  let nextId = 0
  /** The maximum recent delay between the grant of a permit and its request. */
  let usualDelay = 0
  /** The maximum recent duration of calls of the store. */
  let usualRoundTrip = 0
  /** Number of answers in a row that took longer than permits are valid. */
  let slow = 0
  let lastLeavesAt = -Infinity
  let unused: Array<{ readonly id: string; readonly bucket: string | undefined }> = []

  const limitOf = (bucket: Queue.Bucket): (Limit & { readonly key: string }) | undefined =>
    bucket.key === undefined ? undefined : { ...limits[bucket.scope], key: bucket.key }

  const readClock = Effect.gen(function* () {
    const time = yield* store.time
    reading = { time, receivedAt: now() }
    return reading
  })

  const reservedAt = (time: number) => (time < reservedUntil ? reserved : 0)

  /**
   * The time from which this process may send its share: all permits that were granted without the reservation are out
   * of the windows.
   */
  const fallbackFrom = () => lastCallAt + maxLateness + absentAfter + longestDelay + host.window

  const peak = (usual: number, latest: number): number =>
    Math.min(longestDelay, Math.max(latest, usual - (usual - latest) / 8))

  /** A permit that is free when the response arrives needs no further call. */
  const advanceFor = (delay: number): number =>
    usualRoundTrip < minDelay ? 0 : Math.min(usualRoundTrip, longestDelay - delay)

  const warnOfSlow = (millis: number) =>
    Effect.logWarning(
      `The rate limiter store answers after ${Math.round(millis)} ms, and a permit is valid for ${longestDelay} ms. Calls wait ` +
        "until the store answers in time: check that the store is near and not overloaded."
    )

  const call = Effect.fnUntraced(function* (candidates: ReadonlyArray<Candidate>) {
    const { receivedAt, time } = reading ?? (yield* readClock)
    const calledAt = now()
    lastCallAt = calledAt
    // An unavailable store does not learn of late requests, so permits count late while calls take long.
    const delay = Math.min(longestDelay, Math.max(usualDelay, usualRoundTrip, coldLeft > 0 ? coldDelay : 0))
    const advance = advanceFor(delay)
    const requests = candidates.map(({ bucket, isPaced }) => ({
      id: `${processId}:${nextId++}`,
      bucket: limitOf(bucket),
      isPaced
    }))
    const returned = unused.slice()
    const result: AcquireResult = yield* store.acquire({
      process: {
        id: processId,
        share,
        absentAfter,
        reserveFor: duration,
        epoch,
        reserved: reservedAt(calledAt),
        reservedForOthers
      },
      requests,
      host,
      delay,
      advance,
      maxDelay: longestDelay,
      deadline: time + (calledAt - receivedAt) + maxLateness,
      unused: returned,
      sentAlone: fallback.sent(calledAt)
    })
    const answeredAt = now()
    reading = { time: result.now, receivedAt: answeredAt }
    offset.observe(result.now, calledAt, answeredAt)
    const roundTrip = answeredAt - calledAt
    usualRoundTrip = peak(usualRoundTrip, roundTrip)
    slow = roundTrip > longestDelay ? slow + 1 : 0
    if (slow === slowAnswers) yield* warnOfSlow(roundTrip)
    if (result._tag === "Late") return []
    unused = unused.slice(returned.length)
    fallback.clear()
    ;({ epoch, hostLimit, reserved, reservedForOthers } = result)
    reservedUntil = calledAt + duration
    coldLeft -= result.results.filter(({ _tag }) => _tag === "Granted").length
    yield* raiseLimit(result.hostLimit, result.results)
    return result.results.map((permit, index) => {
      if (permit._tag !== "Granted") return permit
      const localAt = offset.earliest(permit.at)
      // Calls leave in the order of their permits.
      if (permit.at > result.now) lastLeavesAt = Math.max(lastLeavesAt, offset.latest(permit.at))
      const usableUntil = localAt + delay + usableFor
      return { ...permit, id: requests[index].id, localAt, leavesAt: lastLeavesAt, usableUntil }
    })
  })

  const raiseLimit = (limit: number, results: ReadonlyArray<PermitResult>) => {
    const used = Math.max(...results.map((result) => (result._tag === "Granted" ? result.used : -1)))
    return limit < host.count && used + 1 >= limit
      ? store.updateAdaptiveState((state = adaptive.initial(host.count), now) =>
          adaptive.raise(state, host.count, used, now, host.window)
        )
      : Effect.void
  }

  return {
    minDelay,
    readClock,
    call,
    reservedAt,
    reservedUntil: (): number => reservedUntil,
    fallbackFrom,
    hostLimit: (): number => hostLimit,
    lastCallAt: (): number => lastCallAt,
    /** The store is called again. The share is given up with the next call, whether or not its result arrives. */
    resume: (): void => {
      lastCallAt = now()
    },
    /** The next call returns a permit whose request is not sent. */
    returnPermit: (id: string, bucket: string | undefined): void => void unused.push({ id, bucket }),
    /** The request of a permit left after a delay. */
    onLeave: (delay: number): void => {
      usualDelay = peak(usualDelay, delay)
    },
    /**
     * The time until the next call. A permit that counts may move to an earlier time, by at most the longest delay. A permit that
     * will be free is requested in time.
     */
    untilNextAttempt: (hostWait: number): number =>
      hostWait > longestDelay ? hostWait - longestDelay : hostWait - advanceFor(usualDelay) / 2
  }
}
