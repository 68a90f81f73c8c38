import type {
  Batch,
  Claim,
  Commit,
  CommitResult,
  InboxStore,
  Partition,
  Statement,
  Stats,
  StoredUpdate,
  Write,
  WriteResult
} from "../../InboxStore.ts"
import * as Result from "effect/Result"
import { StoreError } from "../../../base/StoreError.ts"
import { type Counts, makeCounts } from "./counts.ts"
import type { Database, Options } from "../../SqliteInboxStore.ts"
import { makePartitions } from "./partitions.ts"
import { makeRows } from "./rows.ts"
import { create, tablesOf } from "./tables.ts"
import { decodeText, encodeText, numberOf } from "./texts.ts"
import { makeUpdates, toEntry, toTuple, type UpdateTuple } from "./updates.ts"

/** The connection of the operations to their surroundings: the options of the store that they need, with the defaults. */
export type Hooks = {
  readonly [K in "execute" | "onWork" | "ownerOf" | "prefix" | "toSqlError"]: NonNullable<Options[K]>
}

const earliest = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)

const none: ReadonlyArray<never> = []

/** Ends the transaction of a commit whose statement had another number of rows than expected. */
class Conflict extends Error {}

/** The parts of the store, over one database. */
const partsOf = (database: Database, { onWork, prefix }: Hooks) => {
  const { all } = database
  const tables = tablesOf(prefix)
  const updates = makeUpdates(all, tables)
  return {
    database,
    all,
    tables,
    updates,
    partitions: makePartitions(all, tables, updates),
    rows: makeRows(all, tables, onWork),
    counts: makeCounts(all, tables)
  }
}

type Parts = ReturnType<typeof partsOf>

/** The operations that add updates. */
const makeAdding = ({ all, counts, partitions, rows, tables, updates }: Parts, { onWork }: Hooks) => {
  const selectSeen = `SELECT seen_at FROM ${tables.fingerprints} WHERE fingerprint = ?`
  const insertSeen = `INSERT INTO ${tables.fingerprints} (fingerprint, seen_at) VALUES (?, ?)`
  const updateSeen = `UPDATE ${tables.fingerprints} SET seen_at = ? WHERE fingerprint = ?`

  const isNew = (fingerprint: string, { duplicatesSince, now }: Batch): boolean => {
    if (duplicatesSince > now) return true
    const encoded = encodeText(fingerprint)
    const [seen] = all<[number]>(selectSeen, encoded)
    if (seen === undefined) {
      all(insertSeen, encoded, now)
      return true
    }
    if (seen[0] >= duplicatesSince) return false
    all(updateSeen, now, encoded)
    return true
  }

  /** Adds an update to the end of its partition, and returns its id. */
  const append = (counts: Counts, update: UpdateTuple, now: number): number => {
    const key = update[1]
    const exists = partitions.exists(key)
    const id = updates.insert(counts, update)
    if (!exists) {
      partitions.insertFree(key, id)
      onWork(now)
    }
    return id
  }

  const enqueue = (counts: Counts, batch: Batch): number => {
    const before = counts.nextId
    for (const update of batch.updates) {
      if (isNew(update.fingerprint, batch)) append(counts, toTuple(update), batch.now)
    }
    for (const { error, update } of batch.deadLetters) {
      if (isNew(update.fingerprint, batch)) updates.insertDead(counts, update, error, batch.now)
    }
    if (batch.rows !== undefined) rows.write(0, batch.rows, batch.now)
    return counts.nextId - before
  }

  return {
    enqueue: (batches: ReadonlyArray<Batch>): ReadonlyArray<number> =>
      counts.change((counts) => batches.map((batch) => enqueue(counts, batch))),
    /** Appends the updates of due rows, the earliest first. */
    moveDue: (now: number, limit: number): void => {
      if (limit === 0 || (rows.nextDue() ?? Infinity) > now) return
      counts.change((counts) => {
        for (const [, text, revision, dueAt, key] of rows.takeDue(now, limit)) {
          append(counts, [0, key, revision, dueAt, text, 0], now)
        }
      })
    },
    takeDeadLetters: (ids: ReadonlyArray<string>, replay: boolean, now: number): number =>
      counts.change((counts) => {
        let taken = 0
        for (const id of ids) {
          const update = updates.takeDead(counts, id)
          if (update === undefined) continue
          taken++
          if (replay) rows.moveJournal(update[0], append(counts, update, now))
          else rows.removeJournal(update[0])
        }
        return taken
      })
  }
}

