import type { Commit, CommitResult } from "../../InboxStore.ts"
import type { Commits } from "./commits.ts"
import type { KernelState } from "./state.ts"
import type { Leases } from "./leases.ts"
import type { Update } from "./partition.ts"
import { type Change, isRefused, type Settlement, type Write } from "./write.ts"

/** Those of a batch are one commit, whose result is the result of each. */
const together = <D>(changes: ReadonlyArray<Change<D>>): ReadonlyArray<Commit> => {
  const groups = [...Map.groupBy(changes, (change) => change.batch ?? change).values()]
  groups.forEach((group, at) => group.forEach((change) => (change.at = at)))
  return groups.map(([first, ...others]) => (others.length === 0 ? first! : { ...first!, together: others }))
}

/** The conclusions from the answers of the store to writes. */
export class Results<D> {
  readonly #state: KernelState<D>
  readonly #commits: Commits<D>
  readonly #leases: Leases<D>
  /** Writes of batches of which a partition is lost. */
  #broken: ReadonlyArray<Write<D>> = []

  constructor(state: KernelState<D>, commits: Commits<D>, leases: Leases<D>) {
    this.#state = state
    this.#commits = commits
    this.#leases = leases
  }

  /** Returns the commits of a write, under the present owners. Nothing is committed after a loss. */
  attempt(write: Write<D>): ReadonlyArray<Commit> {
    this.#state.writes.add(write)
    write.live = this.#state.options.isShared ? this.#live(write) : write.changes
    if (write.live.some(({ batch }) => batch !== undefined)) return together(write.live)
    write.live.forEach((change, at) => (change.at = at))
    return write.live
  }

  #live(write: Write<D>): ReadonlyArray<Change<D>> {
    const { changes } = write
    const { byKey } = this.#state
    // Nothing is written of a partition that this process has claimed again after its release.
    const isHeld = ({ partition }: Change<D>): boolean => byKey.get(partition.key) === partition
    for (const change of changes) {
      const { partition } = change
      if (isHeld(change) && this.#leases.canReturn(partition)) this.#leases.giveUp(partition)
      change.owner = partition.owner
      if (change.batch === undefined || isHeld(change)) continue
      for (const other of changes) {
        if (other.batch !== change.batch || !isHeld(other)) continue
        if (write.isUnanswered) this.#leases.giveUp(other.partition)
        else other.result = "again"
      }
    }
    return changes.filter((change) => change.result === undefined && isHeld(change))
  }

  /** The store has answered. */
  committed(write: Write<D>, results: ReadonlyArray<CommitResult>): void {
    const state = this.#state
    state.writes.delete(write)
    let isRepeated = false
    for (const change of write.live) {
      const { batch, owner, partition, release } = change
      change.result = results[change.at]!
      if (change.result === "applied") state.owners.onApplied(change)
      if (change.result !== "leaseLost" || !state.options.isShared) continue
      // A batch that was applied has released its partitions. The store knows which of its updates are left.
      if (batch !== undefined && write.isUnanswered) this.#leases.giveUp(partition)
      else if (batch !== undefined) {
        // One of the partitions of the batch is lost. The next renewal shows which.
        write.renewals = this.#leases.renewals
        change.result = "again"
      } else if (partition.owner !== owner) {
        // This process has claimed the partition again meanwhile, under another name.
        change.result = undefined
        isRepeated = true
        // The result of a release that was repeated says nothing: the partition is released in any case.
      } else if (!release && !partition.isLost) state.lose(partition)
    }
    if (isRepeated) state.send(write)
    else if (write.renewals !== undefined) {
      this.#leases.request()
      this.#broken = [...this.#broken, write]
    } else this.#applied(write)
  }

  /** Batches with a lost partition go on after the renewal. No renewal begins after everything was released. */
  advance(): void {
    if (this.#broken.length === 0) return
    const ended = this.#broken.filter(({ renewals }) => !this.#state.isOpen || renewals! < this.#leases.renewals)
    this.#broken = this.#broken.filter((write) => !ended.includes(write))
    for (const write of ended) this.#applied(write)
  }

  /** The store has not answered. */
  failed(write: Write<D>): void {
    this.#state.writes.delete(write)
    write.isUnanswered = true
    for (const { owner, partitionKey: key, release } of write.live)
      if (release) this.#state.owners.onAbandoned({ key, owner })
  }

  #applied(write: Write<D>): void {
    for (const change of write.changes) this.#state.endCommit(change.partition, change.release && !isRefused(change))
    for (const { updates } of write.settlements) for (const update of updates) this.#settled(update)
    for (const update of write.started) {
      if (update.state !== "beginning") continue
      if (isRefused(update.change) || this.#state.isStopping) this.#state.again(update, 0)
      else this.#commits.start(update)
    }
    this.#commits.resolve(write)
  }

  #settled(update: Update<D>): void {
    const { change, delivery } = update
    const { outcome } = delivery
    if (update.state !== "settling" || outcome === undefined) return
    if (isRefused(change)) return this.#commits.refuse(update, change.result)
    delivery.settled()
    if (outcome._tag !== "retry") return this.#state.drop(update)
    update.isMarked = update.isRecorded = false
    this.#state.again(update, outcome.after)
  }

  /** The store refuses a write that has failed, or the stream is closed. */
  refused(write: Write<D>, reason: unknown): void {
    const { settlements } = write
    // The lease of a partition that cannot be released expires.
    for (const { partition, release } of write.changes)
      this.#state.endCommit(partition, release && settlements.length === 0)
    for (const update of write.started) if (update.state === "beginning") this.#state.again(update, 0)
    if (settlements.length > 1) this.#commits.divided.push(...settlements)
    else for (const settlement of settlements) this.#reopen(settlement, reason)
    for (const { partition } of write.changes) this.#commits.resume(partition)
  }

  #reopen({ end, updates }: Settlement<D>, reason: unknown): void {
    for (const update of updates) {
      if (update.state !== "settling") continue
      update.moveTo("open")
      update.delivery.reopen()
    }
    end(reason)
  }
}
