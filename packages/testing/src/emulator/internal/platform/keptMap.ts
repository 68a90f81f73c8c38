/** How much a map keeps: its last entries, up to a total weight. */
export interface Bounds<A> {
  readonly weight: number
  readonly weigh: (value: A) => number
}

/**
 * A map that removes its oldest entries when their total weight exceeds the maximum. Each removal takes an eighth, so
 * that not every new entry causes a removal.
 */
export class KeptMap<K, A> extends Map<K, A> {
  readonly #bounds: Bounds<A>
  readonly #onRemoved: (values: ReadonlyArray<A>) => void
  #weight = 0

  constructor(bounds: Bounds<A>, onRemoved: (values: ReadonlyArray<A>) => void = () => {}) {
    super()
    this.#bounds = bounds
    this.#onRemoved = onRemoved
  }

  override set(key: K, value: A): this {
    this.delete(key)
    super.set(key, value)
    this.#weight += this.#bounds.weigh(value)
    if (this.#weight > this.#bounds.weight) this.#lighten()
    return this
  }

  /** Changes a value in place, which may change its weight. */
  change(value: A, change: () => void): void {
    this.#weight -= this.#bounds.weigh(value)
    change()
    this.#weight += this.#bounds.weigh(value)
  }

  override delete(key: K): boolean {
    const value = this.get(key)
    if (value !== undefined) this.#weight -= this.#bounds.weigh(value)
    return super.delete(key)
  }

  override clear(): void {
    super.clear()
    this.#weight = 0
  }

  // The last entry always stays.
  #lighten(): void {
    const removed: Array<A> = []
    for (const [key, value] of this) {
      if (this.#weight <= (this.#bounds.weight * 7) / 8 || this.size === 1) break
      this.delete(key)
      removed.push(value)
    }
    this.#onRemoved(removed)
  }
}
