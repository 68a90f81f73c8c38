import type { Entry } from "../../QueuedUpdate.ts"
import type { UpdateJournal } from "../../../client/internal/journal/current.ts"
import { AttemptRecord } from "../log/attemptRecord.ts"
import type { Queued } from "../kernel/delivery.ts"
import type { Written } from "../kernel/partition.ts"
import { Changes } from "./changes.ts"
import type { AnswerLog } from "../../../client/internal/callContext.ts"
import type { HandledUpdate } from "./currentUpdate.ts"

/** An update of an inbox, and the values that all its attempts share. */
export interface Received extends Pick<Queued, "answers" | "inbox" | "journal" | "value"> {
  readonly entry: Entry
}

/**
 * An attempt to handle an update. A fiber that outlives the attempt keeps the attempt, so that changes of the fiber
 * belong neither to a later attempt nor to an acknowledgement that is already written.
 */
export class Attempt extends AttemptRecord implements HandledUpdate {
  readonly #received: Received
  #changes: Changes | undefined
  /** Whether changes of the attempt are written at once, and no longer with its acknowledgement. */
  isOver = false

  constructor(received: Received) {
    super()
    this.#received = received
  }

  get record(): AttemptRecord {
    return this
  }

  get journal(): UpdateJournal {
    return this.#received.journal
  }

  get answers(): AnswerLog {
    return this.#received.answers
  }

  get entry(): Entry {
    return this.#received.entry
  }

  get changes(): Changes {
    return (this.#changes ??= new Changes(this.#received, this))
  }

  get statements(): Changes {
    return this.changes
  }

  /** Returns the changes to write with the acknowledgement. Later changes are written at once. */
  close(): Written | undefined {
    this.isOver = true
    return this.#changes?.written()
  }

  /** The update could not be acknowledged. */
  reopen(): void {
    this.isOver = false
  }
}
