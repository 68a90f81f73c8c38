import type { Claim, ClaimedUpdate } from "../../InboxStore.ts"
import { Owners } from "./owners.ts"
import type { Maker, Partition, Update } from "./partition.ts"
import type { Write } from "./write.ts"

export interface Options {
  /** The beginning of the owner names of this process. */
  readonly name: string
  /** Whether other processes use the store. Otherwise there are no leases, no marks and no renewals. */
  readonly isShared: boolean
  readonly leaseMillis: number
  readonly perChat: number
  readonly maxInMemory: number
  readonly maxUnsettled: number
  /** Updates whose process died this many times during their handling are crashing updates. */
  readonly crashingAfter: number
  /** Whether the store wakes its consumers. */
  readonly isWoken: boolean
  /** The monotonic time at which the process began. */
  readonly startedAt: number
}

/**
 * The decisions of the kernel. The commands are carried out after the kernel has decided everything: a command calls no
 * event before `advance` has returned.
 */
export interface Commands<D> extends Maker<D> {
  /** Whether the journal of an update that has not begun is the same in the store now. */
  readonly isRead: (known: ClaimedUpdate, stored: ClaimedUpdate) => boolean
  /** Answered by `claimed` or `failed`. At most one claim is under way. */
  readonly claim: (request: Claim) => void
  /** Answered by `renewed`. At most one renewal is under way. */
  readonly renew: (owners: ReadonlyArray<string>) => void
  /** Writes what `attempt` returns. Answered by `committed`, `failed` or `refused`. */
  readonly commit: (write: Write<D>) => void
  /** Ends leases that nobody holds. Answered by `released`. */
  readonly release: (leases: ReadonlyArray<UnknownLease>) => void
  /** Asks when something can be claimed. Answered by `answered`. */
  readonly ask: () => void
  /** Asks how many updates are queued. Answered by `counted`. */
  readonly count: () => void
  /** Other consumers of this process, and this one, can claim again. */
  readonly announce: () => void
  /** Other processes have claimed so many partitions. */
  readonly lost: (count: number) => void
  /** Everything is handled, except the updates of these partitions, which need a newer program. */
  readonly end: (waiting: ReadonlyArray<string>) => void
  /** Ends all leases of these names. Answered by `closed`. */
  readonly releaseAll: (owners: ReadonlyArray<string>) => void
}

/** A lease that the store has under a name of this process, and that this process does not hold. */
export interface UnknownLease {
  readonly owner: string
  readonly partitionKey: string
}

/**
 * - `running`: updates are claimed and begin.
 * - `stopping`: no update begins any more. Open updates are waited for.
 * - `closing`: everything was released, and the commits that are under way are waited for.
 * - `releasing`: all leases are being ended.
 * - `closed`: the leases have ended, or were left to expire.
 */
export type Phase = "running" | "stopping" | "closing" | "releasing" | "closed"

/**
 * The time for which other processes may claim a partition that this process released, before this process claims
 * again, with and without a notification. Without a notification, other processes claim every 5 seconds.
 */
const headStart = { woken: 1000, polling: 6000 } as const

/** The maximum number of deliveries that wait until they are pulled, so that few of them count as begun. */
const maxReady = 64

/** All partitions and updates that a process holds, and their numbers. */
export class KernelState<D> {
  readonly options: Options
  readonly commands: Commands<D>
  readonly owners: Owners<D>
  /** The time of the events, by the wall clock and by the monotonic clock. */
  wall = 0
  mono: number
  phase: Phase = "running"
  readonly byKey = new Map<string, Partition<D>>()
  /** Lost partitions whose handlers have not ended yet. */
  readonly interrupted = new Map<string, Partition<D>>()
  /** Updates that begin again after a time, and the earliest of these times. */
  readonly delayed = new Set<Update<D>>()
  delayedUntil = Infinity
  /** The times until which other processes may claim partitions that were left. */
  headStarts: ReadonlyArray<number> = []
  /** Number of updates of the partitions. */
  size = 0
  /** Number of updates that are emitted and not settled. */
  unsettled = 0
  /** Number of unsettled updates that were reported. Crashing updates do not wait for these updates. */
  reported = 0
  /** The deliveries that wait until they are pulled. */
  ready: Array<Update<D>> = []
  /** Whether partitions may be claimed again. */
  hasCapacity = false
  /** Number of partitions that were found to be lost since the last decision. */
  lost = 0
  /** The writes that the store is to apply, or is applying. */
  readonly writes = new Set<Write<D>>()
  readonly #maxReady: number

