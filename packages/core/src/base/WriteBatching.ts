/**
 * Combines concurrent writes into batches, for stores whose transactions cost more than the rows that they write.
 *
 * For authors of stores. The stores of `@colloquy/node` use it for the inbox and for chats.
 *
 * @since 0.1.0
 */
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as References from "effect/References"
import type * as Scope from "effect/Scope"

/**
 * Options of {@link make}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<A, B, E> {
  /** Writes several items in one transaction, all of them or none. Returns a result for each item, in their order. */
  readonly write: (items: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, E>
  /** Returns the weight of an item, for example its size. Default: every item weighs 1. */
  readonly weigh?: ((item: A) => number) | undefined
  /** Maximum weight of a batch. A heavier item is written in a batch that contains nothing else. Default: 1000. */
  readonly maxWeight?: number | undefined
  /**
   * Whether the items of a batch that failed with this error are written again one by one, because only some of them
   * may be the cause. Otherwise all items of the batch fail with the error. Default: `true` for every error.
   */
  readonly splitOn?: ((error: E) => boolean) | undefined
  /**
   * Minimum weight of a batch that is written while another batch is being written, so that the store works on one
   * batch while the program prepares the other. At most two batches are written at the same time. A store that does not
   * apply batches in the order of the calls requires `keysOf`. Default: `Infinity`, so batches are written one after
   * the other.
   */
  readonly minConcurrentWeight?: number | undefined
  /**
   * Returns the keys of the entities that an item changes. Two batches that are written at the same time have no key in
   * common, and items with a common key are written in the order of the calls. Other items overtake an item that waits
   * for a batch. Default: items have no keys.
   */
  readonly keysOf?: ((item: A) => ReadonlyArray<string>) | undefined
}

interface Waiter<A, B, E> {
  readonly item: A
  readonly weight: number
  readonly keys: ReadonlyArray<string>
  readonly resume: (exit: Exit.Exit<B, E>) => void
}

/** After this many failures in a row, the items are not the cause, so the remaining items fail without an attempt. */
const maxFailures = 2

const none: ReadonlyArray<never> = []

