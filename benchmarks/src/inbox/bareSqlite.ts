import { QueuedUpdate } from "@colloquy/core"
import * as Update from "@colloquy/core/model/Update"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"

/** A row as the inbox stores an update. */
export interface Row {
  readonly fingerprint: string
  readonly key: string
  readonly text: string
}

export const toRow = (update: Update.Update): Row => ({
  fingerprint: QueuedUpdate.fingerprintOf(update),
  key: String(Update.chatOf(update)),
  text: JSON.stringify(update)
})

/** Tables with the columns and the indexes of the inbox, without order, leases and attempts. */
export const open = () => {
  const directory = mkdtempSync(join(tmpdir(), "bare-sqlite-"))
  const database = new DatabaseSync(join(directory, "bare.sqlite"))
  database.exec("PRAGMA journal_mode = WAL")
  database.exec("PRAGMA synchronous = FULL")
  database.exec(`
    CREATE TABLE updates (
      id INTEGER PRIMARY KEY AUTOINCREMENT, partition_key TEXT NOT NULL, fingerprint TEXT NOT NULL, received_at INTEGER NOT NULL, text TEXT NOT NULL
    );
    CREATE INDEX queued ON updates (partition_key, id);
    CREATE TABLE fingerprints (fingerprint TEXT PRIMARY KEY, seen_at INTEGER NOT NULL) WITHOUT ROWID;
    CREATE INDEX seen ON fingerprints (seen_at);`)
  const insertUpdate = database.prepare(
    "INSERT INTO updates (partition_key, fingerprint, received_at, text) VALUES (?, ?, ?, ?)"
  )
  const insertFingerprint = database.prepare("INSERT INTO fingerprints (fingerprint, seen_at) VALUES (?, ?)")
  const deleteUpdate = database.prepare("DELETE FROM updates WHERE id = ?")

  const inTransaction = (write: () => void): void => {
    database.exec("BEGIN IMMEDIATE")
    write()
    database.exec("COMMIT")
  }

  return {
    /** Inserts rows in one transaction. Returns the id of the last one. */
    insert: (rows: ReadonlyArray<Row>): number => {
      let last: number | bigint = 0
      inTransaction(() => {
        for (const { fingerprint, key, text } of rows) {
          insertFingerprint.run(fingerprint, Date.now())
          last = insertUpdate.run(key, fingerprint, Date.now(), text).lastInsertRowid
        }
      })
      return Number(last)
    },
    /** Deletes the rows of ids in one transaction. */
    delete: (first: number, count: number): void =>
      inTransaction(() => {
        for (let id = first; id < first + count; id++) deleteUpdate.run(id)
      }),
    close: (): void => {
      database.close()
      rmSync(directory, { recursive: true })
    }
  }
}
