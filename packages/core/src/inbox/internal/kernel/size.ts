import type { Claim, Partition as Claimed } from "../../InboxStore.ts"
import type { KernelState } from "./state.ts"
import type { Selection } from "./selection.ts"

/** A partition is released after this many updates, so that partitions with many updates do not delay the others. */
const maxUpdatesPerClaim = 16

/** A chat that has many updates is claimed in larger parts if no others wait, or if its updates do not begin one at a time. */
const maxUpdatesOfChat = 256

/** How many chats are expected to be handled concurrently if there is no limit. */
const usualConcurrency = 64

/** After crashing updates were claimed, claimed updates do not count as begun for this time. */
const unmarkedMillis = 10_000

/** How much a claim asks for. */
export class ClaimSize<D> {
  readonly #state: KernelState<D>
  readonly #selection: Selection<D>
  readonly #least: number
  readonly #most: number
  #maxUpdates: number
  #unmarkedUntil = -Infinity
  /** The last request. `maxUpdates` is less than `#maxUpdates` if fewer updates fit into memory. */
  #asked = { maxPartitions: 0, maxUpdates: 0, begin: 0 }
  /** Whether the store had fewer partitions than the last claim asked for. */
  wasShort = false

  constructor(state: KernelState<D>, selection: Selection<D>) {
    const { maxInMemory, maxUnsettled, perChat } = state.options
    this.#state = state
    this.#selection = selection
    const atOnce = Math.min(maxUnsettled, usualConcurrency)
    this.#least = Math.max(1, Math.min(maxUpdatesPerClaim, Math.floor(maxInMemory / (2 * atOnce))))
    this.#most = Math.max(this.#least, Math.min(maxUpdatesOfChat, Math.floor(maxInMemory / 4)))
    // A batch that contains a part of a chat may wait for the rest, which is not claimed before.
    this.#maxUpdates = perChat > 1 ? this.#most : this.#least
  }

  /** Number of partitions whose next update would begin at once. */
  get #available(): number {
    return this.#state.available - this.#selection.size
  }

  /** Partitions are claimed when a handler could begin. If many wait, they are also claimed for later. */
  get wantsMore(): boolean {
    const { options, size } = this.#state
    const { maxInMemory } = options
    return maxInMemory - size >= this.#least && (this.#available > 0 || (!this.wasShort && size <= maxInMemory / 2))
  }

  /** Whether nothing fits into memory. */
  next(): Pick<Claim, "begin" | "maxPartitions" | "maxUpdates"> | undefined {
    const { mono, options, size } = this.#state
    const { isShared, maxInMemory, perChat } = options
    const free = maxInMemory - size
    if (free < this.#maxUpdates && perChat === 1) this.#maxUpdates = this.#least
    const maxUpdates = Math.min(this.#maxUpdates, Math.max(this.#least, free))
    const maxPartitions = Math.floor(free / maxUpdates)
    if (maxPartitions < 1) return undefined
    const each = Math.min(perChat, maxUpdates)
    const available = Math.floor(this.#available / each)
    const mayBegin = !this.#selection.hasCrashing && mono >= this.#unmarkedUntil
    // Partitions whose updates cannot begin at once are claimed for later.
    const begin = isShared && available > 0 && mayBegin ? each : 0
    this.#asked = { maxUpdates, begin, maxPartitions: begin > 0 ? Math.min(maxPartitions, available) : maxPartitions }
    return this.#asked
  }

  get begin(): number {
    return this.#asked.begin
  }

  /**
   * Whether a partition has to be claimed again, because its crashing update may count as begun only while no other
   * update is handled.
   */
  isCrashing({ updates }: Claimed): boolean {
    const { crashingAfter } = this.#state.options
    return this.begin > 0 && updates.slice(0, this.begin).some(({ crashes }) => crashes >= crashingAfter)
  }

  foundCrashing(): void {
    this.#unmarkedUntil = this.#state.mono + unmarkedMillis
  }

  /** Decides how many updates of a partition the next claim asks for. */
  claimed(partitions: ReadonlyArray<{ readonly updates: ReadonlyArray<unknown> }>): void {
    const { maxPartitions, maxUpdates: asked } = this.#asked
    const { maxInMemory, perChat } = this.#state.options
    this.wasShort = partitions.length < maxPartitions
    if (partitions.length === 0) return
    const longest = Math.max(...partitions.map(({ updates }) => updates.length))
    const isFull = longest === asked
    const half = Math.max(this.#least, this.#maxUpdates >> 1)
    if (isFull && asked === this.#maxUpdates && (perChat > 1 || this.wasShort)) {
      const isMuch = this.wasShort && 2 * this.#maxUpdates * partitions.length > maxInMemory / 2
      this.#maxUpdates = isMuch ? half : Math.min(2 * this.#maxUpdates, this.#most)
      // A chat that is claimed in two parts takes two claims and two releases.
    } else if (perChat === 1 || (!isFull && longest <= half)) this.#maxUpdates = half
  }
}
