/** Something that happens at a time. */
export interface Timed {
  readonly at: number
  readonly order: number
  isCancelled: boolean
}

const isBefore = (one: Timed, other: Timed): boolean =>
  one.at < other.at || (one.at === other.at && one.order < other.order)

/** A binary heap. Cancelled entries are removed when they are the first. */
export class Sleeps<A extends Timed> {
  readonly #heap: Array<A> = []

  add(entry: A): void {
    const heap = this.#heap
    let index = heap.length
    heap.push(entry)
    while (index > 0) {
      const parent = (index - 1) >>> 1
      if (!isBefore(entry, heap[parent])) break
      heap[index] = heap[parent]
      index = parent
    }
    heap[index] = entry
  }

  /** Returns the entry that is due first. */
  first(): A | undefined {
    while (this.#heap.length > 0 && this.#heap[0].isCancelled) this.#removeFirst()
    return this.#heap[0]
  }

  takeFirst(): A | undefined {
    const first = this.first()
    if (first !== undefined) this.#removeFirst()
    return first
  }

  /** The entries that were not cancelled, in no order. */
  all(): ReadonlyArray<A> {
    return this.#heap.filter(({ isCancelled }) => !isCancelled)
  }

  #removeFirst(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1], heap[child])) child++
      if (!isBefore(heap[child], last)) break
      heap[index] = heap[child]
      index = child
    }
    heap[index] = last
  }
}
