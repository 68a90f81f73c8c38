import * as Cause from "effect/Cause"
import type * as Effect from "effect/Effect"
import type { Granted } from "../../RateLimiterStore.ts"
import { first, insertAfter, zeros } from "./order.ts"
import * as Order from "./order.ts"

/** A permit, and the times of its request, in milliseconds of the clock of this process. */
export interface LocalPermit extends Granted {
  /** The id of the permit: see `RateLimiter.Permit`. */
  readonly id: string | undefined
  /** The earliest time that `at` may be. */
  readonly localAt: number
  /** The latest time that `at` may be. The request leaves no earlier. */
  readonly leavesAt: number
  readonly usableUntil: number
}

/** See `RateLimiter.Stage`. */
export type Stage = "ready" | "connected" | "final"

export interface SentPermit extends Omit<LocalPermit, "leavesAt"> {
  readonly bucket: string | undefined
  readonly sentAt: number
}

/**
 * The fiber that grants permits has ended with a defect. Calls die of this defect instead of waiting for ever, and the
 * defect ends the bot.
 */
export class RateLimiterStopped extends Error {
  override readonly name = "RateLimiterStopped"

  constructor(cause: unknown) {
    super(`The rate limiter grants no more permits because of a defect: ${String(cause)}`, { cause })
  }
}

/** A call that waits for a permit. */
export interface Waiter {
  /** 0 is the most urgent priority. A waiter that replaces another waiter has the more urgent priority of the two. */
  priority: number
  /** Position in the order of arrival. A waiter that replaces another waiter takes over its position. */
  sequence: number
  /** At most one call of a slot waits: a newer call replaces the waiting call. */
  readonly slot: string | undefined
  readonly expiresAt: number
  /** Whether the call is sent again after a 429. Such a call keeps its position in the order of arrival. */
  isRetry: boolean
  readonly onGranted: (permit: LocalPermit) => void
  /**
   * The call gets no permit: its time is over, a newer call of its slot has taken its place, or the fiber that grants
   * permits has ended.
   */
  readonly onEnded: (end: "expired" | "replaced" | RateLimiterStopped) => void
  bucket?: Bucket
}

/** The waiters of one bucket, or a single waiter that has no bucket, in the order of arrival. */
export interface Bucket {
  readonly scope: string
  key: string | undefined
  readonly waiters: Set<Waiter>
  /** Number of waiters of each priority. */
  readonly counts: Array<number>
  /** The set that holds the bucket: `ready` of a priority, or `delayed`. */
  place: Set<Bucket> | undefined
  readyAt: number
}

const replaceIn = <A>(set: Set<A>, item: A, by: A): void => {
  const items = [...set]
  set.clear()
  for (const other of items) set.add(other === item ? by : other)
}

export type Queue = ReturnType<typeof make>

/**
 * The waiting queue. A bucket has one place in the queue of a priority, however many calls of the bucket wait: the
 * place of its most urgent call. So a call never waits behind less urgent calls for longer than its own bucket takes.
 */
