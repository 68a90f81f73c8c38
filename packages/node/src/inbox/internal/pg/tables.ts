import { literal } from "effect/sql/Statement"

/**
 * `updates` holds queued updates and dead letters; `failed_at` is set for dead letters. `partitions` has a row for each
 * key that has a queued update or an owner: `head_id` is the first queued update of a partition without an owner,
 * `owner` counts until `lease_until`, and `begun` are the ids of the updates whose attempt is running, separated by
 * commas. `rows` has the rows of the journals of updates, which are marked as `journaled`, and with the `update_id` 0 all other
 * rows. `counts` has the numbers of updates, as sums over its rows. `server` is a sequence: see `ids.ts`.
 */
export const tableNames = (table: string) => ({
  updates: `${table}_updates`,
  partitions: `${table}_partitions`,
  fingerprints: `${table}_fingerprints`,
  rows: `${table}_rows`,
  counts: `${table}_counts`,
  server: `${table}_server`
})

/** A connection adds to its own row of `counts`, so that transactions rarely wait for each other. */
export const countSlots = 16

/** The slot of the connection. */
export const slot = literal(`pg_backend_pid() % ${countSlots}`)

/** The clock of the server, in Unix milliseconds. */
export const now = literal("(extract(epoch FROM clock_timestamp()) * 1000)::bigint")
