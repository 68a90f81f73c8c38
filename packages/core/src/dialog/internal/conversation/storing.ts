import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Semaphore from "effect/Semaphore"
import { bracket } from "../../../base/internal/bracket.ts"
import type { Record } from "./record.ts"

/** The stored data of a turn while its update is being handled. */
interface Options {
  /** The stored record of the conversation. */
  readonly before: Record | undefined
  /** Whether the record says that the update is unfinished. */
  readonly isMarked: boolean
  /** Stores a record as unfinished at once. `isTaken`: whether the question that waited has taken the update. */
  readonly write: (record: Record, isTaken: boolean) => Effect.Effect<void>
}

/**
 * Stores the progress of a turn, before an operation that must not run without stored progress. If the update becomes a
 * dead letter, the conversation waits for this update, and a replay continues from the stored progress. `record` is
 * where the turn begins.
 */
export const makeStoring = ({ before, write, ...options }: Options, record: Record) => {
  const writing = Semaphore.makeUnsafe(1)
  let { isMarked } = options
  let isStored = isMarked && before === record
  return {
    /** The results are not those that are stored any more. */
    changed: (): void => {
      isStored = false
    },
    /** Stores that the update is unfinished, without the results so far. */
    mark: writing.withPermit(
      Effect.suspend(() =>
        isMarked || before === undefined ? Effect.void : Effect.map(write(before, false), () => void (isMarked = true))
      )
    ),
    /** Stores the results so far. */
    store: (next: () => Record, isTaken: () => boolean): Effect.Effect<void> => {
      const stored = bracket(
        // Results that are recorded during the write are not stored.
        () => (isStored = true),
        () => write(next(), isTaken()),
        (_, exit) => {
          if (Exit.isSuccess(exit)) isMarked = true
          else isStored = false
          return undefined
        }
      )
      return writing.withPermit(Effect.suspend(() => (isStored ? Effect.void : stored)))
    }
  }
}

export type Storing = ReturnType<typeof makeStoring>
