import { Claiming } from "./claiming.ts"
import { Closing } from "./closing.ts"
import { Commits } from "./commits.ts"
import { type Commands, KernelState, type Options } from "./state.ts"
import { Leases } from "./leases.ts"
import type { Update } from "./partition.ts"
import { Results } from "./results.ts"
import { Selection } from "./selection.ts"

/**
 * All partitions of a process. The kernel decides, and does nothing else: an event, which is a method of the kernel or
 * of a part, reports what happened, and `advance` decides what follows, by commands. The kernel is never suspended, so
 * nothing can happen between a look and a decision.
 */
export class Kernel<D> {
  readonly state: KernelState<D>
  readonly selection: Selection<D>
  readonly commits: Commits<D>
  readonly results: Results<D>
  readonly leases: Leases<D>
  readonly claiming: Claiming<D>
  readonly closing: Closing<D>
  #isEnded = false
  /** The monotonic time at which `advance` is to be called, although nothing else happens. */
  wakeAt = Infinity

  constructor(options: Options, commands: Commands<D>) {
    const state = new KernelState(options, commands)
    const selection = new Selection(state)
    this.state = state
    this.selection = selection
    this.leases = new Leases(state)
    this.commits = new Commits(state, selection)
    this.results = new Results(state, this.commits, this.leases)
    this.claiming = new Claiming(state, selection, this.commits, this.leases)
    this.closing = new Closing(this)
  }

  /** The time of the events that follow. */
  at(wall: number, mono: number): void {
    this.state.wall = wall
    this.state.mono = mono
  }

  /** Decides what follows from the events, by commands. Called after events, and at `wakeAt`. */
  advance(): void {
    const { claiming, closing, commits, leases, results, state } = this
    const { mono } = state
    if (mono >= state.delayedUntil) this.#elapse()
    state.endHeadStarts()
    results.advance()
    commits.advance()
    if (state.isOpen) {
      leases.advance()
      claiming.advance()
    }
    if (state.lost > 0) state.commands.lost(state.lost)
    state.lost = 0
    if (state.hasCapacity) {
      state.hasCapacity = false
      state.commands.announce()
    }
    if (!this.#isEnded && claiming.isEnd) {
      this.#isEnded = true
      state.commands.end(state.waiting)
    }
    closing.advance()
    let wakeAt = Infinity
    const consider = (time: number): void => {
      if (time > mono && time < wakeAt) wakeAt = time
    }
    for (const until of state.headStarts) consider(until)
    consider(state.delayedUntil)
    consider(this.selection.wakeAt)
    consider(leases.renewAt)
    consider(claiming.wakeAt)
    consider(closing.wakeAt)
    this.wakeAt = state.phase === "closed" ? Infinity : wakeAt
  }

  /** Updates begin again after their time, or their partitions are left to a newer program. */
  #elapse(): void {
    const state = this.state
    state.delayedUntil = Infinity
    for (const update of state.delayed) {
      if (update.dueAt > state.mono) state.delayedUntil = Math.min(state.delayedUntil, update.dueAt)
      else {
        state.delayed.delete(update)
        if (update.isNewer) state.leave(update.partition)
        else update.moveTo("waiting")
        this.commits.resume(update.partition)
      }
    }
  }

  /** The ready deliveries are taken. */
  pulled(): ReadonlyArray<Update<D>> {
    const { ready } = this.state
    this.state.ready = []
    for (const update of ready) update.moveTo("open")
    return ready
  }

  /** An effect begins to handle an update. If the chat is lost, the effect is interrupted. */
  watched({ partition }: Update<D>): void {
    partition.handlers++
  }

  unwatched({ partition }: Update<D>): void {
    const { byKey, interrupted } = this.state
    if (--partition.handlers > 0 || interrupted.get(partition.key) !== partition) return
    interrupted.delete(partition.key)
    // A chat that was lost and claimed again begins after its interrupted handlers have ended.
    const again = byKey.get(partition.key)
    if (again === undefined) return
    again.isBlocked = false
    this.commits.resume(again)
  }

  /** A warning has told of an update that is not settled. Crashing updates do not wait for the update. */
  reported(update: Update<D>): void {
    update.isReported = true
    this.state.reported++
  }
}