  constructor(options: Options, commands: Commands<D>) {
    this.options = options
    this.commands = commands
    this.owners = new Owners(this)
    this.mono = options.startedAt
    this.#maxReady = options.perChat === 1 ? Math.min(maxReady, options.maxUnsettled) : options.maxUnsettled
  }

  get isStopping(): boolean {
    return this.phase !== "running"
  }

  /** Whether the stream is not closed, so that updates are claimed and leases are renewed. */
  get isOpen(): boolean {
    return this.phase === "running" || this.phase === "stopping"
  }

  /** How many deliveries can wait until they are pulled. */
  get free(): number {
    return this.#maxReady - this.ready.length
  }

  /** How many updates can begin. */
  get available(): number {
    return Math.min(this.options.maxUnsettled - this.unsettled, this.free)
  }

  /** Whether nothing in memory is handled, or waits for anything but a newer program. */
  get isIdle(): boolean {
    if (this.size === 0) return true
    for (const partition of this.byKey.values()) if (!partition.needsNewer) return false
    return true
  }

  /** The partitions that wait for a newer program. */
  get waiting(): ReadonlyArray<string> {
    const waiting: Array<string> = []
    for (const { key, needsNewer } of this.byKey.values()) if (needsNewer) waiting.push(key)
    return waiting
  }

  /** An update is not emitted any more. */
  close(update: Update<D>): void {
    this.unsettled--
    if (update.isReported) this.reported--
    update.isReported = false
  }

  add(partition: Partition<D>): void {
    this.byKey.set(partition.key, partition)
    this.size += partition.updates.length
    // A chat that was lost begins again after its interrupted handlers have ended.
    partition.isBlocked = this.interrupted.size > 0 && this.interrupted.has(partition.key)
  }

  /** Removes a partition, unless this process has claimed the partition again. */
  remove(partition: Partition<D>): void {
    if (this.byKey.get(partition.key) === partition) this.byKey.delete(partition.key)
    this.size -= partition.updates.length
    const { woken, polling } = headStart
    if (partition.isLeft && !this.isStopping)
      this.headStarts = [...this.headStarts, this.mono + (this.options.isWoken ? woken : polling)]
    else this.hasCapacity = true
  }

  /** Other processes have had the time to claim partitions that were left. */
  endHeadStarts(): void {
    if (this.headStarts.length === 0) return
    const running = this.headStarts.filter((until) => until > this.mono)
    this.hasCapacity ||= running.length < this.headStarts.length
    this.headStarts = running
  }

  /** Another process has claimed a partition. */
  lose(partition: Partition<D>): void {
    this.lost++
    this.abandon(partition)
  }

  /** Nothing of a partition begins, is sent or is committed any more. */
  abandon(partition: Partition<D>): void {
    partition.moveTo("lost")
    for (const update of partition.begun.slice()) {
      const isInterrupted = update.isEmitted
      this.drop(update)
      if (isInterrupted) update.delivery.interrupt()
    }
    if (partition.handlers > 0) this.interrupted.set(partition.key, partition)
    this.remove(partition)
    this.owners.onAbandoned(partition)
  }

  /** This process does not handle an update any more. */
  drop(update: Update<D>): void {
    if (update.isEmitted) this.close(update)
    if (update.state === "ready") this.ready = this.ready.filter((other) => other !== update)
    this.delayed.delete(update)
    update.moveTo("done")
  }

  /** No update of a partition begins any more, until the partition is claimed again. */
  leave(partition: Partition<D>): void {
    partition.isLeft = true
    for (const update of partition.begun.slice()) if (!update.isEmitted) this.drop(update)
  }

  /** An update begins again after a time. Until then, another update may begin. */
  again(update: Update<D>, millis: number): void {
    if (this.isStopping || update.partition.isLeft) return this.drop(update)
    if (update.isEmitted) this.close(update)
    if (millis <= 0) return update.moveTo("waiting")
    this.hasCapacity = true
    update.moveTo("delayed")
    update.dueAt = this.mono + millis
    this.delayed.add(update)
    this.delayedUntil = Math.min(this.delayedUntil, update.dueAt)
  }

  send(write: Write<D>): void {
    this.writes.add(write)
    this.commands.commit(write)
  }

  /** A commit of a partition has ended. */
  endCommit(partition: Partition<D>, isReleased: boolean): void {
    partition.commits--
    if (partition.isLost) return
    if (isReleased) {
      partition.moveTo("released")
      this.remove(partition)
    } else if (partition.commits === 0) partition.moveTo("held")
  }
}
