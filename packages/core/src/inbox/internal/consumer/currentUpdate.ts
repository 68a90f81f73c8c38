import type * as Context from "effect/Context"
import type { Entry } from "../../QueuedUpdate.ts"
import { type CallContext, CurrentCallContext } from "../../../client/internal/callContext.ts"
import type { AttemptRecord } from "../log/attemptRecord.ts"
import type { Changes } from "./changes.ts"
import type { StatementList } from "./statements.ts"

/**
 * The context of an update that is being handled. Each part is created when it is first used, because most updates use
 * no part.
 */
export interface HandledUpdate extends CallContext {
  readonly record?: AttemptRecord | undefined
  readonly changes?: Changes | undefined
  /** The statements of the update, or of the group of updates. */
  readonly statements?: StatementList | undefined
  /** The queued update. */
  readonly entry?: Entry | undefined
}

/** The update that is being handled, which is the context of its calls. Default: none, outside of handling. */
export const CurrentUpdate = CurrentCallContext as Context.Reference<HandledUpdate | undefined>

/** The same update, whose calls are not recorded. */
export const withoutJournal = (update: HandledUpdate | undefined): HandledUpdate | undefined =>
  update === undefined
    ? undefined
    : {
        get changes() {
          return update.changes
        },
        get answers() {
          return update.answers
        },
        get statements() {
          return update.statements
        },
        entry: update.entry,
        record: update.record
      }