export const make = () => {
  const order = Order.make()
  const buckets = new Map<string | undefined, Bucket>()
  const waiting = zeros()
  const slots = new Map<string, Waiter>()
  let nextExpiry = Infinity
  let sequence = 0
  let stopped: RateLimiterStopped | undefined

  const removeBucket = (bucket: Bucket) => {
    order.remove(bucket)
    if (buckets.get(bucket.key) === bucket) buckets.delete(bucket.key)
  }

  const count = (bucket: Bucket, { priority }: Waiter, by: 1 | -1) => {
    bucket.counts[priority] += by
    waiting[priority] += by
  }

  const leaveSlot = (waiter: Waiter) => {
    if (waiter.slot !== undefined && slots.get(waiter.slot) === waiter) slots.delete(waiter.slot)
  }

  const replace = (replaced: Waiter, waiter: Waiter): void => {
    const bucket = replaced.bucket!
    count(bucket, replaced, -1)
    waiter.bucket = bucket
    waiter.priority = Math.min(replaced.priority, waiter.priority)
    waiter.sequence = replaced.sequence
    waiter.isRetry = replaced.isRetry
    replaceIn(bucket.waiters, replaced, waiter)
    count(bucket, waiter, 1)
    slots.set(waiter.slot!, waiter)
    nextExpiry = Math.min(nextExpiry, waiter.expiresAt)
    if (order.isMisplaced(bucket)) order.placeByArrival(bucket)
    replaced.onEnded("replaced")
  }

  const { candidates, delay, hasReady, isPaced, next, wake } = order

  return {
    waiting,
    candidates,
    delay,
    hasReady,
    isPaced,
    next,
    wake,
    has: (key: string | undefined): boolean => buckets.has(key),
    hasSlot: (slot: string | undefined): boolean => slot !== undefined && slots.has(slot),
    /** The defect that ended the granting of permits. `undefined` while permits are granted. */
    stopped: () => stopped,
    /** Fails all waiters with the defect that ended the granting of permits. */
    stop: (cause: Cause.Cause<never>): void => {
      stopped ??= new RateLimiterStopped(Cause.squash(cause))
      for (const bucket of order.all()) {
        for (const waiter of bucket.waiters) waiter.onEnded(stopped)
      }
    },
    isEmpty: () => waiting.every((count) => count === 0),
    /** Returns the position of a call that arrives now. */
    takeSequence: () => sequence++,
    currentSequence: () => sequence,
    /** The number of buckets, and of calls of the same bucket, before a call that arrives now. */
    ahead: (key: string | undefined, priority: number) => ({
      buckets: order.readyUpTo(priority),
      calls: buckets.get(key)?.waiters.size ?? 0
    }),
    /** The earliest time at which a delayed bucket becomes ready or a waiter expires. */
    nextAt: () => Math.min(order.delayedUntil(), nextExpiry),

    add: (scope: string, key: string | undefined, waiter: Waiter): void => {
      if (waiter.slot !== undefined) {
        const replaced = slots.get(waiter.slot)
        if (replaced !== undefined) return replace(replaced, waiter)
        slots.set(waiter.slot, waiter)
      }
      let bucket = buckets.get(key)
      if (bucket === undefined) {
        bucket = { scope, key, waiters: new Set(), counts: zeros(), place: undefined, readyAt: 0 }
        if (key !== undefined) buckets.set(key, bucket)
      }
      waiter.bucket = bucket
      if (waiter.isRetry) {
        insertAfter(bucket.waiters, waiter, ({ isRetry, sequence }) => isRetry && sequence < waiter.sequence)
      } else {
        bucket.waiters.add(waiter)
      }
      count(bucket, waiter, 1)
      nextExpiry = Math.min(nextExpiry, waiter.expiresAt)
      if (waiter.isRetry ? !order.isDelayed(bucket) : order.isMisplaced(bucket)) order.place(bucket)
    },

    remove: (waiter: Waiter): void => {
      const bucket = waiter.bucket!
      if (!bucket.waiters.delete(waiter)) return
      leaveSlot(waiter)
      count(bucket, waiter, -1)
      if (bucket.waiters.size === 0) removeBucket(bucket)
      else if (order.isMisplaced(bucket)) order.place(bucket)
    },

    /** Gives a permit to the first waiter of a bucket. */
    grant: (bucket: Bucket, permit: LocalPermit): void => {
      const waiter = first(bucket.waiters)!
      order.granted(bucket)
      bucket.waiters.delete(waiter)
      leaveSlot(waiter)
      count(bucket, waiter, -1)
      if (bucket.waiters.size === 0) removeBucket(bucket)
      else order.place(bucket)
      waiter.onGranted(permit)
    },

    /** Moves the waiters of one bucket to another, in the order of arrival. */
    merge: (from: string, to: string): void => {
      const bucket = buckets.get(from)
      if (bucket === undefined) return
      const other = buckets.get(to)
      buckets.delete(from)
      if (other === undefined) {
        bucket.key = to
        buckets.set(to, bucket)
        return
      }
      const waiters = [...bucket.waiters, ...other.waiters].sort((a, b) => a.sequence - b.sequence)
      removeBucket(bucket)
      other.waiters.clear()
      for (const waiter of waiters) {
        waiter.bucket = other
        other.waiters.add(waiter)
      }
      bucket.counts.forEach((count, priority) => (other.counts[priority] += count))
      if (!order.isDelayed(other)) order.place(other)
    },

    /** Expires the waiters that arrived before a sequence and whose time is over. */
    expire: (now: number, before: number = Infinity): void => {
      if (now < nextExpiry) return
      nextExpiry = Infinity
      for (const bucket of order.all()) {
        for (const waiter of bucket.waiters) {
          if (waiter.expiresAt <= now && waiter.sequence < before) waiter.onEnded("expired")
          else nextExpiry = Math.min(nextExpiry, waiter.expiresAt)
        }
      }
    }
  }
}

/** A call that needs a permit. Without `bucket`, only the limit of the host applies. */
export interface Call {
  readonly scope: string
  readonly bucket: string | undefined
  /** 0 is the most urgent priority. */
  readonly priority: number
}

/** Grants permits to the waiters of a queue. Times are milliseconds. */
export interface Backend {
  readonly queue: Queue
  readonly now: () => number
  /** Grants a permit at once, if that is possible and no other call comes first. */
  readonly grantNow: (call: Call, now: number) => LocalPermit | undefined
  /** A waiter was added to the queue. */
  readonly onAdded: () => void
  /** Completes when the request of a permit may leave. `undefined`: now. */
  readonly untilLeave: (leavesAt: number) => Effect.Effect<void> | undefined
  /** The last waiter was removed from the queue. */
  readonly onEmpty: () => void
  /** The minimum time until a call that arrives now would get its permit. */
  readonly retryAfter: (call: Call, now: number) => number
  readonly pause: (millis: number) => Effect.Effect<void>
  /**
   * Renews a permit whose request leaves now, after `usableUntil`: returns the time at which the permit counts. If the
   * request may not leave, the permit is not counted any more, and the result is `undefined`.
   */
  readonly renew: (permit: SentPermit, stage: Stage, now: number) => number | undefined
  /** The request of a permit left after `delay` milliseconds. */
  readonly onLeave: (delay: number) => void
  /** The request of a permit got a response. */
  readonly onResponse: (permit: SentPermit) => Effect.Effect<void>
  /** The request of a permit got a 429. */
  readonly onRateLimited: (granted: Granted, pause: number) => Effect.Effect<void>
  readonly merge: (from: string, to: string) => Effect.Effect<void>
  readonly status: () => { readonly buckets: number; readonly hostLimit: number }
}
