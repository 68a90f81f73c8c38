/**
 * `updates` has the queued updates, and `dead_letters` the others. A partition with queued updates is either in `free`,
 * with the id of its first update, or in `leases`: `begun` are the ids of the updates whose attempt is running, separated
 * by commas. `rows` has the rows of journals by the ids of their updates, and all other rows with the id 0. `counts` has one
 * row.
 */
export const tablesOf = (prefix: string) => {
  const nameOf = (name: string) => `"${`${prefix}${name}`.replaceAll('"', '""')}"`
  return {
    updates: nameOf("updates"),
    deadLetters: nameOf("dead_letters"),
    free: nameOf("free"),
    leases: nameOf("leases"),
    fingerprints: nameOf("fingerprints"),
    rows: nameOf("rows"),
    counts: nameOf("counts"),
    index: (purpose: string) => nameOf(`${purpose}_index`)
  }
}

export type Tables = ReturnType<typeof tablesOf>

/** The version of the tables. */
const version = 1

const statements = ({ counts, deadLetters, fingerprints, free, index, leases, rows, updates }: Tables) => [
  `CREATE TABLE ${updates} (
    id INTEGER PRIMARY KEY,
    partition_key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    text TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    crashes INTEGER NOT NULL
  )`,
  `CREATE INDEX ${index("updates_partition")} ON ${updates} (partition_key)`,
  `CREATE TABLE ${deadLetters} (
    id INTEGER PRIMARY KEY,
    partition_key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    text TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    error TEXT NOT NULL,
    failed_at INTEGER NOT NULL
  )`,
  `CREATE INDEX ${index("dead_letters_failed_at")} ON ${deadLetters} (failed_at)`,
  `CREATE TABLE ${free} (head_id INTEGER PRIMARY KEY, partition_key TEXT NOT NULL)`,
  `CREATE TABLE ${leases} (
    partition_key TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    lease_until INTEGER NOT NULL,
    begun TEXT NOT NULL
  ) WITHOUT ROWID`,
  `CREATE TABLE ${fingerprints} (fingerprint TEXT PRIMARY KEY, seen_at INTEGER NOT NULL) WITHOUT ROWID`,
  `CREATE INDEX ${index("fingerprints_seen_at")} ON ${fingerprints} (seen_at)`,
  `CREATE TABLE ${rows} (
    update_id INTEGER NOT NULL,
    key TEXT NOT NULL,
    text TEXT NOT NULL,
    revision TEXT NOT NULL,
    expires_at INTEGER,
    user TEXT,
    due_at INTEGER,
    partition_key TEXT,
    PRIMARY KEY (update_id, key)
  ) WITHOUT ROWID`,
  `CREATE INDEX ${index("rows_expires_at")} ON ${rows} (expires_at) WHERE expires_at IS NOT NULL`,
  `CREATE INDEX ${index("rows_user")} ON ${rows} (user) WHERE user IS NOT NULL`,
  `CREATE INDEX ${index("rows_due_at")} ON ${rows} (due_at, key) WHERE due_at IS NOT NULL`,
  `INSERT INTO ${counts} (version, next_id, queued, dead_letters) VALUES (${version}, 1, 0, 0)`
]

/** The statements that create the tables, unless they exist. Execute them in a transaction. */
export const create = (all: (sql: string) => ReadonlyArray<unknown>, tables: Tables): void => {
  all(`CREATE TABLE IF NOT EXISTS ${tables.counts} (
    version INTEGER PRIMARY KEY,
    next_id INTEGER NOT NULL,
    queued INTEGER NOT NULL,
    dead_letters INTEGER NOT NULL
  )`)
  if (all(`SELECT 1 FROM ${tables.counts}`).length === 0) for (const sql of statements(tables)) all(sql)
}
