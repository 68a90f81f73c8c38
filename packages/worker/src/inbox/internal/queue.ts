import type { Claim, Completed } from "@colloquy/core/inbox/InboxStore"
import * as QueuedUpdate from "@colloquy/core/inbox/QueuedUpdate"
import { decodeText, encodeText, numberOf, type Query } from "../../base/internal/database.ts"

/** An update to queue, in stored form. */
export type NewUpdate = {
  readonly partition_key: string
  readonly fingerprint: string
  readonly received_at: number
  readonly text: string
}

/** A queued update, in stored form. */
export type UpdateRow = NewUpdate & { readonly id: number; readonly attempts: number; readonly crashes: number }

const columns = "id, partition_key, fingerprint, received_at, text, attempts, crashes"

export const toNew = ({ fingerprint, partitionKey, receivedAt, text }: QueuedUpdate.QueuedUpdate): NewUpdate => ({
  partition_key: encodeText(partitionKey),
  fingerprint: encodeText(fingerprint),
  received_at: receivedAt,
  text: encodeText(text)
})

export const toEntry = ({
  fingerprint,
  id,
  partition_key,
  received_at,
  text
}: NewUpdate & { readonly id: number }): QueuedUpdate.Entry => ({
  id: String(id),
  update: QueuedUpdate.fromStored({
    fingerprint: decodeText(fingerprint),
    partitionKey: decodeText(partition_key),
    receivedAt: received_at,
    text: decodeText(text)
  })
})

