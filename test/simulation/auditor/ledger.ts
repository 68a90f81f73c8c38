/** What the store was asked and answered: which process holds which chat, and what is queued, acknowledged and dead. */
import type { StoreApplied } from "../world/history.ts"
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
}

interface Lease {
  readonly owner: string
  readonly process: string
  until: number
}

/** An update is acknowledged, or becomes a dead letter. */
export interface Settled {
  readonly chat: string
  readonly subject: string
  readonly isDead: boolean
}

/** Follows the history of the store. The caller passes all its events in order. */
export class Ledger {
  /** The subjects of each chat, in the order in which they were queued. Timers are not among them. */
  readonly queues = new Map<string, Array<string>>()
  /** Subjects that were queued. */
  readonly queued = new Set<string>()
  readonly settled = new Set<string>()
  readonly leases = new Map<string, Lease>()
  readonly #subjects = new Map<string, { readonly chat: string; readonly subject: string }>()
  readonly #fingerprints = new Set<string>()

  /** Whether the process held the chat last, and nobody has claimed it since. */
  holds(process: string, chat: string): boolean {
    return this.leases.get(chat)?.process === process
  }

  /** Whether the lease of the process is valid now. */
  isValid(process: string, chat: string, at: number): boolean {
    const lease = this.leases.get(chat)
    return lease?.process === process && at < lease.until
  }

  /** Applies an operation, and returns the updates that it settled. */
  apply(event: StoreApplied, at: number): ReadonlyArray<Settled> {
    switch (event.operation) {
      case "enqueue":
        this.#enqueue(event.request as { readonly updates: ReadonlyArray<QueuedRow["update"]> })
        return []
      case "claim":
        this.#claim(event, at)
        return []
      case "renew": {
        const { leaseDuration, owner } = event.request as { readonly leaseDuration: number; readonly owner: string }
        for (const key of event.result as ReadonlyArray<string>) {
          this.leases.set(key, { owner, process: event.process, until: at + leaseDuration })
        }
        return []
      }
      case "release":
        for (const [chat, { owner }] of this.leases) if (owner === event.request) this.leases.delete(chat)
        return []
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
      this.leases.set(key, { owner, process, until: at + leaseDuration })
      for (const { id, update } of updates) this.#subjects.set(id, { chat: key, subject: subjectOf(update.text) })
    }
  }

  #commit({ request, result }: StoreApplied): ReadonlyArray<Settled> {
    const settled: Array<Settled> = []
    const results = result as ReadonlyArray<string>
    for (const [index, { completed, partitionKey, release }] of (request as ReadonlyArray<CommitRow>).entries()) {
      if (results[index] !== "applied") continue
      for (const { failure, id } of completed) {
        const known = this.#subjects.get(id)
        if (known === undefined || this.settled.has(known.subject)) continue
        this.settled.add(known.subject)
        settled.push({ ...known, isDead: failure !== undefined })
      }
      if (release) this.leases.delete(partitionKey)
    }
    return settled
  }
}

/** Returns the ids of the updates that a page of the queue has. */
export const rowsOf = (result: unknown): ReadonlyArray<QueuedRow> =>
  Array.isArray(result) ? result.filter((row): row is QueuedRow => isRecord(row) && "update" in row) : []
