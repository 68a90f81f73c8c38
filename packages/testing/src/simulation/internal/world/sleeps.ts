/** Something that happens at a time. */
export interface Timed {
  readonly at: number
  isCancelled: boolean
}

/** A sorted array, the next entry last. Of entries of the same time, the one that was added first is nearer to the end. */
export class Sleeps<A extends Timed> {
  readonly #sorted: Array<A> = []

  add(entry: A): void {
    const sorted = this.#sorted
    let low = 0
    let high = sorted.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (sorted[middle].at > entry.at) low = middle + 1
      else high = middle
    }
    sorted.splice(low, 0, entry)
  }

  /** Returns the entry that is due first, and removes the cancelled entries before it. */
  first(): A | undefined {
    while (this.#sorted.at(-1)?.isCancelled === true) this.#sorted.pop()
    return this.#sorted.at(-1)
  }

  /** Removes the entry that `first` has returned. */
  removeFirst(): void {
    this.#sorted.pop()
  }

  /** The entries that were not cancelled, the next entry last. */
  all(): ReadonlyArray<A> {
    return this.#sorted.filter(({ isCancelled }) => !isCancelled)
  }
}
