import type { InboxStore, RowWrite, Statement } from "../../InboxStore.ts"
import type { Inbox } from "../../Inbox.ts"
import type { Entry } from "../../QueuedUpdate.ts"
import type { Update } from "../../../model/Update.ts"
import type { Written } from "../kernel/partition.ts"
import type { Attempt, Received } from "./attempt.ts"
import type { Session } from "./cells.ts"
import type { Problem, StatementList } from "./statements.ts"

/** The changes of an attempt that are written when the update is acknowledged. */
export class Changes implements StatementList {
  readonly entry: Entry
  readonly update: Update
  readonly inbox: Inbox["Service"]
  readonly #attempt: Pick<Attempt, "isOver">
  /** The timers that are set or cancelled, by their keys. */
  readonly #timers = new Map<string, RowWrite>()
  /**
   * The values that the handling uses. States create the session, so that the bundle of a bot without states does not
   * contain the class.
   */
  states: Session | undefined
  #statements: ReadonlyArray<Statement> = []

  constructor({ entry, inbox, value }: Pick<Received, "entry" | "inbox" | "value">, attempt: Pick<Attempt, "isOver">) {
    this.entry = entry
    this.update = value
    this.inbox = inbox
    this.#attempt = attempt
  }

  get store(): InboxStore["Service"] {
    return this.inbox.store
  }

  /** Whether the update was acknowledged, so that later changes are written separately. */
  get isClosed(): boolean {
    return this.#attempt.isOver
  }

  /** Forgets the timers of a user, which were deleted in the store. */
  forgetTimers(user: string): void {
    for (const { key, row } of this.#timers.values()) if (row?.user === user) this.#timers.delete(key)
  }

  writeTimer(write: RowWrite): void {
    this.#timers.set(write.key, write)
  }

  addStatement(statement: Statement): Problem | undefined {
    if (!this.store.executesStatements) return "store"
    if (this.isClosed) return "acknowledged"
    this.#statements = [...this.#statements, statement]
    return undefined
  }

  /** Returns the rows to write and the statements to execute, or `undefined` if there are none. */
  written(): Written | undefined {
    const rows = [...(this.states?.writes() ?? []), ...this.#timers.values()]
    if (this.#statements.length > 0) return { statements: this.#statements, ...(rows.length === 0 ? {} : { rows }) }
    return rows.length === 0 ? undefined : { rows }
  }
}
