import type { ClaimedPartition, Queued } from "./partitions.ts"

const none: ReadonlyArray<Queued> = []

/**
 * The time for which other updates wait for a crashing update: until no other update is handled, and then during its
 * exclusive attempt.
 */
const exclusiveMillis = 1000

/** The time doubles with each attempt that was not exclusive, up to this time. */
const maxExclusiveMillis = 32_000

/**
 * After this multiple of the time, a crashing update is handled beside other updates, and a crash does not count for
 * the update.
 */
const patience = 10

const maxPatienceMillis = 60_000

export interface Options {
  /** The monotonic time in milliseconds. */
  readonly now: () => number
  /** Crashing updates wait until this time, because a process can also die repeatedly for other reasons after a deploy. */
  readonly calmAt: number
  /** Selects again after a time. */
  readonly selectIn: (millis: number) => void
}

/**
 * Selects the updates that are emitted next. A crashing update is an update during whose handling the process died
 * repeatedly. A crash counts only in an exclusive attempt, while no other update is being handled, so that no update
 * becomes a dead letter because of another update.
 */
export const makeSelection = ({ calmAt, now, selectIn }: Options) => {
  const waiting: Array<ClaimedPartition> = []
  /** Partitions whose next update is a crashing update. */
  const crashing: Array<ClaimedPartition> = []
  /** The crashing update in its exclusive attempt. */
  let exclusive: Queued | undefined
  let exclusiveUntil = 0
  /** The crashing update whose attempt is not exclusive any more, because other updates begin. */
  let joined: Queued | undefined
  /** The time since which the first crashing update could begin. */
  let dueAt: number | undefined
  /** The time since which other updates wait. */
  let waitingSince: number | undefined
  /** Other updates do not wait before this time: they have as much time as they have waited. */
  let freeUntil = -Infinity

  const add = (partition: ClaimedPartition): void => {
    if (partition.isWaiting || !partition.isReady) return
    partition.isWaiting = true
    ;(partition.isCrashing ? crashing : waiting).push(partition)
  }

  /** The first partition that is ready. Earlier partitions are dropped. */
  const first = (partitions: Array<ClaimedPartition>): ClaimedPartition | undefined => {
    for (;;) {
      const [partition] = partitions
      if (partition === undefined || partition.isReady) return partition
      partition.isWaiting = false
      partitions.shift()
    }
  }

  const next = (partitions: Array<ClaimedPartition>): ClaimedPartition | undefined => {
    const partition = first(partitions)
    if (partition !== undefined) partition.isWaiting = false
    partitions.shift()
    return partition
  }

  const emitCrashing = (isExclusive: boolean): ReadonlyArray<Queued> => {
    const queued = next(crashing)!.emit()
    queued.isRecorded = !isExclusive
    dueAt = undefined
    return [queued]
  }

  const free = (at: number): void => {
    if (waitingSince !== undefined) freeUntil = at + (at - waitingSince)
    waitingSince = undefined
  }

  /** Lets other updates wait, at most until a time. */
  const wait = (at: number, until: number): ReadonlyArray<Queued> => {
    selectIn(until - at)
    return none
  }

  /** Returns the crashing update that begins, no update while others wait, or `undefined` if others may begin. */
  const takeCrashing = (others: number, settled: ReadonlyArray<Queued>): ReadonlyArray<Queued> | undefined => {
    const at = now()
    if (exclusive !== undefined && (!exclusive.isEmitted || exclusive.isLost || settled.includes(exclusive))) {
      exclusive = undefined
      free(at)
    }
    if (exclusive !== undefined && at < exclusiveUntil) return wait(at, exclusiveUntil)
    const partition = first(crashing)
    if (partition === undefined) return undefined
    if (at < calmAt) {
      selectIn(calmAt - at)
      return undefined
    }
    dueAt ??= at
    const millis = Math.min(exclusiveMillis * 2 ** partition.sharedAttempts, maxExclusiveMillis)
    const isFree = waiting.length > 0 && at < freeUntil
    if (others === 0 && !isFree) {
      waitingSince ??= at
      exclusiveUntil = at + millis
      const emitted = emitCrashing(true)
      exclusive = emitted[0]
      return emitted
    }
    const latest = dueAt + Math.min(patience * millis, maxPatienceMillis)
    if (at >= latest) return emitCrashing(false)
    if (waiting.length === 0) return wait(at, latest)
    if (!isFree) {
      waitingSince ??= at
      if (at < waitingSince + millis) return wait(at, Math.min(waitingSince + millis, latest))
      free(at)
    }
    selectIn(Math.min(freeUntil, latest) - at)
    return undefined
  }

  const takeWaiting = (count: number): ReadonlyArray<Queued> => {
    if (waiting.length === 0) return none
    const taken: Array<Queued> = []
    while (taken.length < count) {
      const partition = next(waiting)
      if (partition === undefined) break
      // Several updates of a chat are emitted one after the other, so that fewer chats are in memory and in a commit.
      while (taken.length < count && partition.isReady && !partition.isCrashing) taken.push(partition.emit())
      add(partition)
    }
    return taken
  }

  return {
    /** Adds a partition if one of its updates may be emitted. */
    add,
    /** Number of partitions that wait. */
    size: (): number => waiting.length + crashing.length,
    /** Whether a crashing update waits or is in its exclusive attempt. */
    hasCrashing: (): boolean => crashing.length > 0 || exclusive !== undefined,
    /** Emits at most `count` updates while `others` are being handled, and `settled` are being settled. */
    take: (count: number, others: number, settled: ReadonlyArray<Queued>): ReadonlyArray<Queued> => {
      if (count < 1) return none
      const selected = exclusive === undefined && crashing.length === 0 ? undefined : takeCrashing(others, settled)
      const taken = selected ?? takeWaiting(count)
      if (exclusive !== undefined && taken.length > 0 && taken[0] !== exclusive) {
        joined = exclusive
        exclusive = undefined
        free(now())
      }
      return taken
    },
    /** Returns the crashing update beside which the last updates begin, once. */
    takeJoined: (): Queued | undefined => {
      const queued = joined
      joined = undefined
      return queued
    },
    clear: (): void => {
      for (const partition of [...waiting, ...crashing]) partition.isWaiting = false
      waiting.length = 0
      crashing.length = 0
    }
  }
}
