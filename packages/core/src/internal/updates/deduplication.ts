/** A window of a day may hold more texts than memory should: the latest ones count, one or two generations. */
const generation = 50_000

const hashOf = (text: string): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x9e3779b1)
  return hash ^ (hash >>> 15)
}

/**
 * Texts, each with a time: a hash table with open addressing, in arrays. A Map takes twice as long where all that is put
 * in is new, most of it for the garbage collector.
 */
class Times {
  readonly #texts: Array<string> = []
  readonly #hashes: Array<number> = []
  readonly #times: Array<number> = []
  /** At the place of a hash, or the next free one: one more than the index in the arrays. */
  #places = new Int32Array(256)

  get size(): number {
    return this.#texts.length
  }

  get(hash: number, text: string): number | undefined {
    const index = this.#places[this.#placeOf(hash, text)]
    return index === 0 ? undefined : this.#times[index - 1]
  }

  set(hash: number, text: string, time: number): void {
    const place = this.#placeOf(hash, text)
    const index = this.#places[place]
    if (index !== 0) {
      this.#times[index - 1] = time
      return
    }
    this.#hashes.push(hash)
    this.#times.push(time)
    this.#places[place] = this.#texts.push(text)
    if (2 * this.size > this.#places.length) this.#grow()
  }

  /** Those whose time is not before another. */
  from(time: number): Times {
    const kept = new Times()
    this.#texts.forEach((text, index) => {
      if (this.#times[index] >= time) kept.set(this.#hashes[index], text, this.#times[index])
    })
    return kept
  }

  #placeOf(hash: number, text: string): number {
    const last = this.#places.length - 1
    for (let place = hash & last; ; place = (place + 1) & last) {
      const index = this.#places[place]
      if (index === 0 || (this.#hashes[index - 1] === hash && this.#texts[index - 1] === text)) return place
    }
  }

  #grow(): void {
    const places = new Int32Array(2 * this.#places.length)
    const last = places.length - 1
    this.#hashes.forEach((hash, index) => {
      let place = hash & last
      while (places[place] !== 0) place = (place + 1) & last
      places[place] = index + 1
    })
    this.#places = places
  }
}

/** What came lately, as far as memory should know it. */
export class Deduplication {
  #recent = new Times()
  #former = new Times()

  /** Notes that a text came now, unless it has come since a time. Gives whether it is new. */
  add(text: string, now: number, since: number): boolean {
    const hash = hashOf(text)
    const at = this.#recent.get(hash, text) ?? this.#former.get(hash, text)
    if (at !== undefined && at >= since) return false
    if (this.#recent.size >= generation) {
      this.#former = this.#recent
      this.#recent = new Times()
    }
    this.#recent.set(hash, text, now)
    return true
  }

  /** Forgets what came before a time. */
  removeBefore(before: number): void {
    this.#recent = this.#recent.from(before)
    this.#former = this.#former.from(before)
  }
}
