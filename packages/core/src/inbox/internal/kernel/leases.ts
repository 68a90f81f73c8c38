import type { Partition as Claimed } from "../../InboxStore.ts"
import type { KernelState } from "./state.ts"
import { Partition } from "./partition.ts"

/** The last part of a lease does not count, because operations that began in time have to reach the platform in time. */
const margin = 0.1

/**
 * A lease is renewed this often before the lease expires. With 3, the event loop may be busy for two thirds of the
 * lease.
 */
const renewalsPerLease = 3

/** After a failure, leases are renewed again after this time, in milliseconds. */
const failedRenewalInterval = 1000

/** A time by the wall clock and by the monotonic clock, before a request was sent. */
export interface SentAt {
  readonly wall: number
  readonly mono: number
}

/** The leases of this process, and their renewals. */
export class Leases<D> {
  readonly #state: KernelState<D>
  readonly #interval: number
  renewAt = Infinity
  /** The partitions of the renewal that is under way. */
  #renewing: (SentAt & { readonly partitions: Map<string, Partition<D>> }) | undefined
  #isFailing = false
  #isRequested = false
  /** How often a claim has waited for a renewal. The first can be a renewal that was sent before the process was suspended. */
  #doubts = 0
  /** Number of renewals that have ended, also with a failure. */
  renewals = 0
  constructor(state: KernelState<D>) {
    this.#state = state
    this.#interval = Math.floor(state.options.leaseMillis / renewalsPerLease)
  }

  /** The monotonic clock stands still while a computer is suspended, and the other clock can be set back. */
  isValid({ isLost, mono, wall }: Partition<D>): boolean {
    const at = this.#state
    const { isShared, leaseMillis } = at.options
    const validFor = leaseMillis * (1 - margin)
    return !isShared || (!isLost && at.wall - wall < validFor && at.mono - mono < validFor)
  }

  /**
   * Whether the claim that is under way can bring back the lease of a partition under the same name, after another process had the
   * lease. The store would accept what this process writes, so nothing is written.
   */
  canReturn(partition: Partition<D>): boolean {
    return partition.owner === this.#state.owners.claim?.owner && !this.isValid(partition)
  }

  /**
   * Releases a partition whose updates are not known any more, for example if the store has its lease under a name, but
   * not its update. Whoever claims the partition learns which are left.
   */
  giveUp(partition: Partition<D>, owner = partition.owner): void {
    if (partition.isLost || partition.owner !== owner) return
    this.#state.abandon(partition)
    this.#state.owners.forsake(owner, [partition.key])
  }

