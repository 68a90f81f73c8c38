import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { StoreError } from "../../../base/StoreError.ts"
import type { AnswerLog } from "../../../client/internal/callContext.ts"
import { chatOf, type Update } from "../../../model/Update.ts"
import type { Inbox } from "../../Inbox.ts"
import { hooks } from "../hooks.ts"
import type { ClaimedUpdate } from "../../InboxStore.ts"
import { Attempt } from "../consumer/attempt.ts"
import type { Written } from "../consumer/changes.ts"
import type { Handling } from "../consumer/handling.ts"
import { type Origin, type Outcome, type Refusal, Settleable, type UpdateDelivery } from "../consumer/settlement.ts"
import { AttemptRecord } from "../log/attemptRecord.ts"
import type { Evidence } from "../log/incident.ts"
import { type Journal, wasRead } from "../journal/journal.ts"
import { flush } from "../journal/writeSoon.ts"
import { rowKey } from "../timers/change.ts"
import { ending, rejectedKey } from "../timers/recurrence.ts"
import type * as partition from "./partition.ts"

/** A claimed update in the kernel. */
export type Held = partition.Update<Queued>

/** The consumer that emits deliveries. */
export interface Source extends Origin {
  readonly inbox: Inbox["Service"]
  readonly openJournal: (queued: Queued) => Journal
  readonly handlingOf: (held: Held, update: Update | undefined) => Handling
  readonly isValid: (held: Held) => boolean
  /** An effect begins or ends to handle the update. */
  readonly watched: (held: Held) => void
  readonly unwatched: (held: Held) => void
}

const none: ReadonlyArray<never> = []

/** A claimed update as a delivery: what effects see of the update. */
export class Queued extends Settleable<Update> implements UpdateDelivery {
  readonly origin: Source
  readonly held: Held
  /** The update. The value is missing only if the update cannot be decoded. Such a delivery is not emitted. */
  readonly value: Update
  readonly handling: Handling
  readonly updates: ReadonlyArray<Queued> = [this]
  readonly isBranch = false
  readonly group = undefined
  attempt: number
  outcome: Outcome | undefined = undefined
  refusal: Refusal | undefined = undefined
  /** How often in succession the attempt began again because its commit conflicted. */
  conflicts = 0
  /** Whether a group with the update conflicted. Two updates of the group may have changed the same value. */
  isAlone = false
  /** The time of the emission in Unix milliseconds. Negative before that. */
  emittedAt = -1
  /** Who is told when the partition is lost. The array is replaced, because most updates have one watcher or none. */
  #watchers: ReadonlyArray<() => void> = none
  #answers: AnswerLog | undefined
  #journal: Journal | undefined
  #current: Attempt | undefined
  #record: AttemptRecord | undefined
  #isOver = false

  constructor(origin: Source, held: Held) {
    super()
    this.origin = origin
    this.held = held
    this.attempt = held.entry.attempts + 1
    const { decoded } = held.entry.update
    this.value = (Result.isSuccess(decoded) ? decoded.success : undefined)!
    this.handling = origin.handlingOf(held, this.value)
  }

  get entry(): ClaimedUpdate {
    return this.held.entry
  }

  get answers(): AnswerLog {
    const { attempts, journal = none } = this.entry
    // An attempt that was given back, because of a stop or a newer program, is not counted.
    const isRedelivered = attempts > 0 || journal.length > 0
    return (this.#answers ??= { attempt: this.attempt, isRedelivered, attempts: undefined })
  }

  get journal(): Journal {
    if (this.#journal === undefined) {
      this.#journal = this.origin.openJournal(this)
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
    return this.origin.inbox
  }

  /** Whether no other process has handled the update since this process has claimed it. */
  knows({ journal }: ClaimedUpdate): boolean {
    return this.#journal === undefined ? wasRead(this.entry.journal, journal) : this.#journal.knows(journal)
  }

  get record(): AttemptRecord {
    return (this.#record ??= new AttemptRecord())
  }

  get current(): Attempt {
    return (this.#current ??= new Attempt(this))
  }

  get isUngrouped(): boolean {
    return this.entry.crashes > 0 || this.isAlone
  }

  get isDoubtful(): boolean {
    return !this.origin.isValid(this.held)
  }

  get isLost(): boolean {
    return this.held.partition.isLost
  }

  watch(onLost: () => void): void {
    this.#watchers = this.#watchers === none ? [onLost] : [...this.#watchers, onLost]
    this.origin.watched(this.held)
  }

  unwatch(onLost: () => void): void {
    const others = this.#watchers.filter((other) => other !== onLost)
    if (others.length === this.#watchers.length) return
    this.#watchers = others.length === 0 ? none : others
    this.origin.unwatched(this.held)
  }

  /** Interrupts the effects that handle the update. */
  interrupt(): void {
    for (const onLost of this.#watchers) onLost()
  }

  /** Begins the next attempt. */
  beginNext(): void {
    this.conflicts = 0
    this.attempt++
    if (this.#answers !== undefined) this.#answers.attempt = this.attempt
    this.beginAgain()
  }

  /** Begins the same attempt again, because a value that the handler has read was changed. */
  beginAgain(): void {
    this.outcome = undefined
    this.emittedAt = -1
    this.#answers?.attempts?.forEach((_, id, attempts) => attempts.set(id, 0))
    this.#journal?.begin()
    this.#current?.close()
    this.#current = undefined
    this.#record = undefined
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

  /**
   * Returns what is written with the acknowledgement: the rows and statements of the handler, and the next occurrence of
   * a timer.
   */
  written(clock: Clock.Clock): Written | undefined {
    const written = this.#current?.close()
    const ending = this.#ending(clock)
    const { rows = none } = written ?? {}
    if (ending === undefined || rows.some(({ key }) => key === ending.key)) return written
    return { ...written, rows: [ending, ...rows] }
  }

  /** Returns the rows to write when the update becomes a dead letter: a recurring timer continues. */
  writtenOnReject(clock: Clock.Clock): Written | undefined {
    const ending = this.#ending(clock)
    if (ending === undefined) return undefined
    const { deadLetterRetention, nextRevision } = this.inbox[hooks]
    const expiresAt = clock.currentTimeMillisUnsafe() + deadLetterRetention
    const key = rejectedKey(this.entry.update.fingerprint)
    return { rows: [ending, { key, row: { text: "", expiresAt }, revision: nextRevision() }] }
  }

  #ending(clock: Clock.Clock) {
    const { entry, inbox, value } = this
    if (value?.update_type !== "colloquy_timer") return undefined
    return ending(value, entry.update, inbox[hooks].nextRevision(), clock.currentTimeMillisUnsafe())
  }

  /** The update could not be settled. */
  reopen(): void {
    this.outcome = undefined
    this.#journal?.reopen()
    this.#current?.reopen()
  }

  /** The update is not in the queue any more, or is left to another process. */
  end(): void {
    this.#isOver = true
    this.#journal?.close()
    this.#current?.close()
  }

  take(outcome: Outcome): ReadonlyArray<Queued> {
    if (this.outcome !== undefined || this.held.state !== "open") return none
    this.outcome = outcome
    this.refusal = undefined
    if (outcome._tag === "ack") this.#journal?.end()
    return this.updates
  }
}

/** The updates of a partition that have the same chat share their context. */
export const sharedHandling = (
  { partition }: Held,
  update: Update | undefined,
  make: (chat: Handling["chat_id"]) => Handling
): Handling => {
  const chat_id = update === undefined ? undefined : chatOf(update)
  const last = partition.last?.handling
  return last !== undefined && last.chat_id === chat_id ? last : make(chat_id)
}
