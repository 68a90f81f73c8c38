import * as Effect from "effect/Effect"
import type { AcquireOptions, AcquireResult, AdaptiveState, Limit, PermitResult } from "../../RateLimiterStore.ts"
import { gracePeriod, reservedRetryAfter, turn } from "./turns.ts"

interface Member {
  readonly absentAt: number
  readonly removedAt: number
  readonly reserved: number
}

interface Waiting {
  readonly since: number
  readonly expectedBy: number
}

/** The times at which the permits of a window count, by their ids. */
type Permits = Map<string, number>

interface Bucket {
  readonly window: number
  readonly permits: Permits
}

const removeOld = (permits: Permits, window: number, now: number) => {
  for (const [id, countedAt] of permits) if (countedAt + window <= now) permits.delete(id)
}

/** The time from which the window holds fewer permits than `limit`. */
const readyAt = (permits: Permits, limit: number, window: number): number =>
  permits.size < limit ? -Infinity : [...permits.values()].sort((a, b) => a - b)[permits.size - limit] + window

/**
 * The rules of a store of the rate limiter, as plain code. The store in Redis follows the same rules in a script, and
 * `RateLimiterSuite` checks both.
 */
export const make = Effect.sync(() => {
  const host: Permits = new Map()
  const buckets = new Map<string, Bucket>()
  const members = new Map<string, Member>()
  const waiting = new Map<string, Waiting>()
  let adaptiveState: AdaptiveState | undefined
  let epoch: string | undefined
  let lost: { readonly epoch: string; reserved: number; readonly until: number } | undefined
  let pausedUntil = -Infinity
  let pacedUntil = -Infinity

  const at = <A>(f: (now: number) => A): Effect.Effect<A> =>
    Effect.clockWith((clock) => Effect.sync(() => f(Number(clock.monotonicTimeNanosUnsafe()) / 1e6)))

  const permitsOf = ({ key, window }: Limit & { readonly key: string }, now: number): Permits => {
    for (const [other, { permits, window }] of buckets) {
      removeOld(permits, window, now)
      if (permits.size === 0) buckets.delete(other)
    }
    const permits = buckets.get(key)?.permits ?? new Map<string, number>()
    buckets.set(key, { permits, window })
    return permits
  }

  const recognizeLoss = ({ process, host, maxDelay }: AcquireOptions, now: number): string => {
    if (epoch === undefined) {
      epoch = `${process.id}:${now}`
      pausedUntil = Math.max(pausedUntil, now + host.window + maxDelay)
    }
    if (process.epoch !== undefined && process.epoch !== epoch) {
      if (lost?.epoch === process.epoch) lost.reserved = Math.max(0, lost.reserved - process.reserved)
      else lost = { epoch: process.epoch, reserved: process.reservedForOthers, until: now + process.reserveFor }
    }
    return epoch
  }

  /** Renews the membership, and returns the reservations for the process, for others, and for absent others. */
  const renew = ({ process, host, maxDelay }: AcquireOptions, limit: number, now: number) => {
    let [others, absent] = [0, 0]
    for (const [id, { absentAt, removedAt, reserved }] of members) {
      if (removedAt < now) members.delete(id)
      else if (id !== process.id) {
        others += reserved
        if (absentAt < now) absent += reserved
      }
    }
    if (lost !== undefined && lost.until + host.window + maxDelay >= now) {
      others += lost.reserved
      absent += lost.reserved
    }
    if (process.share === 0) return { reserved: 0, others, absent }
    const wanted = Math.max(1, Math.floor(limit * process.share))
    const reserved = Math.max(0, Math.min(wanted, limit - others))
    members.set(process.id, {
      absentAt: now + process.absentAfter,
      removedAt: now + process.reserveFor + host.window + maxDelay,
      // The process uses its former reservation until the arrival of this result.
      reserved: Math.max(reserved, process.reserved)
    })
    return { reserved, others, absent }
  }

  const count = ({ host: { window }, sentAlone, unused }: AcquireOptions, now: number) => {
    for (const { bucket, id } of unused) {
      host.delete(id)
      if (bucket !== undefined) buckets.get(bucket)?.permits.delete(id)
    }
    for (const { age, bucket, id } of sentAlone) {
      host.set(id, now - age)
      if (bucket !== undefined) permitsOf(bucket, now).set(id, now - age)
    }
    removeOld(host, window, now)
  }

  const grant = (options: AcquireOptions, limit: number, now: number): ReadonlyArray<PermitResult> => {
    const { advance, delay, process, requests } = options
    const { window } = options.host
    const spacing = window / Math.max(1, limit)
    for (const [id, { expectedBy }] of waiting) if (expectedBy < now) waiting.delete(id)
    let since = waiting.get(process.id)?.since ?? now
    let wait = 0
    const others = [...waiting].flatMap(([id, other]) => (id === process.id ? [] : [other]))
    // A permit that is free now is not left to a process that comes much later.
    const soon = now + others.length * turn + gracePeriod
    const ahead = () => others.filter((other) => other.since < since && other.expectedBy <= soon).length
    const hostReadyAt = (before: number) =>
      limit <= 0
        ? Math.max(pausedUntil, now + reservedRetryAfter)
        : Math.max(pausedUntil, readyAt(host, Math.max(1, limit - before), window))
    // The processes before this process may take fewer permits than are left free for them.
    const untilTurn = (ready: number, before: number) =>
      Math.min(ready, Math.max(now, hostReadyAt(0)) + before * turn) - now
    const results = requests.map(({ bucket, id, isPaced }): PermitResult => {
      const before = ahead()
      let ready = hostReadyAt(before)
      if (isPaced) {
        if (ready > now) pacedUntil = Math.max(pacedUntil, hostReadyAt(0))
        ready = Math.max(ready, pacedUntil + before * spacing)
      }
      if (ready > now + advance) {
        const retryAfter = isPaced ? ready - now : untilTurn(ready, before)
        wait = Math.max(wait, retryAfter)
        return { _tag: "HostFull", retryAfter }
      }
      const permits = bucket && permitsOf(bucket, now)
      const bucketReadyAt = bucket ? readyAt(permits!, bucket.count, bucket.window) : -Infinity
      const at = Math.max(now, ready)
      if (bucketReadyAt > at) return { _tag: "BucketFull", retryAfter: bucketReadyAt - now }
      const used = [...host.values()].filter((counted) => counted + window > at).length
      const countedAt = at + delay
      host.set(id, countedAt)
      permits?.set(id, countedAt)
      if (isPaced) pacedUntil = Math.max(pacedUntil, at - (Math.ceil(limit / 3) - 1) * spacing) + spacing
      since = now
      return { _tag: "Granted", at, countedAt, used, isBucketFull: bucket ? permits!.size >= bucket.count : false }
    })
    if (wait > 0) waiting.set(process.id, { since, expectedBy: now + wait + gracePeriod })
    else waiting.delete(process.id)
    return results
  }

  const acquire = (options: AcquireOptions, now: number): AcquireResult => {
    if (now > options.deadline) return { _tag: "Late", now }
    const current = recognizeLoss(options, now)
    const hostLimit = Math.min(options.host.count, adaptiveState?.limit ?? Infinity)
    const { absent, others, reserved } = renew(options, hostLimit, now)
    count(options, now)
    const results = grant(options, hostLimit - absent, now)
    return { _tag: "Acquired", now, results, hostLimit, epoch: current, reserved, reservedForOthers: others }
  }

  return {
    time: at((now) => now),
    acquire: (options: AcquireOptions) => at((now) => acquire(options, now)),
    leave: (process: string) => Effect.sync(() => void members.delete(process)),
    updateAdaptiveState: (update: (state: AdaptiveState | undefined, now: number) => AdaptiveState) =>
      at((now) => void (adaptiveState = update(adaptiveState, now))),
    pause: (millis: number) => at((now) => void (pausedUntil = Math.max(pausedUntil, now + millis))),
    mergeBuckets: (from: string, to: string) =>
      Effect.sync(() => {
        const bucket = buckets.get(from)
        if (bucket === undefined) return
        buckets.delete(from)
        buckets.set(to, { ...bucket, permits: new Map([...bucket.permits, ...(buckets.get(to)?.permits ?? [])]) })
      }),
    move: ({ bucket, id, to }: { readonly id: string; readonly bucket: string | undefined; readonly to: number }) =>
      Effect.sync(() => {
        for (const permits of [host, bucket === undefined ? undefined : buckets.get(bucket)?.permits]) {
          if (permits?.has(id) === true) permits.set(id, to)
        }
      })
  }
})
