import type { Claim } from "../../InboxStore.ts"
import type { Database } from "../../SqliteInboxStore.ts"
import type { Tables } from "./tables.ts"
import { encodeText, endOf } from "./texts.ts"
import type { makeUpdates } from "./updates.ts"

const toBegun = (ids: Iterable<number | string>): string => [...ids].join(",")

const fromBegun = (begun: unknown): ReadonlyArray<string> => (begun === "" ? [] : String(begun).split(","))

/** A lease: the owner, and the ids of the updates whose attempt is running. */
type Lease = [owner: string, begun: string]

/** The partitions: free, or held by an owner. Keys and owners are in stored form. */
export const makePartitions = (
  all: Database["all"],
  { free, leases, updates: table }: Tables,
  updates: ReturnType<typeof makeUpdates>
) => {
  const insertIntoFree = `INSERT INTO ${free} (head_id, partition_key) VALUES (?, ?)`
  const deleteLease = `DELETE FROM ${leases} WHERE partition_key = ?`
  const selectLease = `SELECT owner, begun FROM ${leases} WHERE partition_key = ?`
  const insertLease = `INSERT INTO ${leases} (partition_key, owner, lease_until, begun) VALUES (?, ?, ?, ?)`
  const updateBegun = `UPDATE ${leases} SET begun = ? WHERE partition_key = ?`
  const selectExists = `SELECT EXISTS (SELECT 1 FROM ${table} WHERE partition_key = ?)
          OR EXISTS (SELECT 1 FROM ${leases} WHERE partition_key = ?)`

  const insertFree = (key: string, head: number): void => void all(insertIntoFree, head, key)

  /** Ends a lease. Returns whether the partition has updates. */
  const release = (key: string): boolean => {
    all(deleteLease, key)
    const head = updates.headOf(key)
    if (head !== undefined) insertFree(key, head)
    return head !== undefined
  }

  const leaseOf = (key: string): Lease | undefined => all<Lease>(selectLease, key)[0]

  /** Ends expired leases. Their begun updates have one more attempt and one more crash. */
  const expire = (now: number): void => {
    const expired = all<[string, string]>(`SELECT partition_key, begun FROM ${leases} WHERE lease_until <= ?`, now)
    for (const [key, begun] of expired) {
      for (const id of fromBegun(begun)) updates.countAttempt(key, id, 1)
      release(key)
    }
  }

  /**
   * Removes the first free partitions, and returns them with their first updates. A row of `free` that does not match the
   * first update is due to updates that were deleted outside of the library.
   */
  const takeFree = (limit: number, maxUpdates: number) => {
    // A variable alone as the limit would make SQLite prepare the statement again at each call.
    const found = all<[number, string]>(
      `SELECT head_id, partition_key FROM ${free} ORDER BY head_id LIMIT ? + 0`,
      limit
    )
    const last = found.at(-1)
    if (last === undefined) return undefined
    all(`DELETE FROM ${free} WHERE head_id <= ?`, last[0])
    const taken = new Map<string, ReturnType<typeof updates.first>>()
    for (const [head, key] of found) {
      const first = updates.first(key, maxUpdates)
      if (first.length === 0 || taken.has(key)) continue
      if (first[0]![0] !== head) all(`DELETE FROM ${free} WHERE partition_key = ?`, key)
      taken.set(key, first)
    }
    return taken
  }

  return {
    release,
    leaseOf,
    /** Whether a partition has updates or an owner. */
    exists: (key: string): boolean => all<[number]>(selectExists, key, key)[0]![0] === 1,
    insertFree,
    claim: ({ begin, leaseDuration, maxPartitions, maxUpdates }: Claim, owner: string, now: number) => {
      expire(now)
      for (;;) {
        const taken = takeFree(maxPartitions, maxUpdates)
        if (taken === undefined) return []
        if (taken.size === 0) continue
        for (const [key, first] of taken) {
          all(insertLease, key, owner, now + leaseDuration, toBegun(first.slice(0, begin).map(([id]) => id)))
        }
        return [...taken]
      }
    },
    /**
     * Changes the ids of the updates whose attempt is running. The ids of completed updates stay until then, and mean
     * nothing.
     */
    begin: (key: string, [, before]: Lease, failed: ReadonlyArray<string>, begun: ReadonlyArray<string>): void => {
      if (begun.length === 0 && failed.length === 0) return
      const kept = fromBegun(before).filter((id) => !failed.includes(id) && updates.isQueued(key, id))
      const after = toBegun(new Set([...kept, ...begun]))
      if (after !== before) all(updateBegun, after, key)
    },
    hasLeases: (): boolean => all(`SELECT 1 FROM ${leases} LIMIT 1`).length > 0,
    /** Returns the keys of the partitions of an owner. */
    keysOf: (owner: string): ReadonlyArray<string> =>
      all<[string]>(`SELECT partition_key FROM ${leases} WHERE owner = ?`, owner).map(([key]) => key),
    renew: (owner: string, leaseUntil: number): void =>
      void all(`UPDATE ${leases} SET lease_until = ? WHERE owner = ?`, leaseUntil, owner),
    /** Lets the leases of all owners expire whose names begin with a prefix. */
    endLeases: (prefix: string): void => {
      const start = encodeText(prefix)
      all(`UPDATE ${leases} SET lease_until = 0 WHERE owner >= ? AND owner < ?`, start, endOf(start))
    },
    /**
     * The time at which a partition can be claimed: 0 if a partition has no owner, otherwise the end of the first lease.
     */
    claimableAt: (): number | undefined => {
      if (all(`SELECT 1 FROM ${free} LIMIT 1`).length > 0) return 0
      return all<[number | null]>(`SELECT min(lease_until) FROM ${leases}`)[0]![0] ?? undefined
    }
  }
}
