import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Semaphore from "effect/Semaphore"
import { bracket } from "../../../base/internal/bracket.ts"
import type { Record } from "./record.ts"

/** The stored data of a run while its update is being handled. */
interface Options {
  /** The stored record of the conversation. */
  readonly before: Record | undefined
  /** Whether the record says that the update is unfinished. */
  readonly isMarked: boolean
  /** Stores a record as unfinished at once. `isTaken`: whether the question that waited has taken the update. */
  readonly write: (record: Record, isTaken: boolean) => Effect.Effect<void>
}

/**
 * Stores the progress of a run, before an operation that must not run without stored progress. If the update becomes a
 * dead letter, the conversation waits for this update, and a replay continues from the stored progress.
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

  /** Whether the stored record says that the update is unfinished. */
  get isMarked(): boolean {
    return this.#isMarked
  }

  /** A result has been recorded that is not stored. */
  changed(): void {
    this.#isStored = false
  }

  /** Stores that the update is unfinished, without the results so far. */
  get mark(): Effect.Effect<void> {
    const marked = Effect.suspend(() => {
      const { before, write } = this.#options
      if (this.#isMarked || before === undefined) return Effect.void
      return Effect.map(write(before, false), () => void (this.#isMarked = true))
    })
    return this.#writing.withPermit(marked)
  }

  /** Stores the results so far. */
  store(next: () => Record, isTaken: () => boolean): Effect.Effect<void> {
    const stored = bracket(
      // Results that are recorded during the write are not stored.
      () => (this.#isStored = true),
      () => this.#options.write(next(), isTaken()),
      (_, exit) => {
        if (Exit.isSuccess(exit)) this.#isMarked = true
        else this.#isStored = false
        return undefined
      }
    )
    return this.#writing.withPermit(Effect.suspend(() => (this.#isStored ? Effect.void : stored)))
  }
}
