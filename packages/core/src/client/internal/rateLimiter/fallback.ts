import type { Limit, PermitResult, SentAlone } from "../../RateLimiterStore.ts"
import type { Candidate } from "./order.ts"
import type * as Queue from "./queue.ts"
import * as Windows from "./window.ts"

export type Result =
  | Exclude<PermitResult, { readonly _tag: "Granted" }>
  | ({ readonly _tag: "Granted" } & Queue.LocalPermit)

/**
 * The wait of calls if no permits are reserved for this process, in milliseconds. The store may be available before.
 */
const idleWait = 60_000

/** A share of a limit. A share below one request is one request in a longer window. */
const shareOf = (share: number, { count, window }: Limit): Limit => {
  const permits = Math.max(1, Math.floor(count * share))
  return { count: permits, window: Math.ceil(window * Math.max(1, permits / (count * share))) }
}

interface Period {
  readonly from: number
  readonly until: number
  readonly windows: ReturnType<typeof Windows.make>
}

interface Sent {
  readonly id: string
  readonly bucket: (Limit & { readonly key: string }) | undefined
  /** The latest time at which the request left. */
  leftAt: number
}

/**
 * Grants permits while the store is unavailable: the permits that the store has reserved for this process, as long as
 * the reservation lasts. The store counts these permits when the process returns.
 */
export const make = ({
  processId,
  limits,
  share,
  usableFor
}: {
  readonly processId: string
  readonly limits: Windows.Limits
  readonly share: number
  readonly usableFor: number
}) => {
  const longestWindow = Math.max(...Object.values(limits).map(({ window }) => window))
  let period: Period | undefined
  let pausedUntil = -Infinity
  let nextId = 0
  let sentAlone: Array<Sent> = []

  const removeOld = (now: number) => {
    sentAlone = sentAlone.filter(({ leftAt }) => leftAt + longestWindow > now)
  }

  const isActive = (now: number) => period !== undefined && period.from <= now && now < period.until

  return {
    /** Begins a period in which this process may send `reserved` requests in a window. */
    start: (from: number, until: number, reserved: number): void => {
      const shares = Object.entries(limits).map(([scope, limit]) => [scope, shareOf(share, limit)])
      const host = { count: reserved, window: limits.host.window }
      period = { from, until, windows: Windows.make({ ...Object.fromEntries(shares), host }, 0) }
      if (pausedUntil > from) period.windows.pause(from, pausedUntil - from)
    },

    stop: (): void => {
      period = undefined
    },

    acquire: (candidates: ReadonlyArray<Candidate>, now: number): ReadonlyArray<Result> => {
      if (period === undefined || !isActive(now)) {
        const retryAfter = period !== undefined && now < period.from ? period.from - now : idleWait
        return candidates.map(() => ({ _tag: "HostFull", retryAfter }))
      }
      const { windows } = period
      removeOld(now)
      return candidates.map(({ bucket, isPaced }) => {
        const hostWait = windows.hostWait(now)
        if (hostWait > 0) windows.startPacingAt(now + hostWait)
        const wait = Math.max(hostWait, isPaced ? windows.paceWait(now) : 0)
        if (wait > 0) return { _tag: "HostFull", retryAfter: wait }
        const bucketWait = windows.bucketWait(bucket.key, now)
        if (bucketWait > 0) return { _tag: "BucketFull", retryAfter: bucketWait }
        const granted = windows.grant(bucket.scope, bucket.key, isPaced, now)
        sentAlone.push({
          id: `${processId}:fallback:${nextId++}`,
          bucket: bucket.key === undefined ? undefined : { ...limits[bucket.scope], key: bucket.key },
          leftAt: now + usableFor
        })
        return { _tag: "Granted", ...granted, id: undefined, localAt: now, leavesAt: now, usableUntil: now + usableFor }
      })
    },

    /** The request of a permit arrived at `to`, or before. */
    move: ({ bucket, countedAt }: Queue.SentPermit, to: number): void => {
      if (to <= countedAt) return
      period?.windows.move(bucket, countedAt, to)
      const sent = sentAlone.find(({ leftAt }) => leftAt === countedAt + usableFor)
      if (sent !== undefined) sent.leftAt = Math.max(sent.leftAt, to)
    },

    renew: ({ bucket, countedAt }: Queue.SentPermit, stage: Queue.Stage, now: number): number | undefined => {
      const isFinal = stage === "final"
      const isRenewed = isActive(now) && period!.windows.renew(bucket, countedAt, now, now, isFinal)
      if (!isRenewed && !isFinal) return undefined
      const sent = sentAlone.find(({ leftAt }) => leftAt === countedAt + usableFor)
      if (sent !== undefined) sent.leftAt = now + usableFor
      return now
    },

    /** The requests that this process sent within the last window, for the store to count. */
    sent: (now: number): ReadonlyArray<SentAlone> => {
      removeOld(now)
      return sentAlone.map(({ bucket, id, leftAt }) => ({ id, bucket, age: Math.max(0, now - leftAt) }))
    },

    hasSent: () => sentAlone.length > 0,

    /** The store has counted the requests of this process. */
    clear: (): void => {
      sentAlone = []
    },

    pause: (now: number, millis: number): void => {
      pausedUntil = Math.max(pausedUntil, now + millis)
      period?.windows.pause(now, millis)
    },

    merge: (from: string, to: string): void => period?.windows.merge(from, to),

    buckets: (): number => period?.windows.buckets ?? 0
  }
}
