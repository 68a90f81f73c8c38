/** Tables of JSON values in memory, whose changes are the lines of one file. */
import * as fs from "node:fs"
import { dirname } from "node:path"

/** A change of a table. Without a value, the entry was deleted. */
type Change = readonly [table: string, key: string, value?: unknown]

/** A file with this many lines more than entries is replaced when it is opened. */
const maxOldLines = 1000

export interface Table<A> {
  readonly get: (key: string) => A | undefined
  readonly entries: () => ReadonlyArray<readonly [key: string, value: A]>
  readonly put: (key: string, value: A) => void
  readonly remove: (key: string) => void
}

/** Waits until the names of files in a folder are on the disk. */
const syncFolder = (path: string): void => {
  const folder = fs.openSync(dirname(path), "r")
  fs.fsyncSync(folder)
  fs.closeSync(folder)
}

/** The tables of a file. Nothing prevents two processes from opening one file, which would destroy the file. */
export class Tables {
  readonly #path: string
  readonly #tables = new Map<string, Map<string, unknown>>()
  #file = -1
  /** The changes of the transaction that runs. */
  #changes: Array<Change> = []

  constructor(path: string) {
    this.#path = path
    this.#open()
  }

  close(): void {
    fs.closeSync(this.#file)
    this.#file = -1
  }

  table<A>(name: string): Table<A> {
    const entries = () => this.#entries(name) as Map<string, A>
    return {
      get: (key) => entries().get(key),
      entries: () => [...entries()],
      put: (key, value) => this.#change([name, key, value]),
      remove: (key) => this.#change([name, key])
    }
  }

  /** Runs an operation. Its changes are on the disk when it returns. An operation that throws changes nothing. */
  transaction<A>(run: () => A): A {
    if (this.#file === -1) this.#open()
    try {
      const result = run()
      if (this.#changes.length > 0) {
        fs.appendFileSync(this.#file, `${JSON.stringify(this.#changes)}\n`)
        fs.fsyncSync(this.#file)
      }
      return result
    } catch (error) {
      // A part of the line may be in the file, which the next operation removes.
      this.close()
      throw error
    } finally {
      this.#changes = []
    }
  }

  #entries(name: string): Map<string, unknown> {
    const table = this.#tables.get(name) ?? new Map<string, unknown>()
    this.#tables.set(name, table)
    return table
  }

  #apply(change: Change): void {
    const [name, key, value] = change
    if (change.length === 2) this.#entries(name).delete(key)
    else this.#entries(name).set(key, value)
  }

  #change(change: Change): void {
    this.#changes.push(change)
    this.#apply(change)
  }

  /** Reads the file, or creates it. What follows the last whole line was never confirmed, and is removed. */
  #open(): void {
    this.#tables.clear()
    const isNew = !fs.existsSync(this.#path)
    const content = isNew ? Buffer.alloc(0) : fs.readFileSync(this.#path)
    const whole = content.subarray(0, content.lastIndexOf(10) + 1)
    const lines = whole.toString().split("\n").slice(0, -1)
    for (const line of lines) for (const change of JSON.parse(line) as ReadonlyArray<Change>) this.#apply(change)
    const entries = [...this.#tables].flatMap(([name, table]) => [...table].map((entry): Change => [name, ...entry]))
    if (lines.length > entries.length + maxOldLines) this.#replace(entries)
    else if (whole.length < content.length) fs.truncateSync(this.#path, whole.length)
    this.#file = fs.openSync(this.#path, "a")
    if (isNew) syncFolder(this.#path)
  }

  /** Writes a file that has each entry once. */
  #replace(entries: ReadonlyArray<Change>): void {
    const next = `${this.#path}.next`
    fs.writeFileSync(next, entries.map((entry) => `${JSON.stringify([entry])}\n`).join(""), { flush: true })
    fs.renameSync(next, this.#path)
    syncFolder(this.#path)
  }
}
