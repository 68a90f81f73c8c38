import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Inbox } from "../../Inbox.ts"
import type { ClaimedUpdate, Completed, TimerChange } from "../../InboxStore.ts"
import type { ChatId } from "../../../model/Recipient.ts"
import type { StoreError } from "../../../base/StoreError.ts"
import { chatOf, type Update } from "../../../model/Update.ts"
import { isKnown } from "../journal/entries.ts"
import type { Journal } from "../journal/journal.ts"
import { flush } from "../journal/writeSoon.ts"
import { ending } from "../timers/recurrence.ts"
import { Attempt } from "./attempt.ts"
import type { Written } from "./changes.ts"
import type { AnswerLog } from "../../../client/internal/callContext.ts"
import type { Handling } from "./handling.ts"
import type { Claimed, Lease, Holder } from "./lease.ts"
import type { Change, Leases } from "./leases.ts"
import { type Origin, type Outcome, type UpdateDelivery, Settleable } from "./settlement.ts"

/** A change that is being prepared. */
export interface OpenChange extends Change {
  readonly partition: ClaimedPartition
  completed: ReadonlyArray<Completed>
  failed: ReadonlyArray<string>
  begun: ReadonlyArray<string>
  release: boolean
}

/** The values that the updates of a consumer share. */
export interface Source extends Origin {
  /** Forgets the updates of a partition that another process has claimed. */
  readonly lose: (partition: ClaimedPartition) => void
  /** Called when the last handler of a lost partition has ended. */
  readonly abandoned: (partition: ClaimedPartition) => void
  readonly leases: Leases
  /** Whether the process died again and again while an update was handled. */
  readonly isCrashing: (update: ClaimedUpdate) => boolean
  readonly makeHandling: (lease: Lease, chat_id: ChatId | undefined) => Handling
  readonly openJournal: (queued: Queued) => Journal
}

const none: ReadonlyArray<never> = []

/** A claimed update as a delivery. */
export class Queued extends Settleable<Update> implements UpdateDelivery {
  readonly partition: ClaimedPartition
  readonly entry: ClaimedUpdate
  /** The update. The value is missing only if the update cannot be decoded. Such a delivery is not emitted. */
  readonly value: Update
  readonly handling: Handling
  readonly updates: ReadonlyArray<Queued> = [this]
  attempt: number
  /** Whether the store knows that an attempt has begun. */
  isMarked: boolean
  /** Whether the store counts the attempt already, so that neither its end nor a crash is counted. */
  isRecorded = false
  isEmitted = false
  outcome: Outcome | undefined = undefined
  /** The time of the emission in Unix milliseconds. Negative before that. */
  emittedAt = -1
  isReported = false
  /** Who is told when the partition is lost. The array is replaced, because most updates have one watcher or none. */
  #watchers: ReadonlyArray<() => void> = none
  /** Its neighbours in the list of the emitted updates of the partition. */
  before: Queued | undefined = undefined
  after: Queued | undefined = undefined
  /** Its index in all updates of the partition. */
  readonly position: number
  /** The last change that settles the update, or that marks the update as begun. */
  change: OpenChange | undefined = undefined
  #answers: AnswerLog | undefined
  #journal: Journal | undefined
  #current: Attempt | undefined
  #isOver = false

  constructor(partition: ClaimedPartition, position: number, isMarked: boolean) {
    super()
    const entry = partition.updates[position]!
    this.partition = partition
    this.entry = entry
    this.position = position
    this.attempt = entry.attempts + 1
    this.isMarked = isMarked
    const { decoded } = entry.update
    this.value = (Result.isSuccess(decoded) ? decoded.success : undefined)!
    this.handling = partition.handlingOf(this.value)
  }

