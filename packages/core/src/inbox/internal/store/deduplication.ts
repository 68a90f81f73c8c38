/** Maximum number of texts of a generation. A window of a day may have too many for the memory, so two generations are kept. */
const generationSize = 50_000

const hashOf = (text: string): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x9e3779b1)
  return hash ^ (hash >>> 15)
}

const fewestSlots = 256

/**
 * A hash table with open addressing, from texts to times. When most texts are new, a `Map` takes twice as long, mostly for
 * garbage collection (benchmark `pipeline`).
 */
class TimeTable {
  readonly #texts: Array<string> = []
  readonly #hashes: Array<number> = []
  readonly #times: Array<number> = []
  /** One more than the index in the arrays, at the slot of the hash or the next free slot. 0 in free slots. */
  #slots: Int32Array

  constructor(slots = fewestSlots) {
    this.#slots = new Int32Array(slots)
  }

  get size(): number {
    return this.#texts.length
  }

  /** Returns an empty table for as many texts. */
  next(): TimeTable {
    return new TimeTable(this.#slots.length)
  }

  /** Returns the slot of a text, or the free slot for the text. The slot is valid until the table is changed. */
  slotOf(hash: number, text: string): number {
    const slots = this.#slots
    const last = slots.length - 1
    for (let slot = hash & last; ; slot = (slot + 1) & last) {
      const index = slots[slot]
      if (index === 0 || (this.#hashes[index - 1] === hash && this.#texts[index - 1] === text)) return slot
    }
  }

  /** Returns the time of the text in a slot. */
  timeAt(slot: number): number | undefined {
    const index = this.#slots[slot]
    return index === 0 ? undefined : this.#times[index - 1]
  }

  /** Writes the time of a text to its slot. */
  setAt(slot: number, hash: number, text: string, time: number): void {
    const index = this.#slots[slot]
    if (index !== 0) {
      this.#times[index - 1] = time
      return
    }
    this.#hashes.push(hash)
    this.#times.push(time)
    this.#slots[slot] = this.#texts.push(text)
    if (2 * this.size > this.#slots.length) this.#grow()
  }

  /** Returns the entries whose time is not before the given one. Mostly these are all. */
  since(time: number): TimeTable {
    if (this.#times.every((at) => at >= time)) return this
    const kept = new TimeTable()
    this.#texts.forEach((text, index) => {
      const hash = this.#hashes[index]
      if (this.#times[index] >= time) kept.setAt(kept.slotOf(hash, text), hash, text, this.#times[index])
    })
    return kept
  }

  #grow(): void {
    const slots = new Int32Array(2 * this.#slots.length)
    const last = slots.length - 1
    this.#hashes.forEach((hash, index) => {
      let slot = hash & last
      while (slots[slot] !== 0) slot = (slot + 1) & last
      slots[slot] = index + 1
    })
    this.#slots = slots
  }
}

/** The fingerprints that were received recently: at least the latest 50,000. */
export class Deduplication {
  #current = new TimeTable()
  #previous = new TimeTable()

  /**
   * Returns whether a text is new. A new text is added with the time `now`. A text added at or after `since` is not
   * new.
   */
  add(text: string, now: number, since: number): boolean {
    const hash = hashOf(text)
    let slot = this.#current.slotOf(hash, text)
    const at = this.#current.timeAt(slot) ?? this.#previous.timeAt(this.#previous.slotOf(hash, text))
    if (at !== undefined && at >= since) return false
    if (this.#current.size >= generationSize) {
      this.#previous = this.#current
      this.#current = this.#previous.next()
      slot = this.#current.slotOf(hash, text)
    }
    this.#current.setAt(slot, hash, text, now)
    return true
  }

  /** Removes the texts that were added before the given time. */
  removeBefore(before: number): void {
    this.#current = this.#current.since(before)
    this.#previous = this.#previous.since(before)
  }
}
