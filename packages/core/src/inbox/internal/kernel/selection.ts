import type { KernelState } from "./state.ts"
import type { Partition, Update } from "./partition.ts"
import type { Write } from "./write.ts"

const none: ReadonlyArray<never> = []

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

/** For this time after the start, crashing updates wait, because a process can also die repeatedly for other reasons after a deploy. */
const calmMillis = 10_000

/**
 * Selects the updates that begin next. A crashing update is an update during whose handling the process died
 * repeatedly. A crash counts only in an exclusive attempt, while no other update is being handled, so that no update
 * becomes a dead letter because of another update. All times are monotonic.
 */
export class Selection<D> {
  readonly #state: KernelState<D>
  readonly #calmAt: number
  #waiting: Array<Partition<D>> = []
  /** Partitions whose next update is a crashing update. */
  #crashing: Array<Partition<D>> = []
  /** The crashing update in its exclusive attempt. */
  #exclusive: Update<D> | undefined
  #exclusiveUntil = 0
  /** The time since which the first crashing update could begin. */
  #dueAt: number | undefined
  /** The time since which other updates wait. */
  #waitingSince: number | undefined
  /** Other updates do not wait before this time: they have as much time as they have waited. */
  #freeUntil = -Infinity
  /** When the next update can be selected, although nothing else happens. */
  wakeAt = Infinity

  constructor(state: KernelState<D>) {
    this.#state = state
    this.#calmAt = state.options.startedAt + calmMillis
  }

  /** Number of partitions that wait. */
  get size(): number {
    return this.#waiting.length + this.#crashing.length
  }

  /** Whether a crashing update waits or is in its exclusive attempt. */
  get hasCrashing(): boolean {
    return this.#crashing.length > 0 || this.#exclusive !== undefined
  }

  #isCrashing(partition: Partition<D>): boolean {
    const next = partition.nextEntry
    return next !== undefined && next.crashes >= this.#state.options.crashingAfter
  }

  /** Adds a partition if one of its updates may begin. */
  add(partition: Partition<D>): void {
    if (partition.isSelectable || !partition.isReady) return
    partition.isSelectable = true
    ;(this.#isCrashing(partition) ? this.#crashing : this.#waiting).push(partition)
  }

  /** The first partition that is ready. Earlier partitions are dropped. */
  #first(partitions: Array<Partition<D>>): Partition<D> | undefined {
    for (;;) {
      const partition = partitions[0]
      if (partition === undefined || partition.isReady) return partition
      partition.isSelectable = false
      partitions.shift()
    }
  }

  #next(partitions: Array<Partition<D>>): Partition<D> | undefined {
    const partition = this.#first(partitions)
    if (partition === undefined) return undefined
    partition.isSelectable = false
    partitions.shift()
    return partition
  }

  #beginCrashing(isExclusive: boolean): ReadonlyArray<Update<D>> {
    const update = this.#next(this.#crashing)!.begin(this.#state.commands)
    update.isRecorded = !isExclusive
    this.#dueAt = undefined
    return [update]
  }

  #free(at: number): void {
    if (this.#waitingSince !== undefined) this.#freeUntil = at + (at - this.#waitingSince)
    this.#waitingSince = undefined
  }

  /** Lets other updates wait, at most until a time. */
  #wait(until: number): ReadonlyArray<never> {
    this.wakeAt = until
    return none
  }

  /** Returns the crashing update that begins, no update while others wait, or `undefined` if others may begin. */
  #takeCrashing(at: number, others: number, settled: ReadonlyArray<Update<D>>): ReadonlyArray<Update<D>> | undefined {
    const exclusive = this.#exclusive
    if (exclusive !== undefined && (!exclusive.isEmitted || settled.includes(exclusive))) {
      this.#exclusive = undefined
      this.#free(at)
    }
    if (this.#exclusive !== undefined && at < this.#exclusiveUntil) return this.#wait(this.#exclusiveUntil)
    const partition = this.#first(this.#crashing)
    if (partition === undefined) return undefined
    if (at < this.#calmAt) {
      this.wakeAt = this.#calmAt
      return undefined
    }
    this.#dueAt ??= at
    const { attempts, crashes } = partition.nextEntry!
    const millis = Math.min(exclusiveMillis * 2 ** (attempts - crashes), maxExclusiveMillis)
    const isFree = this.#waiting.length > 0 && at < this.#freeUntil
    if (others === 0 && !isFree) {
      this.#waitingSince ??= at
      this.#exclusiveUntil = at + millis
      const begun = this.#beginCrashing(true)
      this.#exclusive = begun[0]
      return begun
    }
    const latest = this.#dueAt + Math.min(patience * millis, maxPatienceMillis)
    if (at >= latest) return this.#beginCrashing(false)
    if (this.#waiting.length === 0) return this.#wait(latest)
    if (!isFree) {
      this.#waitingSince ??= at
      if (at < this.#waitingSince + millis) return this.#wait(Math.min(this.#waitingSince + millis, latest))
      this.#free(at)
    }
    this.wakeAt = Math.min(this.#freeUntil, latest)
    return undefined
  }

  #takeWaiting(count: number): ReadonlyArray<Update<D>> {
    const taken: Array<Update<D>> = []
    while (taken.length < count) {
      const partition = this.#next(this.#waiting)
      if (partition === undefined) break
      // Several updates of a chat begin one after the other, so that fewer chats are in memory and in a commit.
      while (taken.length < count && partition.isReady && !this.#isCrashing(partition)) {
        taken.push(partition.begin(this.#state.commands))
      }
      this.add(partition)
    }
    return taken
  }

  /** Begins at most `count` updates while `settled` are being settled. `write` is what marks the updates that begin. */
  take(write: Write<D>, count: number, settled: ReadonlyArray<Update<D>>): ReadonlyArray<Update<D>> {
    const { mono, options, reported, unsettled } = this.#state
    if (count < 1 || (this.#waiting.length === 0 && !this.hasCrashing)) return none
    this.wakeAt = Infinity
    const selected = this.hasCrashing
      ? this.#takeCrashing(mono, unsettled - settled.length - reported, settled)
      : undefined
    const taken = selected ?? this.#takeWaiting(count)
    if (this.#exclusive !== undefined && taken.length > 0 && taken[0] !== this.#exclusive) {
      // The attempt is not exclusive any more, so a crash does not count for the update.
      if (options.isShared) write.record(this.#exclusive)
      this.#exclusive = undefined
      this.#free(mono)
    }
    return taken
  }

  clear(): void {
    for (const partition of [...this.#waiting, ...this.#crashing]) partition.isSelectable = false
    this.#waiting = []
    this.#crashing = []
    this.wakeAt = Infinity
  }
}