  get answers(): AnswerLog {
    const { attempts, journal = none } = this.entry
    // An attempt that was given back, because of a stop or a newer program, is not counted.
    const isRedelivered = attempts > 0 || journal.length > 0
    return (this.#answers ??= { attempt: this.attempt, isRedelivered, attempts: undefined })
  }

  get journal(): Journal {
    if (this.#journal === undefined) {
      this.#journal = this.partition.source.openJournal(this)
      if (this.#isOver) this.#journal.close()
    }
    return this.#journal
  }

  /** Writes the entries of the journal that the store does not have. */
  get flushJournal(): Effect.Effect<void> {
    return this.#journal === undefined ? Effect.void : flush(this.#journal)
  }

  get storeFailure(): StoreError | undefined {
    return this.#journal?.storeFailure
  }

  get inbox(): Inbox["Service"] {
    return this.partition.source.leases.inbox
  }

  /** Whether no other process has handled the update since this process has claimed it. */
  isUnchanged({ id, journal }: ClaimedUpdate): boolean {
    if (id !== this.entry.id) return false
    return this.#journal === undefined ? isKnown(this.entry.journal, journal) : this.#journal.knows(journal)
  }

  get current(): Attempt {
    return (this.#current ??= new Attempt(this))
  }

  get origin(): Origin {
    return this.partition.source
  }

  get isUngrouped(): boolean {
    return this.entry.crashes > 0
  }

  get isDoubtful(): boolean {
    const { lease, source } = this.partition
    return !source.leases.isValid(lease)
  }

  get isLost(): boolean {
    return this.partition.lease.isLost
  }

  /** Whether an effect that ends if the partition is lost handles the update. */
  get isHandled(): boolean {
    return this.#watchers !== none
  }

  watch(onLost: () => void): void {
    this.#watchers = this.#watchers === none ? [onLost] : [...this.#watchers, onLost]
  }

  unwatch(onLost: () => void): void {
    const others = this.#watchers.filter((other) => other !== onLost)
    this.#watchers = others.length === 0 ? none : others
    if (this.isLost && !this.partition.isHandled) this.partition.source.abandoned(this.partition)
  }

  /** The partition is lost. */
  onLost(): void {
    for (const onLost of this.#watchers) onLost()
  }

  /** Begins the next attempt. */
  beginNext(): void {
    this.isMarked = false
    this.isRecorded = false
    this.attempt++
    if (this.#answers !== undefined) this.#answers.attempt = this.attempt
    this.beginAgain()
  }

  /** Begins the same attempt again, because a value that the handler has read was changed. */
  beginAgain(): void {
    this.emittedAt = -1
    this.#answers?.attempts?.forEach((_, id, attempts) => attempts.set(id, 0))
    this.#journal?.begin()
    this.#current?.close()
    this.#current = undefined
  }

  /**
   * Returns the changes to write with the acknowledgement: the changes of the handler, and the next occurrence of a
   * timer.
   */
  written(clock: Clock.Clock): Written | undefined {
    const written = this.#current?.close()
    const ending = this.#ending(clock)
    if (ending === undefined) return written
    const changes = written?.timers ?? []
    const isChanged = changes.some(({ key, name }) => key === ending.key && name === ending.name)
    return { ...written, timers: [isChanged ? { ...ending, set: undefined } : ending, ...changes] }
  }

  /** Returns the changes to write when the update becomes a dead letter: a recurring timer continues. */
  writtenOnReject(clock: Clock.Clock): Written | undefined {
    const ending = this.#ending(clock)
    return ending === undefined ? undefined : { timers: [ending] }
  }

  #ending(clock: Clock.Clock): TimerChange | undefined {
    const { value } = this
    if (value?.update_type !== "colloquy_timer") return undefined
    return ending(value, this.entry.id, this.partition.lease.key, clock.currentTimeMillisUnsafe())
  }

  /** The update could not be settled. */
  reopen(): void {
    this.outcome = undefined
    this.#journal?.reopen()
    this.#current?.reopen()
  }

  /** The update is not in the queue any more. */
  end(): void {
    this.#isOver = true
    this.#journal?.close()
    this.#current?.close()
  }

  take(outcome: Outcome): ReadonlyArray<Queued> {
    if (this.outcome !== undefined || !this.isEmitted || this.isLost) return none
    this.outcome = outcome
    if (outcome._tag === "ack") this.#journal?.end()
    return this.updates
  }
}

/** The claimed updates of a partition. */
export class ClaimedPartition implements Holder {
  readonly source: Source
  readonly lease: Lease
  readonly updates: ReadonlyArray<ClaimedUpdate>
  readonly #perChat: number
  /** The number of first updates that the store marked as begun when the partition was claimed. */
  readonly #begun: number
  #handling: Handling | undefined
  /** Index of the next update that was not emitted. */
  #next = 0
  /** Updates that are to be emitted again, in order. The array is replaced, because most partitions need none. */
  #retried: ReadonlyArray<Queued> = none
  /** Updates that are to be emitted again after a delay. */
  #delayed: ReadonlyArray<Queued> = none
  /**
   * The last of the updates that are emitted and not settled. The updates are a linked list, because an array costs
   * more than its content.
   */
  #emitted: Queued | undefined = undefined
  /** Number of updates that are emitted, or wait until they are emitted again. */
  open = 0
  /** Number of running commits. */
  commits = 0
  /** The index in the partitions of the consumer. -1 after the partition has ended. */
  index = -1
  /** The change that is being prepared. */
  change: OpenChange | undefined = undefined
  isWaiting = false
  isReleasing = false
  /** Whether handlers of the partition still run that began before the partition was lost and claimed again. */
  isBlocked = false
  /** Number of open updates that wait for a newer program. The partition is kept for them for some time. */
  newer = 0
  /** Whether no more updates are emitted, because the partition is left to another process. */
  isLeft = false

  constructor(source: Source, { lease, updates }: Claimed, perChat: number, begun: number) {
    this.source = source
    this.lease = lease
    this.updates = updates
    this.#perChat = perChat
    this.#begun = begun
  }

  onLost(): void {
    this.source.lose(this)
  }

  isUnchanged(queued: ReadonlyArray<ClaimedUpdate>): boolean {
    if (this.isLeft) return false
    const open = [...this.emitted, ...this.#retried, ...this.#delayed].sort((a, b) => a.position - b.position)
    const waiting = this.updates.slice(this.#next)
    const compared = Math.min(open.length + waiting.length, queued.length)
    if (compared === 0) return false
    return queued.slice(0, compared).every((claimed, index) => {
      if (index < open.length) return open[index]!.isUnchanged(claimed)
      const { id, journal } = waiting[index - open.length]!
      return id === claimed.id && isKnown(journal, claimed.journal)
    })
  }

  /**
   * Whether every update is settled. If the consumer is stopping or leaves the partition, updates that were not emitted
   * do not count.
   */
  isFinished(isStopping: boolean): boolean {
    return this.open === 0 && (isStopping || this.isLeft || this.#next === this.updates.length)
  }

  /**
   * Whether an update may be emitted now. With one update at a time, an update waits until the previous update is
   * acknowledged.
   */
  get isReady(): boolean {
    const { commits, isBlocked, isLeft, isReleasing, lease } = this
    if (lease.isLost || isReleasing || isLeft || isBlocked || (commits > 0 && this.#perChat === 1)) return false
    if (this.#retried !== none) return this.#perChat > 1 || this.open <= this.#retried.length
    return this.#next < this.updates.length && this.open < this.#perChat
  }

  /** Whether all that is left of the partition waits for a newer program. */
  get needsNewer(): boolean {
    return this.newer > 0 && this.open === this.newer && !this.isReady
  }

  get #nextEntry(): ClaimedUpdate | undefined {
    return this.#retried[0]?.entry ?? this.updates[this.#next]
  }

  /** Whether the process died repeatedly during the handling of the next update. */
  get isCrashing(): boolean {
    const next = this.#nextEntry
    return next !== undefined && this.source.isCrashing(next)
  }

  /** How many attempts of the next update ended in another way than with their process, or beside others. */
  get sharedAttempts(): number {
    const { attempts, crashes } = this.#nextEntry!
    return attempts - crashes
  }

  /** Updates that are emitted and not settled. */
  get emitted(): ReadonlyArray<Queued> {
    const emitted: Array<Queued> = []
    for (let queued = this.#emitted; queued !== undefined; queued = queued.before) emitted.push(queued)
    return emitted
  }

  /** Whether a handler of one of these updates runs. */
  get isHandled(): boolean {
    for (let queued = this.#emitted; queued !== undefined; queued = queued.before) if (queued.isHandled) return true
    return false
  }

  emit(): Queued {
    const queued = this.#retried === none ? this.#emitNext() : this.#emitAgain()
    queued.isEmitted = true
    queued.outcome = undefined
    queued.before = this.#emitted
    if (this.#emitted !== undefined) this.#emitted.after = queued
    this.#emitted = queued
    return queued
  }

  #emitAgain(): Queued {
    const [first, ...others] = this.#retried
    this.#retried = others.length === 0 ? none : others
    return first!
  }

  #emitNext(): Queued {
    const index = this.#next++
    this.open++
    return new Queued(this, index, index < this.#begun)
  }

  /** Keeps an update that is requeued after a delay. */
  delay(queued: Queued): void {
    this.#delayed = [...this.#delayed, queued]
  }

  /** Adds an update to the updates that are emitted again. */
  requeue(queued: Queued): void {
    if (this.#delayed !== none) this.#delayed = this.#delayed.filter((other) => other !== queued)
    this.#retried = [...this.#retried, queued].sort((a, b) => a.position - b.position)
  }

  /** Emits no more updates, and forgets a delayed update. */
  leave(): void {
    this.isLeft = true
    this.open--
    this.dropRetried()
  }

  /** Forgets the updates that are to be emitted again. */
  dropRetried(): void {
    this.open -= this.#retried.length
    this.#retried = none
  }

  /** An update is not emitted any more. */
  settled(queued: Queued): void {
    const { after, before } = queued
    queued.isEmitted = false
    queued.before = queued.after = undefined
    if (before !== undefined) before.after = after
    if (after !== undefined) after.before = before
    else this.#emitted = before
  }

  /** The updates of the partition that have the same chat share their context. */
  handlingOf(update: Update | undefined): Handling {
    const chat_id = update === undefined ? undefined : chatOf(update)
    if (this.#handling !== undefined && this.#handling.chat_id === chat_id) return this.#handling
    return (this.#handling = this.source.makeHandling(this.lease, chat_id))
  }
}

/** The claimed partitions of a consumer. */
export const makePartitionSet = () => {
  const partitions: Array<ClaimedPartition> = []
  let updates = 0
  return {
    all: (): ReadonlyArray<ClaimedPartition> => partitions,
    /** Number of their updates. */
    updates: (): number => updates,
    add: (partition: ClaimedPartition): void => {
      partition.index = partitions.push(partition) - 1
      updates += partition.updates.length
    },
    /** Returns `false` if the partition was removed before. */
    remove: (partition: ClaimedPartition): boolean => {
      if (partition.index === -1) return false
      const last = partitions.pop()!
      if (last !== partition) {
        partitions[partition.index] = last
        last.index = partition.index
      }
      partition.index = -1
      updates -= partition.updates.length
      return true
    }
  }
}
