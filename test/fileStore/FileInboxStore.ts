/**
 * A store of the inbox in a plain file, written from docs/store-protocol.md. Each operation is a line of the file, and each line is
 * on the disk before the operation succeeds. The store shows that the page is enough to write a store. Do not use the store: one process
 * only can use a file, all entries are in memory, most operations look through all of them, and statements are not executed.
 */
import {
  type Batch,
  type Claim,
  type Commit,
  type CommitResult,
  type Failure,
  InboxStore,
  type Partition,
  type Row,
  type RowWrite,
  type StoredUpdate,
  type Write,
  type WriteResult
} from "@colloquy/core/inbox/InboxStore"
import * as QueuedUpdate from "@colloquy/core/inbox/QueuedUpdate"
import { StoreError } from "@colloquy/core/base/StoreError"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type Table, Tables } from "./tables.ts"

type Store = InboxStore["Service"]

type Stored = Omit<QueuedUpdate.QueuedUpdate, "decoded">

interface Queued extends Stored {
  readonly attempts: number
  readonly crashes: number
  /** Whether the attempt is begun. */
  readonly isMarked: boolean
}

interface Dead extends Stored {
  readonly failure: Failure
}

interface Lease {
  readonly owner: string
  readonly until: number
}

interface StoredRow extends Omit<Row, "key"> {
  readonly user?: string | undefined
  /** The partition of the update that the row becomes when it is due. */
  readonly partitionKey?: string | undefined
}

const fieldsOf = ({ fingerprint, partitionKey, receivedAt, text }: Stored): Stored => ({
  fingerprint,
  partitionKey,
  receivedAt,
  text
})

const toEntry = ([id, update]: readonly [string, Stored]): QueuedUpdate.Entry => ({
  id,
  update: QueuedUpdate.fromStored(fieldsOf(update))
})

const toRow = ([key, { dueAt, expiresAt, revision, text }]: readonly [string, StoredRow]): Row => ({
  key,
  text,
  revision,
  ...(expiresAt === undefined ? {} : { expiresAt }),
  ...(dueAt === undefined ? {} : { dueAt })
})

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const byId = <A>([a]: readonly [string, A], [b]: readonly [string, A]): number => Number(a) - Number(b)

const byDue = (a: Pick<Row, "dueAt" | "key">, b: Pick<Row, "dueAt" | "key">): number =>
  (a.dueAt ?? 0) - (b.dueAt ?? 0) || compare(a.key, b.key)

/** The rows to write, or `undefined` if a condition does not hold. */
const admitted = (
  revisionOf: (key: string) => string | undefined,
  writes: ReadonlyArray<RowWrite>
): ReadonlyArray<RowWrite> | undefined => {
  const holds = ({ expected, key }: RowWrite) => expected === undefined || (revisionOf(key) ?? null) === expected
  if (writes.some((write) => write.otherwise !== "skip" && !holds(write))) return undefined
  return writes.filter(holds)
}

/** The operations. Each of them runs in a transaction. */
class Operations {
  readonly #ids: Table<number>
  readonly #queue: Table<Queued>
  readonly #dead: Table<Dead>
  readonly #leases: Table<Lease>
  readonly #fingerprints: Table<number>
  readonly #rows: Table<StoredRow>
  readonly #journals: Table<Readonly<Record<string, Row>>>

  constructor(tables: Tables) {
    this.#ids = tables.table("ids")
    this.#queue = tables.table("queue")
    this.#dead = tables.table("dead")
    this.#leases = tables.table("leases")
    this.#fingerprints = tables.table("fingerprints")
    this.#rows = tables.table("rows")
    this.#journals = tables.table("journals")
  }

