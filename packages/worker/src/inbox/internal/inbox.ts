import {
  type Batch,
  type Claim,
  type Commit,
  type CommitResult,
  InboxStore,
  type JournalRecord,
  type Partition,
  type RecordResult,
  type TimerChange
} from "@colloquy/core/inbox/InboxStore"
import * as Effect from "effect/Effect"
import type { DurableObjectStorage } from "../../base/DurableObjectStorage.ts"
import { makeJournals } from "./journal/journals.ts"
import { makeStates } from "./state/states.ts"
import { decodeText, encodeText, numberOf, transactionsOf } from "../../base/internal/database.ts"
import type { OpenObject } from "./object.ts"
import { toEntry, toNew } from "./queue.ts"

/** The store of the inbox of an open object. All operations are synchronous, so each of them is a transaction of its own. */
export const makeStore = (storage: DurableObjectStorage, object: OpenObject): InboxStore["Service"] => {
  const { alarm, count, deadLetters, query, queue, timers } = object
  const journals = makeJournals(query)
  const states = makeStates(query)

  const isNew = (fingerprint: string, { duplicatesSince, now }: Batch): boolean =>
    duplicatesSince > now ||
    query(
      `INSERT INTO colloquy_fingerprints AS f (fingerprint, seen_at) VALUES (?, ?)
        ON CONFLICT (fingerprint) DO UPDATE SET seen_at = excluded.seen_at WHERE f.seen_at < ? RETURNING 1`,
      fingerprint,
      now,
      duplicatesSince
    ).length > 0

  const enqueue = (batch: Batch): number => {
    let queued = 0
    let dead = 0
    for (const update of batch.updates.map(toNew)) {
      if (!isNew(update.fingerprint, batch)) continue
      queue.append(update)
      queued++
    }
    for (const { error, update } of batch.deadLetters) {
      const row = toNew(update)
      if (!isNew(row.fingerprint, batch)) continue
      queue.reject(row, error, batch.now)
      dead++
    }
    if (batch.marker !== undefined) {
      const { source, value } = batch.marker
      query("INSERT OR REPLACE INTO colloquy_markers (source, value) VALUES (?, ?)", encodeText(source), String(value))
    }
    count(queued, dead)
    if (queued > 0) alarm.setBy(batch.now)
    return queued + dead
  }

  const claim = (options: Claim, now: number): ReadonlyArray<Partition> => {
    timers.moveDue(now, options.maxTimers ?? 0, ({ due_at, fingerprint, partition_key, text }) => {
      count(1, 0)
      return queue.append({ fingerprint, partition_key, received_at: due_at, text })
    })
    return queue.claim(options, now).map(({ partition, rows }) => ({
      key: decodeText(partition),
      updates: rows.map((row) => {
        const { attempts, crashes, id } = row
        return { ...toEntry(row), attempts, crashes, journal: journals.of(id) }
      })
    }))
  }

  const changeTimers = (changes: ReadonlyArray<TimerChange>, now: number): void => {
    timers.change(changes, now)
    const next = timers.next()
    if (next !== undefined) alarm.setBy(next)
  }

  const commit = (change: Commit, now: number): CommitResult => {
    const { begun, completed, failed, owner, release, timers = [], writes = [] } = change
    const partition = encodeText(change.partitionKey)
    if (!queue.isHeld(owner, partition)) return "leaseLost"
    const hasChanges = writes.length + timers.length > 0 && completed.every(({ id }) => queue.isQueued(partition, id))
    if (hasChanges && !states.isExpected(writes)) return "stateConflict"
    for (const update of completed) {
      if (!queue.complete(partition, update)) continue
      count(-1, update.failure === undefined ? 0 : 1)
      if (update.failure === undefined) journals.remove(numberOf(update.id))
    }
    for (const id of failed) queue.fail(partition, id)
    for (const id of begun) queue.begin(partition, id)
    if (hasChanges) {
      states.write(writes)
      changeTimers(timers, now)
    }
    if (release) queue.release(partition)
    return "applied"
  }

  const record = ({ entries, id, owner, partitionKey }: JournalRecord): RecordResult => {
    const partition = encodeText(partitionKey)
    if (!queue.isHeld(owner, partition) || !queue.isQueued(partition, id)) return "leaseLost"
    journals.write(numberOf(id), entries)
    return "applied"
  }

  const replay = (ids: ReadonlyArray<string>, now: number): number => {
    let replayed = 0
    for (const id of ids) {
      const deadLetter = deadLetters.take(id)
      if (deadLetter === undefined) continue
      journals.move(deadLetter.id, queue.append(deadLetter, deadLetter.attempts))
      replayed++
    }
    count(replayed, -replayed)
    if (replayed > 0) alarm.setBy(now)
    return replayed
  }

  const forget = (dropped: ReadonlyArray<{ readonly id: number }>): number => {
    for (const { id } of dropped) journals.remove(id)
    count(0, -dropped.length)
    return dropped.length
  }

  const marker = (source: string): bigint | undefined => {
    const [row] = query<{ value: string }>("SELECT value FROM colloquy_markers WHERE source = ?", encodeText(source))
    return row === undefined ? undefined : BigInt(row.value)
  }

  const run = transactionsOf(storage, "inbox", object.forgetCounts)
  const runAt = <A>(operation: string, use: (now: number) => A) =>
    Effect.clockWith((clock) => run(operation, () => use(clock.currentTimeMillisUnsafe())))

  return InboxStore.of({
    // The next start of the object is another process, for which all begun updates have crashed.
    isShared: true,
    enqueue: (batch) => run("enqueue", () => enqueue(batch)),
    claim: (options) => runAt("claim", (now) => claim(options, now)),
    commit: (commits) => runAt("commit", (now) => commits.map((change) => commit(change, now))),
    renew: (owner, leaseDuration) => runAt("renew", (now) => queue.renew(owner, now + leaseDuration)),
    release: (owner) => run("release", () => queue.releaseAll(owner)),
    queuedAfter: ({ after, limit, partitionKey }) =>
      run("queuedAfter", () => queue.queuedAfter(encodeText(partitionKey), after, limit)),
    queued: ({ after = "0", limit }) => run("queued", () => queue.queued(after, limit)),
    stats: run("stats", object.stats),
    marker: (source) => run("marker", () => marker(source)),
    deadLetters: ({ after = "0", limit }) => run("deadLetters", () => deadLetters.page(after, limit)),
    replay: (ids) => runAt("replay", (now) => replay(ids, now)),
    drop: (ids) => run("drop", () => forget(ids.flatMap((id) => deadLetters.take(id) ?? []))),
    cleanup: ({ deadLettersBefore, fingerprintsBefore }) =>
      run("cleanup", () => {
        query("DELETE FROM colloquy_fingerprints WHERE seen_at < ?", fingerprintsBefore)
        forget(deadLetters.takeBefore(deadLettersBefore))
      }),
    journal: { record: (records) => run("record", () => records.map(record)) },
    state: {
      get: (keys) => run("getState", () => keys.map(states.get)),
      write: (writes) =>
        run("writeState", () => {
          const isExpected = states.isExpected(writes)
          if (isExpected) states.write(writes)
          return isExpected
        }),
      page: (page) => run("pageState", () => states.page(page)),
      forget: (user) => run("forgetState", () => states.forget(user)),
      cleanup: (expiredBefore) => run("cleanupState", () => states.cleanup(expiredBefore))
    },
    timers: {
      change: (changes) => runAt("changeTimers", (now) => changeTimers(changes, now)),
      untilNext: runAt("untilNext", (now) => {
        const next = timers.next()
        return next === undefined ? undefined : Math.max(0, next - now)
      }),
      isCancelled: (occurrence) => run("isCancelled", () => timers.isCancelled(occurrence)),
      page: (page) => run("pageTimers", () => timers.page(page)),
      forget: (user) => run("forgetTimers", () => timers.forget(user))
    }
  })
}
