import type { Claiming } from "./claiming.ts"
import type { Commits } from "./commits.ts"
import type { Held } from "./held.ts"
import type { Leases } from "./leases.ts"
import type { Results } from "./results.ts"
import type { Selection } from "./selection.ts"

/** A stream that is closed waits for the handlers of its updates for at most this time. */
const closeTimeout = 10_000

/** The time limit of the writes that end the leases of a consumer. */
const finishTimeout = 5000

interface Parts<D> {
  readonly held: Held<D>
  readonly selection: Selection<D>
  readonly commits: Commits<D>
  readonly results: Results<D>
  readonly leases: Leases<D>
  readonly claiming: Claiming<D>
}

/** How a process stops, and gives back what it holds. */
export class Closing<D> {
  readonly #parts: Parts<D>
  #isClosing = false
  /** When handlers, or later the writes that end the leases, are not waited for any longer. */
  wakeAt = Infinity

  constructor(parts: Parts<D>) {
    this.#parts = parts
  }

  /** No update begins any more. Updates that are open are waited for. */
  stop(): void {
    const { commits, held, selection } = this.#parts
    if (held.isStopping) return
    held.phase = "stopping"
    selection.clear()
    for (const partition of held.byKey.values()) {
      for (const update of partition.begun.slice()) {
        const { state } = update
        if (state === "ready" || state === "waiting" || state === "delayed") held.drop(update)
      }
      commits.resume(partition)
    }
    held.delayedUntil = Infinity
  }

  /** A defect: leases may not be renewed any more, so everything is lost. */
  fail(): void {
    const { held, selection } = this.#parts
    if (!held.isStopping) held.phase = "stopping"
    selection.clear()
    for (const partition of Array.from(held.byKey.values())) held.lose(partition)
  }

  /** The stream closes. */
  close(): void {
    const { held } = this.#parts
    this.#isClosing = true
    let isHandled = false
    for (const { handlers } of held.byKey.values()) isHandled ||= handlers > 0
    if (isHandled) this.stop()
    this.wakeAt = isHandled ? held.mono + closeTimeout : -Infinity
  }

  advance(): void {
    if (!this.#isClosing) return
    const { claiming, commits, held, leases, results, selection } = this.#parts
    const { commands, mono } = held
    if (held.phase === "running" || held.phase === "stopping") {
      if (mono < this.wakeAt && held.unsettled > held.reported) return
      held.phase = "closing"
      selection.clear()
      this.wakeAt = mono + finishTimeout
      for (const { begun } of held.byKey.values()) {
        for (const update of begun) if (update.isEmitted) commands.interrupt(update)
      }
      commits.giveBack()
    }
    // A commit that follows the release would not be applied. A claim that is under way leaves no lease.
    if (held.phase === "closing" && results.sent === 0 && commits.unsent === 0 && !claiming.isClaiming) {
      held.phase = "releasing"
      commands.releaseAll(Array.from(leases.owners.all))
    }
    if (mono >= this.wakeAt) this.closed()
  }

  /** All leases have ended, or are left to expire. */
  closed(): void {
    this.#parts.held.phase = "closed"
    this.wakeAt = Infinity
  }
}
