import type { ClaimedPartition, Queued } from "./partitions.ts"

const none: ReadonlyArray<Queued> = []

/** How long others wait for a suspect: until nothing else is handled, and then while the suspect is handled alone. */
const aloneMillis = 1000

/** The time doubles with each attempt that was not alone, up to this time. */
const maxAloneMillis = 32_000

/**
 * After this multiple of the time, a suspect is handled beside other updates, and a crash does not count for the
 * suspect.
 */
const patience = 10

const maxPatienceMillis = 60_000

export interface Options {
  /** The monotonic time in milliseconds. */
  readonly now: () => number
  /** Suspects wait until this time. A process that dies earlier, as in a crash loop of a deploy, does so without them. */
  readonly calmAt: number
  /** Selects again after a time. */
  readonly selectIn: (millis: number) => void
}

/**
 * Selects the updates that are emitted next. A suspect is an update whose process died again and again. A crash counts
 * for a suspect only while no other update is being handled, so that no update becomes a dead letter because of another
 * update.
 */
export const makeSelection = ({ calmAt, now, selectIn }: Options) => {
  const waiting: Array<ClaimedPartition> = []
  /** Partitions whose next update is a suspect. */
  const suspects: Array<ClaimedPartition> = []
  /** The suspect that is being handled alone. */
  let alone: Queued | undefined
  let aloneUntil = 0
  /** The suspect that is not alone any more, because others begin. */
  let joined: Queued | undefined
  /** Since when the first suspect could begin. */
  let dueAt: number | undefined
  /** Since when others wait. */
  let heldAt: number | undefined
  /** Others do not wait before this time: they have as much time as they have waited. */
  let freeUntil = -Infinity

  const add = (partition: ClaimedPartition): void => {
    if (partition.isWaiting || !partition.isReady) return
    partition.isWaiting = true
    ;(partition.isSuspect ? suspects : waiting).push(partition)
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

  const emitSuspect = (isAlone: boolean): ReadonlyArray<Queued> => {
    const queued = next(suspects)!.emit()
    queued.isRecorded = !isAlone
    dueAt = undefined
    return [queued]
  }

  const free = (at: number): void => {
    if (heldAt !== undefined) freeUntil = at + (at - heldAt)
    heldAt = undefined
  }

  /** Lets others wait, at most until a time. */
  const hold = (at: number, until: number): ReadonlyArray<Queued> => {
    selectIn(until - at)
    return none
  }

  /** Returns the suspect that begins, nothing while others wait, or `undefined` if others may begin. */
  const takeSuspect = (others: number, settled: ReadonlyArray<Queued>): ReadonlyArray<Queued> | undefined => {
    const at = now()
    if (alone !== undefined && (!alone.isEmitted || alone.isLost || settled.includes(alone))) {
      alone = undefined
      free(at)
    }
    if (alone !== undefined && at < aloneUntil) return hold(at, aloneUntil)
    const partition = first(suspects)
    if (partition === undefined) return undefined
    if (at < calmAt) {
      selectIn(calmAt - at)
      return undefined
    }
    dueAt ??= at
    const millis = Math.min(aloneMillis * 2 ** partition.sharedAttempts, maxAloneMillis)
    const isFree = waiting.length > 0 && at < freeUntil
    if (others === 0 && !isFree) {
      heldAt ??= at
      aloneUntil = at + millis
      const emitted = emitSuspect(true)
      alone = emitted[0]
      return emitted
    }
    const latest = dueAt + Math.min(patience * millis, maxPatienceMillis)
    if (at >= latest) return emitSuspect(false)
    if (waiting.length === 0) return hold(at, latest)
    if (!isFree) {
      heldAt ??= at
      if (at < heldAt + millis) return hold(at, Math.min(heldAt + millis, latest))
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
      while (taken.length < count && partition.isReady && !partition.isSuspect) taken.push(partition.emit())
      add(partition)
    }
    return taken
  }

  return {
    /** Adds a partition if one of its updates may be emitted. */
    add,
    /** Number of partitions that wait. */
    size: (): number => waiting.length + suspects.length,
    /** Whether a suspect waits or is being handled alone. */
    hasSuspects: (): boolean => suspects.length > 0 || alone !== undefined,
    /** Emits at most `count` updates while `others` are being handled, and `settled` are being settled. */
    take: (count: number, others: number, settled: ReadonlyArray<Queued>): ReadonlyArray<Queued> => {
      if (count < 1) return none
      const suspect = alone === undefined && suspects.length === 0 ? undefined : takeSuspect(others, settled)
      const taken = suspect ?? takeWaiting(count)
      if (alone !== undefined && taken.length > 0 && taken[0] !== alone) {
        joined = alone
        alone = undefined
        free(now())
      }
      return taken
    },
    /** Returns the suspect that the updates taken last are beside, once. */
    takeJoined: (): Queued | undefined => {
      const queued = joined
      joined = undefined
      return queued
    },
    clear: (): void => {
      for (const partition of [...waiting, ...suspects]) partition.isWaiting = false
      waiting.length = 0
      suspects.length = 0
    }
  }
}
