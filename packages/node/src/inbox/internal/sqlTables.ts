/**
 * `updates` holds queued updates and dead letters; `failed_at` is set for dead letters. `partitions` has a row for each
 * key that has a queued update or an owner: `head_id` is the first queued update of a partition without an owner,
 * `owner` counts until `lease_until`, and `begun` are the ids of the updates whose attempt is running, separated by
 * commas. `counts` has the numbers of updates, as sums over its rows. `journal` has the entries of updates, which
 * PostgreSQL marks as `journaled`. `states` has the values of the state, and `timers` the timers that become updates at
 * `due_at`. `occurrences` has the updates of due timers, until they are handled. `server` is a sequence of PostgreSQL: see `pgIds.ts`.
 */
export const tableNames = (table: string) => ({
  updates: `${table}_updates`,
  partitions: `${table}_partitions`,
  fingerprints: `${table}_fingerprints`,
  markers: `${table}_markers`,
  counts: `${table}_counts`,
  journal: `${table}_journal`,
  states: `${table}_states`,
  timers: `${table}_timers`,
  occurrences: `${table}_occurrences`,
  server: `${table}_server`
})

export type TableNames = ReturnType<typeof tableNames>

/** PostgreSQL adds to the row of `counts` that belongs to the connection, so that transactions rarely wait for each other. */
export const countSlots = 16

/** An update in the table. PostgreSQL returns integers as bigint. */
export interface UpdateRow {
  readonly id: number | bigint
  readonly partition_key: string
  readonly fingerprint: string
  readonly received_at: number | bigint
  readonly text: string
  /** `null` before the first attempt. */
  readonly attempts: number | bigint | null
}

/** A queued update in the table. */
export interface QueuedRow extends UpdateRow {
  readonly crashes: number | bigint
}

/** An update to insert: a dead letter if `failed_at` is set. */
export type NewUpdate = {
  readonly fingerprint: string
  readonly partition_key: string
  readonly received_at: number
  readonly text: string
  readonly error: string | null
  readonly attempts: number | null
  readonly failed_at: number | null
}