/** A held partition, and the changes of a commit. */
interface Part {
  readonly commit: Commit
  readonly key: string
  readonly lease: [owner: string, begun: string]
}

/** The operation that applies commits. */
const makeCommit = (
  { all, counts, database, partitions, rows, updates }: Parts,
  { execute, onWork, ownerOf, toSqlError }: Hooks
) => {
  /** Returns the number of rows that a statement changed or returned. */
  const executed = ({ params, sql }: Statement): number => {
    const changes = () => all<[total: number, changed: number]>("SELECT total_changes(), changes()")[0]!
    const [before] = changes()
    const returned = execute(sql, params).length
    const [after, changed] = changes()
    return after === before ? returned : changed
  }

  const executeAll = (statements: ReadonlyArray<Statement>, onStatement: (index: number) => void): void => {
    for (const [index, statement] of statements.entries()) {
      onStatement(index)
      if (statement.expectedRows === undefined) execute(statement.sql, statement.params)
      else if (executed(statement) !== statement.expectedRows) throw new Conflict()
    }
  }

  const applyPart = (counts: Counts, { commit, key, lease }: Part, hasJournals: boolean, now: number): void => {
    const { begun, completed, failed, release } = commit
    for (const { failure, id } of completed) {
      if (!updates.isQueued(key, id)) continue
      if (failure !== undefined) updates.bury(counts, id, failure)
      else {
        updates.remove(counts, id)
        if (hasJournals) rows.removeJournal(numberOf(id))
      }
    }
    for (const id of failed) updates.countAttempt(key, id, 0)
    if (!release) partitions.begin(key, lease, failed, begun)
    else if (partitions.release(key)) onWork(now)
  }

  /** Applies a commit with statements in a transaction of its own. */
  const applyWith = (counts: Counts, statements: ReadonlyArray<Statement>, run: () => void): CommitResult => {
    const before = { ...counts }
    let index = -1
    const applied = Result.try(() =>
      database.transaction(() => {
        run()
        executeAll(statements, (next) => (index = next))
        index = -1
      })
    )
    if (Result.isSuccess(applied)) return "applied"
    const cause = applied.failure
    Object.assign(counts, before)
    if (cause instanceof Conflict) return "conflict"
    // The database has ended the whole transaction, or failed outside of the statements.
    if (cause instanceof StoreError || index < 0) throw cause
    return { _tag: "StatementFailed", index, error: toSqlError(cause) }
  }

  const commitOne = (counts: Counts, commit: Commit, hasJournals: boolean, now: number): CommitResult => {
    const parts: Array<Part> = []
    for (const each of commit.together === undefined ? [commit] : [commit, ...commit.together]) {
      const key = encodeText(each.partitionKey)
      const lease = partitions.leaseOf(key)
      if (lease === undefined || lease[0] !== ownerOf(each.owner)) return "leaseLost"
      parts.push({ commit: each, key, lease })
    }
    const writes = parts.flatMap(({ commit }) => commit.rows ?? none)
    const statements = parts.flatMap(({ commit }) => commit.statements ?? none)
    const isWhole =
      writes.length + statements.length + parts.length === 1 ||
      parts.every(({ commit, key }) => commit.completed.every(({ id }) => updates.isQueued(key, id)))
    if (!isWhole && parts.length > 1) return "applied"
    const admitted = isWhole && writes.length > 0 ? rows.admit(0, writes) : none
    if (admitted === undefined) return "conflict"
    const run = () => {
      for (const part of parts) applyPart(counts, part, hasJournals, now)
      rows.write(0, admitted, now)
    }
    if (isWhole && statements.length > 0) return applyWith(counts, statements, run)
    run()
    return "applied"
  }

  return (commits: ReadonlyArray<Commit>, now: number): ReadonlyArray<CommitResult> => {
    const hasJournals = rows.hasJournals()
    return counts.change((counts) => commits.map((commit) => commitOne(counts, commit, hasJournals, now)))
  }
}