  #nextId(): string {
    const last = this.#ids.get("last") ?? 0
    this.#ids.put("last", last + 1)
    return String(last + 1)
  }

  #append(update: Stored, attempts = 0): string {
    const id = this.#nextId()
    this.#queue.put(id, { ...fieldsOf(update), attempts, crashes: 0, isMarked: false })
    return id
  }

  /** The queued updates of a partition, in order. */
  #queued(partitionKey: string): ReadonlyArray<readonly [string, Queued]> {
    return this.#queue.entries().filter(([, update]) => update.partitionKey === partitionKey)
  }

  #isQueued(partitionKey: string, id: string): boolean {
    return this.#queue.get(id)?.partitionKey === partitionKey
  }

  #endLease(partitionKey: string, crashes: 0 | 1): void {
    this.#leases.remove(partitionKey)
    for (const [id, update] of this.#queued(partitionKey)) {
      if (!update.isMarked) continue
      const { attempts } = update
      this.#queue.put(id, {
        ...update,
        isMarked: false,
        attempts: attempts + crashes,
        crashes: update.crashes + crashes
      })
    }
  }

  #put(writes: ReadonlyArray<RowWrite>, now: number): void {
    for (const { key, revision, row } of writes) {
      if (row === undefined) {
        this.#rows.remove(key)
        continue
      }
      const { due, expiresAt, text, user } = row
      const dueAt = due && ("at" in due.time ? due.time.at : now + due.time.after)
      this.#rows.put(key, { text, revision, expiresAt, user, dueAt, partitionKey: due?.partitionKey })
    }
  }

  enqueue(batch: Batch, now: number): number {
    const isNew = ({ fingerprint }: Stored): boolean => {
      const received = this.#fingerprints.get(fingerprint)
      if (received !== undefined && received >= batch.duplicatesSince) return false
      this.#fingerprints.put(fingerprint, batch.now)
      return true
    }
    let added = 0
    for (const update of batch.updates) {
      if (!isNew(update)) continue
      added++
      this.#append(update)
    }
    for (const { error, update } of batch.deadLetters) {
      if (!isNew(update)) continue
      added++
      const failure = { error, attempts: 0, failedAt: batch.now }
      this.#dead.put(this.#nextId(), { ...fieldsOf(update), failure })
    }
    this.#put(batch.rows ?? [], now)
    return added
  }

  claim(claim: Claim, now: number): ReadonlyArray<Partition> {
    const { begin, leaseDuration, maxDue = 0, maxPartitions, maxUpdates, owner } = claim
    for (const { dueAt = 0, key } of this.#due("").slice(0, maxDue)) {
      if (dueAt > now) break
      const { partitionKey = "", dueAt: _, ...row } = this.#rows.get(key)!
      this.#append({ fingerprint: row.revision, partitionKey, receivedAt: dueAt, text: row.text })
      this.#rows.put(key, row)
    }
    for (const [key, { until }] of this.#leases.entries()) if (until <= now) this.#endLease(key, 1)
    const ready = new Set(this.#queue.entries().map(([, { partitionKey }]) => partitionKey))
    for (const [key] of this.#leases.entries()) ready.delete(key)
    return [...ready].slice(0, maxPartitions).map((key) => {
      this.#leases.put(key, { owner, until: now + leaseDuration })
      const first = this.#queued(key).slice(0, maxUpdates)
      for (const [id, update] of first.slice(0, begin)) this.#queue.put(id, { ...update, isMarked: true })
      const updates = first.map((entry) => {
        const [id, { attempts, crashes }] = entry
        const journal = this.#journals.get(id)
        return { ...toEntry(entry), attempts, crashes, journal: journal && Object.values(journal) }
      })
      return { key, updates }
    })
  }

  commit({ begun, completed, failed, owner, partitionKey, release, rows = [] }: Commit, now: number): CommitResult {
    if (this.#leases.get(partitionKey)?.owner !== owner) return "leaseLost"
    const isWhole = completed.every(({ id }) => this.#isQueued(partitionKey, id))
    const writes = isWhole ? admitted((key) => this.#rows.get(key)?.revision, rows) : []
    if (writes === undefined) return "conflict"
    for (const { failure, id } of completed) {
      const update = this.#queue.get(id)
      if (update?.partitionKey !== partitionKey) continue
      this.#queue.remove(id)
      if (failure === undefined) this.#journals.remove(id)
      else this.#dead.put(id, { ...fieldsOf(update), failure })
    }
    for (const id of failed) {
      const update = this.#queue.get(id)
      if (update?.partitionKey === partitionKey)
        this.#queue.put(id, { ...update, isMarked: false, attempts: update.attempts + 1 })
    }
    for (const id of begun) {
      const update = this.#queue.get(id)
      if (update?.partitionKey === partitionKey) this.#queue.put(id, { ...update, isMarked: true })
    }
    this.#put(writes, now)
    if (release) this.#endLease(partitionKey, 0)
    return "applied"
  }

  renew(owner: string, leaseDuration: number, now: number): ReadonlyArray<string> {
    const keys = this.#leases.entries().flatMap(([key, lease]) => (lease.owner === owner ? [key] : []))
    for (const key of keys) {
      if (leaseDuration === 0) this.#endLease(key, 0)
      else this.#leases.put(key, { owner, until: now + leaseDuration })
    }
    return keys
  }

  write({ journal, rows }: Write, now: number): WriteResult {
    if (journal === undefined) {
      const writes = admitted((key) => this.#rows.get(key)?.revision, rows)
      if (writes === undefined) return "conflict"
      this.#put(writes, now)
      return "applied"
    }
    const { id, owner, partitionKey } = journal
    if (this.#leases.get(partitionKey)?.owner !== owner || !this.#isQueued(partitionKey, id)) return "leaseLost"
    const entries = new Map(Object.entries(this.#journals.get(id) ?? {}))
    const writes = admitted((key) => entries.get(key)?.revision, rows)
    if (writes === undefined) return "conflict"
    for (const { key, revision, row } of writes) {
      if (row === undefined) entries.delete(key)
      else entries.set(key, { key, text: row.text, revision })
    }
    if (entries.size === 0) this.#journals.remove(id)
    else this.#journals.put(id, Object.fromEntries(entries))
    return "applied"
  }

  read(keys: ReadonlyArray<string>): ReadonlyArray<Row | undefined> {
    return keys.map((key) => {
      const row = this.#rows.get(key)
      return row && toRow([key, row])
    })
  }

  #due(prefix: string): ReadonlyArray<Row> {
    return this.#matching(prefix)
      .filter(({ dueAt }) => dueAt !== undefined)
      .sort(byDue)
  }

  #matching(prefix: string): Array<Row> {
    return this.#rows
      .entries()
      .filter(([key]) => key.startsWith(prefix))
      .map(toRow)
  }

  rows({ after, by, limit, prefix }: Parameters<Store["rows"]>[0]): ReadonlyArray<Row> {
    const all = by === "due" ? this.#due(prefix) : this.#matching(prefix).sort((a, b) => compare(a.key, b.key))
    const isBehind = (row: Row) =>
      after === undefined || (by === "due" ? byDue(after, row) : compare(after.key, row.key)) < 0
    return all.filter(isBehind).slice(0, limit)
  }

  forget({ prefix, user }: Parameters<Store["forget"]>[0]): number {
    const keys = this.#rows.entries().filter(([key, row]) => row.user === user && key.startsWith(prefix))
    for (const [key] of keys) this.#rows.remove(key)
    return keys.length
  }

  updates({ after = "0", limit, of, partitionKey }: Parameters<Store["updates"]>[0]): ReadonlyArray<StoredUpdate> {
    const isBehind = ([id]: readonly [string, unknown]) => Number(id) > Number(after)
    if (of === "queue") {
      const queued = partitionKey === undefined ? this.#queue.entries() : this.#queued(partitionKey)
      return queued.filter(isBehind).slice(0, limit).map(toEntry)
    }
    const dead = [...this.#dead.entries()].sort(byId).filter(isBehind).slice(0, limit)
    return dead.map((entry) => ({ ...toEntry(entry), failure: entry[1].failure }))
  }

  takeDeadLetters({ ids, replay }: Parameters<Store["takeDeadLetters"]>[0]): number {
    let taken = 0
    for (const id of ids) {
      const letter = this.#dead.get(id)
      if (letter === undefined) continue
      taken++
      const journal = this.#journals.get(id)
      this.#dead.remove(id)
      this.#journals.remove(id)
      if (!replay) continue
      const replayed = this.#append(letter, letter.failure.attempts)
      if (journal !== undefined) this.#journals.put(replayed, journal)
    }
    return taken
  }

  stats(): Effect.Success<Store["stats"]> {
    const queued = this.#queue.entries()
    return {
      queued: queued.length,
      oldestReceivedAt: queued[0]?.[1].receivedAt,
      deadLetters: this.#dead.entries().length
    }
  }

  cleanup({ deadLettersBefore, fingerprintsBefore, rowsBefore }: Parameters<Store["cleanup"]>[0]): void {
    for (const [text, received] of this.#fingerprints.entries())
      if (received < fingerprintsBefore) this.#fingerprints.remove(text)
    for (const [key, { expiresAt = Infinity }] of this.#rows.entries())
      if (expiresAt < rowsBefore) this.#rows.remove(key)
    const old = this.#dead.entries().filter(([, { failure }]) => failure.failedAt < deadLettersBefore)
    this.takeDeadLetters({ ids: old.map(([id]) => id), replay: false })
  }

  untilNext(now: number): number | undefined {
    const leases = new Map(this.#leases.entries())
    if (this.#queue.entries().some(([, { partitionKey }]) => !leases.has(partitionKey))) return 0
    const next = Math.min(...[...leases.values()].map(({ until }) => until), this.#due("")[0]?.dueAt ?? Infinity)
    return next === Infinity ? undefined : Math.max(0, Math.ceil(next - now))
  }
}

/** Opens a store, which is closed with the scope. */
export const make = (path: string): Effect.Effect<Store, StoreError, Scope.Scope> =>
  Effect.gen(function* () {
    const attempt = <A>(operation: string, run: () => A) =>
      Effect.try({
        try: run,
        catch: (cause) =>
          new StoreError({ store: "inbox", operation, reason: String(cause), isRetryable: operation !== "open", cause })
      })
    const tables = yield* Effect.acquireRelease(
      attempt("open", () => new Tables(path)),
      (tables) => Effect.sync(() => tables.close())
    )
    const operations = new Operations(tables)
    const run = <A>(operation: string, body: (now: number) => A) =>
      Effect.clockWith((clock) =>
        attempt(operation, () => tables.transaction(() => body(clock.currentTimeMillisUnsafe())))
      )
    const refused = new StoreError({
      store: "inbox",
      operation: "commit",
      reason: "a store in a file executes neither statements nor commits of several partitions",
      isRetryable: false
    })
    return InboxStore.of({
      isShared: true,
      executesStatements: false,
      enqueue: (batch) => run("enqueue", (now) => operations.enqueue(batch, now)),
      claim: (claim) => run("claim", (now) => operations.claim(claim, now)),
      commit: (commits) =>
        commits.some(({ statements, together }) => statements !== undefined || together !== undefined)
          ? Effect.fail(refused)
          : run("commit", (now) => commits.map((commit) => operations.commit(commit, now))),
      renew: (owner, leaseDuration) => run("renew", (now) => operations.renew(owner, leaseDuration, now)),
      write: (writes) => run("write", (now) => writes.map((write) => operations.write(write, now))),
      read: (keys) => run("read", () => operations.read(keys)),
      rows: (page) => run("rows", () => operations.rows(page)),
      forget: (rows) => run("forget", () => operations.forget(rows)),
      updates: (page) => run("updates", () => operations.updates(page)),
      takeDeadLetters: (letters) => run("takeDeadLetters", () => operations.takeDeadLetters(letters)),
      stats: run("stats", () => operations.stats()),
      cleanup: (limits) => run("cleanup", () => operations.cleanup(limits)),
      untilNext: run("untilNext", (now) => operations.untilNext(now))
    })
  })
