import { Claiming } from "./claiming.ts"
import { Closing } from "./closing.ts"
import { Commits } from "./commits.ts"
import { HandBacks } from "./handBacks.ts"
import { type Commands, Held, type Options } from "./held.ts"
import { Leases } from "./leases.ts"
import type { Partition, Update } from "./partition.ts"
import { Results } from "./results.ts"
import { Selection } from "./selection.ts"

/**
 * All partitions of a process. The kernel decides, and does nothing else: an event, which is a method of the kernel or
 * of a part, says what happened, and `advance` says what is to be done, by commands. The kernel is never suspended, so
 * nothing can happen between a look and a decision.
 */
export class Kernel<D> {
  readonly held: Held<D>
  readonly #selection: Selection<D>
  readonly #handBacks: HandBacks
  readonly commits: Commits<D>
  readonly results: Results<D>
  readonly leases: Leases<D>
  readonly claiming: Claiming<D>
  readonly closing: Closing<D>
  #isEnded = false
  /** The monotonic time at which `advance` is to be called, although nothing else happens. */
  wakeAt = Infinity

  constructor(options: Options, commands: Commands<D>) {
    const held = new Held(options, commands)
    const selection = new Selection(commands.make, options.crashingAfter, options.startedAt)
    this.held = held
    this.#selection = selection
    this.#handBacks = new HandBacks(options.handBack)
    this.leases = new Leases(held)
    this.commits = new Commits(held, selection)
    this.results = new Results(held, this.commits, this.leases)
    this.claiming = new Claiming(held, selection, this.commits, this.leases)
    const { claiming, commits, leases, results } = this
    this.closing = new Closing({ held, selection, commits, results, leases, claiming })
  }

  /** The time of the events that follow. */
  at(wall: number, mono: number): void {
    this.held.wall = wall
    this.held.mono = mono
  }

  /** Decides what is to be done. Called after events, and at `wakeAt`. */
  advance(wall: number, mono: number): void {
    const { claiming, closing, commits, held, leases, results } = this
    this.at(wall, mono)
    if (mono >= held.delayedUntil) this.#elapse()
    held.endHeadStarts()
    results.advance()
    commits.advance()
    if (held.phase === "running" || held.phase === "stopping") {
      leases.advance()
      claiming.advance()
    }
    if (held.hasCapacity) {
      held.hasCapacity = false
      held.commands.announce()
    }
    if (!this.#isEnded && claiming.isEnd) {
      this.#isEnded = true
      held.commands.end(held.waiting)
    }
    closing.advance()
    let wakeAt = Infinity
    const consider = (time: number): void => {
      if (time > mono && time < wakeAt) wakeAt = time
    }
    for (const until of held.headStarts) consider(until)
    consider(held.delayedUntil)
    consider(this.#selection.wakeAt)
    consider(leases.renewAt)
    consider(claiming.wakeAt)
    consider(closing.wakeAt)
    this.wakeAt = held.phase === "closed" ? Infinity : wakeAt
  }

  /** Updates begin again after their time, or their partitions are left to a newer program. */
  #elapse(): void {
    const held = this.held
    held.delayedUntil = Infinity
    for (const update of held.delayed) {
      if (update.dueAt > held.mono) held.delayedUntil = Math.min(held.delayedUntil, update.dueAt)
      else {
        held.delayed.delete(update)
        if (update.isNewer) this.#leave(update.partition)
        else update.moveTo("waiting")
        this.commits.resume(update.partition)
      }
    }
  }

  /** No update of a partition begins any more, until the partition is claimed again. */
  #leave(partition: Partition<D>): void {
    partition.isLeft = true
    for (const update of partition.begun.slice()) if (!update.isEmitted) this.held.drop(update)
  }

  /** The ready deliveries are taken. */
  pulled(): ReadonlyArray<Update<D>> {
    const { ready } = this.held
    this.held.ready = []
    for (const update of ready) update.moveTo("open")
    return ready
  }

  /** An effect begins to handle an update. If the chat is lost, the effect is interrupted. */
  watched({ partition }: Update<D>): void {
    partition.handlers++
  }

  unwatched({ partition }: Update<D>): void {
    const { byKey, interrupted } = this.held
    if (--partition.handlers > 0 || interrupted.get(partition.key) !== partition) return
    interrupted.delete(partition.key)
    // A chat that was lost and claimed again begins after its interrupted handlers have ended.
    const again = byKey.get(partition.key)
    if (again === undefined) return
    again.isBlocked = false
    this.commits.resume(again)
  }

  /** A handler failed because of the inbox. The attempt begins again after a time, and nothing is written. */
  again(update: Update<D>, millis: number): void {
    if (update.state !== "open") return
    update.outcome = undefined
    this.held.again(update, millis)
    this.commits.resume(update.partition)
  }

  /** An update needs a newer program. Its partition is kept for a time that grows, and then left to other processes. */
  handBack(update: Update<D>): void {
    if (update.state !== "open") return
    const wait = this.#handBacks.waitOf(update.entry.id, this.held.mono)
    update.isNewer = true
    this.held.again(update, Math.max(1, wait))
    if (wait === 0) this.#leave(update.partition)
    this.commits.resume(update.partition)
  }

  /** A warning has told of an update that is not settled. Crashing updates do not wait for the update. */
  reported(update: Update<D>): void {
    update.isReported = true
    this.held.reported++
  }

  /** The store has the lease of a partition, but not its update, so the store has lost writes. */
  giveUp(partition: Partition<D>, owner: string): void {
    if (partition.isLost || partition.owner !== owner) return
    this.leases.giveUp(partition)
  }
}
