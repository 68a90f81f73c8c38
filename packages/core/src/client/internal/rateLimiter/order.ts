import type { Bucket } from "./queue.ts"

const priorityCount = 4

export const zeros = (): Array<number> => Array.from({ length: priorityCount }, () => 0)

/** Whether permits of a priority are spread over the window of the host beyond a burst. */
export const isPaced = (priority: number): boolean => priority > 1

/** Each priority with waiting calls gets at least one of this many permits. */
const guaranteedShare = 20

/** Whether a priority was skipped so often that the next permit is its guaranteed share. */
const isDue = (skipped: number): boolean => skipped >= guaranteedShare - 1

/**
 * Returns the next priority: the most urgent, unless another priority was skipped too often. -1 if no priority is
 * ready.
 */
const nextOf = (
  skipped: ReadonlyArray<number>,
  isReady: (priority: number) => boolean,
  includePaced: boolean
): number => {
  let next = -1
  for (let priority = 0; priority < priorityCount; priority++) {
    if (!isReady(priority) || (isPaced(priority) && !includePaced && !isDue(skipped[priority]))) continue
    if (next < 0 || (isDue(skipped[priority]) && skipped[priority] > skipped[next])) next = priority
  }
  return next
}

/** Counts a granted permit as skipped by the other waiting priorities. */
const skip = (skipped: Array<number>, isReady: (priority: number) => boolean, granted: number): void => {
  for (let other = 0; other < priorityCount; other++) if (other !== granted && isReady(other)) skipped[other]++
  skipped[granted] = 0
}

/** A bucket that is next to get a permit. */
export interface Candidate {
  readonly bucket: Bucket
  /** Whether its permit is spread over the window of the host. The guaranteed share of a priority is not spread. */
  readonly isPaced: boolean
}

export const first = <A>(set: Set<A>): A | undefined => set.values().next().value

export const insertAfter = <A>(set: Set<A>, item: A, isBefore: (other: A) => boolean): void => {
  const others = [...set]
  const index = others.findIndex((other) => !isBefore(other))
  set.clear()
  for (const other of [...others.slice(0, index < 0 ? others.length : index), item]) set.add(other)
  for (const other of others) set.add(other)
}

/**
 * The order in which buckets get permits: by priority, and within a priority by arrival. A delayed bucket has no place until its
 * time has come.
 */
export const make = () => {
  const ready = Array.from({ length: priorityCount }, () => new Set<Bucket>())
  const skipped = zeros()
  const delayed = new Set<Bucket>()
  let delayedUntil = Infinity

  const priorityOf = (bucket: Bucket) => bucket.counts.findIndex((count) => count > 0)

  const place = (bucket: Bucket) => {
    bucket.place?.delete(bucket)
    bucket.place = ready[priorityOf(bucket)]
    const head = first(bucket.waiters)!
    if (!head.isRetry) return bucket.place.add(bucket)
    return insertAfter(bucket.place, bucket, (other) => {
      const { isRetry, sequence } = first(other.waiters)!
      return isRetry && sequence < head.sequence
    })
  }

  /** Places a bucket before the buckets whose first call came later. */
  const placeByArrival = (bucket: Bucket) => {
    bucket.place?.delete(bucket)
    bucket.place = ready[priorityOf(bucket)]
    const { sequence } = first(bucket.waiters)!
    insertAfter(bucket.place!, bucket, (other) => first(other.waiters)!.sequence < sequence)
  }

  const isReady = (priority: number): boolean => ready[priority].size > 0

  return {
    place,
    placeByArrival,
    remove: (bucket: Bucket): void => {
      bucket.place?.delete(bucket)
      bucket.place = undefined
    },
    isDelayed: (bucket: Bucket): boolean => bucket.place === delayed,
    /** Whether a bucket that is not delayed has the place of another priority. */
    isMisplaced: (bucket: Bucket): boolean => bucket.place !== delayed && bucket.place !== ready[priorityOf(bucket)],
    /** Counts a permit of a bucket, before the bucket is placed again. */
    granted: (bucket: Bucket): void => skip(skipped, isReady, priorityOf(bucket)),
    all: (): ReadonlyArray<Bucket> => [delayed, ...ready].flatMap((set) => [...set]),
    hasReady: (): boolean => ready.some(({ size }) => size > 0),
    /** The number of ready buckets of a priority and of more urgent priorities. */
    readyUpTo: (priority: number): number =>
      ready.reduce((sum, { size }, other) => (other <= priority ? sum + size : sum), 0),
    /** The earliest time at which a delayed bucket becomes ready. */
    delayedUntil: (): number => delayedUntil,
    /** Returns the next bucket. Without `includePaced`, paced priorities get only their guaranteed share. */
    next: (includePaced: boolean): Bucket | undefined => {
      const next = nextOf(skipped, isReady, includePaced)
      return next < 0 ? undefined : first(ready[next])
    },
    /** Whether the next permit of a bucket is spread over the window of the host. */
    isPaced: (bucket: Bucket): boolean => {
      const priority = priorityOf(bucket)
      return isPaced(priority) && !isDue(skipped[priority])
    },

    /** Keeps a bucket from getting permits before a time. */
    delay: (bucket: Bucket, until: number): void => {
      bucket.place?.delete(bucket)
      bucket.place = delayed.add(bucket)
      bucket.readyAt = until
      delayedUntil = Math.min(delayedUntil, until)
    },

    /** Makes the delayed buckets ready whose time has come. */
    wake: (now: number): void => {
      if (now < delayedUntil) return
      delayedUntil = Infinity
      for (const bucket of delayed) {
        if (bucket.readyAt <= now) place(bucket)
        else delayedUntil = Math.min(delayedUntil, bucket.readyAt)
      }
    },

    /** Returns at most `max` ready buckets, in the order of their permits if all of them get a permit. */
    candidates: (max: number): ReadonlyArray<Candidate> => {
      const left = ready.map((buckets) => buckets.values().take(max).toArray().reverse())
      const hasLeft = (priority: number): boolean => left[priority].length > 0
      const counts = [...skipped]
      const candidates: Array<Candidate> = []
      for (;;) {
        const next = nextOf(counts, hasLeft, true)
        if (next < 0 || candidates.length === max) return candidates
        candidates.push({ bucket: left[next].pop()!, isPaced: isPaced(next) && !isDue(counts[next]) })
        skip(counts, hasLeft, next)
      }
    }
  }
}
