import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"

/**
 * An append-only log; where a limit is told, at least so many of its last entries are kept. A reader keeps its own position, so readers are independent of each other and may come late;
 * one that has read to the end waits for the next entry without polling.
 */
export class Log<A> {
  #entries: Array<A> = []
  #dropped = 0
  #arrival: Deferred.Deferred<void> | undefined
  readonly #limit: number

  constructor(limit = Infinity) {
    this.#limit = limit
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
    if (this.#entries.length >= 2 * this.#limit) this.#forget(this.#limit)
    this.#entries.push(entry)
    const arrived = this.#arrival
    if (arrived === undefined) return
    this.#arrival = undefined
    Deferred.doneUnsafe(arrived, Effect.void)
  }

  /** The entries from a position on. */
  from(position: number): ReadonlyArray<A> {
    return this.#entries.slice(Math.max(0, position - this.#dropped))
  }

  /** Forgets the oldest entries for as long as they are `outdated`; positions stay. */
  forgetWhile(outdated: (entry: A) => boolean): void {
    const kept = this.#entries.findIndex((entry) => !outdated(entry))
    const count = kept < 0 ? this.#entries.length : kept
    if (count > 0) this.#forget(count)
  }

  #forget(count: number): void {
    this.#entries = this.#entries.slice(count)
    this.#dropped += count
  }

  clear(): void {
    this.forgetWhile(() => true)
  }

  /** Waits for an entry that is appended after this moment. */
  readonly arrival: Effect.Effect<void> = Effect.suspend(() =>
    Deferred.await((this.#arrival ??= Deferred.makeUnsafe()))
  )

  /** The entries from a position on, the ones to come included. */
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
