import type { Kernel } from "./kernel.ts"

/** A stream that is closed waits for the handlers of its updates for at most this time. */
const closeTimeout = 10_000

/** The time limit of the writes that end the leases of a consumer. */
const finishTimeout = 5000

/** How a process stops, and gives back what it holds. */
export class Closing<D> {
  readonly #kernel: Kernel<D>
  #isClosing = false
  /** When handlers, or later the writes that end the leases, are not waited for any longer. */
  wakeAt = Infinity

  constructor(kernel: Kernel<D>) {
    this.#kernel = kernel
  }

  /** No update begins any more. Updates that are open are waited for. */
  stop(): void {
    const { commits, held, selection } = this.#kernel
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
    const { held, selection } = this.#kernel
    if (!held.isStopping) held.phase = "stopping"
    selection.clear()
    for (const partition of Array.from(held.byKey.values())) held.abandon(partition)
  }

  /** The stream closes. */
  close(): void {
    const { held } = this.#kernel
    this.#isClosing = true
    const isHandled = Array.from(held.byKey.values()).some(({ handlers }) => handlers > 0)
    if (isHandled) this.stop()
    this.wakeAt = isHandled ? held.mono + closeTimeout : -Infinity
  }

  advance(): void {
    if (!this.#isClosing) return
    const { claiming, commits, held, selection } = this.#kernel
    const { commands, mono } = held
    if (held.isOpen) {
      if (mono < this.wakeAt && held.unsettled > held.reported) return
      held.phase = "closing"
      selection.clear()
      this.wakeAt = mono + finishTimeout
      for (const { begun } of held.byKey.values()) {
        for (const update of begun) if (update.isEmitted) update.delivery.interrupt()
      }
      commits.releaseRest()
    }
    // A commit that follows the release would not be applied. A claim that is under way leaves no lease.
    if (held.phase === "closing" && held.writes.size === 0 && !claiming.isClaiming) {
      held.phase = "releasing"
      commands.releaseAll(Array.from(held.owners.all))
    }
    if (mono >= this.wakeAt) this.closed()
  }

  /** All leases have ended, or are left to expire. */
  closed(): void {
    this.#kernel.held.phase = "closed"
    this.wakeAt = Infinity
  }
}
