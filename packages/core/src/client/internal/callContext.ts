import { optionalReference } from "../../base/internal/optionalReference.ts"
import type { CallRecord } from "./callRecord.ts"
import type { UpdateJournal } from "./journal/current.ts"

/**
 * The calls that the attempts of an update have made, and whose repetition the platform refuses: answers and removals.
 */
export interface AnswerLog {
  /** The number of the current attempt. */
  attempt: number
  /** Whether a killed process, or the attempts of a dead letter, may have made the calls. */
  isRedelivered: boolean
  /** The last attempt that has made or may have made a call. */
  attempts: Map<string, number> | undefined
}

/** The context that the handling of an update gives to its calls. The consumer of the inbox provides this context. */
export interface CallContext {
  /** `undefined` if the calls are not recorded. */
  readonly journal?: UpdateJournal | undefined
  readonly answers?: AnswerLog | undefined
  /** Where the calls are recorded for the log of handled updates. `undefined`: the calls are not in the log. */
  readonly record?: CallRecord | undefined
}

/** The context of the calls of a fiber. Default: none, outside of handling. */
export const CurrentCallContext = optionalReference<CallContext>("@colloquy/core/internal/client/CallContext")
