/** How much a map keeps: its last entries, up to a total weight. */
export interface Bounds<A> {
  readonly weight: number
  readonly weigh: (value: A) => number
}

/**
 * A map that removes its oldest entries when their total weight exceeds the maximum. Each removal takes an eighth, so
 * that not every new entry causes a removal.
 */
export class KeptMap<K, A> {
  readonly #entries = new Map<K, A>()
  readonly #bounds: Bounds<A>
  readonly #onRemoved: (values: ReadonlyArray<A>) => void
  #weight = 0

  constructor(bounds: Bounds<A>, onRemoved: (values: ReadonlyArray<A>) => void = () => {}) {
    this.#bounds = bounds
    this.#onRemoved = onRemoved
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: K): A | undefined {
    return this.#entries.get(key)
  }

  has(key: K): boolean {
    return this.#entries.has(key)
  }

  values(): IterableIterator<A> {
    return this.#entries.values()
  }

  set(key: K, value: A): void {
    this.delete(key)
    this.#entries.set(key, value)
    this.#weight += this.#bounds.weigh(value)
    if (this.#weight > this.#bounds.weight) this.#lighten()
  }

  /** Changes a value in place, which may change its weight. */
  change(value: A, change: () => void): void {
    this.#weight -= this.#bounds.weigh(value)
    change()
    this.#weight += this.#bounds.weigh(value)
  }

  delete(key: K): void {
    const value = this.#entries.get(key)
    if (value === undefined) return
    this.#entries.delete(key)
    this.#weight -= this.#bounds.weigh(value)
  }

  clear(): void {
    this.#entries.clear()
    this.#weight = 0
  }

  // The last entry always stays.
  #lighten(): void {
    const removed: Array<A> = []
    for (const [key, value] of this.#entries) {
      if (this.#weight <= (this.#bounds.weight * 7) / 8 || this.#entries.size === 1) break
      this.delete(key)
      removed.push(value)
    }
    this.#onRemoved(removed)
  }
}
