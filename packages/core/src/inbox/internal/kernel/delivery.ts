import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { StoreError } from "../../../base/StoreError.ts"
import type { AnswerLog } from "../../../client/internal/callContext.ts"
import type { Update } from "../../../model/Update.ts"
import type { Inbox } from "../../Inbox.ts"
import type { ClaimedUpdate, Failure } from "../../InboxStore.ts"
import { Attempt } from "../consumer/attempt.ts"
import type { Handling } from "../consumer/handling.ts"
import { type Refusal, Settleable } from "../consumer/settlement.ts"
import { refusalOf } from "../consumer/statements.ts"
import { addToLog } from "../log/entry.ts"
import type { Evidence } from "../log/incident.ts"
import { type Journal, wasRead } from "../journal/journal.ts"
import { flush } from "../journal/writeSoon.ts"
import { rowKey } from "../timers/change.ts"
import type { Consumer } from "./consumer.ts"
import type * as partition from "./partition.ts"
import type { Refused } from "./write.ts"

/** A claimed update in the kernel. */
export type Claimed = partition.Update<Queued>

const none: ReadonlyArray<never> = []

/** A claimed update as a delivery. All other deliveries are made of these. */
export class Queued extends Settleable<Update> implements partition.Delivery {
  readonly origin: Consumer
  readonly claimed: Claimed
  /** The update. The value is missing only if the update cannot be decoded. Such a delivery is not emitted. */
  readonly value: Update
  readonly handling: Handling
  readonly updates: ReadonlyArray<Queued> = [this]
  readonly isBranch = false
  readonly group = undefined
  attempt: number
  outcome: partition.Outcome | undefined = undefined
  written: partition.Written | undefined = undefined
  /** The failure of a rejected update, and whether `onDeadLetter` has run. If the store refuses the update, the update is settled again. */
  failure: Failure | undefined = undefined
  isPrepared = false
  /** Why the store refused the acknowledgement: the error of a statement. The delivery is not settled then. */
  refusal: Refusal | undefined = undefined
  /** How often in succession the attempt began again because its commit conflicted. */
  conflicts = 0
  /** Whether a group with the update conflicted. Two updates of the group may have changed the same value. */
  hasConflictedInGroup = false
  /** The time of the emission in Unix milliseconds. Negative before that. */
  emittedAt = -1
  /** Who is told when the partition is lost. The array is replaced, because most updates have one watcher or none. */
  #watchers: ReadonlyArray<() => void> = none
  #answers: AnswerLog | undefined
  #journal: Journal | undefined
  #current: Attempt | undefined
  #isOver = false

  constructor(origin: Consumer, claimed: Claimed) {
    super()
    this.origin = origin
    this.claimed = claimed
    this.attempt = claimed.entry.attempts + 1
    const { decoded } = claimed.entry.update
    this.value = (Result.isSuccess(decoded) ? decoded.success : undefined)!
    this.handling = origin.handlingOf(claimed, this.value)
  }

  get entry(): ClaimedUpdate {
    return this.claimed.entry
  }

