/** The store of the model: a queue in partitions, leases, marks, and the journals of the updates. Each operation is atomic. */
import type { Claim, ClaimedUpdate, Commit, CommitResult, Partition } from "../../packages/core/src/inbox/InboxStore.ts"

export type Journal = "none" | "started" | "done"

/** A queued update. Only what kernels and handlers look at. */
export interface Queued {
  readonly id: string
  readonly attempts: number
  readonly crashes: number
  readonly state: Journal
}

export interface Lease {
  readonly key: string
  queue: ReadonlyArray<Queued>
  owner: string | undefined
  until: number
  begun: ReadonlyArray<string>
  /** How many renewals have kept the lease although the process that has this name did not hold the partition. */
  kept: number
}

const entryOf = (queued: Queued): ClaimedUpdate => Object.freeze({ ...queued }) as unknown as ClaimedUpdate

export const journalOf = (entry: ClaimedUpdate): Journal => (entry as unknown as Queued).state

export class Store {
  readonly leases: Array<Lease>

  constructor(chats: ReadonlyArray<ReadonlyArray<string>>) {
    this.leases = chats.map((ids, index) => ({
      key: `chat${index + 1}`,
      queue: Object.freeze(ids.map((id) => Object.freeze({ id, attempts: 0, crashes: 0, state: "none" as const }))),
      owner: undefined,
      until: 0,
      begun: Object.freeze([]),
      kept: 0
    }))
  }

  get queued(): number {
    return this.leases.reduce((sum, { queue }) => sum + queue.length, 0)
  }

  lease(key: string): Lease {
    return this.leases.find((lease) => lease.key === key)!
  }

  isQueued(id: string): boolean {
    return this.leases.some(({ queue }) => queue.some((queued) => queued.id === id))
  }

  enqueue(key: string, id: string): void {
    const lease = this.lease(key)
    lease.queue = Object.freeze([
      ...lease.queue,
      Object.freeze({ id, attempts: 0, crashes: 0, state: "none" as const })
    ])
  }

  change(lease: Lease, id: string, change: (queued: Queued) => Queued): void {
    lease.queue = Object.freeze(lease.queue.map((one) => (one.id === id ? Object.freeze(change(one)) : one)))
  }

  count(lease: Lease, id: string, crash: number): void {
    this.change(lease, id, (one) => ({ ...one, attempts: one.attempts + 1, crashes: one.crashes + crash }))
    lease.begun = Object.freeze(lease.begun.filter((other) => other !== id))
  }

  end(lease: Lease): void {
    Object.assign(lease, { owner: undefined, until: 0, begun: Object.freeze([]), kept: 0 })
  }

  claim({ begin, leaseDuration, maxPartitions, maxUpdates, owner }: Claim, now: number): ReadonlyArray<Partition> {
    for (const lease of this.leases) {
      if (lease.owner === undefined || lease.until > now) continue
      for (const id of lease.begun) this.count(lease, id, 1)
      this.end(lease)
    }
    const free = this.leases
      .filter((lease) => lease.owner === undefined && lease.queue.length > 0)
      .sort((one, other) => (one.queue[0]!.id < other.queue[0]!.id ? -1 : 1))
    return free.slice(0, maxPartitions).map((lease) => {
      const updates = lease.queue.slice(0, maxUpdates)
      Object.assign(lease, { owner, until: now + leaseDuration, kept: 0 })
      lease.begun = Object.freeze(updates.slice(0, begin).map(({ id }) => id))
      return Object.freeze({ key: lease.key, updates: Object.freeze(updates.map(entryOf)) })
    })
  }

  commit({ begun, completed, failed, owner, partitionKey, release }: Commit): CommitResult {
    const lease = this.lease(partitionKey)
    if (lease.owner !== owner) return "leaseLost"
    for (const { id } of completed) {
      lease.queue = Object.freeze(lease.queue.filter((one) => one.id !== id))
      lease.begun = Object.freeze(lease.begun.filter((other) => other !== id))
    }
    for (const id of failed) this.count(lease, id, 0)
    for (const id of begun)
      if (lease.queue.some((one) => one.id === id) && !lease.begun.includes(id))
        lease.begun = Object.freeze([...lease.begun, id])
    if (release) this.end(lease)
    return "applied"
  }

  /** A duration of 0 ends the leases. */
  renew(owner: string, duration: number, now: number): ReadonlyArray<string> {
    const own = this.leases.filter((lease) => lease.owner === owner)
    for (const lease of own) {
      if (duration === 0) this.end(lease)
      else lease.until = now + duration
    }
    return Object.freeze(own.map(({ key }) => key))
  }

  record(owner: string, key: string, id: string, state: Journal): "applied" | "leaseLost" {
    const lease = this.lease(key)
    if (lease.owner !== owner || !lease.queue.some((one) => one.id === id)) return "leaseLost"
    this.change(lease, id, (one) => (one.state === "done" ? one : { ...one, state }))
    return "applied"
  }

  untilNext(now: number): number | undefined {
    if (this.leases.some(({ owner, queue }) => owner === undefined && queue.length > 0)) return 0
    const ends = this.leases.flatMap(({ owner, until }) => (owner === undefined ? [] : [Math.max(0, until - now)]))
    return ends.length === 0 ? undefined : Math.min(...ends)
  }
}
