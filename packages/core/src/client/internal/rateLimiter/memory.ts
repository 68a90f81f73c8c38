import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import { watchFiber } from "../../../base/internal/watchFiber.ts"
import * as Order from "./order.ts"
import * as Queue from "./queue.ts"
import * as Windows from "./window.ts"

/**
 * The backend of one process. A waiting call costs neither a timer nor a fiber: arriving calls and one timer serve the
 * queue. The benchmark `limiter-cost-us` measures the cost of a call.
 */
export const make = Effect.fnUntraced(function* (limits: Windows.Limits, margin: number) {
  const clock = yield* Clock.Clock
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  const coldDelay = margin * Windows.coldMargins
  const windows = Windows.make(limits, coldDelay)
  const estimateDelay = Windows.makeDelayEstimate(coldDelay)
  // Without a margin, the delay of requests does not matter, and a limit without a window cannot renew a permit.
  const usableFor = margin === 0 ? Infinity : margin * Windows.usablePart
  const queue = Queue.make()
  let timer: { readonly at: number; readonly fiber: Fiber.Fiber<void> } | undefined

  // The monotonic clock, because the wall clock can be set back.
  const now = () => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

  const grant = (scope: string, key: string | undefined, isPaced: boolean, at: number): Queue.LocalPermit => {
    const { countedAt, isBucketFull, used } = windows.grant(scope, key, isPaced, at)
    return { id: undefined, at, countedAt, used, isBucketFull, localAt: at, leavesAt: at, usableUntil: at + usableFor }
  }

  const stopTimer = () => {
    timer?.fiber.interruptUnsafe()
    timer = undefined
  }

  const serveAt = (at: number, millis: number) => {
    if (timer !== undefined && timer.at <= at) return
    stopTimer()
    const serving = Effect.sync(() => {
      timer = undefined
      serve()
    })
    timer = { at, fiber: fork(Effect.andThen(Effect.sleep(Math.ceil(millis)), serving)) }
    watchFiber(timer.fiber, queue.stop)
  }

  const serve = (): void => {
    const at = now()
    queue.wake(at)
    let wait = Infinity
    while (queue.hasReady()) {
      wait = windows.hostWait(at)
      if (wait > 0) {
        windows.startPacingAt(at + wait)
        break
      }
      wait = windows.paceWait(at)
      const bucket = queue.next(wait <= 0)
      if (bucket === undefined) break
      wait = Infinity
      const bucketWait = windows.bucketWait(bucket.key, at)
      if (bucketWait > 0) queue.delay(bucket, at + bucketWait)
      else queue.grant(bucket, grant(bucket.scope, bucket.key, queue.isPaced(bucket), at))
    }
    queue.expire(at)
    if (queue.isEmpty()) return stopTimer()
    const next = Math.min(at + wait, queue.nextAt())
    serveAt(next, next - at)
  }

  const backend: Queue.Backend = {
    queue,
    now,
    grantNow: ({ bucket, priority, scope }, at) => {
      const isPaced = Order.isPaced(priority)
      return !queue.hasReady() &&
        windows.hostWait(at) <= 0 &&
        (!isPaced || windows.paceWait(at) <= 0) &&
        !queue.has(bucket) &&
        windows.bucketWait(bucket, at) <= 0
        ? grant(scope, bucket, isPaced, at)
        : undefined
    },
    untilLeave: () => undefined,
    onAdded: serve,
    onEmpty: stopTimer,
    retryAfter: ({ bucket, priority, scope }, at) => {
      const ahead = queue.ahead(bucket, priority)
      const { count, window } = limits[scope]
      return Math.max(
        windows.hostWait(at) + ahead.buckets * windows.spacing(),
        windows.bucketWait(bucket, at) + Math.floor(ahead.calls / count) * window
      )
    },
    pause: (millis) => Effect.sync(() => windows.pause(now(), millis)),
    renew: ({ bucket, countedAt }, stage, now) => {
      const to = Math.max(countedAt, now)
      return windows.renew(bucket, countedAt, to, now, stage === "final") ? to : undefined
    },
    onLeave: () => {},
    onResponse: ({ bucket, countedAt, sentAt }) =>
      Effect.sync(() => {
        const to = sentAt + estimateDelay(now() - sentAt)
        if (to > countedAt) windows.move(bucket, countedAt, to)
      }),
    onRateLimited: (granted, pause) =>
      Effect.sync(() => {
        windows.reduceLimit(granted, now(), pause)
        windows.pause(now(), pause)
      }),
    merge: (from, to) =>
      Effect.sync(() => {
        windows.merge(from, to)
        queue.merge(from, to)
      }),
    status: () => ({ buckets: windows.buckets, hostLimit: windows.hostLimit })
  }
  return backend
})
