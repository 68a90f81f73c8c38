import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import type * as Latch from "effect/Latch"
import * as Backoff from "../../../base/Backoff.ts"
import { defectsOf } from "../../../base/internal/watchFiber.ts"
import type { StoreError } from "../../../base/StoreError.ts"
import type { Inbox } from "../../Inbox.ts"
import { hooks } from "../hooks.ts"
import type { Claim, CommitResult } from "../../InboxStore.ts"
import { isTemporary } from "../consumer/persist.ts"
import type { Queued } from "./delivery.ts"
import type { Commands, UnknownLease } from "./held.ts"
import type { Kernel } from "./kernel.ts"
import type { Run, Turns } from "./turns.ts"
import { Settlement, type Write } from "./write.ts"

/** Deliveries that an effect settles. */
export class Pending extends Settlement<Queued> {
  exit: Exit.Exit<void, StoreError> | undefined = undefined
  resume: ((exit: Exit.Exit<void, StoreError>) => void) | undefined = undefined

  end(exit: Exit.Exit<void, StoreError>): void {
    this.exit = exit
    this.resume?.(exit)
  }
}

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

export interface Options {
  readonly inbox: Inbox["Service"]
  readonly kernel: () => Kernel<Queued>
  readonly turns: Turns
  readonly run: Run
  readonly wakeUp: Latch.Latch
  readonly onClaimed: () => void
  /** Called if the store dies in a write of deliveries that an effect settles. */
  readonly onCommitDied: (settlements: ReadonlyArray<Pending>, defects: Cause.Cause<never>) => void
}

type StoreCommands = Pick<Commands<Queued>, "ask" | "claim" | "commit" | "count" | "release" | "releaseAll" | "renew">

/** Carries out the operations of the store that a kernel commands, and reports each result as an event. */
export class Interpreter implements StoreCommands {
  readonly #options: Options
  /** The claim that is to be sent, and what lets the fiber go on that waits for a claim. */
  #request: Claim | undefined
  #resume: (() => void) | undefined
  #isRenewalFailing = false

  constructor(options: Options) {
    this.#options = options
  }

