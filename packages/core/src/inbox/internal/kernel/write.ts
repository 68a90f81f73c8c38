import type { Commit, Completed, RowWrite, Statement, StatementFailed } from "../../InboxStore.ts"
import type { Batch, Partition, Update, Written } from "./partition.ts"

/**
 * Why a change of a partition that is held was not applied. `again`: another partition of its batch is lost, or an update
 * of its batch is missing. `alone`: two updates of its batch write the same row.
 */
export type Refused = "conflict" | "again" | "alone" | StatementFailed

/** A change of a held partition. */
export interface Change<D> extends Commit {
  readonly partition: Partition<D>
  /** The owner is set when the change is sent, because the partition can be claimed again meanwhile. */
  owner: string
  completed: Array<Completed>
  failed: Array<string>
  begun: Array<string>
  rows: Commit["rows"]
  statements: Commit["statements"]
  /** Changes with the same batch apply together or not at all. */
  readonly batch: Batch | undefined
  release: boolean
  result: "applied" | "leaseLost" | Refused | undefined
  /** The index of its result. */
  at: number
}

export const isRefused = <D>(change: Change<D> | undefined): change is Change<D> & { readonly result: Refused } =>
  change?.result !== undefined && change.result !== "applied" && change.result !== "leaseLost"

const mayConflict = ({ expected, otherwise }: RowWrite): boolean => expected !== undefined && otherwise !== "skip"

/** Whether the store can refuse the change. */
const isUncertain = <D>({ batch, rows, statements }: Change<D>): boolean =>
  batch !== undefined || statements !== undefined || rows?.some(mayConflict) === true

/** Updates that are settled together. Each of them has an outcome. */
export interface Settlement<D> {
  readonly updates: ReadonlyArray<Update<D>>
  /** Lets the caller go on. `reason`: why the store refuses the outcomes. */
  readonly end: (reason?: unknown) => void
}

const none: Array<never> = []

/** Adds to a list that is shared while the list is empty, because most changes have one update. */
const added = <A>(list: Array<A>, item: A): Array<A> => {
  if (list.length === 0) return [item]
  list.push(item)
  return list
}

/** Changes that are written together. */
export class Write<D> {
  readonly changes: Array<Change<D>> = []
  readonly settlements: ReadonlyArray<Settlement<D>>
  /** Updates that begin when the changes are written. */
  started: ReadonlyArray<Update<D>> = none
  /** The changes of the last attempt. */
  live: ReadonlyArray<Change<D>> = none
  /** The number of renewals when a batch was not applied, because one of its partitions is lost. */
  renewals: number | undefined = undefined
  /** Whether an attempt had no answer, so that the store may have applied the changes. */
  isUnanswered = false

  constructor(settlements: ReadonlyArray<Settlement<D>>) {
    this.settlements = settlements
  }

  #add(partition: Partition<D>, written: Written | undefined, batch?: Batch): Change<D> {
    const change: Change<D> = {
      partition,
      owner: partition.owner,
      partitionKey: partition.key,
      completed: none,
      failed: none,
      begun: none,
      rows: written?.rows,
      statements: written?.statements,
      batch,
      release: false,
      result: undefined,
      at: 0
    }
    this.changes.push(change)
    return change
  }

  /** Returns the change of a partition, to which others are added. */
  changeOf(partition: Partition<D>): Change<D> {
    return partition.change ?? (partition.change = this.#add(partition, undefined))
  }

  /**
   * Adds the outcome of an update. If several updates of a partition are settled together, each update that writes rows
   * or executes statements has its own commit. The store can reject that commit alone.
   */
  settle(update: Update<D>, isOnly: boolean): void {
    const { delivery, entry, partition } = update
    const { failure, outcome, written } = delivery
    if (outcome === undefined) return
    let { change } = partition
    if (change === undefined || written !== undefined) {
      change = this.#add(partition, written)
      if (written === undefined || isOnly) partition.change = change
    }
    update.change = change
    const { id } = entry
    if (outcome._tag === "ack") change.completed = added(change.completed, { id })
    else if (outcome._tag === "reject") change.completed = added(change.completed, { id, failure })
    else if (!update.isRecorded) change.failed = added(change.failed, id)
  }

  /** Counts an attempt as failed, so that a crash does not count for the update. */
  record(update: Update<D>): void {
    const change = this.changeOf(update.partition)
    change.failed = added(change.failed, update.entry.id)
    update.isRecorded = true
  }

  /** Marks an update as begun. */
  mark(update: Update<D>): void {
    const { entry, isMarked, isRecorded, partition } = update
    if (isRecorded && !isMarked) this.record(update)
    else if (!isMarked) {
      const change = this.changeOf(partition)
      change.begun = added(change.begun, entry.id)
    }
    update.change = partition.change
  }

  /** Adds the updates of a batch. Returns `false`, and adds nothing, if two updates write the same row. */
  settleBatch(batch: Batch, updates: ReadonlyArray<Update<D>>, isOnly: boolean): boolean {
    const keys = updates.flatMap(({ delivery }) => (delivery.written?.rows ?? none).map(({ key }) => key))
    if (new Set(keys).size < keys.length) return false
    let last: Change<D> | undefined
    for (const [partition, ofPartition] of Map.groupBy(updates, ({ partition }) => partition)) {
      const rows = ofPartition.flatMap(({ delivery }) => delivery.written?.rows ?? none)
      const statements = ofPartition.flatMap(
        ({ delivery }): ReadonlyArray<Statement> => delivery.written?.statements ?? none
      )
      const change = this.#add(partition, undefined, batch)
      change.completed = ofPartition.map(({ entry: { id } }) => ({ id }))
      if (rows.length > 0) change.rows = rows
      if (statements.length > 0) change.statements = statements
      for (const update of ofPartition) update.change = change
      if (isOnly) partition.change = change
      last = change
    }
    if (last !== undefined) last.statements = [...(last.statements ?? none), ...batch.statements]
    return true
  }

  /** The changes with which a partition can end, or go on: the last of a partition whose settlements apply all or none. */
  get certain(): ReadonlyArray<Change<D>> {
    const last = new Map(this.changes.map((change) => [change.partition, change]))
    if (last.size === this.changes.length) return this.changes
    const several = new Map<Partition<D>, boolean>()
    for (const { partition } of this.changes) several.set(partition, several.has(partition))
    const uncertain = new Set(this.changes.filter(isUncertain).map(({ partition }) => partition))
    return [...last.values()].filter(({ partition }) => !uncertain.has(partition) || several.get(partition) !== true)
  }
}
