import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"

/**
 * How much a log keeps: at least `entries` of its last entries, as long as their total weight is at most `weight`. Entries
 * from the position `neededFrom` on are always kept.
 */
export interface Bounds<A> {
  readonly entries: number
  readonly weight: number
  readonly weigh: (entry: A) => number
  readonly neededFrom: () => number
}

const unbounded: Bounds<unknown> = {
  entries: Infinity,
  weight: Infinity,
  weigh: () => 0,
  neededFrom: () => Infinity
}

/**
 * An append-only log. Each reader keeps a position, so readers are independent of each other and can start late. A reader
 * at the end waits for the next entry without polling.
 */
export class Log<A> {
  #entries: Array<A> = []
  #dropped = 0
  #weight = 0
  #arrival: Deferred.Deferred<void> | undefined
  readonly #bounds: Bounds<A>

  constructor(bounds: Partial<Bounds<A>> = {}) {
    this.#bounds = { ...unbounded, ...bounds }
  }

  /** The position that the next entry will have. */
  get end(): number {
    return this.#dropped + this.#entries.length
  }

  /** The position of the oldest entry that is kept. */
  get start(): number {
    return this.#dropped
  }

  append(entry: A): void {
    const { entries, weigh, weight } = this.#bounds
    if (this.#entries.length >= 2 * entries && this.#unneeded >= entries) this.#forget(entries)
    this.#entries.push(entry)
    this.#weight += weigh(entry)
    if (this.#weight > weight) this.#lighten(weight / 2)
    const arrived = this.#arrival
    if (arrived === undefined) return
    this.#arrival = undefined
    Deferred.doneUnsafe(arrived, Effect.void)
  }

  /** Returns the entries from a position on. */
  from(position: number): ReadonlyArray<A> {
    return this.#entries.slice(Math.max(0, position - this.#dropped))
  }

  /** Removes the oldest entries while they are `outdated`. The positions of other entries do not change. */
  forgetWhile(outdated: (entry: A) => boolean): void {
    const kept = this.#entries.findIndex((entry) => !outdated(entry))
    const count = kept < 0 ? this.#entries.length : kept
    if (count > 0) this.#forget(count)
  }

  /** The number of entries that may be removed. */
  get #unneeded(): number {
    return Math.min(this.#entries.length, Math.max(0, this.#bounds.neededFrom() - this.#dropped))
  }

  #forget(count: number): void {
    for (let index = 0; index < count; index++) this.#weight -= this.#bounds.weigh(this.#entries[index])
    this.#entries = this.#entries.slice(count)
    this.#dropped += count
  }

  // Removes many entries or none, so that not every entry causes a removal. The last entry always stays.
  #lighten(most: number): void {
    const last = Math.min(this.#unneeded, this.#entries.length - 1)
    if (last < this.#entries.length / 4) return
    let count = 0
    for (let weight = this.#weight; weight > most && count < last; count++) {
      weight -= this.#bounds.weigh(this.#entries[count])
    }
    this.#forget(count)
  }

  clear(): void {
    this.forgetWhile(() => true)
  }

  /** Waits for an entry that is appended after this property was read, also if the fiber begins to wait later. */
  get arrival(): Effect.Effect<void> {
    return Deferred.await((this.#arrival ??= Deferred.makeUnsafe()))
  }

  /** Streams the entries from a position on, including later entries. */
  stream(position: number): Stream.Stream<A> {
    const next = (at: number): Effect.Effect<readonly [ReadonlyArray<A>, Option.Option<number>]> =>
      Effect.suspend(() => {
        const entries = this.from(at)
        return entries.length === 0
          ? Effect.andThen(this.arrival, next(at))
          : Effect.succeed([entries, Option.some(this.end)] as const)
      })
    return Stream.paginate(position, next)
  }
}