/** The operations of a store in SQLite. They are synchronous, and each of them has to run in a transaction. */
export const makeOperations = (database: Database, hooks: Hooks) => {
  const parts = partsOf(database, hooks)
  const { all, counts, partitions, rows, tables, updates } = parts
  const { onWork, ownerOf } = hooks
  const { enqueue, moveDue, takeDeadLetters } = makeAdding(parts, hooks)

  const claim = (options: Claim, now: number): ReadonlyArray<Partition> => {
    moveDue(now, options.maxDue ?? 0)
    const claimed = partitions.claim(options, ownerOf(options.owner), now)
    if (claimed.length === 0) return none
    const hasJournals = rows.hasJournals()
    return claimed.map(([key, first]) => ({
      key: decodeText(key),
      updates: first.map((row) => {
        const [id, , , , , attempts, crashes] = row
        const { id: text, update } = toEntry(row)
        return { id: text, update, attempts, crashes, journal: hasJournals ? rows.journalOf(id) : undefined }
      })
    }))
  }

  const renew = (name: string, leaseDuration: number, now: number): ReadonlyArray<string> => {
    const owner = ownerOf(name)
    const keys = partitions.keysOf(owner)
    if (leaseDuration > 0) partitions.renew(owner, now + leaseDuration)
    else if (keys.filter(partitions.release).length > 0) onWork(now)
    return keys.map(decodeText)
  }

  const write = ({ journal, rows: writes }: Write, now: number): WriteResult => {
    if (journal !== undefined) {
      const key = encodeText(journal.partitionKey)
      if (partitions.leaseOf(key)?.[0] !== ownerOf(journal.owner) || !updates.isQueued(key, journal.id)) {
        return "leaseLost"
      }
    }
    const updateId = journal === undefined ? 0 : numberOf(journal.id)
    const admitted = rows.admit(updateId, writes)
    if (admitted === undefined) return "conflict"
    rows.write(updateId, admitted, now)
    return "applied"
  }

  const stats = (): Stats => {
    const { deadLetters, queued } = counts.read()
    return { queued, oldestReceivedAt: updates.oldestReceivedAt(), deadLetters }
  }

  return {
    /** Creates the tables, and counts the updates. */
    prepare: (): void => {
      create(all, tables)
      counts.recount()
    },
    endLeases: partitions.endLeases,
    hasLeases: partitions.hasLeases,
    /** When a claim can return something: 0 for at once. */
    nextWork: (): number | undefined => earliest(partitions.claimableAt(), rows.nextDue()),
    enqueue,
    claim,
    commit: makeCommit(parts, hooks),
    renew,
    write: (writes: ReadonlyArray<Write>, now: number): ReadonlyArray<WriteResult> =>
      writes.map((each) => write(each, now)),
    read: (keys: ReadonlyArray<string>) => keys.map(rows.read),
    rows: rows.page,
    forget: ({ prefix, user }: { readonly prefix: string; readonly user: string }) => rows.forget(user, prefix),
    updates: ({
      after = "0",
      limit,
      of,
      partitionKey
    }: Parameters<InboxStore["Service"]["updates"]>[0]): ReadonlyArray<StoredUpdate> =>
      of === "queue" ? updates.queued(partitionKey, after, limit) : updates.dead(after, limit),
    takeDeadLetters,
    stats,
    /** Each of these functions deletes at most `limit` rows that are older than a time, and returns their number. */
    cleanups: {
      fingerprints: (before: number, limit: number): number =>
        all(
          `DELETE FROM ${tables.fingerprints} WHERE fingerprint IN (
            SELECT fingerprint FROM ${tables.fingerprints} WHERE seen_at < ? LIMIT ? + 0
          ) RETURNING 1`,
          before,
          limit
        ).length,
      deadLetters: (before: number, limit: number): number =>
        takeDeadLetters(updates.deadBefore(before, limit), false, 0),
      rows: rows.cleanup
    }
  }
}
