/**
 * `colloquy_updates` has the queued updates; `begun` is 1 while an attempt runs. `colloquy_partitions` has a row for
 * each key that has a queued update or an owner: `head_id` is the first queued update of a partition without an owner,
 * and the owner counts until `lease_until`. `colloquy_occurrences` has the updates of due timers, until they are
 * handled.
 */
export const migrations: ReadonlyArray<string> = [
  `CREATE TABLE colloquy_updates (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    partition_key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    text TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    crashes INTEGER NOT NULL DEFAULT 0,
    begun INTEGER NOT NULL DEFAULT 0
  );
  CREATE INDEX colloquy_updates_partition ON colloquy_updates (partition_key, id);
  CREATE TABLE colloquy_dead_letters (
    id INTEGER PRIMARY KEY,
    partition_key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    text TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    error TEXT NOT NULL,
    failed_at INTEGER NOT NULL
  );
  CREATE INDEX colloquy_dead_letters_failed_at ON colloquy_dead_letters (failed_at);
  CREATE TABLE colloquy_partitions (
    partition_key TEXT PRIMARY KEY,
    head_id INTEGER NOT NULL,
    owner TEXT,
    lease_until INTEGER NOT NULL DEFAULT 0
  ) WITHOUT ROWID;
  CREATE INDEX colloquy_partitions_free ON colloquy_partitions (head_id) WHERE owner IS NULL;
  CREATE INDEX colloquy_partitions_held ON colloquy_partitions (lease_until) WHERE owner IS NOT NULL;
  CREATE TABLE colloquy_fingerprints (fingerprint TEXT PRIMARY KEY, seen_at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX colloquy_fingerprints_seen_at ON colloquy_fingerprints (seen_at);
  CREATE TABLE colloquy_markers (source TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE colloquy_journal (
    update_id INTEGER NOT NULL,
    slot TEXT NOT NULL,
    state TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (update_id, slot)
  ) WITHOUT ROWID;
  CREATE TABLE colloquy_states (
    name TEXT NOT NULL,
    scope TEXT NOT NULL,
    revision TEXT NOT NULL,
    version INTEGER NOT NULL,
    expires_at INTEGER,
    user TEXT,
    text TEXT NOT NULL,
    PRIMARY KEY (name, scope)
  ) WITHOUT ROWID;
  CREATE INDEX colloquy_states_user ON colloquy_states (user) WHERE user IS NOT NULL;
  CREATE INDEX colloquy_states_expires_at ON colloquy_states (expires_at) WHERE expires_at IS NOT NULL;
  CREATE TABLE colloquy_timers (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    timer_key TEXT NOT NULL,
    due_at INTEGER NOT NULL,
    partition_key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    text TEXT NOT NULL,
    user TEXT,
    UNIQUE (name, timer_key)
  );
  CREATE INDEX colloquy_timers_due_at ON colloquy_timers (due_at, id);
  CREATE INDEX colloquy_timers_user ON colloquy_timers (user) WHERE user IS NOT NULL;
  CREATE TABLE colloquy_occurrences (
    update_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    timer_key TEXT NOT NULL,
    user TEXT,
    cancelled INTEGER NOT NULL DEFAULT 0
  );
  CREATE INDEX colloquy_occurrences_timer ON colloquy_occurrences (name, timer_key);
  CREATE INDEX colloquy_occurrences_user ON colloquy_occurrences (user) WHERE user IS NOT NULL`
]
