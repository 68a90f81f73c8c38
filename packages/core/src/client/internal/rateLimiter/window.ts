import type { Granted, Limit } from "../../RateLimiterStore.ts"
import * as adaptive from "./adaptive.ts"

/** The limit of the host, and the limit of the buckets of each scope. */
export interface Limits {
  readonly host: Limit
  readonly [scope: string]: Limit
}

/**
 * A permit is used within this part of the margin. The rest of the margin is for requests that take longer than others
 * to arrive.
 */
export const usablePart = 0.4

/**
 * The first requests of a process open connections and run cold code, so these requests arrive this many margins later.
 */
export const coldMargins = 8

/**
 * Estimates from the round trip how late a request arrived at the platform: the difference to the fastest round trip,
 * up to `max` milliseconds.
 */
export const makeDelayEstimate = (max: number) => {
  let fastest = Infinity
  return (roundTrip: number): number => {
    fastest = Math.min(roundTrip, fastest + 0.1)
    return Math.min(roundTrip - fastest, max)
  }
}

/** The times of the permits that a sliding window may still hold, in ascending order. */
interface SlidingWindow extends Limit {
  readonly times: Array<number>
  /** Index of the first permit that is still in the window. */
  first: number
}

const makeWindow = ({ count, window }: Limit): SlidingWindow => ({ count, window, times: [], first: 0 })

/** Milliseconds until the window holds fewer than `limit` permits. */
const waitAt = ({ count, times, window }: SlidingWindow, now: number, limit: number = count): number =>
  times.length < limit ? 0 : times[times.length - limit] + window - now

const insert = ({ times }: SlidingWindow, time: number): void => {
  let index = times.length
  while (index > 0 && times[index - 1] > time) index--
  if (index === times.length) times.push(time)
  else times.splice(index, 0, time)
}

const record = (window: SlidingWindow, time: number): void => {
  insert(window, time)
  const { count, times } = window
  const excess = times.length - count
  // Removes many at once, because each removal moves all that follow.
  if (excess > count) window.first = Math.max(0, window.first - times.splice(0, excess).length)
}

const remove = (window: SlidingWindow, time: number): boolean => {
  const index = window.times.lastIndexOf(time)
  if (index < 0) return false
  window.times.splice(index, 1)
  if (index < window.first) window.first--
  return true
}

const move = (window: SlidingWindow, from: number, to: number): void => {
  if (remove(window, from)) insert(window, to)
}

const holds = ({ times, window }: SlidingWindow, time: number, now: number): boolean =>
  time + window > now && times.lastIndexOf(time) >= 0

const usedAt = (sliding: SlidingWindow, now: number): number => {
  const { times, window } = sliding
  while (sliding.first < times.length && times[sliding.first] + window <= now) sliding.first++
  return times.length - sliding.first
}

const mergeWindows = (one: SlidingWindow, other: SlidingWindow): SlidingWindow => ({
  ...one,
  times: [...one.times, ...other.times].sort((a, b) => a - b),
  first: 0
})

/** The windows of the host and of all buckets of one process. Times are milliseconds of a clock that never goes back. */
export const make = (limits: Limits, coldDelay: number) => {
  const { count, window } = limits.host
  const host = makeWindow(limits.host)
  const buckets = new Map<string, SlidingWindow>()
  let state = adaptive.initial(count)
  let coldLeft = Math.ceil(count / 3)
  let pausedUntil = -Infinity
  let pacedUntil = -Infinity

  // Buckets are in the order of their last permit, so the idle buckets are first.
  const removeIdle = (now: number) => {
    for (const [key, bucket] of buckets) {
      if (waitAt(bucket, now, 1) > 0) return
      buckets.delete(key)
    }
  }

  const spacing = () => window / state.limit

  // Paced permits beyond a burst of a third of the limit are spread over the window.
  const pace = (now: number) => {
    const credit = Math.ceil(state.limit / 3) - 1
    pacedUntil = Math.max(pacedUntil, now - credit * spacing()) + spacing()
  }

  return {
    get hostLimit() {
      return state.limit
    },
    get buckets() {
      return buckets.size
    },
    spacing,
    hostWait: (now: number): number => Math.max(pausedUntil - now, waitAt(host, now, state.limit)),
    // In whole milliseconds, as timers are.
    paceWait: (now: number): number => Math.floor(pacedUntil - now),
    bucketWait: (key: string | undefined, now: number): number => {
      const bucket = key === undefined ? undefined : buckets.get(key)
      return bucket === undefined ? 0 : waitAt(bucket, now)
    },
    /** Allows no burst of paced permits before `time`. */
    startPacingAt: (time: number): void => {
      pacedUntil = Math.max(pacedUntil, time)
    },

    grant: (scope: string, key: string | undefined, isPaced: boolean, now: number): Granted => {
      const used = usedAt(host, now)
      const countedAt = coldLeft-- > 0 ? now + coldDelay : now
      record(host, countedAt)
      if (isPaced) pace(now)
      if (state.limit < count) state = adaptive.raise(state, count, used, now, window)
      if (key === undefined) return { at: now, countedAt, used, isBucketFull: false }
      const bucket = buckets.get(key) ?? makeWindow(limits[scope])
      record(bucket, countedAt)
      buckets.delete(key)
      buckets.set(key, bucket)
      removeIdle(now)
      return { at: now, countedAt, used, isBucketFull: waitAt(bucket, now) > 0 }
    },

    move: (key: string | undefined, from: number, to: number): void => {
      move(host, from, to)
      const bucket = key === undefined ? undefined : buckets.get(key)
      if (bucket !== undefined) move(bucket, from, to)
    },

    /**
     * Moves a permit whose request was not sent yet to a later time. If the move would exceed a limit and `isFinal` is
     * `false`, the permit is removed, and the result is `false`.
     */
    renew: (key: string | undefined, from: number, to: number, now: number, isFinal: boolean): boolean => {
      const bucket = key === undefined ? undefined : buckets.get(key)
      const isHeld = holds(host, from, now) && (key === undefined || (bucket !== undefined && holds(bucket, from, now)))
      const isRenewed = isFinal || (isHeld && pausedUntil <= now)
      for (const window of bucket === undefined ? [host] : [host, bucket]) {
        remove(window, from)
        if (isRenewed) record(window, to)
      }
      return isRenewed
    },

    pause: (now: number, millis: number): void => {
      pausedUntil = Math.max(pausedUntil, now + millis)
    },

    reduceLimit: (granted: Granted, now: number, pause: number): void => {
      state = adaptive.reduce(state, granted, now, pause)
    },

    merge: (from: string, to: string): void => {
      const bucket = buckets.get(from)
      if (bucket === undefined) return
      buckets.delete(from)
      const other = buckets.get(to)
      buckets.set(to, other === undefined ? bucket : mergeWindows(bucket, other))
    }
  }
}
