import type { ClaimedPartition, Queued } from "./partitions.ts"

const none: ReadonlyArray<Queued> = []

/** Selects the updates that are emitted next. */
export const makeSelection = () => {
  const waiting: Array<ClaimedPartition> = []
  /** Partitions whose next update was being handled when a process died. It is handled while nothing else is. */
  const suspects: Array<ClaimedPartition> = []

  const add = (partition: ClaimedPartition): void => {
    if (partition.isWaiting || !partition.isReady) return
    partition.isWaiting = true
    ;(partition.isSuspect ? suspects : waiting).push(partition)
  }

  const next = (partitions: Array<ClaimedPartition>): ClaimedPartition | undefined => {
    for (;;) {
      const partition = partitions.shift()
      if (partition === undefined) return undefined
      partition.isWaiting = false
      if (partition.isReady) return partition
    }
  }

  /** Whether an update is being handled that has to be alone. */
  let isAlone = false

  const takeAlone = (): ReadonlyArray<Queued> => {
    const partition = next(suspects)
    if (partition === undefined) return []
    isAlone = true
    return [partition.emit()]
  }

  return {
    /** Adds a partition if an update of it may be emitted. */
    add,
    /** Number of partitions that wait. */
    size: (): number => waiting.length + suspects.length,
    /** Whether an update waits until nothing else is being handled. */
    hasSuspects: (): boolean => suspects.length > 0 || isAlone,
    /** Emits at most `count` updates while `others` are being handled. An update that has to be alone is emitted alone. */
    take: (count: number, others: number): ReadonlyArray<Queued> => {
      if (count < 1 || (others > 0 && (isAlone || suspects.length > 0))) return none
      isAlone = false
      if (suspects.length > 0) {
        const alone = takeAlone()
        if (alone.length > 0) return alone
      }
      if (waiting.length === 0) return none
      const taken: Array<Queued> = []
      while (taken.length < count) {
        const partition = next(waiting)
        if (partition === undefined) break
        if (partition.isSuspect) {
          add(partition)
          break
        }
        // Several updates of a chat are emitted one after the other, so that fewer chats are in memory and in a commit.
        do taken.push(partition.emit())
        while (taken.length < count && partition.isReady && !partition.isSuspect)
        add(partition)
      }
      return taken
    },
    clear: (): void => {
      for (const partition of [...waiting, ...suspects]) partition.isWaiting = false
      waiting.length = 0
      suspects.length = 0
    }
  }
}
