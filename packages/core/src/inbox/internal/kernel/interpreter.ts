import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import { hooks } from "../hooks.ts"
import type { Claim, ClaimedUpdate } from "../../InboxStore.ts"
import { isTemporary } from "../consumer/persist.ts"
import { makeWaiter } from "../consumer/waiter.ts"
import { wasRead } from "../journal/journal.ts"
import type { Consumer } from "./consumer.ts"
import { type Claimed, Queued } from "./delivery.ts"
import type { Commands, UnknownLease } from "./state.ts"
import type { Write } from "./write.ts"

/** How many chats a warning names. */
const maxNamed = 20

const warnOfLoss = (count: number): Effect.Effect<void> =>
  Effect.logWarning(
    `${count} partitions were lost, because their leases expired and another process claimed them. It handles their ` +
      "updates again. Running handlers of these partitions are interrupted."
  )

const warnOfUnknown = (count: number): Effect.Effect<void> =>
  Effect.logWarning(
    `The store had ${count} partitions under the name of this process that the process does not handle: the answer to a claim ` +
      "was lost, or the store has lost writes. They were released, and their updates can be claimed."
  )

const warnOfWaiting = (keys: ReadonlyArray<string>): Effect.Effect<void> => {
  const others = keys.length > maxNamed ? ` and ${keys.length - maxNamed} others` : ""
  return Effect.logWarning(
    `The updates of these chats stay in the inbox, because they need a newer program: ` +
      `${keys.slice(0, maxNamed).join(", ")}${others}.`
  )
}

/** Carries out the commands of a kernel, and reports each result of the store as an event. */
export class Interpreter implements Commands<Queued> {
  readonly #consumer: Consumer
  /** The claim that is to be sent. */
  #request: Claim | undefined
  readonly #requested = makeWaiter(() => this.#request !== undefined)
  #isRenewalFailing = false

  constructor(consumer: Consumer) {
    this.#consumer = consumer
  }

  /** Runs an operation of the store, and tells the kernel how the operation has ended. A defect ends the bot. */
  #ask<A, E>(
    operation: Effect.Effect<A, E>,
    then: (result: Result.Result<A, E>) => void,
    onDied?: (cause: Cause.Cause<never>) => void
  ): void {
    const { run, turns } = this.#consumer
    turns.do(() =>
      run(Effect.result(operation)).addObserver((exit) => {
        if (Exit.isSuccess(exit)) turns.event(() => then(exit.value))
        else onDied?.(exit.cause)
      })
    )
  }

  make(claimed: Claimed): Queued {
    return new Queued(this.#consumer, claimed)
  }

  isRead(known: ClaimedUpdate, stored: ClaimedUpdate): boolean {
    return wasRead(known.journal, stored.journal)
  }

  claim(request: Claim): void {
    this.#consumer.turns.do(() => {
      this.#request = request
      this.#requested.wake()
    })
  }

  /** Claims whenever the kernel decides to claim, and pauses while the store is unavailable. */
  get claiming(): Effect.Effect<never> {
    const { inbox, kernel, monitor, turns } = this.#consumer
    const { claim, outage } = inbox[hooks]
    const next = Effect.suspend(() => {
      if (kernel.claiming.isPausing) turns.event(() => kernel.claiming.again())
      return this.#requested.until
    })
    const answer = Effect.flatMap(next, () => {
      const request = this.#request!
      this.#request = undefined
      return claim(request)
    })
    const claimed = Effect.map(
      Effect.tapError(answer, () => Effect.sync(() => turns.event(() => kernel.claiming.failed()))),
      (partitions) => {
        if (partitions.length > 0) monitor.onClaimed()
        turns.event(() => kernel.claiming.claimed(partitions))
      }
    )
    return Effect.forever(Effect.orDie(outage.retryOrDie(claimed, isTemporary)), { disableYield: true })
  }

  commit(write: Write<Queued>): void {
    const { inbox, kernel, turns } = this.#consumer
    const { results, state } = kernel
    const answer = Effect.suspend(() => {
      turns.tick()
      const changes = results.attempt(write)
      // A chat was given up.
      if (changes.length < write.changes.length) turns.turn()
      return changes.length === 0 ? Effect.succeed([]) : inbox.store.commit(changes)
    })
    const attempt = Effect.tapError(answer, () => Effect.sync(() => turns.event(() => results.failed(write))))
    // A write that fails after the stream was closed is repeated by its caller, or not at all.
    const committed = inbox[hooks].outage.retryOrDie(attempt, (error) => isTemporary(error) && state.isOpen)
    this.#ask(
      committed,
      (result) => {
        if (Result.isFailure(result)) return results.refused(write, Exit.fail(result.failure))
        results.committed(write, result.success)
        if (write.changes.some(({ rows }) => rows?.some(({ row }) => row?.due !== undefined) === true))
          inbox[hooks].onTimers()
      },
      (cause) => write.settlements.forEach(({ end }) => end(Exit.failCause(cause)))
    )
  }

  renew(owners: ReadonlyArray<string>): void {
    const { kernel, run, store } = this.#consumer
    const { leaseMillis } = kernel.state.options
    // One after the other, the renewals of several names could take longer than a lease.
    const renewed = Effect.forEach(
      owners,
      (owner) => Effect.map(store.renew(owner, leaseMillis), (keys) => [owner, keys] as const),
      { concurrency: "unbounded" }
    )
    this.#ask(renewed, (result) => {
      const isFailing = Result.isFailure(result)
      if (isFailing && !this.#isRenewalFailing)
        run(Effect.logWarning(`The leases of the inbox were not renewed. ${result.failure.message}`))
      this.#isRenewalFailing = isFailing
      kernel.leases.renewed(isFailing ? undefined : result.success)
    })
  }

  release(leases: ReadonlyArray<UnknownLease>): void {
    const { inbox, kernel, run, store } = this.#consumer
    const commits = leases.map((lease) => ({ ...lease, completed: [], failed: [], begun: [], release: true }))
    this.#ask(store.commit(commits), (results) => {
      kernel.state.owners.released()
      // The next renewal finds leases that were not released. Leases of a name that is not used any more expire.
      if (Result.isFailure(results)) return
      // Others were released after the renewal had returned them.
      const released = results.success.filter((result) => result === "applied").length
      if (released === 0) return
      inbox[hooks].wakeAll()
      run(warnOfUnknown(released))
    })
  }

  ask(): void {
    const { kernel, store } = this.#consumer
    // The claim that follows a failure reports that the store is unavailable.
    this.#ask(store.untilNext, (result) => kernel.claiming.answered(Result.isSuccess(result) ? result.success : 0))
  }

  count(): void {
    const { inbox, kernel } = this.#consumer
    this.#ask(inbox.stats, (result) =>
      kernel.claiming.counted(Result.isSuccess(result) ? result.success.queued : undefined)
    )
  }

  releaseAll(owners: ReadonlyArray<string>): void {
    const { kernel, store } = this.#consumer
    const ended = Effect.forEach(owners, (owner) => store.renew(owner, 0), { discard: true, concurrency: "unbounded" })
    this.#ask(ended, () => kernel.closing.closed())
  }

  announce(): void {
    const { inbox, turns } = this.#consumer
    turns.do(inbox[hooks].wakeAll)
  }

  lost(count: number): void {
    const { run, turns } = this.#consumer
    turns.do(() => run(warnOfLoss(count)))
  }

  end(waiting: ReadonlyArray<string>): void {
    const { run, turns } = this.#consumer
    turns.do(() => {
      if (waiting.length > 0) run(warnOfWaiting(waiting))
      this.#consumer.onEnd(waiting)
    })
  }
}
