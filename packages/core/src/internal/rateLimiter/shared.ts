import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type { Limit, PermitRequest, PermitResult, RateLimiterStore } from "../../RateLimiterStore.ts"
import type { StoreError } from "../../StoreError.ts"
import * as adaptive from "./adaptive.ts"
import * as Queue from "./queue.ts"
import * as Windows from "./window.ts"

type OnUnavailable = "wait" | { readonly share: number }

const maxRequests = 16

/** Time between two attempts to reach an unavailable store, in milliseconds. */
const reconnectDelay = 500

const shareOf = (share: number, { count, window }: Limit): Limit => {
  const permits = Math.max(1, Math.floor(count * share))
  return { count: permits, window: Math.ceil((window * permits) / (count * share)) }
}

/**
 * The backend of several processes: the queue of this process, and the windows of all processes in a store. While the
 * store is unavailable, calls wait, or `fallback` counts the permits of this process alone.
 */
export const make = Effect.fnUntraced(function* (
  store: RateLimiterStore["Service"],
  limits: Windows.Limits,
  margin: number,
  onUnavailable: OnUnavailable
) {
  const clock = yield* Clock.Clock
  const share = onUnavailable === "wait" ? 1 : onUnavailable.share
  const { host } = limits
  const shares = Object.fromEntries(Object.entries(limits).map(([scope, limit]) => [scope, shareOf(share, limit)]))
  const fallback = Windows.make({ ...shares, host: shareOf(share, host) }, 0)
  const coldDelay = margin * Windows.coldMargins
  const estimateDelay = Windows.makeDelayEstimate(coldDelay)
  // A shorter delay is not worth an operation of the store.
  const minDelay = margin / 2
  let coldLeft = Math.ceil(host.count / 3)
  const queue = Queue.make()
  const wakeUp = Latch.makeUnsafe(false)
  let isUnavailable = false
  let retryAt = -Infinity
  let hostLimit = host.count

  const now = () => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

  const requestOf = (bucket: Queue.Bucket): PermitRequest => ({
    bucket: bucket.key === undefined ? undefined : { ...limits[bucket.scope], key: bucket.key },
    isPaced: Queue.isPaced(queue.priorityOf(bucket))
  })

  const waitForStore = (buckets: ReadonlyArray<Queue.Bucket>): ReadonlyArray<PermitResult> =>
    buckets.map(() => ({ _tag: "HostFull", retryAfter: Math.max(1, retryAt - now()) }))

  const acquireAlone = (buckets: ReadonlyArray<Queue.Bucket>): ReadonlyArray<PermitResult> => {
    const at = now()
    return buckets.map((bucket) => {
      const isPaced = Queue.isPaced(queue.priorityOf(bucket))
      const hostWait = fallback.hostWait(at)
      if (hostWait > 0) fallback.startPacingAt(at + hostWait)
      const wait = Math.max(hostWait, isPaced ? fallback.paceWait(at) : 0)
      if (wait > 0) return { _tag: "HostFull", retryAfter: wait }
      const bucketWait = fallback.bucketWait(bucket.key, at)
      if (bucketWait > 0) return { _tag: "BucketFull", retryAfter: bucketWait }
      return { _tag: "Granted", ...fallback.grant(bucket.scope, bucket.key, isPaced, at) }
    })
  }

  const acquireUnavailable = onUnavailable === "wait" ? waitForStore : acquireAlone

  // After this time, permits that the other side granted are out of all windows.
  const longestWindow = Math.max(...Object.values(limits).map(({ window }) => window))

  const becomeUnavailable = (error: StoreError) =>
    Effect.suspend(() => {
      if (isUnavailable) return Effect.void
      isUnavailable = true
      fallback.pause(now(), longestWindow)
      const consequence =
        onUnavailable === "wait" ? "Calls wait" : `This process sends at most ${share} of the configured limits`
      return Effect.logWarning(
        `The rate limiter store is unavailable. ${consequence} until the store is available again.`,
        error
      )
    })

  const becomeAvailable = Effect.suspend(() =>
    Effect.andThen(
      store.pause(onUnavailable === "wait" ? 0 : longestWindow),
      Effect.suspend(() => {
        isUnavailable = false
        return Effect.logInfo("The rate limiter store is available again. All processes share the limits.")
      })
    )
  )

  const raiseLimit = (limit: number, results: ReadonlyArray<PermitResult>) => {
    const used = Math.max(...results.map((result) => (result._tag === "Granted" ? result.used : -1)))
    return limit < host.count && used + 1 >= limit
      ? store.updateAdaptiveState((state = adaptive.initial(host.count), now) =>
          adaptive.raise(state, host.count, used, now, host.window)
        )
      : Effect.void
  }

  const acquireShared = Effect.fnUntraced(function* (buckets: ReadonlyArray<Queue.Bucket>) {
    if (isUnavailable) yield* becomeAvailable
    const { hostLimit: limit, results } = yield* store.acquire({
      requests: buckets.map(requestOf),
      host,
      delay: coldLeft > 0 ? coldDelay : 0
    })
    coldLeft -= results.filter(({ _tag }) => _tag === "Granted").length
    hostLimit = limit
    yield* raiseLimit(limit, results)
    return results
  })

  const acquire = (buckets: ReadonlyArray<Queue.Bucket>): Effect.Effect<ReadonlyArray<PermitResult>> =>
    Effect.suspend(() => {
      if (buckets.length === 0) return Effect.succeed([])
      if (isUnavailable && now() < retryAt) return Effect.sync(() => acquireUnavailable(buckets))
      return Effect.catch(acquireShared(buckets), (error) => {
        retryAt = now() + reconnectDelay
        return Effect.map(becomeUnavailable(error), () => acquireUnavailable(buckets))
      })
    })

  const serve = Effect.suspend(() => {
    wakeUp.closeUnsafe()
    queue.wake(now())
    const buckets = queue.candidates(maxRequests)
    const sequence = queue.currentSequence()
    return Effect.flatMap(acquire(buckets), (results) => {
      const at = now()
      let hostWait = Infinity
      results.forEach((result, index) => {
        const bucket = buckets[index]
        if (result._tag === "HostFull") hostWait = Math.min(hostWait, result.retryAfter)
        else if (bucket.waiters.size === 0) return
        else if (result._tag === "BucketFull") queue.delay(bucket, at + result.retryAfter)
        else queue.grant(bucket, result)
      })
      queue.expire(at, sequence)
      if (hostWait === Infinity && queue.hasReady()) return Effect.void
      if (queue.isEmpty()) return wakeUp.await
      const wait = Math.min(hostWait, queue.nextAt() - at)
      return Effect.race(wakeUp.await, Effect.sleep(Math.max(0, Math.ceil(wait))))
    })
  })

  yield* Effect.forkScoped(Effect.forever(serve))

  const ignoreUnavailable = Effect.catch(becomeUnavailable)

  const openWakeUp = () => {
    wakeUp.openUnsafe()
  }

  const backend: Queue.Backend = {
    queue,
    now,
    grantNow: () => undefined,
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
    onResponse: ({ at, countedAt }, bucket, localAt) =>
      Effect.suspend(() => {
        const to = at + estimateDelay(now() - localAt)
        if (isUnavailable || to < countedAt + minDelay) return Effect.void
        return ignoreUnavailable(store.postpone({ bucket, from: countedAt, to }))
      }),
    onRateLimited: (granted, pause) =>
      Effect.suspend(() => {
        fallback.pause(now(), pause)
        if (isUnavailable) fallback.reduceLimit(granted, now(), pause)
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
    status: () => ({ buckets: fallback.buckets, hostLimit: isUnavailable ? fallback.hostLimit : hostLimit })
  }
  return backend
})
