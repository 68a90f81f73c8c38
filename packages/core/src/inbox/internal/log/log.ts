import type * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Context from "effect/Context"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { pages } from "../../../base/internal/pages.ts"
import * as rules from "../../../base/internal/rules.ts"
import { timeoutBySystemClock } from "../../../base/internal/systemClock.ts"
import { watchFiber } from "../../../base/internal/watchFiber.ts"
import type { InboxStore, Row, RowWrite } from "../../InboxStore.ts"
import type { StoreError } from "../../../base/StoreError.ts"
import type { UserId } from "../../../model/User.ts"
import type { Entry } from "../../UpdateLog.ts"
import { makeThisProcess, type ThisProcess } from "./processes.ts"

/** The beginning of the keys of the rows of the log. */
export const prefix = "handled/"

/** The digits of a time in a key, so that the keys are in the order of time. */
const digits = 15

/** Returns the beginning of the keys of the rows since a time. */
export const keySince = (time: number): string => `${prefix}${String(Math.max(0, time)).padStart(digits, "0")}`

/** The time for which entries wait to be written together. */
const interval = "1 second"

/** The greatest number of entries of a row, and the longest time between its first entry and its last. */
const maxInRow = 50
const maxRowAge = 10_000

/** The time for the last write, by the clock of the system. */
const closeTimeout = "3 seconds"

const pageSize = 100

/** A row that this process has written. */
interface Written {
  readonly key: string
  readonly since: number
  readonly lines: ReadonlyArray<string>
  /** The last revision that this process has written or read. */
  readonly revision: string
}

const hasRoom = ({ lines, since }: Written, { endedAt }: Entry): boolean =>
  lines.length < maxInRow && endedAt - since <= maxRowAge

/** Reads the rows of the log behind a key. */
export const rowsSince = (store: InboxStore["Service"], after: string): Effect.Effect<ReadonlyArray<Row>, StoreError> =>
  Stream.runCollect(
    pages(pageSize, (last: Row | undefined) =>
      store.rows({ prefix, by: "key", after: last ?? { key: after }, limit: pageSize })
    )
  )

/** Removes the entries of a user from the rows of all processes. */
const forgetRows = (
  store: InboxStore["Service"],
  user_id: UserId,
  nextRevision: () => string
): Effect.Effect<void, StoreError> =>
  Effect.gen(function* () {
    // The quotes in texts of updates and calls are escaped.
    const ofUser = new RegExp(`(?<!\\\\)"user_id":${user_id}[,}]`)
    const forgetIn = (row: Row): Effect.Effect<void, StoreError> => {
      const { expiresAt, key, revision: expected, text } = row
      const lines = text.split("\n")
      const kept = lines.filter((line) => !ofUser.test(line))
      if (kept.length === lines.length) return Effect.void
      const content = kept.length === 0 ? undefined : { text: kept.join("\n"), expiresAt }
      const write = store.write([{ rows: [{ key, row: content, revision: nextRevision(), expected }] }])
      return Effect.flatMap(write, ([result]) =>
        result === "applied"
          ? Effect.void
          : Effect.flatMap(store.read([key]), ([changed]) => (changed === undefined ? Effect.void : forgetIn(changed)))
      )
    }
    yield* Effect.forEach(yield* rowsSince(store, prefix), forgetIn, { discard: true })
  })

/** The number of entries of a row. */
const countIn = (text: string): number => text.split("\n").length

export interface Options {
  readonly store: InboxStore["Service"]
  readonly size: number
  readonly hasTexts: boolean
  readonly nextRevision: () => string
  /** For how long the rows of a process that has ended are kept, in milliseconds. */
  readonly retention: number
  readonly clock: Clock.Clock
  /** The context of the metrics of the process. */
  readonly context: Context.Context<never>
}

/**
 * The log of handled updates. A store of this process alone needs no rows: the log is in memory. For all other stores, the
 * entries of a second are written together, beside the commits, because a row for each commit would cost more than the
 * commit (benchmark `update-log-cost`).
 */