  /** Whether no other process has completed one of the updates, or has made a call for one of them. */
  #isUnchanged(partition: Partition<D>, { updates: stored }: Claimed): boolean {
    const { begun, isLeft, rest } = partition
    const compared = Math.min(begun.length + rest.length, stored.length)
    // A partition of which nothing has begun is being released.
    if (isLeft || compared === 0 || (partition.state === "releasing" && begun.length === 0)) return false
    return stored.slice(0, compared).every((claimed, index) => {
      const known = begun[index]?.entry ?? rest[index - begun.length]!
      const isKnown = begun[index]?.delivery.knows(claimed) ?? this.#state.commands.isRead(known, claimed)
      return known.id === claimed.id && isKnown
    })
  }

  /**
   * Returns the partition of a claim, whose first updates the claim has marked as begun.
   *
   * - `kept`: the process held the partition, and its lease had expired, for example while the store was unavailable. Handlers
   *   and commits continue under the new owner. If another process has handled the partition meanwhile, the partition is lost, and
   *   is handled from where that process ended.
   * - `ended`: the store may have ended the lease, or completed an update of the partition, after the claim, or have lost an
   *   acknowledgement before the claim, or may still accept what was sent under the same name before. The lease is released, and the
   *   next claim has another name.
   */
  adopt(claimed: Claimed, claim: SentAt & { readonly owner: string }, marked: number): Partition<D> | "kept" | "ended" {
    const state = this.#state
    const { isShared, perChat } = state.options
    const { key, updates } = claimed
    const { mono, owner, wall } = claim
    const before = state.byKey.get(key)
    const isEnded = state.owners.isEnded(claimed)
    if (before !== undefined && !isEnded && this.#isUnchanged(before, claimed)) {
      // A renewal may have been answered since. The claim is newer than a renewal that is under way.
      this.#renewing?.partitions.delete(key)
      Object.assign(before, { owner, wall: Math.max(before.wall, wall), mono: Math.max(before.mono, mono) })
      return "kept"
    }
    // If the partition was released, but the result of the commit is not known yet, its completed updates are gone.
    if (before !== undefined && before.state !== "releasing") state.lose(before)
    // Writes under the same name that are under way could still change the partition.
    const isChanging = before?.owner === owner && (before.isLost || before.isSettlingAny(updates))
    if (isEnded || isChanging) {
      state.owners.forsake(owner, [key])
      return "ended"
    }
    const partition = new Partition<D>(claimed, claim, perChat, marked)
    state.add(partition)
    // The leases are renewed within a third of their duration.
    if (isShared && state.byKey.size === 1) this.renewAt = mono + this.#interval
    return partition
  }

  /** Renews the leases at once, unless the last renewal failed. */
  request(): void {
    this.#isRequested = true
  }

  /**
   * Whether a claim has to wait for a renewal, so that the claim cannot take leases of this process for leases of a dead
   * process. If the leases stay doubtful, the claim has another name: a claim whose answer is lost would revive them.
   */
  get isDoubtful(): boolean {
    const state = this.#state
    let isDoubtful = false
    let isOfOwner = false
    for (const partition of state.byKey.values()) {
      if (this.isValid(partition)) continue
      isDoubtful = true
      isOfOwner ||= partition.owner === this.#state.owners.current
    }
    if (isDoubtful && !this.#isFailing && this.#doubts < 2) {
      if (this.#isRequested || this.#renewing !== undefined) return true
      this.#isRequested = true
      this.#doubts++
      return true
    }
    if (isOfOwner) this.#state.owners.change()
    return false
  }

  /** A claim was sent. */
  claiming(): void {
    this.#state.owners.claiming()
    this.#doubts = 0
  }

  /** Begins a renewal if one is due. */
  advance(): void {
    const state = this.#state
    const { mono, wall } = state
    if (this.#renewing !== undefined) return
    if (state.byKey.size === 0) {
      this.renewAt = Infinity
      this.#isFailing = false
      if (this.#isRequested) this.renewals++
      this.#isRequested = false
    } else if (mono >= this.renewAt || (this.#isRequested && !this.#isFailing)) {
      this.#isRequested = false
      this.#renewing = { wall, mono, partitions: new Map(state.byKey) }
      state.commands.renew([...new Set([...state.byKey.values()].map(({ owner }) => owner))])
    }
  }

  /** The keys that the store has under each owner, or `undefined` if the renewal has failed. Other partitions are lost. */
  renewed(answer: ReadonlyArray<readonly [owner: string, keys: ReadonlyArray<string>]> | undefined): void {
    const state = this.#state
    const { mono, partitions, wall } = this.#renewing!
    for (const [owner, keys] of answer ?? []) {
      const renewed = new Set(keys)
      for (const [key, partition] of partitions) {
        if (state.byKey.get(key) !== partition || partition.owner !== owner) continue
        if (renewed.has(key)) {
          // Another process can have had the lease before a claim that is under way. The answer of the claim decides.
          if (owner !== this.#state.owners.claim?.owner || this.isValid(partition))
            Object.assign(partition, { wall, mono })
        } else if (partition.state !== "releasing") state.lose(partition)
      }
      // A partition that was claimed when the renewal was sent may have been released since.
      const others = keys.filter((key) => partitions.get(key)?.owner !== owner)
      this.#state.owners.forsake(owner, others)
    }
    this.#renewing = undefined
    this.#isFailing = answer === undefined
    this.renewals++
    const failedAt = state.mono + Math.min(failedRenewalInterval, this.#interval)
    this.renewAt = this.#isFailing ? failedAt : mono + this.#interval
  }

  /**
   * A claim that failed may have been carried out, so its name is not used again. Leases that had expired may have come
   * back with the claim, after another process had them.
   */
  claimFailed(): void {
    const state = this.#state
    for (const partition of Array.from(state.byKey.values()))
      if (this.canReturn(partition) && partition.state !== "releasing") state.lose(partition)
    if (this.#state.owners.current === this.#state.owners.claim?.owner) this.#state.owners.change()
    this.#state.owners.claim = undefined
  }
}