/** The queued updates in their partitions, which have leases. Partition keys are in stored form. */
export const makeQueue = (query: Query) => {
  const isQueued = (partition: string, id: string): boolean =>
    query("SELECT 1 FROM colloquy_updates WHERE id = ? AND partition_key = ?", numberOf(id), partition).length > 0

  /** Ends a lease, and deletes an empty partition. Begun updates do not change. */
  const free = (partition: string): void => {
    const [{ head_id }] = query<{ head_id: number | null }>(
      "SELECT min(id) AS head_id FROM colloquy_updates WHERE partition_key = ?",
      partition
    )
    if (head_id === null) query("DELETE FROM colloquy_partitions WHERE partition_key = ?", partition)
    else {
      query("UPDATE colloquy_partitions SET owner = NULL, head_id = ? WHERE partition_key = ?", head_id, partition)
    }
  }

  /** Ends a lease whose owner is alive: its begun updates do not count as attempts. */
  const release = (partition: string): void => {
    query("UPDATE colloquy_updates SET begun = 0 WHERE partition_key = ? AND begun = 1", partition)
    free(partition)
  }

  /** Ends expired leases. Their begun updates have one more attempt and one more crash. */
  const expire = (now: number): void => {
    const expired = query<{ partition_key: string }>(
      "SELECT partition_key FROM colloquy_partitions WHERE owner IS NOT NULL AND lease_until <= ?",
      now
    )
    for (const { partition_key } of expired) {
      query(
        `UPDATE colloquy_updates SET begun = 0, attempts = attempts + 1, crashes = crashes + 1
          WHERE partition_key = ? AND begun = 1`,
        partition_key
      )
      free(partition_key)
    }
  }

  const keysOf = (owner: string): ReadonlyArray<string> =>
    query<{ partition_key: string }>(
      "SELECT partition_key FROM colloquy_partitions WHERE owner IS NOT NULL AND owner = ?",
      owner
    ).map(({ partition_key }) => partition_key)

  const after = (where: string, ...values: Array<string | number>): ReadonlyArray<QueuedUpdate.Entry> =>
    query<UpdateRow>(`SELECT ${columns} FROM colloquy_updates WHERE ${where} ORDER BY id LIMIT ?`, ...values).map(
      toEntry
    )

  /** Inserts an update, and returns its id. The update is queued when its partition exists. */
  const insert = ({ fingerprint, partition_key, received_at, text }: NewUpdate, attempts: number): number =>
    query<{ id: number }>(
      `INSERT INTO colloquy_updates (partition_key, fingerprint, received_at, text, attempts) VALUES (?, ?, ?, ?, ?)
        RETURNING id`,
      partition_key,
      fingerprint,
      received_at,
      text,
      attempts
    )[0].id

  /** Removes an update, or with a failure, makes the update a dead letter. Returns whether the update was queued. */
  const complete = (partition: string, { failure, id }: Completed): boolean => {
    if (failure !== undefined) {
      query(
        `INSERT INTO colloquy_dead_letters (id, partition_key, fingerprint, received_at, text, attempts, error, failed_at)
          SELECT id, partition_key, fingerprint, received_at, text, ?, ?, ? FROM colloquy_updates
          WHERE id = ? AND partition_key = ?`,
        failure.attempts,
        encodeText(failure.error),
        failure.failedAt,
        numberOf(id),
        partition
      )
    }
    return (
      query("DELETE FROM colloquy_updates WHERE id = ? AND partition_key = ? RETURNING 1", numberOf(id), partition)
        .length > 0
    )
  }

  return {
    append: (update: NewUpdate, attempts = 0): number => {
      const id = insert(update, attempts)
      query(
        "INSERT INTO colloquy_partitions (partition_key, head_id) VALUES (?, ?) ON CONFLICT (partition_key) DO NOTHING",
        update.partition_key,
        id
      )
      return id
    },
    /** Makes an update that was never queued a dead letter. */
    reject: (update: NewUpdate, error: string, failedAt: number): void =>
      void complete(update.partition_key, {
        id: String(insert(update, 0)),
        failure: { error, attempts: 0, failedAt }
      }),
    complete,
    /** Claims partitions. Returns their updates. */
    claim: ({ begin, leaseDuration, maxPartitions, maxUpdates, owner }: Claim, now: number) => {
      expire(now)
      const claimed: Array<{ readonly partition: string; readonly rows: ReadonlyArray<UpdateRow> }> = []
      const found = query<{ partition_key: string }>(
        "SELECT partition_key FROM colloquy_partitions WHERE owner IS NULL ORDER BY head_id LIMIT ?",
        maxPartitions
      )
      for (const { partition_key } of found) {
        const rows = query<UpdateRow>(
          `SELECT ${columns} FROM colloquy_updates WHERE partition_key = ? ORDER BY id LIMIT ?`,
          partition_key,
          maxUpdates
        )
        for (const { id } of rows.slice(0, begin)) query("UPDATE colloquy_updates SET begun = 1 WHERE id = ?", id)
        query(
          "UPDATE colloquy_partitions SET owner = ?, lease_until = ? WHERE partition_key = ?",
          encodeText(owner),
          now + leaseDuration,
          partition_key
        )
        claimed.push({ partition: partition_key, rows })
      }
      return claimed
    },
    isHeld: (owner: string, partition: string): boolean =>
      query("SELECT 1 FROM colloquy_partitions WHERE partition_key = ? AND owner = ?", partition, encodeText(owner))
        .length > 0,
    isQueued,
    /** Counts an attempt that failed. */
    fail: (partition: string, id: string): void =>
      void query(
        "UPDATE colloquy_updates SET begun = 0, attempts = attempts + 1 WHERE id = ? AND partition_key = ?",
        numberOf(id),
        partition
      ),
    begin: (partition: string, id: string): void =>
      void query("UPDATE colloquy_updates SET begun = 1 WHERE id = ? AND partition_key = ?", numberOf(id), partition),
    release,
    releaseAll: (owner: string): void => keysOf(encodeText(owner)).forEach(release),
    renew: (owner: string, leaseUntil: number): ReadonlyArray<string> => {
      const keys = keysOf(encodeText(owner))
      for (const key of keys) {
        query("UPDATE colloquy_partitions SET lease_until = ? WHERE partition_key = ?", leaseUntil, key)
      }
      return keys.map(decodeText)
    },
    /** Lets all leases expire. */
    endLeases: (): void =>
      void query("UPDATE colloquy_partitions SET lease_until = 0 WHERE owner IS NOT NULL AND lease_until > 0"),
    queuedAfter: (partition: string, id: string, limit: number) =>
      after("partition_key = ? AND id > ?", partition, numberOf(id), limit),
    queued: (id: string, limit: number) => after("id > ?", numberOf(id), limit),
    count: (): number => query<{ count: number }>("SELECT count(*) AS count FROM colloquy_updates")[0].count,
    oldestReceivedAt: (): number | undefined =>
      query<{ received_at: number }>("SELECT received_at FROM colloquy_updates ORDER BY id LIMIT 1")[0]?.received_at,
    /**
     * The time at which a partition can be claimed: 0 if a partition has no owner, otherwise the end of the first
     * lease.
     */
    claimableAt: (): number | undefined => {
      if (query("SELECT 1 FROM colloquy_partitions WHERE owner IS NULL LIMIT 1").length > 0) return 0
      return query<{ lease_until: number }>(
        "SELECT lease_until FROM colloquy_partitions WHERE owner IS NOT NULL ORDER BY lease_until LIMIT 1"
      )[0]?.lease_until
    }
  }
}