export class Log {
  readonly #options: Options
  readonly #added = Latch.makeUnsafe(false)
  /** The entries that have no row, the oldest first. */
  #unwritten: Array<Entry> = []
  /** The rows of this process, the oldest first. Only the last row grows. */
  #rows: ReadonlyArray<Written> = []
  /** Whether the rows of processes that have ended were removed. */
  #isTrimmed = false
  #isWarned = false

  readonly process: ThisProcess

  /** Is called for each entry. */
  onEntry: ((entry: Entry) => void) | undefined

  constructor(options: Options) {
    const { clock, context, nextRevision } = options
    this.#options = options
    this.process = makeThisProcess(nextRevision(), clock.currentTimeMillisUnsafe(), context)
  }

  get size(): number {
    return this.#options.size
  }

  get hasTexts(): boolean {
    return this.#options.hasTexts
  }

  /** The entries that only this process has. */
  get unwritten(): ReadonlyArray<Entry> {
    return this.#unwritten.slice(-this.size)
  }

  add(entry: Entry): void {
    const { size, store } = this.#options
    this.#unwritten.push(entry)
    this.process.ended()
    this.onEntry?.(entry)
    // The array is shortened from time to time, so that an entry of a busy bot costs no more than its object.
    if (this.#unwritten.length > 2 * size) this.#unwritten = this.#unwritten.slice(-size)
    if (store.isShared) this.#added.openUnsafe()
  }

  /** Returns the keys of the oldest rows that the log does not need any more. */
  #removable(rows: ReadonlyArray<Pick<Row, "key"> & { readonly count: number }>): ReadonlyArray<string> {
    let kept = 0
    const first = rows.findLastIndex(({ count }) => (kept += count) - count >= this.size)
    return rows.slice(0, first + 1).map(({ key }) => key)
  }

  /** Returns the keys of rows to remove: the first write of a process also removes the rows of processes that have ended. */
  #removed(own: ReadonlyArray<Written>): Effect.Effect<ReadonlySet<string>, StoreError> {
    const counted = own.map(({ key, lines }) => ({ key, count: lines.length }))
    if (this.#isTrimmed) return Effect.succeed(new Set(this.#removable(counted)))
    return Effect.map(rowsSince(this.#options.store, prefix), (rows) => {
      const others = rows.map(({ key, text }) => ({ key, count: countIn(text) }))
      return new Set(this.#removable([...others, ...counted]))
    })
  }

  /** Returns the rows with further entries, and the index of the first row that changes. */
  #next(entries: ReadonlyArray<Entry>): { readonly rows: ReadonlyArray<Written>; readonly changed: number } {
    const last = this.#rows.at(-1)
    const isGrowing = last !== undefined && hasRoom(last, entries[0]!)
    const changed = this.#rows.length - (isGrowing ? 1 : 0)
    const { nextRevision } = this.#options
    const added = isGrowing ? [{ ...last, lines: [...last.lines], revision: nextRevision() }] : []
    for (const entry of entries) {
      let row = added.at(-1)
      if (row === undefined || !hasRoom(row, entry)) {
        const since = entry.endedAt
        row = { key: `${keySince(since)}.${nextRevision()}`, since, lines: [], revision: nextRevision() }
        added.push(row)
      }
      row.lines.push(JSON.stringify(entry))
    }
    return { rows: [...this.#rows.slice(0, changed), ...added], changed }
  }

  /** Continues with a row as the store has the row: another process has removed entries of a user, or a write came through unnoticed. */
  #adopt(growing: Written): Effect.Effect<void, StoreError> {
    return Effect.flatMap(this.#options.store.read([growing.key]), ([stored]) => {
      const lines = stored === undefined ? [] : stored.text.split("\n")
      const others = this.#rows.slice(0, -1)
      this.#rows = stored === undefined ? others : [...others, { ...growing, lines, revision: stored.revision }]
      const known = new Set(lines)
      this.#unwritten = this.#unwritten.filter((entry) => !known.has(JSON.stringify(entry)))
      return this.flush
    })
  }

