import type { Written } from "./changes.ts"
import type { ClaimedPartition, OpenChange, Queued } from "./partitions.ts"

const none: ReadonlyArray<never> = []

/** The changes that were not applied because of a conflict. */
export type Conflicts = ReadonlySet<unknown>

/** What is written together. */
export interface Write {
  readonly changes: ReadonlyArray<OpenChange>
  /** Updates that are settled. */
  readonly settled: ReadonlyArray<Queued>
  /** Updates that are emitted afterwards. */
  readonly started: ReadonlyArray<Queued>
  /** Whether the consumer was stopping when the write was prepared. */
  readonly wasStopping: boolean
}

export const makeChange = (partition: ClaimedPartition, written: Written | undefined): OpenChange => ({
  partition,
  held: partition.held,
  owner: partition.held.owner,
  partitionKey: partition.held.key,
  completed: none,
  failed: none,
  begun: none,
  timers: written?.timers,
  writes: written?.writes,
  release: false
})

export const openChange = (partition: ClaimedPartition): OpenChange =>
  (partition.change ??= makeChange(partition, undefined))

/** The changes of partitions whose settlements certainly apply. Only these partitions can end, or go on, with the same write. */
export const withoutConflicts = (changes: ReadonlyArray<OpenChange>): ReadonlyArray<OpenChange> => {
  const uncertain = new Set(changes.flatMap(({ partition, writes }) => (writes === undefined ? [] : [partition])))
  return uncertain.size === 0 ? changes : changes.filter(({ partition }) => !uncertain.has(partition))
}

export const append = <A>(all: ReadonlyArray<A>, one: A): ReadonlyArray<A> => (all.length === 0 ? [one] : [...all, one])
