import type { Kernel } from "./kernel.ts"

/** A stream that is closed waits for the handlers of its updates for at most this time. */
const closeTimeout = 10_000

/** The time limit of the writes that end the leases of a consumer. */
const finishTimeout = 5000

/** How a process stops, and releases its partitions. */
export class Closing<D> {
  readonly #kernel: Kernel<D>
  /** When handlers, or later the writes that end the leases, are not waited for any longer. `Infinity` if the stream does not close. */
  wakeAt = Infinity

  constructor(kernel: Kernel<D>) {
    this.#kernel = kernel
  }

  /** No update begins any more. Updates that are open are waited for. */
  stop(): void {
    const { commits, selection, state } = this.#kernel
    if (state.isStopping) return
    state.phase = "stopping"
    selection.clear()
    for (const partition of state.byKey.values()) {
      for (const update of partition.begun.slice()) {
        if (update.state === "ready" || update.state === "waiting" || update.state === "delayed") state.drop(update)
      }
      commits.resume(partition)
    }
    state.delayedUntil = Infinity
  }

  /** A defect: leases may not be renewed any more, so everything is lost. */
  fail(): void {
    const { selection, state } = this.#kernel
    if (!state.isStopping) state.phase = "stopping"
    selection.clear()
    for (const partition of Array.from(state.byKey.values())) state.abandon(partition)
  }

  /** The stream closes. */
  close(): void {
    const { state } = this.#kernel
    const isHandled = Array.from(state.byKey.values()).some(({ handlers }) => handlers > 0)
    if (isHandled) this.stop()
    this.wakeAt = isHandled ? state.mono + closeTimeout : -Infinity
  }

  advance(): void {
    if (this.wakeAt === Infinity) return
    const { commits, selection, state } = this.#kernel
    const { commands, mono } = state
    if (state.isOpen) {
      if (mono < this.wakeAt && state.unsettled > state.reported) return
      state.phase = "closing"
      selection.clear()
      this.wakeAt = mono + finishTimeout
      for (const { begun } of state.byKey.values()) {
        for (const update of begun) if (update.isEmitted) update.delivery.interrupt()
      }
      commits.releaseRest()
    }
    // A commit that follows the release would not be applied. A claim that is under way leaves no lease.
    if (state.phase === "closing" && state.writes.size === 0 && state.owners.claim === undefined) {
      state.phase = "releasing"
      commands.releaseAll(Array.from(state.owners.all))
    }
    if (mono >= this.wakeAt) this.closed()
  }

  /** All leases have ended, or are left to expire. */
  closed(): void {
    this.#kernel.state.phase = "closed"
    this.wakeAt = Infinity
  }
}
