/** What the store was asked and answered: which process holds which chat, and what is queued, acknowledged and dead. */
import type { Event } from "../history.ts"
import type { StoreApplied } from "@colloquy/testing/simulation/SimulationEvent"
import { isRecord, subjectOf } from "./subjects.ts"

interface QueuedRow {
  readonly id: string
  readonly update: { readonly text: string; readonly partitionKey: string; readonly fingerprint: string }
}

interface CommitRow {
  readonly owner: string
  readonly partitionKey: string
  readonly completed: ReadonlyArray<{ readonly id: string; readonly failure?: unknown }>
  readonly release: boolean
  readonly together?: ReadonlyArray<CommitRow>
}

/** A commit, and the commits that apply only together with it. */
const membersOf = (commit: CommitRow): ReadonlyArray<CommitRow> => [commit, ...(commit.together ?? [])]

interface Lease {
  readonly owner: string
  readonly process: string
  readonly until: number
  /** When the lease was claimed, if it was not renewed since. */
  readonly claimedAt: number | undefined
}

/** An update is acknowledged, or becomes a dead letter. */
export interface Settled {
  readonly chat: string
  readonly subject: string
  readonly isDead: boolean
}

/** Whether an owner has ended its leases. */
export const isRelease = ({ operation, request }: StoreApplied): boolean =>
  operation === "renew" && (request as { readonly leaseDuration: number }).leaseDuration === 0

/** Follows the history of the store. The caller passes all its events in order. */
export class Ledger {
  /** The subjects of each chat, in the order in which they were queued. Timers are not among them. */
  readonly queues = new Map<string, Array<string>>()
  /** Subjects that were queued. */
  readonly queued = new Set<string>()
  readonly settled = new Set<string>()
  /** Subjects that the store has lost. The platform may send them again. */
  readonly lost = new Set<string>()
  /** Subjects that the store had not settled after a failover, and of which a failover has lost an operation or a lease. */
  readonly shaken = new Set<string>()
  /** Subjects whose settlement a failover has lost, as long as the holder of their chat may not know that. */
  readonly #thrownBack = new Set<string>()
  /** Subjects that a failover has lost, until they are settled: they can begin before the store has them again. */
  readonly #displaced = new Set<string>()
  readonly #everSettled = new Set<string>()
  readonly leases = new Map<string, Lease>()
  readonly #subjects = new Map<string, { readonly chat: string; readonly subject: string }>()
  /** Ids of updates that were claimed, without claims that the store has lost. */
  readonly #claimed = new Set<string>()
  /** Ids of updates that the store has lost. */
  readonly #gone = new Set<string>()
  readonly #fingerprints = new Set<string>()
  #applied: Array<{ readonly event: StoreApplied; readonly at: number }> = []

  /** The subject of an update that was claimed with this id. */
  subjectOf(id: string): string | undefined {
    return this.#subjects.get(id)?.subject
  }

  /** Whether the process held the chat last, and nobody has claimed it since. */
  holds(process: string, chat: string): boolean {
    return this.leases.get(chat)?.process === process
  }

  /** Whether the lease of the process is valid now. */
  isValid(process: string, chat: string, at: number): boolean {
    const lease = this.leases.get(chat)
    return lease?.process === process && at < lease.until
  }

  /** Returns the chats that an operation was applied to although another process holds them, before it is applied. */
  foreignOf({ operation, request, result }: StoreApplied): ReadonlyArray<string> {
    const isForeign = (owner: string, chat: string) => {
      const lease = this.leases.get(chat)
      return lease !== undefined && lease.owner !== owner
    }
    if (operation === "renew") {
      const { owner } = request as { readonly owner: string }
      return (result as ReadonlyArray<string>).filter((chat) => isForeign(owner, chat))
    }
    if (operation !== "commit" && operation !== "write") return []
    type Holder = Pick<CommitRow, "owner" | "partitionKey">
    return (request as ReadonlyArray<CommitRow & { readonly journal?: Holder }>).flatMap((change, index) => {
      if ((result as ReadonlyArray<string>)[index] !== "applied") return []
      const holders: ReadonlyArray<Holder> = change.journal === undefined ? membersOf(change) : [change.journal]
      return holders.flatMap(({ owner, partitionKey }) => (isForeign(owner, partitionKey) ? [partitionKey] : []))
    })
  }

