import type * as Cause from "effect/Cause"
import * as Fiber from "effect/Fiber"
import type { CallRecord, MadeCall } from "../../../client/internal/callRecord.ts"
import type { Part, Return } from "../../Handler.ts"
import { CurrentUpdate } from "../consumer/currentUpdate.ts"

const none: ReadonlyArray<never> = []

/** The record of an attempt for the log of handled updates. */
export class AttemptRecord implements CallRecord {
  /** The part that has taken the update. */
  part: Part | undefined
  /** Whether no handler has taken the update. */
  isDeclined = false
  /** Why the attempt failed. */
  cause: Cause.Cause<unknown> | undefined
  #calls: Array<MadeCall> | undefined

  get calls(): ReadonlyArray<MadeCall> {
    return this.#calls ?? none
  }

  add(call: MadeCall): void {
    if (this.#calls === undefined) this.#calls = [call]
    else this.#calls.push(call)
  }
}

/** Records the part that takes the update of the fiber that runs. */
export const recordPart = (part: Part, effect: Return<unknown, unknown>): Return<unknown, unknown> => {
  const record = effect && Fiber.getCurrent()?.getRef(CurrentUpdate)?.record
  if (record !== undefined) record.part = part
  return effect
}
