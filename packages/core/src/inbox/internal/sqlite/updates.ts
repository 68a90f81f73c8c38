import type { Failure, StoredUpdate } from "../../InboxStore.ts"
import * as QueuedUpdate from "../../QueuedUpdate.ts"
import type { Counts } from "./counts.ts"
import type { Database } from "../../SqliteInboxStore.ts"
import type { Tables } from "./tables.ts"
import { decodeText, encodeText, numberOf } from "./texts.ts"

/** An update in stored form. */
export type UpdateTuple = [
  id: number,
  partitionKey: string,
  fingerprint: string,
  receivedAt: number,
  text: string,
  attempts: number
]

type DeadTuple = [...UpdateTuple, error: string, failedAt: number]

const columns = "id, partition_key, fingerprint, received_at, text, attempts"

/** Returns a new update in stored form. Its id is assigned when the update is inserted. */
export const toTuple = ({ fingerprint, partitionKey, receivedAt, text }: QueuedUpdate.QueuedUpdate): UpdateTuple => [
  0,
  encodeText(partitionKey),
  encodeText(fingerprint),
  receivedAt,
  encodeText(text),
  0
]

export const toEntry = (row: readonly [...UpdateTuple, ...Array<unknown>]): QueuedUpdate.Entry => {
  const [id, partitionKey, fingerprint, receivedAt, text] = row
  return {
    id: String(id),
    update: QueuedUpdate.fromStored({
      fingerprint: decodeText(fingerprint),
      partitionKey: decodeText(partitionKey),
      receivedAt,
      text: decodeText(text)
    })
  }
}

const toDeadLetter = (row: DeadTuple): StoredUpdate => {
  const [, , , , , attempts, error, failedAt] = row
  return { ...toEntry(row), failure: { error: decodeText(error), attempts, failedAt } }
}

/** The queued updates and the dead letters. Partition keys are in stored form. */
export const makeUpdates = (all: Database["all"], { deadLetters, updates }: Tables) => {
  const insertUpdate = `INSERT INTO ${updates} (${columns}, crashes) VALUES (?, ?, ?, ?, ?, ?, 0)`
  const selectQueued = `SELECT 1 FROM ${updates} WHERE id = ? AND partition_key = ?`
  const deleteUpdate = `DELETE FROM ${updates} WHERE id = ?`
  const updateAttempts = `UPDATE ${updates} SET attempts = attempts + 1, crashes = crashes + ? WHERE id = ? AND partition_key = ?`
  const selectHead = `SELECT id FROM ${updates} WHERE partition_key = ? ORDER BY id LIMIT 1`
  const selectFirst = `SELECT ${columns}, crashes FROM ${updates} WHERE partition_key = ? ORDER BY id LIMIT ? + 0`

  return {
    insert: (counts: Counts, [, key, fingerprint, receivedAt, text, attempts]: UpdateTuple): number => {
      const id = counts.nextId++
      counts.queued++
      all(insertUpdate, id, key, fingerprint, receivedAt, text, attempts)
      return id
    },
    insertDead: (counts: Counts, update: QueuedUpdate.QueuedUpdate, error: string, now: number): void => {
      counts.deadLetters++
      const [, ...values] = toTuple(update)
      all(
        `INSERT INTO ${deadLetters} (${columns}, error, failed_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
        counts.nextId++,
        ...values,
        encodeText(error),
        now
      )
    },
    isQueued: (key: string, id: string): boolean => all(selectQueued, numberOf(id), key).length > 0,
    /** Removes a queued update. */
    remove: (counts: Counts, id: string): void => {
      counts.queued--
      all(deleteUpdate, numberOf(id))
    },
    /** Makes a queued update a dead letter. */
    bury: (counts: Counts, id: string, { attempts, error, failedAt }: Failure): void => {
      counts.queued--
      counts.deadLetters++
      all(
        `INSERT INTO ${deadLetters} (${columns}, error, failed_at)
          SELECT id, partition_key, fingerprint, received_at, text, ?, ?, ? FROM ${updates} WHERE id = ?`,
        attempts,
        encodeText(error),
        failedAt,
        numberOf(id)
      )
      all(deleteUpdate, numberOf(id))
    },
    countAttempt: (key: string, id: string, crashes: 0 | 1): void =>
      void all(updateAttempts, crashes, numberOf(id), key),
    /** Returns the id of the first update of a partition. */
    headOf: (key: string): number | undefined => all<[number]>(selectHead, key)[0]?.[0],
    first: (key: string, limit: number) => all<[...UpdateTuple, crashes: number]>(selectFirst, key, limit),
    queued: (partitionKey: string | undefined, after: string, limit: number): ReadonlyArray<StoredUpdate> =>
      (partitionKey === undefined
        ? all<UpdateTuple>(
            `SELECT ${columns} FROM ${updates} WHERE id > ? ORDER BY id LIMIT ? + 0`,
            numberOf(after),
            limit
          )
        : all<UpdateTuple>(
            `SELECT ${columns} FROM ${updates} WHERE partition_key = ? AND id > ? ORDER BY id LIMIT ? + 0`,
            encodeText(partitionKey),
            numberOf(after),
            limit
          )
      ).map(toEntry),
    dead: (after: string, limit: number): ReadonlyArray<StoredUpdate> =>
      all<DeadTuple>(
        `SELECT ${columns}, error, failed_at FROM ${deadLetters} WHERE id > ? ORDER BY id LIMIT ? + 0`,
        numberOf(after),
        limit
      ).map(toDeadLetter),
    /** Deletes and returns a dead letter. */
    takeDead: (counts: Counts, id: string): UpdateTuple | undefined => {
      const [taken] = all<UpdateTuple>(`DELETE FROM ${deadLetters} WHERE id = ? RETURNING ${columns}`, numberOf(id))
      if (taken !== undefined) counts.deadLetters--
      return taken
    },
    /** Returns ids of dead letters that failed before a time. */
    deadBefore: (failedBefore: number, limit: number): ReadonlyArray<string> =>
      all<[number]>(`SELECT id FROM ${deadLetters} WHERE failed_at < ? LIMIT ? + 0`, failedBefore, limit).map(([id]) =>
        String(id)
      ),
    oldestReceivedAt: (): number | undefined =>
      all<[number]>(`SELECT received_at FROM ${updates} ORDER BY id LIMIT 1`)[0]?.[0]
  }
}
