import { literal } from "effect/sql/Statement"

/**
 * The settings of functions whose plans do not depend on statistics, which are missing in a new database and outdated after a
 * large number of updates has arrived. A connection keeps a plan that was made while the tables were empty.
 */
export const functionSettings = literal(
  "LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off " +
    "SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off SET jit = off"
)

const at = (columns: ReadonlyArray<string>, values: ReadonlyArray<string>): string => {
  const row = (parts: ReadonlyArray<string>) => (parts.length === 1 ? parts[0] : `(${parts.join(", ")})`)
  return `${row(columns)} >= ${row(values)} AND ${row(columns)} <= ${row(values)}`
}

/**
 * Finds the row of a table by an index for each row of an input. The condition is a range, because with an equality,
 * the planner may read the whole index and then the input for each index entry, if the table seems small.
 */
export const findBy = (columns: string | ReadonlyArray<string>, values: string | ReadonlyArray<string>) =>
  literal(at([columns].flat(), [values].flat()))

/**
 * Whether an update that is found by its id is queued. With `failed_at IS NULL`, the planner may read the index of all
 * queued updates instead.
 */
export const isQueued = (update: string) => literal(`COALESCE(${update}.failed_at, -1) = -1`)

/**
 * Whether a value is in an array, which is hashed once. `= ANY` would compare the value with each element. Without `IS TRUE`,
 * PostgreSQL could join the elements.
 */
export const isAmong = (value: string, array: string) => literal(`(${value} IN (SELECT unnest(${array}))) IS TRUE`)

/**
 * Whether a partition that is found by its key has an owner. With `=`, the planner may read the index of all claimed
 * partitions.
 */
export const isOwnedBy = (partition: string, owner: string) => literal(`COALESCE(${partition}.owner, '') = ${owner}`)

/** The queued updates of a partition, in order. With an equality, PostgreSQL can read all updates in the order of their ids. */
export const queuedIn = (update: string, key: string) =>
  literal(
    `${at([`${update}.partition_key`], [key])} AND ${update}.failed_at IS NULL ORDER BY ${update}.partition_key, ${update}.id`
  )
