import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type { RateLimiterStore } from "../../RateLimiterStore.ts"
import { randomId } from "../../../base/internal/randomId.ts"
import { watchFiber } from "../../../base/internal/watchFiber.ts"
import * as adaptive from "./adaptive.ts"
import * as Availability from "./availability.ts"
import * as Fallback from "./fallback.ts"
import * as Dispatch from "./dispatch.ts"
import type { Candidate } from "./order.ts"
import * as Queue from "./queue.ts"
import * as StoreSession from "./storeSession.ts"
import * as Windows from "./window.ts"

const maxRequests = 16

/** A member calls the store at least this often, in milliseconds. */
const heartbeat = 1000

/**
 * The backend of several processes: the queue of this process, and the windows of all processes in a store.
 */
export const make = Effect.fnUntraced(function* (
  store: RateLimiterStore["Service"],
  limits: Windows.Limits,
  margin: number,
  { share, duration }: StoreSession.Share
) {
  const clock = yield* Clock.Clock
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  const run = (effect: Effect.Effect<void>) => watchFiber(fork(effect), queue.stop)
  const processId = yield* randomId
  const { host } = limits
  const usableFor = margin * Windows.usablePart
  const estimateDelay = Windows.makeDelayEstimate(margin * Windows.coldMargins)
  const queue = Queue.make()
  const wakeUp = Latch.makeUnsafe(false)
  const isMember = share > 0

  const now = () => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

  const fallback = Fallback.make({ processId, limits, share, usableFor })
  const session = StoreSession.make({ store, limits, margin, share, duration, processId, now, fallback })
  const { minDelay, reservedAt } = session
  const dispatch = Dispatch.make(now, run)
  const openWakeUp = () => {
    wakeUp.openUnsafe()
  }
  const scope = yield* Effect.scope
  const { isUnavailable, onFailure } = Availability.make({ session, fallback, scope, now, wakeUp, queue })

  /** The time until the next call of the store for the sake of the membership. */
  const untilHeartbeat = () =>
    isMember && !isUnavailable() ? Math.max(0, session.lastCallAt() + heartbeat - now()) : Infinity

  const acquire = (candidates: ReadonlyArray<Candidate>): Effect.Effect<ReadonlyArray<Fallback.Result>> =>
    Effect.suspend(() => {
      if (isUnavailable()) return Effect.succeed(fallback.acquire(candidates, now()))
      if (candidates.length === 0 && untilHeartbeat() > 0 && !fallback.hasSent()) return Effect.succeed([])
      return Effect.catch(session.call(candidates), (error) => Effect.as(onFailure(error), []))
    })

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
          if (result._tag === "Granted" && result.id !== undefined) session.returnPermit(result.id, bucket.key)
        } else if (result._tag === "BucketFull") queue.delay(bucket, calledAt + result.retryAfter)
        else queue.grant(bucket, result)
      })
      queue.expire(at, sequence)
      if (hostWait === Infinity && queue.hasReady()) return Effect.void
      if (queue.isEmpty()) return waitAtMost(untilHeartbeat())
      return waitAtMost(Math.min(session.untilNextAttempt(hostWait), queue.nextAt() - at, untilHeartbeat()))
    })
  })

  const ignoreUnavailable = Effect.catch(onFailure)

  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => (isMember && !isUnavailable() ? Effect.ignore(store.leave(processId)) : Effect.void))
  )
  watchFiber(yield* Effect.forkScoped(Effect.forever(serve)), queue.stop)

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
      const isCounted = stage === "connected" && !isUnavailable() && now < localAt + host.window / 2
      if (!isCounted && stage !== "final") {
        session.returnPermit(id, bucket)
        return undefined
      }
      // The store learns of the later time now, because the store may be unavailable when the response arrives.
      const to = Math.max(countedAt, at + (now - localAt))
      if (to > countedAt && !isUnavailable()) run(ignoreUnavailable(store.move({ id, bucket, to })))
      return to
    },
    onLeave: session.onLeave,
    onResponse: (permit) =>
      Effect.suspend(() => {
        const { at, bucket, countedAt, id, localAt, sentAt } = permit
        const arrivedAt = sentAt + estimateDelay(now() - sentAt)
        if (id === undefined) fallback.move(permit, arrivedAt)
        const estimate = at + (arrivedAt - localAt)
        // The request arrived before its response.
        const latest = at + (now() - localAt)
        const to = latest <= countedAt - minDelay ? latest : estimate
        if (isUnavailable() || id === undefined || (to === estimate && to < countedAt + minDelay)) return Effect.void
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
    status: () => ({
      buckets: fallback.buckets(),
      hostLimit: isUnavailable() ? reservedAt(now()) : session.hostLimit()
    })
  }
  return backend
})
