import type { Partition as Claimed } from "../../InboxStore.ts"
import type { Commits } from "./commits.ts"
import type { KernelState } from "./state.ts"
import type { Leases } from "./leases.ts"
import { Polling } from "./polling.ts"
import type { Partition } from "./partition.ts"
import type { Selection } from "./selection.ts"
import { ClaimSize } from "./size.ts"

/**
 * A claim can miss partitions that another transaction locks, so the last claim is repeated after this time if updates
 * are queued.
 */
const certainAfter = 1000

/**
 * - `idle`: nothing is asked.
 * - `claiming`, `asking`: the store is asked.
 * - `failed`: the last claim failed. The next claim comes after a pause.
 */
type Request = "idle" | "claiming" | "failed" | "asking"

/** When partitions are claimed, and when there is nothing left to claim. */
export class Claiming<D> {
  readonly #state: KernelState<D>
  readonly #commits: Commits<D>
  readonly #leases: Leases<D>
  readonly #size: ClaimSize<D>
  readonly polling: Polling<D>
  #request: Request = "idle"
  /** Whether something may be claimable. A wake-up during a claim is for the next claim. */
  #isDue = true
  /** Whether something may be claimable, and waits until it fits into memory. */
  #isBlocked = false
  #claimAt = -Infinity
  #source: "running" | "ended" | "failed" = "running"
  /** Whether the source had ended, and nothing was in memory, when the last claim was sent. */
  #wasIdle = false
  /** Whether updates that are queued, but were not found, have been waited for. */
  #isCertain = false
  #isEnd = false

  constructor(state: KernelState<D>, selection: Selection<D>, commits: Commits<D>, leases: Leases<D>) {
    this.#state = state
    this.#commits = commits
    this.#leases = leases
    this.#size = new ClaimSize(state, selection)
    this.polling = new Polling(state)
  }

  /** Whether the last claim has failed, and no claim follows before the pause is over. */
  get isPausing(): boolean {
    return this.#request === "failed"
  }

  /** Whether the consumer looks for partitions, or for its end. Otherwise, neither time nor the content of the store matters. */
  get #isLooking(): boolean {
    const { isIdle, phase, size } = this.#state
    return phase === "running" && (size === 0 || this.#size.wantsMore || (this.#source !== "running" && isIdle))
  }

  /** Whether a wake-up has an effect. */
  get isWaiting(): boolean {
    return this.#request === "idle" && !this.#isDue && this.#isLooking
  }

  /** Whether the stream of deliveries ends. */
  get isEnd(): boolean {
    if (this.#source === "failed" || this.#isEnd) return true
    return this.#source === "ended" && this.#state.isStopping && this.#state.size === 0
  }

  get wakeAt(): number {
    if (this.#request !== "idle" || this.#isEnd || !this.#isLooking) return Infinity
    return this.#isDue ? this.#claimAt : this.polling.wakeAt
  }

  /** Claims, or asks when to claim. */
  advance(): void {
    const { commands, mono } = this.#state
    this.#state.owners.releaseFound()
    if (this.#request !== "idle" || this.#isEnd) return
    if (!this.#isLooking) {
      this.#isBlocked ||= this.#isDue
      this.#isDue = false
      return
    }
    if (this.#isBlocked) {
      // One claim follows for all updates that end in this turn of the event loop.
      this.#isBlocked = false
      this.#state.hasCapacity = true
    }
    if (!this.#isDue && this.polling.asks()) {
      this.#request = "asking"
      return commands.ask()
    }
    this.#isDue ||= this.polling.isDue()
    if (this.#isDue && mono >= this.#claimAt && !this.#state.owners.isReleasing) this.#claim()
  }

  #claim(): void {
    const { commands, isIdle, options, owners } = this.#state
    // After the process was suspended, leases are renewed before a claim could treat them as leases of a dead process.
    if (options.isShared && this.#leases.isDoubtful) return this.#leases.advance()
    const size = this.#size.next()
    this.#isDue = false
    this.#wasIdle = this.#source === "ended" && isIdle
    if (size === undefined) return this.#ended(0)
    this.#leases.claiming()
    this.#request = "claiming"
    commands.claim({ owner: owners.current, leaseDuration: options.leaseMillis, ...size, ...this.polling.claiming() })
  }

  claimed(partitions: ReadonlyArray<Claimed>): void {
    this.#request = "idle"
    const { isOpen, owners } = this.#state
    const claim = owners.claim!
    owners.claim = undefined
    // All leases of the process are ended after this claim.
    if (!isOpen) return
    const adopted: Array<Partition<D>> = []
    for (const claimed of partitions) {
      const partition = this.#leases.adopt(claimed, claim, this.#size.begin)
      if (partition === "ended") this.#isDue = true
      if (typeof partition === "string") continue
      adopted.push(partition)
      if (this.#size.isCrashing(claimed)) {
        this.#size.foundCrashing()
        this.#commits.release(partition)
      } else this.#commits.resume(partition)
    }
    this.#size.claimed(adopted)
    this.polling.claimed(adopted.length)
    this.#ended(adopted.length)
  }

  /** A claim has ended. */
  #ended(count: number): void {
    const { commands, options } = this.#state
    if (count === 0 && this.#wasIdle && !this.#isDue) {
      if (!options.isShared || this.#isCertain) this.#isEnd = true
      else {
        this.#request = "asking"
        commands.count()
      }
      return
    }
    this.#isCertain = false
    if (!this.#isLooking || (count > 0 && !this.#size.wasShort && this.#size.wantsMore)) this.#isDue = true
    this.polling.wait()
  }

  failed(): void {
    this.#request = "failed"
    this.#isDue = true
    this.#leases.claimFailed()
  }

  /** The pause after a failure is over. */
  again(): void {
    this.#request = "idle"
  }

  /** Something can be claimed after this time. If the store fails, a claim reports the failure. */
  answered(millis: number | undefined): void {
    this.#request = "idle"
    this.polling.answered(millis)
  }

  counted(queued: number | undefined): void {
    this.#request = "idle"
    if (queued === 0) this.#isEnd = true
    this.#isCertain = this.#isDue = true
    this.#claimAt = this.#state.mono + certainAfter
  }

  woken(): void {
    this.#isDue = true
    this.polling.woken()
  }

  sourceEnded(isFailure: boolean): void {
    this.#source = isFailure ? "failed" : "ended"
    this.#isDue = true
  }
}