  get #kernel(): Kernel<Queued> {
    return this.#options.kernel()
  }

  /** Runs an operation of the store, and tells the kernel how the operation has ended. A defect ends the bot. */
  #ask<A, E>(operation: Effect.Effect<A, E>, then: (exit: Exit.Exit<A, E>) => void): void {
    const { run, turns } = this.#options
    const onExit = (exit: Exit.Exit<A, E>): void => {
      if (defectsOf(exit) === undefined) turns.event(() => then(exit))
    }
    turns.do(() => {
      const fiber = run(operation)
      const exit = fiber.pollUnsafe()
      if (exit === undefined) fiber.addObserver(onExit)
      else onExit(exit)
    })
  }

  #warn(count: number, warning: (count: number) => Effect.Effect<void>): void {
    if (count > 0) this.#options.run(warning(count))
  }

  claim(request: Claim): void {
    this.#options.turns.do(() => {
      // Later events are for the next claim.
      this.#options.wakeUp.closeUnsafe()
      this.#request = request
      this.#resume?.()
    })
  }

  /** Waits until the kernel decides to claim. */
  readonly #next = Effect.callback<Claim>((resume) => {
    this.#resume = () => {
      const request = this.#request
      if (request === undefined) return
      this.#request = this.#resume = undefined
      resume(Effect.succeed(request))
    }
    this.#resume()
    if (this.#resume !== undefined) this.#options.turns.event(() => this.#kernel.claiming.again())
  })

  /** Claims whenever the kernel decides to claim, and pauses while the store is unavailable. */
  get claiming(): Effect.Effect<never> {
    const { inbox, onClaimed, turns } = this.#options
    const claimed = Effect.flatMap(this.#next, (request) =>
      Effect.matchEffect(inbox[hooks].claim(request), {
        onFailure: (error) => {
          turns.event(() => this.#warn(this.#kernel.claiming.failed(), warnOfLoss))
          return Effect.fail(error)
        },
        onSuccess: (partitions) =>
          Effect.sync(() => {
            if (partitions.length > 0) onClaimed()
            turns.event(() => this.#warn(this.#kernel.claiming.claimed(partitions), warnOfLoss))
          })
      })
    )
    return Effect.forever(Effect.orDie(inbox[hooks].outage.retryOrDie(claimed, isTemporary)), { disableYield: true })
  }

  commit(write: Write<Queued>): void {
    const { inbox } = this.#options
    const attempt = Effect.suspend(() => {
      const changes = this.#kernel.results.attempt(write)
      return changes.length === 0 ? Effect.succeed([]) : inbox.store.commit(changes)
    })
    this.#write(write, attempt, (error, cause) => {
      if (!this.#isRetried(error)) return this.#kernel.results.refused(write, error)
      this.#kernel.results.failed(write)
      const again = Effect.tapError(attempt, () => Effect.sync(() => this.#kernel.results.failed(write)))
      // A write that fails after the stream was closed is repeated by its caller, or not at all.
      const retried = inbox[hooks].outage.retryOrDie(Backoff.failedOnce(again, cause), (error) =>
        this.#isRetried(error)
      )
      this.#write(write, retried, (error) => this.#kernel.results.refused(write, error))
    })
  }

  #isRetried(error: StoreError): boolean {
    const { phase } = this.#kernel.held
    return isTemporary(error) && (phase === "running" || phase === "stopping")
  }

  #write(
    write: Write<Queued>,
    effect: Effect.Effect<ReadonlyArray<CommitResult>, StoreError>,
    onFailure: (error: StoreError, cause: Cause.Cause<StoreError>) => void
  ): void {
    const { inbox, onCommitDied } = this.#options
    const { settlements } = write
    const ending = Effect.onExitPrimitive(effect, (exit) => {
      const defects = defectsOf(exit)
      if (defects !== undefined) onCommitDied(settlements as ReadonlyArray<Pending>, defects)
      return undefined
    }) as typeof effect
    this.#ask(ending, (exit) => {
      if (Exit.isSuccess(exit)) {
        this.#warn(this.#kernel.results.committed(write, exit.value), warnOfLoss)
        if (write.changes.some(({ rows }) => rows?.some(({ row }) => row?.due !== undefined) === true))
          inbox[hooks].onTimers()
      } else
        for (const reason of exit.cause.reasons) if (Cause.isFailReason(reason)) onFailure(reason.error, exit.cause)
    })
  }

  renew(owners: ReadonlyArray<string>): void {
    const { inbox, run } = this.#options
    const { leaseMillis } = this.#kernel.held.options
    const renewed = Effect.forEach(
      owners,
      (owner) =>
        Effect.map(inbox.store.renew(owner, leaseMillis), (keys) =>
          this.#warn(this.#kernel.leases.renewed(owner, keys), warnOfLoss)
        ),
      { discard: true }
    )
    this.#ask(Effect.result(renewed), (exit) => {
      const failure = Exit.isSuccess(exit) && Result.isFailure(exit.value) ? exit.value.failure : undefined
      if (failure !== undefined && !this.#isRenewalFailing) {
        run(Effect.logWarning(`The leases of the inbox were not renewed. ${failure.message}`))
      }
      this.#isRenewalFailing = failure !== undefined
      this.#kernel.leases.renewalEnded(failure !== undefined)
    })
  }

  release(leases: ReadonlyArray<UnknownLease>): void {
    const { inbox } = this.#options
    const commits = leases.map((lease) => ({ ...lease, completed: [], failed: [], begun: [], release: true }))
    this.#ask(inbox.store.commit(commits), (exit) => {
      this.#kernel.leases.owners.released()
      // The next renewal finds them again. Leases of a name that is not used any more expire.
      if (Exit.isFailure(exit)) return
      // Others were released after the renewal had returned them.
      const released = exit.value.filter((result) => result === "applied").length
      if (released > 0) inbox[hooks].wakeAll()
      this.#warn(released, warnOfUnknown)
    })
  }

  ask(isPoll: boolean): void {
    // The next claim reports that the store is unavailable.
    const unknown = isPoll ? 0 : undefined
    this.#ask(this.#options.inbox.store.untilNext, (exit) =>
      this.#kernel.claiming.answered(Exit.isSuccess(exit) ? exit.value : unknown)
    )
  }

  count(): void {
    const { stats } = this.#options.inbox
    this.#ask(stats, (exit) => this.#kernel.claiming.counted(Exit.isSuccess(exit) ? exit.value.queued : undefined))
  }

  releaseAll(owners: ReadonlyArray<string>): void {
    const { store } = this.#options.inbox
    this.#ask(
      Effect.forEach(owners, (owner) => store.renew(owner, 0), { discard: true, concurrency: "unbounded" }),
      () => this.#kernel.closing.closed()
    )
  }
}
