import * as Context from "effect/Context"
import type { Commit, InboxStore } from "../../InboxStore.ts"
import type { Update } from "../../Update.ts"
import { Session } from "../state/cells.ts"

/** What is written when an update is acknowledged. */
export type Written = Pick<Commit, "writes">

/** What an attempt to handle an update changes in the store of the inbox when the update is acknowledged. */
export class Changes {
  readonly update: Update
  readonly store: InboxStore["Service"]
  #states: Session | undefined
  #isClosed = false

  constructor(update: Update, store: InboxStore["Service"]) {
    this.update = update
    this.store = store
  }

  get states(): Session {
    return (this.#states ??= new Session(this.store, this.#isClosed))
  }

  /** Returns what is to be written, or `undefined` if nothing is. */
  close(): Written | undefined {
    this.#isClosed = true
    const writes = this.#states?.close() ?? []
    return writes.length === 0 ? undefined : { writes }
  }

  /** The update could not be acknowledged. */
  reopen(): void {
    this.#isClosed = false
    this.#states?.reopen()
  }
}

/** The changes of the update that is being handled. Default: none, outside of handling. */
export const CurrentChanges = Context.Reference<Changes | undefined>("@colloquy/core/internal/updates/CurrentChanges", {
  defaultValue: () => undefined
})
