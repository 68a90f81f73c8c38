/** Returns a function that returns numbers from 0 to 1 (exclusive), which a 32-bit seed decides (mulberry32). */
const mulberry = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
}

/** Returns a 32-bit hash of a text (FNV-1a). */
export const hashOf = (text: string): number => {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash
}

/** Random decisions. Dice with the same label make the same decisions. */
export class Dice {
  readonly #label: string
  /** A number from 0 to 1 (exclusive). */
  readonly next: () => number

  constructor(label: string) {
    this.#label = label
    this.next = mulberry(hashOf(label))
  }

  /** An integer from 0 to `max` (exclusive). */
  int(max: number): number {
    return Math.floor(this.next() * max)
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<A>(all: ReadonlyArray<A>): A {
    return all[this.int(all.length)]
  }

  /** Picks a value by its weight. */
  weighted<A>(all: ReadonlyArray<readonly [weight: number, value: A]>): A {
    let rest = this.next() * all.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, value] of all) {
      rest -= weight
      if (rest < 0) return value
    }
    return all[all.length - 1][1]
  }

  /** Dice of their own, so that one part of a run does not change the decisions of another. */
  fork(label: string): Dice {
    return new Dice(`${this.#label}/${label}`)
  }
}
