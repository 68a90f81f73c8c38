import * as Context from "effect/Context"
import type { Entry } from "../../QueuedUpdate.ts"
import type { UpdateJournal } from "../journal/current.ts"
import type { Changes } from "./changes.ts"

/** The calls that the attempts of an update have made, and that the platform refuses if they are repeated: answers and removals. */
export interface AnswerLog {
  /** The number of the current attempt. */
  attempt: number
  /** Whether a process that was killed, or the attempts of a dead letter, may have made them. */
  isRedelivered: boolean
  /** The last attempt that has made a call or may have made it. */
  attempts: Map<string, number> | undefined
}

/** What belongs to an update that is being handled. Each part is created when it is first used, because most updates use none. */
export interface HandledUpdate {
  /** `undefined` if the calls are not recorded. */
  readonly journal: UpdateJournal | undefined
  readonly changes: Changes | undefined
  readonly answers: AnswerLog | undefined
  /** The update as the inbox stores it. */
  readonly entry: Entry | undefined
}

/** The update that is being handled. Default: none, outside of handling. */
export const CurrentUpdate = Context.Reference<HandledUpdate | undefined>(
  "@colloquy/core/internal/updates/CurrentUpdate",
  { defaultValue: () => undefined }
)

/** The same update, whose calls are not recorded. */
export const withoutJournal = (update: HandledUpdate | undefined): HandledUpdate | undefined =>
  update === undefined
    ? undefined
    : {
        journal: undefined,
        get changes() {
          return update.changes
        },
        get answers() {
          return update.answers
        },
        entry: update.entry
      }
