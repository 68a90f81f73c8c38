import * as Result from "effect/Result"
import { randomBytes } from "node:crypto"
import { existsSync, readdirSync, rmSync, utimesSync, watch } from "node:fs"
import { basename, dirname, join } from "node:path"
import type { DatabaseSync } from "node:sqlite"

/** A process that is gone. */
export interface GoneProcess {
  readonly id: string
  /** Removes the lock file of the process. Call `remove` after the leases of the process have ended. */
  readonly remove: () => void
  /** Keeps the lock file of the process, so that `findGone` returns the process again. */
  readonly keep: () => void
}

/**
 * An open transaction of SQLite has a lock on its file that the operating system releases at every end of the process.
 * Node has no other lock on files. The files stay empty.
 */
const tryLock = (path: string): DatabaseSync | undefined => {
  // Node 20 has no `node:sqlite`, and other drivers of SQLite do not need it.
  const driver: { readonly DatabaseSync: typeof DatabaseSync } | undefined = process.getBuiltinModule("node:sqlite")
  if (driver === undefined) return undefined
  let database: DatabaseSync | undefined
  try {
    database = new driver.DatabaseSync(path)
    // The journal in memory avoids a journal file beside the lock file.
    database.exec("PRAGMA journal_mode = MEMORY")
    database.exec("BEGIN EXCLUSIVE")
    return database
  } catch {
    // Another process holds the lock, or the folder cannot be written.
    database?.close()
    return undefined
  }
}

// Windows does not remove a file that another process has open.
const remove = (path: string) => Result.try(() => rmSync(path, { force: true }))

const release = (path: string, database: DatabaseSync): void => {
  remove(path)
  database.close()
  if (existsSync(path)) remove(path)
}

const idPattern = /^([0-9a-f]{16})\.lock$/

/** How often other processes are looked for, in milliseconds. */
const interval = 500

/**
 * Creates a lock file beside the database `filename`, for the table `table`. Returns `undefined` where this is impossible:
 * then leases end only by time.
 */
export const make = (filename: string, table: string) => {
  const folder = dirname(filename)
  const prefix = `${basename(filename)}-${encodeURIComponent(table)}-`
  const pathOf = (id: string) => join(folder, `${prefix}${id}.lock`)
  const id = randomBytes(8).toString("hex")
  const lock = tryLock(pathOf(id))
  // Another process may have found and removed the file before the lock.
  if (lock === undefined || !existsSync(pathOf(id))) {
    lock?.close()
    return undefined
  }
  let lookedAt = -Infinity

  const idsOfOthers = (): ReadonlyArray<string> =>
    Result.getOrElse(
      Result.try(() => readdirSync(folder)),
      () => []
    ).flatMap((name) => {
      const other = name.startsWith(prefix) ? idPattern.exec(name.slice(prefix.length))?.[1] : undefined
      return other === undefined || other === id ? [] : [other]
    })

  let others: ReadonlyArray<string> = []
  let listedAt = -Infinity

  return {
    /** Identifies this process. */
    id,
    /** Wakes the other processes that watch. */
    wakeOthers: () => {
      const now = performance.now()
      if (now - listedAt >= interval) {
        listedAt = now
        others = idsOfOthers()
      }
      const time = new Date()
      // A process that has ended meanwhile has no file.
      for (const other of others) Result.try(() => utimesSync(pathOf(other), time, time))
    },
    /** Calls a function when another process wakes this one, until the returned function is called. */
    watch: (wake: () => void): (() => void) => {
      // Deno opens and closes a watched file, and the operating system then releases the locks of the process on the
      // file.
      if ("Deno" in globalThis) return () => {}
      const watcher = watch(pathOf(id), { persistent: false }, wake)
      // Without a watcher, the process polls.
      watcher.on("error", () => watcher.close())
      return () => watcher.close()
    },
    /** Returns the processes that ended without a call of `close`. */
    findGone: (): ReadonlyArray<GoneProcess> => {
      const now = performance.now()
      if (now - lookedAt < interval) return []
      lookedAt = now
      return idsOfOthers().flatMap((other) => {
        const path = pathOf(other)
        const database = tryLock(path)
        if (database === undefined) return []
        return [{ id: other, remove: () => release(path, database), keep: () => database.close() }]
      })
    },
    close: () => release(pathOf(id), lock)
  }
}