  /** Removes the entries of a user, also of other processes. */
  forget(user_id: UserId): Effect.Effect<void, StoreError> {
    this.#unwritten = this.#unwritten.filter((entry) => entry.user_id !== user_id)
    const { nextRevision, store } = this.#options
    return store.isShared ? forgetRows(store, user_id, nextRevision) : Effect.void
  }

  /** Writes the entries that have no row. */
  readonly flush: Effect.Effect<void> = Effect.suspend(() => {
    const { clock, nextRevision, retention, store } = this.#options
    if (this.#unwritten.length === 0 || !store.isShared) return Effect.void
    const entries = this.#unwritten.slice(-this.size)
    const last = this.#unwritten.at(-1)!
    const { changed, rows } = this.#next(entries)
    const growing = this.#rows[changed]
    return Effect.gen({ self: this }, function* () {
      const removed = yield* this.#removed(rows)
      const expiresAt = clock.currentTimeMillisUnsafe() + retention
      const written = rows.slice(changed).filter(({ key }) => !removed.has(key))
      const writes: ReadonlyArray<RowWrite> = [
        this.process.row(clock.currentTimeMillisUnsafe(), nextRevision()),
        ...written.map(({ key, lines, revision }) => ({
          key,
          row: { text: lines.join("\n"), expiresAt },
          revision,
          ...(key === growing?.key ? { expected: growing.revision } : {})
        })),
        ...[...removed].map((key) => ({ key, row: undefined, revision: nextRevision() }))
      ]
      const [result] = yield* store.write([{ rows: writes }])
      if (result === "conflict" && growing !== undefined) return yield* this.#adopt(growing)
      this.#isTrimmed = true
      this.#isWarned = false
      this.#rows = rows.filter(({ key }) => !removed.has(key))
      // Entries that were added meanwhile come after these entries.
      this.#unwritten = this.#unwritten.slice(this.#unwritten.lastIndexOf(last) + 1)
    }).pipe(
      Effect.catch(({ message }) => {
        if (this.#isWarned) return Effect.void
        this.#isWarned = true
        return Effect.logWarning(`The log of handled updates was not written, and is written later. ${message}`)
      })
    )
  })

  /** Writes entries once a second while updates are handled. */
  readonly writing: Effect.Effect<never> = Effect.forever(
    this.#added.await.pipe(
      Effect.andThen(Effect.sleep(interval)),
      Effect.andThen(Effect.sync(() => this.#added.closeUnsafe())),
      Effect.andThen(Effect.suspend(() => this.flush)),
      Effect.andThen(Effect.sync(() => void (this.#unwritten.length > 0 && this.#added.openUnsafe())))
    ),
    { disableYield: true }
  )

  /** Writes the last entries, and removes the row of the process, if the store answers. */
  readonly close: Effect.Effect<void> = Effect.suspend(() => {
    const { nextRevision, store } = this.#options
    if (!this.#isTrimmed && this.#unwritten.length === 0) return Effect.void
    const removed = Effect.ignore(store.write([{ rows: [this.process.removal(nextRevision())] }]))
    return Effect.asVoid(timeoutBySystemClock(Effect.interruptible(Effect.andThen(this.flush, removed)), closeTimeout))
  })
}

/** Opens the log, which is written until the scope closes. */
export const openLog = Effect.fnUntraced(function* (
  options: Omit<Options, "context">,
  onDefect: (cause: Cause.Cause<never>) => void
): Effect.fn.Return<Log, never, Scope.Scope> {
  const log = new Log({ ...options, context: yield* Effect.context<never>() })
  if (log.size === 0) return log
  yield* rules.checkPositiveInteger("Inbox", "logSize", log.size)
  if (!options.store.isShared) return log
  watchFiber(yield* Effect.forkScoped(log.writing, { startImmediately: true }), onDefect)
  yield* Effect.addFinalizer(() => log.close)
  return log
})
