import type { Commit, Partition as Claimed } from "../../InboxStore.ts"
import type { SentAt } from "./leases.ts"
import type { KernelState, UnknownLease } from "./state.ts"

/** The names under which this process has leases, and the leases of these names that nobody here knows. */
export class Owners<D> {
  readonly #state: KernelState<D>
  /** All names that may have leases. */
  readonly all = new Set<string>()
  #generation = 0
  /** Leases that the store has, and that nobody here knows. */
  #found: ReadonlyArray<UnknownLease> = []
  isReleasing = false
  /** The claim that is under way. */
  claim: (SentAt & { readonly owner: string }) | undefined = undefined
  /** Updates that were completed, and partitions whose lease may have been ended, while the claim was under way. */
  readonly #completed = new Set<string>()
  readonly #ended = new Set<string>()

  constructor(state: KernelState<D>) {
    this.#state = state
  }

  get current(): string {
    return `${this.#state.options.name}.${this.#generation}`
  }

  change(): void {
    this.#generation++
  }

  #isUnknown({ owner, partitionKey }: UnknownLease): boolean {
    return this.#state.byKey.get(partitionKey)?.owner !== owner
  }

  /** A lease under a name of this process that nobody here holds is released, because other processes would wait for ever. */
  forsake(owner: string, keys: ReadonlyArray<string>): void {
    const unknown = keys.map((partitionKey) => ({ owner, partitionKey })).filter((lease) => this.#isUnknown(lease))
    if (unknown.length === 0) return
    // Under a new name, the leases of the old name are certain as soon as no claim is under way.
    if (owner === this.current) this.change()
    this.#found = [...this.#found, ...unknown]
  }

  /** Releases unknown leases. A claim that is under way may return them. */
  releaseFound(): void {
    if (this.claim !== undefined || this.#found.length === 0 || this.isReleasing) return
    const unknown = this.#found.filter((lease) => this.#isUnknown(lease))
    this.#found = []
    if (unknown.length === 0) return
    this.isReleasing = true
    this.#state.commands.release(unknown)
  }

  released(): void {
    this.isReleasing = false
  }

  /** A claim was sent. */
  claiming(): void {
    const { mono, wall } = this.#state
    this.claim = { owner: this.current, wall, mono }
    this.all.add(this.current)
    // Clearing an empty set allocates a table.
    if (this.#completed.size > 0) this.#completed.clear()
    if (this.#ended.size > 0) this.#ended.clear()
  }

  /** A commit was applied. A claim that is under way can have read the updates before. */
  onApplied({ completed, owner, partitionKey, release }: Commit): void {
    if (this.claim !== undefined) for (const { id } of completed) this.#completed.add(id)
    if (release && completed.length === 0 && owner === this.claim?.owner) this.#ended.add(partitionKey)
  }

  /**
   * The lease of a partition may have been ended, or is lost. What was sent under the name of the lease, such as a release that is
   * repeated, must not change the lease of a later claim.
   */
  onAbandoned({ key, owner }: { readonly key: string; readonly owner: string }): void {
    if (owner === this.claim?.owner) this.#ended.add(key)
    if (owner === this.current) this.change()
  }

  /** Whether the store may have ended the lease of a claimed partition, or completed one of its updates, after the claim. */
  isEnded({ key, updates }: Claimed): boolean {
    if (this.#ended.size > 0 && this.#ended.has(key)) return true
    return this.#completed.size > 0 && updates.some(({ id }) => this.#completed.has(id))
  }
}
