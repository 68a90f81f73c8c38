import { HandBacks } from "./handBacks.ts"
import type { KernelState } from "./state.ts"
import type { Batch, Partition, Update } from "./partition.ts"
import type { Selection } from "./selection.ts"
import { type Refused, type Settlement, Write } from "./write.ts"

const none: ReadonlyArray<never> = []

/** The writes: the outcomes of updates, the marks of updates that begin, and the ends of leases. */
export class Commits<D> {
  readonly #state: KernelState<D>
  readonly #selection: Selection<D>
  /** The settlements of this turn, which are one write. */
  #settlements: Array<Settlement<D>> = []
  /** Settlements that the store has refused together. One can be the cause, so each of them is written by itself. */
  readonly divided: Array<Settlement<D>> = []
  /** Partitions that are to be released. */
  readonly #finished = new Set<Partition<D>>()
  readonly #handBacks = new HandBacks()

  constructor(state: KernelState<D>, selection: Selection<D>) {
    this.#state = state
    this.#selection = selection
  }

  settle(settlement: Settlement<D>): void {
    for (const update of settlement.updates) {
      const { outcome } = update.delivery
      const isEnding = outcome?._tag === "ack" || outcome?._tag === "reject"
      if (update.state === "open") update.moveTo("settling", isEnding || this.#state.isStopping)
    }
    this.#settlements.push(settlement)
  }

  /** Lets a partition go on with its next update, or with its release. */
  resume(partition: Partition<D>): void {
    if (partition.state === "held" && partition.isFinished(this.#state.isStopping)) this.#finished.add(partition)
    else this.#selection.add(partition)
  }

  /** Releases a partition of which nothing has begun. */
  release(partition: Partition<D>): void {
    this.#finished.add(partition)
  }

  /** Writes the settled updates, begins updates, and releases the finished partitions, in this order. */
  advance(): void {
    const state = this.#state
    if (this.#settlements.length > 0) {
      const settlements = this.#settlements
      this.#settlements = []
      this.#write(settlements)
    }
    if (this.divided.length > 0) for (const settlement of this.divided.splice(0)) this.#write([settlement])
    if (!state.isStopping && this.#selection.size > 0) {
      const write = new Write<D>(none)
      this.#begin(write, state.available, none)
      this.#send(write)
    }
    if (this.#finished.size === 0) return
    const write = new Write<D>(none)
    for (const partition of this.#finished) if (partition.state === "held") write.changeOf(partition).release = true
    this.#finished.clear()
    this.#send(write)
  }

  /** Settles updates, and begins as many others, in one write. */
  #write(settlements: ReadonlyArray<Settlement<D>>): void {
    const state = this.#state
    const settled: Array<Update<D>> = []
    const written = settlements.filter((settlement) => {
      const before = settled.length
      for (const update of settlement.updates) if (this.#isWritten(update)) settled.push(update)
      if (settled.length === before) settlement.end()
      return settled.length > before
    })
    const write = new Write(written)
    // With one update of a chat at a time, the next update of the chat can share the change.
    const isOnly = settled.length === 1 || state.options.perChat === 1
    let batches: Map<Batch, ReadonlyArray<Update<D>>> | undefined
    for (const update of settled) {
      const { outcome } = update.delivery
      const batch = outcome?._tag === "ack" ? outcome.batch : undefined
      if (batch === undefined) write.settle(update, isOnly)
      else (batches ??= new Map()).set(batch, [...(batches.get(batch) ?? none), update])
    }
    for (const [batch, updates] of batches ?? none) {
      // A batch that has lost an update is not acknowledged.
      if (updates.length !== batch.size) for (const update of updates) this.refuse(update, "again")
      else if (!write.settleBatch(batch, updates, isOnly)) for (const update of updates) this.refuse(update, "alone")
    }
    if (write.changes.length === 0) return this.resolve(write)
    const certain = isOnly ? write.changes : write.certain
    for (const change of certain) {
      const { partition } = change
      change.release = partition.commits === 0 && partition.isFinished(state.isStopping)
      if (state.options.isShared && !change.release) this.#selection.add(partition)
    }
    if (state.options.isShared && !state.isStopping) this.#begin(write, Math.min(settled.length, state.free), settled)
    this.#send(write)
  }

  /** Whether the outcome of an update is written. Attempts that do not count begin again, and nothing is written. */
  #isWritten(update: Update<D>): boolean {
    const { delivery, entry, partition } = update
    const { outcome } = delivery
    if (update.state !== "settling" || !(partition.state === "held" || partition.state === "committing")) return false
    if (outcome?._tag !== "again" && outcome?._tag !== "handBack") return true
    const state = this.#state
    delivery.settled()
    if (outcome._tag === "again") state.again(update, outcome.after)
    else {
      // The partition is kept for a time that grows, and then left to other processes.
      const wait = this.#handBacks.waitOf(entry.id, state.mono)
      update.isNewer = true
      state.again(update, Math.max(1, wait))
      if (wait === 0) state.leave(partition)
    }
    this.resume(partition)
    return false
  }

  /** The changes of an update are not applied: the attempt has failed because of a statement, or begins again. */
  refuse(update: Update<D>, reason: Refused): void {
    if (update.delivery.refused(reason)) update.moveTo("open")
    else this.#state.again(update, 0)
    this.resume(update.partition)
  }

  /** Begins updates: those that the store knows to have begun at once, and the others when the write is applied. */
  #begin(write: Write<D>, count: number, settled: ReadonlyArray<Update<D>>): void {
    const state = this.#state
    const begun = this.#selection.take(write, count, settled)
    state.unsettled += begun.length
    if (!state.options.isShared) return begun.forEach((update) => this.start(update))
    for (const update of begun) write.mark(update)
    write.started = begun.filter(({ change }) => change !== undefined)
    for (const update of begun) if (update.change === undefined) this.start(update)
  }

  /** An update that begins is marked in the store before. */
  start(update: Update<D>): void {
    const state = this.#state
    update.isMarked = true
    update.moveTo("ready")
    if (update.delivery.start()) state.ready.push(update)
    else update.moveTo("open")
  }

  #send(write: Write<D>): void {
    if (write.changes.length === 0) return
    for (const { partition, release } of write.changes) {
      partition.change = undefined
      partition.commits++
      partition.moveTo(release ? "releasing" : "committing")
    }
    this.#state.send(write)
  }

  /** Releases all partitions that nothing is written of. Open updates count as attempted. */
  releaseRest(): void {
    const write = new Write<D>(none)
    for (const partition of this.#state.byKey.values()) {
      if (partition.state !== "held") continue
      for (const update of partition.begun) if (update.state === "open" && !update.isRecorded) write.record(update)
      write.changeOf(partition).release = true
    }
    this.#send(write)
  }

  /** Lets the callers of settlements go on. */
  resolve({ changes, settlements }: Write<D>): void {
    for (const { partition } of changes) this.resume(partition)
    for (const settlement of settlements) settlement.end()
  }
}
