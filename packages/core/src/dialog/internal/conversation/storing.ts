import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { Record } from "./record.ts"

/** What a run stores while its update is being handled. */
interface Options {
  /** What is stored of the conversation. */
  readonly before: Record | undefined
  /** Whether it says that the update is unfinished. */
  readonly isMarked: boolean
  /** Stores a record as unfinished at once. `isTaken`: whether the question that waited has taken the update. */
  readonly write: (record: Record, isTaken: boolean) => Effect.Effect<void>
}

/**
 * Stores where a run is, before something that must not happen without it. If the update becomes a dead letter, the conversation
 * waits for it, and a replay continues from there.
 */
export class Storing {
  readonly #options: Options
  readonly #writing = Semaphore.makeUnsafe(1)
  #isStored: boolean
  #isMarked: boolean

  /** `record` is where the run begins. */
  constructor(options: Options, record: Record) {
    this.#options = options
    this.#isMarked = options.isMarked
    this.#isStored = options.isMarked && options.before === record
  }

  /** Whether what is stored says that the update is unfinished. */
  get isMarked(): boolean {
    return this.#isMarked
  }

  /** Something has happened that is not stored. */
  changed(): void {
    this.#isStored = false
  }

  /** Stores that the update is unfinished, and nothing of what has happened. */
  get mark(): Effect.Effect<void> {
    const marked = Effect.suspend(() => {
      const { before, write } = this.#options
      if (this.#isMarked || before === undefined) return Effect.void
      return Effect.map(write(before, false), () => void (this.#isMarked = true))
    })
    return this.#writing.withPermit(marked)
  }

  /** Stores what has happened. */
  store(next: () => Record, isTaken: () => boolean): Effect.Effect<void> {
    const stored = Effect.suspend(() => {
      if (this.#isStored) return Effect.void
      // What happens during the write is not stored.
      this.#isStored = true
      return Effect.matchCauseEffect(this.#options.write(next(), isTaken()), {
        onSuccess: () => Effect.sync(() => void (this.#isMarked = true)),
        onFailure: (cause) => {
          this.#isStored = false
          return Effect.failCause(cause)
        }
      })
    })
    return this.#writing.withPermit(stored)
  }
}