/**
 * Creates a function that writes one item. Items that arrive while a batch is being written form the next batch. A caller
 * resumes when its item has been written, and fails only if the write of its own item failed.
 *
 * An item is removed from the queue if its caller is interrupted before the item's batch begins. Batches are written
 * with the context of `make`, not with the context of the callers, so a caller inside a transaction must write by
 * itself. Batches are not traced.
 *
 * When the scope closes, the queued items are written first. After 5 seconds, unfinished batches and waiting callers
 * are interrupted. Later calls are interrupted at once.
 *
 * **Example** (One statement for many rows)
 *
 * ```ts
 * import type { StoreError } from "@colloquy/core"
 * import * as WriteBatching from "@colloquy/core/base/WriteBatching"
 * import { Effect } from "effect"
 *
 * interface Note {
 *   readonly id: number
 *   readonly text: string
 * }
 *
 * const makeWriter = (insert: (notes: ReadonlyArray<Note>) => Effect.Effect<void, StoreError.StoreError>) =>
 *   WriteBatching.make({
 *     write: (notes: ReadonlyArray<Note>) => Effect.as(insert(notes), Array<void>(notes.length)),
 *     weigh: ({ text }) => 1 + text.length / 1000,
 *     splitOn: (error) => !error.isRetryable
 *   })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: <A, B, E>(
  options: Options<A, B, E>
) => Effect.Effect<(item: A) => Effect.Effect<B, E>, never, Scope.Scope> = Effect.fnUntraced(function* <A, B, E>({
  keysOf = () => none,
  maxWeight = 1000,
  minConcurrentWeight = Infinity,
  splitOn = () => true,
  weigh = () => 1,
  write
}: Options<A, B, E>) {
  // A batch belongs to several callers, so its spans would be roots that say nothing about any of them.
  const fork = Effect.runForkWith(Context.add(yield* Effect.context<never>(), References.TracerEnabled, false))
  const idle = Latch.makeUnsafe(true)
  const fibers = new Set<Fiber.Fiber<void>>()
  /** The number of fibers that write, at most two. */
  let writers = 0
  const batches = new Set<ReadonlyArray<Waiter<A, B, E>>>()
  /** The items of the next batches, in their order. */
  let queued: Array<Waiter<A, B, E>> = []
  let queuedWeight = 0
  /** Items that share a key with a batch that is being written, or with a blocked item before them. */
  let blocked: Array<Waiter<A, B, E>> = []
  /** The keys of the batches that are being written and of the blocked items. */
  const busy = new Set<string>()
  let isClosed = false

  const addKeys = ({ keys }: Waiter<A, B, E>): void => {
    for (const key of keys) busy.add(key)
  }

  const enqueue = (waiter: Waiter<A, B, E>): void => {
    if (busy.size > 0 && waiter.keys.some((key) => busy.has(key))) {
      addKeys(waiter)
      blocked.push(waiter)
    } else {
      queued.push(waiter)
      queuedWeight += waiter.weight
    }
  }

  /** A blocked item comes after all unblocked items that share a key with the blocked item. */
  const allQueued = (): ReadonlyArray<Waiter<A, B, E>> => (blocked.length === 0 ? queued : [...queued, ...blocked])

  const setQueued = (waiters: ReadonlyArray<Waiter<A, B, E>>): void => {
    queued = []
    queuedWeight = 0
    blocked = []
    busy.clear()
    for (const batch of batches) batch.forEach(addKeys)
    waiters.forEach(enqueue)
  }

  /** Begins a batch of the first queued items. */
  const take = (limit: number): ReadonlyArray<Waiter<A, B, E>> => {
    let weight = 0
    const end = queued.findIndex((waiter, index) => (weight += waiter.weight) > limit && index > 0)
    const next = end === -1 ? queued : queued.slice(0, end)
    batches.add(next)
    setQueued([...(end === -1 ? none : queued.slice(end)), ...blocked])
    return next
  }

  const endBatch = (batch: ReadonlyArray<Waiter<A, B, E>>): void => {
    batches.delete(batch)
    if (busy.size > 0) setQueued(allQueued())
  }

  /** The first of two batches that could be written together leaves half of the weight to the other. */
  const nextBatch = (): ReadonlyArray<Waiter<A, B, E>> | undefined => {
    if (queued.length === 0 || (batches.size > 0 && queuedWeight < minConcurrentWeight)) return undefined
    const isDivided = batches.size === 0 && queuedWeight >= 2 * minConcurrentWeight
    return take(isDivided ? Math.min(maxWeight, Math.ceil(queuedWeight / 2)) : maxWeight)
  }

  const failAll = (waiters: ReadonlyArray<Waiter<A, B, E>>, cause: Cause.Cause<E>) =>
    waiters.forEach(({ resume }) => resume(Exit.failCause(cause)))

  /** Whether the callers of a batch have resumed in this turn of the event loop. */
  let isTurnTaken = false

  /**
   * If two batches end in one turn of the event loop, the batch after the first is sent before the callers of the
   * second resume. Otherwise the store and the program would always wait for each other.
   */
  const ownTurn = Effect.suspend(() => {
    if (writers < 2) return Effect.void
    if (isTurnTaken) return Effect.yieldNow
    isTurnTaken = true
    fork(
      Effect.map(Effect.yieldNow, () => {
        isTurnTaken = false
      })
    )
    return Effect.void
  })

  /** Returns the cause of a failure. The callers do not know the failure yet. */
  const writeAll = (waiters: ReadonlyArray<Waiter<A, B, E>>): Effect.Effect<Cause.Cause<E> | undefined> =>
    Effect.matchCause(
      Effect.onExit(
        Effect.suspend(() => write(waiters.map(({ item }) => item))),
        () => ownTurn
      ),
      {
        onSuccess: (results) => {
          waiters.forEach(({ resume }, index) => resume(Exit.succeed(results[index]!)))
          return undefined
        },
        onFailure: (cause) => cause
      }
    )

  const writeEach = Effect.fnUntraced(function* (waiters: ReadonlyArray<Waiter<A, B, E>>) {
    let failures = 0
    let last: Cause.Cause<E> | undefined
    for (const waiter of waiters) {
      const cause = failures < maxFailures ? yield* writeAll([waiter]) : last
      failures = cause === undefined ? 0 : failures + 1
      if (cause === undefined) continue
      last = cause
      failAll([waiter], cause)
    }
  })

  const isSplit = (cause: Cause.Cause<E>): boolean =>
    cause.reasons.every((reason) => reason._tag !== "Fail" || splitOn(reason.error))

  const writeQueued = Effect.gen(function* () {
    for (;;) {
      // Callers of the same turn of the event loop share a batch.
      if (queuedWeight < minConcurrentWeight) yield* Effect.yieldNow
      const batch = nextBatch()
      if (batch === undefined) return
      begin()
      const cause = yield* writeAll(batch)
      if (cause !== undefined && batch.length > 1 && isSplit(cause)) yield* writeEach(batch)
      else if (cause !== undefined) failAll(batch, cause)
      endBatch(batch)
      if (queued.length === 0) return
    }
  })

  /** Starts a fiber that writes the queued items, unless the running fibers suffice. */
  const begin = (): void => {
    const isEnough = writers === 0 ? queued.length > 0 : writers === 1 && queuedWeight >= minConcurrentWeight
    if (!isEnough) return
    idle.closeUnsafe()
    writers++
    const fiber = fork(writeQueued)
    fibers.add(fiber)
    fiber.addObserver(() => {
      writers--
      fibers.delete(fiber)
      if (queued.length > 0) begin()
      else if (writers === 0) idle.openUnsafe()
    })
  }

  yield* Effect.addFinalizer(() =>
    Effect.gen(function* () {
      isClosed = true
      yield* Effect.timeoutOption(idle.await, "5 seconds")
      const waiting = [...batches, allQueued()].flat()
      setQueued([])
      yield* Fiber.interruptAll(fibers)
      for (const { resume } of waiting) resume(Exit.interrupt())
    })
  )

  return (item: A): Effect.Effect<B, E> =>
    Effect.callback((resume) => {
      if (isClosed) return resume(Effect.interrupt)
      const waiter = { item, weight: weigh(item), keys: keysOf(item), resume }
      enqueue(waiter)
      begin()
      return Effect.sync(() => setQueued(allQueued().filter((other) => other !== waiter)))
    })
})
