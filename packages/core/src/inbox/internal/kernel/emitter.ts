import type * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type * as Pull from "effect/Pull"
import { isArrayNonEmpty } from "effect/Array"
import type { StoreError } from "../../../base/StoreError.ts"
import * as Outage from "../../../client/Outage.ts"
import { withMalformedWarning } from "../../../model/internal/updateParts.ts"
import type { Update } from "../../../model/Update.ts"
import type { ClaimedUpdate } from "../../InboxStore.ts"
import { hooks } from "../hooks.ts"
import { annotationsOf } from "../consumer/annotations.ts"
import type { DeadLetters } from "../consumer/deadLetters.ts"
import type { HandlerMetrics } from "../consumer/metrics.ts"
import { persist } from "../consumer/persist.ts"
import type { Outcome, Restore } from "../consumer/settlement.ts"
import { refusalOf } from "../consumer/statements.ts"
import { makeWaiter } from "../consumer/waiter.ts"
import { wasRead } from "../journal/journal.ts"
import { toEntry } from "../log/entry.ts"
import { writeIncidents } from "../log/incident.ts"
import { type Held, Queued, type Source } from "./delivery.ts"
import { Pending } from "./interpreter.ts"
import type { Kernel } from "./kernel.ts"
import type { Run, Turns } from "./turns.ts"
import type { Refused, Settlement } from "./write.ts"
import type * as partition from "./partition.ts"

/** The reason why a bot has to end is no defect of the program. */
const withOutage = <E>(cause: Cause.Cause<E>): Cause.Cause<E> => {
  const error = Outage.errorIn(cause)
  return error === undefined ? cause : (Cause.fail(error) as Cause.Cause<unknown> as Cause.Cause<E>)
}

/** Whether the attempt does not count, and begins again. */
const isSameAttempt = (outcome: Outcome): outcome is Outcome & { readonly _tag: "retry" } =>
  outcome._tag === "retry" && outcome.isSameAttempt === true

const acknowledged: partition.Outcome = { _tag: "ack" }

export interface Options {
  readonly clock: Clock.Clock
  readonly dead: DeadLetters
  readonly kernel: () => Kernel<Queued>
  readonly metrics: HandlerMetrics
  readonly run: Run
  readonly source: () => Source
  readonly turns: Turns
}

const outcomeOf = (queued: Queued, { clock, dead }: Pick<Options, "clock" | "dead">): partition.Outcome | undefined => {
  const { outcome } = queued
  if (outcome?._tag === "reject") {
    return { _tag: "reject", failure: dead.failureOf(queued, outcome.cause), written: queued.writtenOnReject(clock) }
  }
  if (outcome?._tag === "retry") return outcome
  const written = queued.written(clock)
  const batch = outcome?._tag === "ack" ? outcome.batch : undefined
  return written === undefined && batch === undefined ? acknowledged : { _tag: "ack", written, batch }
}

/** Adds an attempt that has ended to the log of handled updates. */
const addToLog = (
  queued: Queued,
  outcome: Outcome | undefined,
  { clock, dead }: Pick<Options, "clock" | "dead">
): void => {
  const { log } = queued.inbox[hooks]
  if (log.size === 0) return
  const ended = { now: clock.currentTimeMillisUnsafe(), hasTexts: log.hasTexts }
  if (outcome?._tag === "reject") {
    const { error } = dead.failureOf(queued, outcome.cause)
    log.add(toEntry(queued, { ...ended, outcome: "dead", error }))
  } else if (outcome?._tag === "ack") {
    log.add(toEntry(queued, { ...ended, outcome: queued.record.isDeclined ? "unhandled" : "handled" }))
  } else log.add(toEntry(queued, { ...ended, outcome: "failed" }))
}

/** Emits the updates of a kernel as deliveries, and tells the kernel how they are settled. */
export class Emitter<E> {
  readonly #options: Options
  #ended: Exit.Exit<void, E> | undefined
  /** Fibers of updates that become dead letters without being emitted. */
  readonly #background = new Set<Fiber.Fiber<unknown, unknown>>()
  /** Updates that were acknowledged in this turn. */
  #handled: Array<Update> = []
  readonly #said = new Set<string>()
  readonly #waiter = makeWaiter(() => this.#ended !== undefined || this.#kernel.held.ready.length > 0)

  constructor(options: Options) {
    this.#options = options
  }