  get answers(): AnswerLog {
    const { attempts, journal = none } = this.entry
    // An attempt that was released, because of a stop or a newer program, is not counted.
    const isRedelivered = attempts > 0 || journal.length > 0
    return (this.#answers ??= { attempt: this.attempt, isRedelivered, attempts: undefined })
  }

  get journal(): Journal {
    if (this.#journal === undefined) {
      const { leased, openJournal } = this.origin
      const { journal, update } = this.entry
      this.#journal = openJournal(update, journal, (rows) => leased.record(this, rows))
      if (this.#isOver) this.#journal.close()
    }
    return this.#journal
  }

  /** Writes the entries of the journal that the store does not have. */
  get flushJournal(): Effect.Effect<void> {
    return this.#journal === undefined ? Effect.void : flush(this.#journal)
  }

  /** The failure of the inbox that the handler is waiting for to end. */
  get storeFailure(): StoreError | undefined {
    return this.#journal?.storeFailure
  }

  get inbox(): Inbox["Service"] {
    return this.origin.inbox
  }

  /** Whether no other process has handled the update since this process has claimed it. */
  knows({ journal }: ClaimedUpdate): boolean {
    return this.#journal === undefined ? wasRead(this.entry.journal, journal) : this.#journal.knows(journal)
  }

  /** The attempt that is running or comes next. */
  get current(): Attempt {
    return (this.#current ??= new Attempt(this))
  }

  /** Whether the update is never in a group, because a process died during its handling, or its group conflicted. */
  get isUngrouped(): boolean {
    return this.entry.crashes > 0 || this.hasConflictedInGroup
  }

  /** Whether another process has claimed the partition. Settling has no effect then. */
  get isLost(): boolean {
    return this.claimed.partition.isLost
  }

  /** Calls a function when the partition is lost. Branches of a delivery are handled at the same time. */
  watch(onLost: () => void): void {
    this.#watchers = this.#watchers === none ? [onLost] : [...this.#watchers, onLost]
    this.origin.kernel.watched(this.claimed)
  }

  /** Ends `watch`. */
  unwatch(onLost: () => void): void {
    const others = this.#watchers.filter((other) => other !== onLost)
    if (others.length === this.#watchers.length) return
    this.#watchers = others.length === 0 ? none : others
    const { kernel, turns } = this.origin
    kernel.unwatched(this.claimed)
    if (this.isLost) turns.turn()
  }

  start(): boolean {
    return this.origin.emitter.start(this)
  }

  interrupt(): void {
    this.origin.turns.do(() => this.#watchers.forEach((onLost) => onLost()))
  }

  settled(): void {
    const end = this.outcome!._tag
    const isWritten = end !== "again" && end !== "handBack"
    if (isWritten) addToLog(this)
    if (end === "retry") {
      this.conflicts = 0
      this.attempt++
      if (this.#answers !== undefined) this.#answers.attempt = this.attempt
    }
    if (end === "retry" || end === "again") return this.#beginAgain()
    this.#isOver = true
    this.#journal?.close()
    this.close()
    if (isWritten) this.origin.onDone(this)
  }

  refused(reason: Refused): boolean {
    this.refusal = refusalOf(this, reason)
    if (this.refusal !== undefined) {
      this.reopen()
      return true
    }
    if (reason === "conflict") {
      this.origin.metrics.conflict(this.value)
      this.conflicts++
    }
    this.hasConflictedInGroup ||=
      reason === "alone" || (reason === "conflict" && this.claimed.change?.batch !== undefined)
    this.#beginAgain()
    return false
  }

  /** The update could not be settled. */
  reopen(): void {
    this.outcome = undefined
    this.#journal?.reopen()
    this.#current?.reopen()
  }

  /** Begins an attempt, or the same attempt again, because a value that the handler has read was changed. */
  #beginAgain(): void {
    this.outcome = undefined
    this.emittedAt = -1
    this.#answers?.attempts?.forEach((_, id, attempts) => attempts.set(id, 0))
    this.#journal?.begin()
    this.close()
    this.#current = undefined
  }

  /** The recorded answers of the attempt, and the values that the attempt has read. */
  get evidence(): Evidence {
    const values = this.#current?.changes.states?.rows ?? none
    const { entry, value } = this
    // A timer without its row was cancelled.
    const timer = value.update_type === "colloquy_timer" ? [{ key: rowKey(value), text: entry.update.text }] : none
    // An update whose process died again and again was not handled by this process.
    const journal = this.#journal?.rows ?? entry.journal?.map(({ key, text }) => ({ key, text })) ?? none
    return { journal, values: [...timer, ...values] }
  }

  /** Ends the attempt. Returns the rows and statements of the handler. Later changes are written at once. */
  close(): partition.Written | undefined {
    return this.#current?.close()
  }

  take(outcome: partition.Outcome): ReadonlyArray<Queued> {
    if (this.outcome !== undefined || this.claimed.state !== "open") return none
    this.outcome = outcome
    this.refusal = undefined
    if (outcome._tag === "ack") this.#journal?.end()
    return this.updates
  }
}
