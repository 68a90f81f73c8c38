import type { Commit, InboxStore, TimerChange } from "../../InboxStore.ts"
import type { Inbox } from "../../Inbox.ts"
import type { Entry } from "../../QueuedUpdate.ts"
import type { Update } from "../../../model/Update.ts"
import type { Session } from "./cells.ts"

/** The changes that are written when an update is acknowledged. */
export type Written = Pick<Commit, "timers" | "writes">

/** The changes of an attempt that are written when the update is acknowledged. */
export class Changes {
  /** The id of the update in the inbox. */
  readonly id: string
  readonly update: Update
  readonly inbox: Inbox["Service"]
  /** The changes of timers by name and key, because a store applies one for each timer. */
  readonly #timers = new Map<string, TimerChange>()
  /**
   * The values that the handling uses. States create the session, so that the bundle of a bot without states does not
   * contain the class.
   */
  states: Session | undefined
  #isClosed = false

  constructor({
    entry,
    inbox,
    value
  }: {
    readonly entry: Pick<Entry, "id">
    readonly value: Update
    readonly inbox: Inbox["Service"]
  }) {
    this.id = entry.id
    this.update = value
    this.inbox = inbox
  }

  get store(): InboxStore["Service"] {
    return this.inbox.store
  }

  /** Whether the update was acknowledged, so that later changes are written separately. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Forgets the timers of a user, which were deleted in the store. */
  forgetTimers(user: string): void {
    for (const [id, { set }] of this.#timers) if (set?.user === user) this.#timers.delete(id)
  }

  changeTimer(change: TimerChange): void {
    this.#timers.set(JSON.stringify([change.name, change.key]), change)
  }

  /** Returns the changes to write, or `undefined` if there are none. */
  close(): Written | undefined {
    this.#isClosed = true
    const writes = this.states?.close() ?? []
    if (writes.length === 0 && this.#timers.size === 0) return undefined
    return {
      ...(writes.length === 0 ? {} : { writes }),
      ...(this.#timers.size === 0 ? {} : { timers: [...this.#timers.values()] })
    }
  }

  /** The update could not be acknowledged. */
  reopen(): void {
    this.#isClosed = false
    this.states?.reopen()
  }
}