  /**
   * The earlier update of a chat that has to be settled before an update begins. After a failover, a process may go on behind an
   * update whose settlement was lost.
   */
  unsettledBefore(chat: string, subject: string): string | undefined {
    const queue = this.queues.get(chat) ?? []
    if (this.#displaced.has(subject) || !queue.includes(subject)) return undefined
    return queue
      .slice(0, queue.indexOf(subject))
      .find((earlier) => !this.settled.has(earlier) && !this.#thrownBack.has(earlier))
  }

  /** The holder of a chat knows that a subject is not settled: the holder has begun the subject, or has claimed it long ago. */
  expect(subject: string): void {
    this.#thrownBack.delete(subject)
  }

  /** Forgets the operations after a time. */
  lose(since: number): void {
    const queued = [...this.queued]
    const before = new Map(this.leases)
    const kept = this.#applied.filter(({ at }) => at <= since)
    const changed = this.#applied.filter(({ at }) => at > since).flatMap(({ event }) => this.#changedBy(event))
    this.#applied = []
    // Ids are still known from claims that the store has lost.
    for (const part of [this.queues, this.queued, this.settled, this.leases, this.#claimed, this.#fingerprints]) {
      part.clear()
    }
    for (const { at, event } of kept) this.apply(event, at)
    const isHeld = (chat: string) => {
      const [lease, known] = [this.leases.get(chat), before.get(chat)]
      return lease?.owner === known?.owner && lease?.until === known?.until
    }
    const gone: Array<string> = []
    for (const [id, { chat, subject }] of this.#subjects) {
      // A claim that is lost has made an update of the timer.
      const isQueued = this.#claimed.has(id) || (this.queued.has(subject) && !subject.startsWith("timer "))
      if (!isQueued) this.#gone.add(id)
      if (!isQueued || !isHeld(chat)) gone.push(subject)
    }
    for (const subject of queued) {
      if (this.queued.has(subject)) continue
      for (const set of [this.lost, this.#displaced]) set.add(subject)
      gone.push(subject)
    }
    for (const subject of [...changed, ...gone]) if (!this.settled.has(subject)) this.shaken.add(subject)
    for (const subject of this.#everSettled) if (!this.settled.has(subject)) this.#thrownBack.add(subject)
  }

  /** The subjects that an operation has settled, or whose journal the operation has written. */
  #changedBy({ operation, request }: StoreApplied): ReadonlyArray<string> {
    const ids =
      operation === "commit"
        ? (request as ReadonlyArray<CommitRow>).flatMap(membersOf).flatMap(({ completed }) => completed)
        : operation === "write"
          ? (request as ReadonlyArray<{ readonly journal?: { readonly id: string } }>).flatMap(
              ({ journal = [] }) => journal
            )
          : []
    return ids.flatMap(({ id }) => this.subjectOf(id) ?? [])
  }

  /** Applies an operation, and returns the updates that it settled. */
  apply(event: StoreApplied, at: number): ReadonlyArray<Settled> {
    this.#applied.push({ event, at })
    switch (event.operation) {
      case "enqueue":
        this.#enqueue(event.request as { readonly updates: ReadonlyArray<QueuedRow["update"]> })
        return []
      case "claim":
        this.#claim(event, at)
        return []
      case "renew": {
        if (isRelease(event)) {
          for (const key of event.result as ReadonlyArray<string>) this.leases.delete(key)
          return []
        }
        const { leaseDuration, owner } = event.request as { readonly leaseDuration: number; readonly owner: string }
        for (const key of event.result as ReadonlyArray<string>) {
          this.leases.set(key, { owner, process: event.process, until: at + leaseDuration, claimedAt: undefined })
        }
        return []
      }
      case "commit":
        return this.#commit(event)
      default:
        return []
    }
  }

  #enqueue({ updates }: { readonly updates: ReadonlyArray<QueuedRow["update"]> }): void {
    for (const { fingerprint, partitionKey, text } of updates) {
      if (this.#fingerprints.has(fingerprint)) continue
      this.#fingerprints.add(fingerprint)
      const subject = subjectOf(text)
      this.queued.add(subject)
      this.lost.delete(subject)
      const queue = this.queues.get(partitionKey) ?? []
      this.queues.set(partitionKey, queue)
      queue.push(subject)
    }
  }

  #claim({ process, request, result }: StoreApplied, at: number): void {
    const { leaseDuration, owner } = request as { readonly leaseDuration: number; readonly owner: string }
    for (const { key, updates } of result as ReadonlyArray<{
      readonly key: string
      readonly updates: ReadonlyArray<QueuedRow>
    }>) {
      this.leases.set(key, { owner, process, until: at + leaseDuration, claimedAt: at })
      for (const { id, update } of updates) {
        this.#claimed.add(id)
        this.#subjects.set(id, { chat: key, subject: subjectOf(update.text) })
      }
    }
  }

  #commit({ request, result }: StoreApplied): ReadonlyArray<Settled> {
    const settled: Array<Settled> = []
    const results = result as ReadonlyArray<string>
    for (const [index, commit] of (request as ReadonlyArray<CommitRow>).entries()) {
      if (results[index] !== "applied") continue
      for (const { completed, partitionKey, release } of membersOf(commit)) {
        for (const { failure, id } of completed) {
          const known = this.#subjects.get(id)
          if (known === undefined || this.#gone.has(id) || this.settled.has(known.subject)) continue
          this.settled.add(known.subject)
          this.#everSettled.add(known.subject)
          this.#displaced.delete(known.subject)
          settled.push({ ...known, isDead: failure !== undefined })
        }
        if (release) this.leases.delete(partitionKey)
      }
    }
    return settled
  }
}

/** Returns what the store has in the end. */
export const ledgerOf = (events: ReadonlyArray<Event>): Ledger => {
  const ledger = new Ledger()
  for (const event of events) {
    if (event.type === "store") ledger.apply(event, event.at)
    else if (event.type === "failedOver") ledger.lose(event.since)
  }
  return ledger
}

/** Returns the ids of the updates that a page of the queue has. */
export const rowsOf = (result: unknown): ReadonlyArray<QueuedRow> =>
  Array.isArray(result) ? result.filter((row): row is QueuedRow => isRecord(row) && "update" in row) : []
