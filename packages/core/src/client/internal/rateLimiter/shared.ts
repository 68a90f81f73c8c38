import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type { AcquireResult, Limit, PermitResult } from "../../RateLimiterProtocol.ts"
import type { RateLimiterStore } from "../../RateLimiterStore.ts"
import type { StoreError } from "../../../base/StoreError.ts"
import { randomId } from "../../../base/internal/randomId.ts"
import { watchFiber } from "../../../base/internal/watchFiber.ts"
import * as adaptive from "./adaptive.ts"
import * as Fallback from "./fallback.ts"
import * as Dispatch from "./dispatch.ts"
import * as Queue from "./queue.ts"
import * as Windows from "./window.ts"

const maxRequests = 16

/** Time between two attempts to reach an unavailable store, in milliseconds. */
const reconnectDelay = 500

/** The store ignores a call that arrives later than this, in milliseconds. */
const maxLateness = 1000

/** A member calls the store at least this often, in milliseconds. */
const heartbeat = 1000

/** A member that has not called the store for this time is absent, in milliseconds. */
const absentAfter = 2500

/** Maximum time between the grant of a permit and the time at which the permit counts, in milliseconds. */
const maxDelay = 250

export interface Share {
  /** Share of the limits that this process sends while the store is unavailable. 0 if calls wait. */
  readonly share: number
  /** Maximum time for which this process sends its share, in milliseconds. */
  readonly duration: number
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
 * The backend of several processes: the queue of this process, and the windows of all processes in a store.
 *
 * A process may not know whether the store executed a call that failed. So the process counts as present until
 * `maxLateness` after its last call, and as absent `absentAfter` later. The process sends its share when all permits
 * that the store granted to others before the reservation are out of the windows.
 */
export const make = Effect.fnUntraced(function* (
  store: RateLimiterStore["Service"],
  limits: Windows.Limits,
  margin: number,
  { share, duration }: Share
) {
  const clock = yield* Clock.Clock
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  const run = (effect: Effect.Effect<void>) => watchFiber(fork(effect), queue.stop)
  const processId = yield* randomId
  const { host } = limits
  const coldDelay = margin * Windows.coldMargins
  const longestDelay = Math.max(maxDelay, coldDelay)
  const usableFor = margin * Windows.usablePart
  const estimateDelay = Windows.makeDelayEstimate(coldDelay)
  // A shorter delay is not worth an operation of the store.
  const minDelay = margin / 2
  let coldLeft = Math.ceil(host.count / 3)
  const queue = Queue.make()
  const wakeUp = Latch.makeUnsafe(false)
  const isMember = share > 0

  const now = () => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

  const fallback = Fallback.make({ processId, limits, share, usableFor })
  let isUnavailable = false
  let reading: ClockReading | undefined
  let epoch: string | undefined
  let reserved = 0
  let reservedForOthers = 0
  let reservedUntil = -Infinity
  let lastCallAt = -Infinity
  let hostLimit = host.count
  let nextId = 0
  const offset = makeOffset()
  /** The maximum recent delay between the grant of a permit and its request. */
  let usualDelay = 0
  /** The maximum recent duration of calls of the store. */
  let usualRoundTrip = 0
  const dispatch = Dispatch.make(now, run)
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

  const becomeUnavailable = (error: StoreError) =>
    Effect.suspend(() => {
      if (isUnavailable) return Effect.void
      isUnavailable = true
      const at = now()
      const share = reservedAt(at)
      if (share > 0) fallback.start(fallbackFrom(), reservedUntil, share)
      const consequence =
        share > 0
          ? `Calls wait for ${((fallbackFrom() - at) / 1000).toFixed(1)} seconds, then this process sends at most ${share} requests in a window`
          : "Calls wait"
      const warning = Effect.logWarning(
        `The rate limiter store is unavailable. ${consequence} until the store is available again.`,
        error
      )
      const reconnecting = Effect.map(Effect.forkIn(reconnect, scope), (fiber) => watchFiber(fiber, queue.stop))
      return Effect.andThen(warning, reconnecting)
    })

  const reconnect: Effect.Effect<void> = Effect.suspend(() =>
    Effect.andThen(
      Effect.sleep(reconnectDelay),
      Effect.matchEffect(readClock, {
        onFailure: () => reconnect,
        onSuccess: () =>
          Effect.suspend(() => {
            isUnavailable = false
            fallback.stop()
            // The share is given up with the next call, whether or not its result arrives.
            lastCallAt = now()
            wakeUp.openUnsafe()
            return Effect.logInfo("The rate limiter store is available again. All processes share the limits.")
          })
      })
    )
  )

  const scope = yield* Effect.scope

  const peak = (usual: number, latest: number): number =>
    Math.min(longestDelay, Math.max(latest, usual - (usual - latest) / 8))

  /** A permit that is free when the response arrives needs no further call. */
  const advanceFor = (delay: number): number =>
    usualRoundTrip < minDelay ? 0 : Math.min(usualRoundTrip, longestDelay - delay)

  const call = Effect.fnUntraced(function* (candidates: ReadonlyArray<Queue.Candidate>) {
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
    usualRoundTrip = peak(usualRoundTrip, answeredAt - calledAt)
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

  /** The time until the next call of the store for the sake of the membership. */
  const untilHeartbeat = () => (isMember && !isUnavailable ? Math.max(0, lastCallAt + heartbeat - now()) : Infinity)

  const acquire = (candidates: ReadonlyArray<Queue.Candidate>): Effect.Effect<ReadonlyArray<Fallback.Result>> =>
    Effect.suspend(() => {
      if (isUnavailable) return Effect.succeed(fallback.acquire(candidates, now()))
      if (candidates.length === 0 && untilHeartbeat() > 0 && !fallback.hasSent()) return Effect.succeed([])
      return Effect.catch(call(candidates), (error) => Effect.as(becomeUnavailable(error), []))
    })

  // A permit that counts may move to an earlier time, by at most the longest delay. A permit that will be free is
  // requested in time.
  const untilNextAttempt = (hostWait: number) =>
    hostWait > longestDelay ? hostWait - longestDelay : hostWait - advanceFor(usualDelay) / 2

  const waitAtMost = (millis: number) =>
    millis === Infinity ? wakeUp.await : Effect.race(wakeUp.await, Effect.sleep(Math.max(0, Math.ceil(millis))))

  const serve = Effect.suspend(() => {
    wakeUp.closeUnsafe()
    queue.wake(now())
    const candidates = queue.candidates(maxRequests)
    const sequence = queue.currentSequence()
    // The next call takes about as long to reach the store as this call.
    const calledAt = now()
    return Effect.flatMap(acquire(candidates), (results) => {
      const at = now()
      let hostWait = Infinity
      results.forEach((result, index) => {
        const { bucket } = candidates[index]
        if (result._tag === "HostFull") hostWait = Math.min(hostWait, calledAt + result.retryAfter - at)
        else if (bucket.waiters.size === 0) {
          if (result._tag === "Granted" && result.id !== undefined) unused.push({ id: result.id, bucket: bucket.key })
        } else if (result._tag === "BucketFull") queue.delay(bucket, calledAt + result.retryAfter)
        else queue.grant(bucket, result)
      })
      queue.expire(at, sequence)
      if (hostWait === Infinity && queue.hasReady()) return Effect.void
      if (queue.isEmpty()) return waitAtMost(untilHeartbeat())
      return waitAtMost(Math.min(untilNextAttempt(hostWait), queue.nextAt() - at, untilHeartbeat()))
    })
  })

  const ignoreUnavailable = Effect.catch(becomeUnavailable)

  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => (isMember && !isUnavailable ? Effect.ignore(store.leave(processId)) : Effect.void))
  )
  watchFiber(yield* Effect.forkScoped(Effect.forever(serve)), queue.stop)

  const openWakeUp = () => {
    wakeUp.openUnsafe()
  }

  const backend: Queue.Backend = {
    queue,
    now,
    grantNow: () => undefined,
    untilLeave: dispatch.until,
    onAdded: openWakeUp,
    onEmpty: openWakeUp,
    retryAfter: ({ bucket, priority, scope }) => {
      const ahead = queue.ahead(bucket, priority)
      const { count, window } = limits[scope]
      return Math.max((ahead.buckets + 1) * (host.window / host.count), (ahead.calls / count) * window)
    },
    pause: (millis) =>
      Effect.suspend(() => {
        fallback.pause(now(), millis)
        return ignoreUnavailable(store.pause(millis))
      }),
    renew: (permit, stage, now) => {
      if (permit.id === undefined) return fallback.renew(permit, stage, now)
      const { at, bucket, countedAt, id, localAt } = permit
      const isCounted = stage === "connected" && !isUnavailable && now < localAt + host.window / 2
      if (!isCounted && stage !== "final") {
        unused.push({ id, bucket })
        return undefined
      }
      // The store learns of the later time now, because the store may be unavailable when the response arrives.
      const to = Math.max(countedAt, at + (now - localAt))
      if (to > countedAt && !isUnavailable) run(ignoreUnavailable(store.move({ id, bucket, to })))
      return to
    },
    onLeave: (delay) => {
      usualDelay = peak(usualDelay, delay)
    },
    onResponse: (permit) =>
      Effect.suspend(() => {
        const { at, bucket, countedAt, id, localAt, sentAt } = permit
        const arrivedAt = sentAt + estimateDelay(now() - sentAt)
        if (id === undefined) fallback.move(permit, arrivedAt)
        const estimate = at + (arrivedAt - localAt)
        // The request arrived before its response.
        const latest = at + (now() - localAt)
        const to = latest <= countedAt - minDelay ? latest : estimate
        if (isUnavailable || id === undefined || (to === estimate && to < countedAt + minDelay)) return Effect.void
        return ignoreUnavailable(store.move({ id, bucket, to }))
      }),
    onRateLimited: (granted, pause) =>
      Effect.suspend(() => {
        fallback.pause(now(), pause)
        const reduceLimit = store.updateAdaptiveState((state = adaptive.initial(host.count), now) =>
          adaptive.reduce(state, granted, now, pause)
        )
        return ignoreUnavailable(Effect.andThen(store.pause(pause), reduceLimit))
      }),
    merge: (from, to) =>
      Effect.suspend(() => {
        fallback.merge(from, to)
        queue.merge(from, to)
        return ignoreUnavailable(store.mergeBuckets(from, to))
      }),
    status: () => ({ buckets: fallback.buckets(), hostLimit: isUnavailable ? reservedAt(now()) : hostLimit })
  }
  return backend
})
