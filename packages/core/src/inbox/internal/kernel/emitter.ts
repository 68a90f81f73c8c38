import type * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Pull from "effect/Pull"
import { isArrayNonEmpty } from "effect/Array"
import type { StoreError } from "../../../base/StoreError.ts"
import * as Outage from "../../../client/Outage.ts"
import { withMalformedWarning } from "../../../model/internal/updateParts.ts"
import type { RowWrite } from "../../InboxStore.ts"
import { hooks } from "../hooks.ts"
import { annotationsOf } from "../consumer/annotations.ts"
import type { Restore } from "../consumer/settlement.ts"
import { makeWaiter } from "../consumer/waiter.ts"
import { writeIncidents } from "../log/incident.ts"
import { ending, rejectedKey } from "../timers/recurrence.ts"
import type { Consumer } from "./consumer.ts"
import type { Queued } from "./delivery.ts"
import type { Written } from "./partition.ts"

/** The reason why a bot has to end is no defect of the program. */
const withOutage = <E>(cause: Cause.Cause<E>): Cause.Cause<E> => {
  const error = Outage.errorIn(cause)
  return error === undefined ? cause : (Cause.fail(error) as Cause.Cause<unknown> as Cause.Cause<E>)
}

/** The row that ends an occurrence of a timer. */
const endingOf = ({ entry, inbox, origin, value }: Queued): RowWrite | undefined =>
  value?.update_type === "colloquy_timer"
    ? ending(value, entry.update, inbox[hooks].nextRevision(), origin.clock.currentTimeMillisUnsafe())
    : undefined

/** The rows and statements of the handler, and the next occurrence of a timer. */
const writtenOnAck = (queued: Queued): Written | undefined => {
  const written = queued.close()
  const ending = endingOf(queued)
  const { rows = [] } = written ?? {}
  if (ending === undefined || rows.some(({ key }) => key === ending.key)) return written
  return { ...written, rows: [ending, ...rows] }
}

/** The rows to write when an update becomes a dead letter: a recurring timer continues. */
const writtenOnReject = (queued: Queued): Written | undefined => {
  const ending = endingOf(queued)
  if (ending === undefined) return undefined
  const { deadLetterRetention, nextRevision } = queued.inbox[hooks]
  const expiresAt = queued.origin.clock.currentTimeMillisUnsafe() + deadLetterRetention
  const key = rejectedKey(queued.entry.update.fingerprint)
  return { rows: [ending, { key, row: { text: "", expiresAt }, revision: nextRevision() }] }
}

const writtenOf = (queued: Queued): Written | undefined => {
  if (queued.outcome?._tag === "ack") return writtenOnAck(queued)
  return queued.outcome?._tag === "reject" ? writtenOnReject(queued) : undefined
}

/** Emits the updates of a kernel as deliveries, and tells the kernel how they are settled. */
export class Emitter {
  readonly #consumer: Consumer
  #ended: Exit.Exit<void, unknown> | undefined
  readonly #said = new Set<string>()
  readonly #waiter = makeWaiter(() => this.#ended !== undefined || this.#consumer.kernel.state.ready.length > 0)

  constructor(consumer: Consumer) {
    this.#consumer = consumer
  }

  /** Emits an update. Returns `false` if the update becomes a dead letter without being handled. */
  start(queued: Queued): boolean {
    const { dead, run, turns } = this.#consumer
    if (dead.isUnusable(queued)) {
      const rejected = queued.reject(Cause.die("The update is not handled."))
      turns.do(() => this.#consumer.inBackground(rejected))
      return false
    }
    const warning = queued.attempt > 1 ? Effect.void : withMalformedWarning(queued.value, Effect.void)
    if (warning !== Effect.void) run(Effect.annotateLogs(warning, annotationsOf(queued.value)))
    return true
  }

  /** Ends the stream of deliveries. `wake` lets the stream go on. */
  end(exit: Exit.Exit<void, unknown>): void {
    this.#ended ??= Exit.isFailure(exit) ? Exit.failCause(withOutage(exit.cause)) : exit
  }

  wake(): void {
    this.#waiter.wake()
  }

  readonly pull: Pull.Pull<Arr.NonEmptyReadonlyArray<Queued>, unknown> = Effect.suspend(() => {
    const { clock, kernel, turns } = this.#consumer
    const emitted = kernel.pulled().map(({ delivery }) => delivery)
    const ended = this.#ended
    if (isArrayNonEmpty(emitted)) {
      const now = clock.currentTimeMillisUnsafe()
      for (const queued of emitted) queued.emittedAt = now
      if (kernel.state.available > 0) turns.turn()
      return Effect.succeed(emitted)
    }
    if (ended !== undefined) return Exit.isFailure(ended) ? Effect.failCause(ended.cause) : Cause.done()
    return Effect.andThen(this.#waiter.until, this.pull)
  })

  /**
   * Settles updates that have an outcome, in one write. If the caller is interrupted, they are settled nevertheless, or have no
   * outcome any more.
   */
  settle(settled: ReadonlyArray<Queued>, restore: Restore): Effect.Effect<void, StoreError> {
    for (const { outcome } of settled) if (outcome?._tag === "handBack") this.#say(outcome.newer)
    // An update that is not acknowledged keeps its journal, which can be written as long as the update is handled. Nothing is
    // written for an attempt that begins again because of the store.
    const kept = settled.filter(({ outcome }) => outcome?._tag !== "ack" && outcome?._tag !== "again")
    if (kept.length === 0) return this.#write(settled, restore)
    const journaled = Effect.forEach(kept, ({ flushJournal }) => flushJournal, { discard: true })
    const onInterrupt = Effect.sync(() => {
      for (const queued of settled) queued.outcome = undefined
    })
    const { clock, dead } = this.#consumer
    const ready = Effect.andThen(Effect.andThen(journaled, dead.prepare(kept)), writeIncidents(kept, clock))
    return Effect.andThen(
      Effect.onInterrupt(restore(ready), () => onInterrupt),
      Effect.suspend(() => this.#write(settled, restore))
    )
  }

  /** Logs once that a newer program wrote data. */
  #say(newer: string): void {
    if (this.#said.has(newer)) return
    this.#said.add(newer)
    const text = `${newer} Updates that need it wait for a process with the newer program. Start one, if none runs.`
    this.#consumer.run(Effect.logWarning(text))
  }

  /** Lets the kernel write outcomes. If the caller is interrupted, they are written nevertheless. */
  #write(settled: ReadonlyArray<Queued>, restore: Restore): Effect.Effect<void, StoreError> {
    const { kernel, turns } = this.#consumer
    const done = Deferred.makeUnsafe<void, StoreError>()
    const updates = settled.map((queued) => {
      if (queued.claimed.state === "open") queued.written = writtenOf(queued)
      return queued.claimed
    })
    kernel.commits.settle({
      updates,
      end: (reason = Exit.void) => turns.do(() => Deferred.doneUnsafe(done, reason as Exit.Exit<void, StoreError>))
    })
    // In memory, a write costs less than to wait for others (benchmark `pipeline`).
    const outcome = settled.length === 1 ? settled[0]!.outcome : undefined
    const isOnly = outcome?._tag === "ack" && outcome.batch === undefined
    if (isOnly && kernel.state.options.isShared) turns.soon()
    else turns.turn()
    return done.effect ?? restore(Deferred.await(done))
  }
}