  get #kernel(): Kernel<Queued> {
    return this.#options.kernel()
  }

  // Commands of the kernel.

  make(held: Held): Queued {
    return new Queued(this.#options.source(), held)
  }

  knows(known: ClaimedUpdate, delivery: Queued | undefined, stored: ClaimedUpdate): boolean {
    return delivery === undefined ? wasRead(known.journal, stored.journal) : delivery.knows(stored)
  }

  start({ delivery }: Held): boolean {
    const { dead, run, turns } = this.#options
    if (!dead.isUnusable(delivery)) {
      const warning = delivery.attempt > 1 ? Effect.void : withMalformedWarning(delivery.value, Effect.void)
      if (warning !== Effect.void) run(Effect.annotateLogs(warning, annotationsOf(delivery.value)))
      return true
    }
    turns.do(() => {
      const fiber = run(persist(delivery.reject(Cause.die("The update is not handled."))))
      this.#background.add(fiber)
      fiber.addObserver(() => this.#background.delete(fiber))
    })
    return false
  }

  interrupt({ delivery }: Held): void {
    this.#options.turns.do(() => delivery.interrupt())
  }

  settled({ delivery }: Held, end: "done" | "next" | "refused"): void {
    const { outcome, value } = delivery
    const { clock, dead, run } = this.#options
    if (end === "refused") return delivery.reopen()
    addToLog(delivery, outcome, { clock, dead })
    if (end === "next") return delivery.beginNext()
    delivery.end()
    if (outcome?._tag === "ack") this.#handled.push(value)
    else if (outcome?._tag === "reject") run(dead.announce(delivery, outcome.cause))
  }

  refused({ change, delivery }: Held, reason: Refused): boolean {
    delivery.refusal = refusalOf({ change, conflicts: delivery.conflicts }, reason === "alone" ? "again" : reason)
    if (delivery.refusal !== undefined) {
      delivery.reopen()
      return true
    }
    if (reason === "conflict") {
      this.#options.metrics.conflict(delivery.value)
      delivery.conflicts++
    }
    if (reason === "alone" || (reason === "conflict" && change?.batch !== undefined)) delivery.isAlone = true
    delivery.beginAgain()
    return false
  }

  resolve(settlement: Settlement<Queued>, error: unknown): void {
    const exit = error === undefined ? Exit.void : Exit.fail(error as StoreError)
    this.#options.turns.do(() => (settlement as Pending).end(exit))
  }

  /** Lets the stream go on after a turn. */
  wake(): void {
    if (this.#handled.length > 0) {
      const handled = this.#handled
      this.#handled = []
      this.#options.metrics.handled(handled)
    }
    this.#waiter.wake()
  }

  // The stream.

  /** Ends the stream of deliveries. `wake` lets the stream go on. */
  end(exit: Exit.Exit<void, E>): void {
    this.#ended ??= Exit.isFailure(exit) ? Exit.failCause(withOutage(exit.cause)) : exit
  }

  readonly pull: Pull.Pull<Arr.NonEmptyReadonlyArray<Queued>, E> = Effect.suspend(() => {
    const { clock, turns } = this.#options
    const emitted = this.#kernel.pulled().map(({ delivery }) => delivery)
    const ended = this.#ended
    if (isArrayNonEmpty(emitted)) {
      const now = clock.currentTimeMillisUnsafe()
      for (const queued of emitted) queued.emittedAt = now
      if (this.#kernel.held.available > 0) turns.turn()
      return Effect.succeed(emitted)
    }
    if (ended !== undefined) return Exit.isFailure(ended) ? Effect.failCause(ended.cause) : Cause.done()
    return Effect.andThen(this.#waiter.until, this.pull)
  })

  interruptBackground(): void {
    for (const fiber of this.#background) fiber.interruptUnsafe()
  }

  // Settlements.

  settle(settled: ReadonlyArray<Queued>, restore: Restore): Effect.Effect<void, StoreError> {
    if (settled.every(({ outcome }) => outcome?._tag === "ack")) return this.#write(settled, restore)
    // Nothing is written for an attempt that begins again because of the store.
    const prepared = settled.filter(({ outcome }) => outcome !== undefined && !isSameAttempt(outcome))
    // An update that is not acknowledged keeps its journal, which can be written as long as the update is handled.
    const journaled = Effect.forEach(prepared, ({ flushJournal }) => flushJournal, { discard: true })
    const onInterrupt = Effect.sync(() => {
      for (const queued of settled) queued.outcome = undefined
    })
    const { clock, dead } = this.#options
    const ready = Effect.andThen(Effect.andThen(journaled, dead.prepare(prepared)), writeIncidents(prepared, clock))
    return Effect.andThen(
      Effect.onInterrupt(restore(ready), () => onInterrupt),
      Effect.suspend(() => this.#write(this.#leave(settled), restore))
    )
  }

  /** Begins attempts again, and leaves updates to newer programs. Returns the other updates. */
  #leave(settled: ReadonlyArray<Queued>): ReadonlyArray<Queued> {
    const kernel = this.#kernel
    return settled.filter((queued) => {
      const { held, outcome } = queued
      if (outcome?._tag === "handBack") {
        this.#say(outcome.newer)
        queued.end()
        this.#options.turns.event(() => kernel.handBack(held))
      } else if (outcome !== undefined && isSameAttempt(outcome)) {
        queued.beginAgain()
        this.#options.turns.event(() => kernel.again(held, outcome.after))
      } else return true
      return false
    })
  }

  /** Logs once that a newer program wrote data. */
  #say(newer: string): void {
    if (this.#said.has(newer)) return
    this.#said.add(newer)
    const text = `${newer} Updates that need it wait for a process with the newer program. Start one, if none runs.`
    this.#options.run(Effect.logWarning(text))
  }

  /** Lets the kernel write outcomes. If the caller is interrupted, they are written nevertheless. */
  #write(settled: ReadonlyArray<Queued>, restore: Restore): Effect.Effect<void, StoreError> {
    const { turns } = this.#options
    const updates = settled.map((queued) => {
      if (queued.held.state === "open") queued.held.outcome = outcomeOf(queued, this.#options)
      return queued.held
    })
    if (updates.length === 0) return Effect.void
    const pending = new Pending(updates)
    this.#kernel.commits.settle(pending)
    // In memory, a write costs less than to wait for others (benchmark `pipeline`).
    const [first] = updates
    const isAlone = updates.length === 1 && first?.outcome?._tag === "ack" && first.outcome.batch === undefined
    if (isAlone && this.#kernel.held.options.isShared) turns.soon()
    else turns.turn()
    if (pending.exit !== undefined) return pending.exit
    return restore(
      Effect.callback((resume) => {
        if (pending.exit !== undefined) return resume(pending.exit)
        pending.resume = resume
      })
    )
  }
}
