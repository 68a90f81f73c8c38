/**
 * The inbox of a bot: a durable queue between the source of updates and the handlers. A source acknowledges updates to
 * the platform after the inbox has stored them, and an update leaves the inbox when the update is handled or becomes a
 * dead letter.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Clock from "effect/Clock"
import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { pages } from "../base/internal/pages.ts"
import * as InboxStore from "./InboxStore.ts"
import { toBatch } from "./internal/batch.ts"
import { randomId } from "../base/internal/randomId.ts"
import { type Hooks, hooks } from "./internal/hooks.ts"
import { openLog } from "./internal/log/log.ts"
import { makePausing } from "./internal/pausing.ts"
import { makeInboxMetrics } from "./internal/consumer/metrics.ts"
import { makeRecentUpdates } from "./internal/sources/recentUpdates.ts"
import { watchFiber } from "../base/internal/watchFiber.ts"
import * as Outage from "../client/Outage.ts"
import * as QueuedUpdate from "./QueuedUpdate.ts"
import * as Settings from "../client/Settings.ts"
import type { StoreError } from "../base/StoreError.ts"
import type { MalformedUpdate, Update } from "../model/Update.ts"
import { TaggedError } from "../base/TaggedError.ts"

/**
 * An update in the form in which a source received the update.
 *
 * @category models
 * @since 0.1.0
 */
export interface Received {
  /** The decoded update, or the reason why the text cannot be decoded. */
  readonly decoded: Result.Result<Update, MalformedUpdate>
  /** The JSON text of the update. Default: the update is encoded again. */
  readonly text?: string | undefined
}

/**
 * Options of {@link make}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * Returns the partition key of an update. Updates with the same key are handled one at a time, in order. An update for
   * which the function throws becomes a dead letter. Default: the chat of the update.
   */
  readonly partitionKey?: ((update: Update) => string | number) | undefined
  /**
   * The time for which the inbox recognizes a second delivery of an event, which is then not stored. Measured by the
   * clock of the process. `0` turns deduplication off. Default: 24 hours.
   */
  readonly deduplicationWindow?: Duration.Input | undefined
  /**
   * Maximum number of queued updates. The number is approximate when several processes share the inbox. The inbox fails
   * with {@link InboxFull} instead of exceeding the capacity. Default: 100,000.
   */
  readonly capacity?: number | undefined
  /** For how long dead letters are kept. Default: 30 days. */
  readonly deadLetterRetention?: Duration.Input | undefined
  /**
   * Duration of the lease on a partition. If a process is killed, the updates of its partitions are handled again after
   * this time. Leases are renewed after a third of this duration, so the event loop may be busy for up to two thirds of
   * the duration. The duration is measured by the clock of the store. Default: 10 seconds.
   */
  readonly leaseDuration?: Duration.Input | undefined
  /** Number of entries of the log of handled updates: see `UpdateLog`. `0` turns the log off. Default: 1,000. */
  readonly logSize?: number | undefined
  /**
   * Whether the log of handled updates has the texts of updates, requests and answers, which are personal data. Default:
   * `false`.
   */
  readonly logTexts?: boolean | undefined
}

/**
 * The updates would exceed the `capacity` of the inbox. None of them was stored, so the source has to deliver them again: a
 * webhook answers 503, and long polling retries.
 *
 * @category errors
 * @since 0.1.0
 */
export class InboxFull extends TaggedError("InboxFull", () => ({
  /** Maximum number of queued updates. */
  capacity: Schema.Number
})) {
  override get message() {
    return (
      `The inbox is full: its capacity is ${this.capacity} queued updates. Updates arrive faster than they are handled, or ` +
      "handlers fail and are retried. Increase `capacity` of the inbox or `concurrency` of `Bot.run`."
    )
  }
}

/**
 * The inbox accepts no updates because the program is shutting down, and its store belongs to this process alone. None of the
 * updates was stored, so the source has to deliver them again after the restart.
 *
 * @category errors
 * @since 0.1.0
 */
export class InboxStopping extends TaggedError("InboxStopping") {
  override get message() {
    return "The inbox accepts no updates: the program is shutting down."
  }
}

/**
 * Why updates were not accepted. None of the updates was stored.
 *
 * @category errors
 * @since 0.1.0
 */
export type ReceiveError = InboxFull | InboxStopping | StoreError

/**
 * The service {@link Inbox}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Service {
  /**
   * Stores all updates, in order and together with the position of their source, or none of them. After `receive` has
   * succeeded, the updates may be acknowledged. Duplicates are not stored. Updates that cannot be decoded become dead
   * letters.
   */
  readonly receive: (
    updates: ReadonlyArray<Received>,
    marker?: { readonly source: string; readonly value: bigint }
  ) => Effect.Effect<void, ReceiveError>
  /** Returns the position up to which a source has been read, or `None` for a new source. */
  readonly marker: (source: string) => Effect.Effect<Option.Option<bigint>, StoreError>
  /** Returns the number of queued updates and dead letters. */
  readonly stats: Effect.Effect<InboxStore.Stats, StoreError>
  /** The store of the inbox. */
  readonly store: InboxStore.InboxStore["Service"]
  /** The hooks of consumers, sources and timers, which only the library reads. */
  readonly [hooks]: Hooks
}

/**
 * The inbox of a program. Sources write updates to the inbox, and `Bot.run` handles the updates.
 *
 * Metrics: `colloquy_updates_received_total` by `update_type` and `colloquy_updates_duplicate_total` count updates;
 * `colloquy_inbox_queued`, `colloquy_inbox_oldest_age_seconds` and `colloquy_inbox_dead_letters` are set whenever
 * `stats` is read. `Bot.run` reads `stats` every 15 seconds while updates are handled, and once after the last of
 * them.
 *
 * @category services
 * @since 0.1.0
 */
export class Inbox extends Context.Service<Inbox, Service>()("@colloquy/core/Inbox") {}

const defaults = {
  deduplicationWindow: "24 hours",
  capacity: 100_000,
  deadLetterRetention: "30 days",
  leaseDuration: "10 seconds",
  logSize: 1000
} as const

const cleanupInterval = 600_000

const countInterval = 1000

/** When the inbox seems to be full. Handlers may have completed updates since the last count. */
const countIntervalWhenFull = 50

type Marker = Parameters<Service["receive"]>[1]

const markerKey = (source: string): string => `marker/${source}`

/**
 * Creates an inbox with the store of the program.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (options: Options = {}) {
  const store = yield* InboxStore.InboxStore
  // A store in memory keeps the decoded updates by itself.
  const recent = store.isShared ? makeRecentUpdates() : undefined
  const clock = yield* Clock.Clock
  const scope = yield* Effect.scope
  const metrics = makeInboxMetrics(yield* Effect.context<never>())
  const { capacity = defaults.capacity, partitionKey } = options
  const deduplicationWindow = Duration.toMillis(options.deduplicationWindow ?? defaults.deduplicationWindow)
  const deadLetterRetention = Duration.toMillis(options.deadLetterRetention ?? defaults.deadLetterRetention)
  const leaseDuration = Duration.fromInputUnsafe(options.leaseDuration ?? defaults.leaseDuration)
  /** The functions that wake the consumers. */
  const wakes = new Set<(hasTimers: boolean) => void>()
  const wakeAll = (): void => {
    for (const wake of wakes) wake(false)
  }
  const watchers = new Map<string, Set<Latch.Latch>>()
  const wakeWatchers = ({ updates }: InboxStore.Batch): void => {
    if (watchers.size === 0) return
    for (const { partitionKey } of updates) for (const watcher of watchers.get(partitionKey) ?? []) watcher.openUnsafe()
  }
  const died = yield* Deferred.make<never>()
  let isOpen = true
  const revisionPrefix = yield* randomId
  let revisions = 0
  const nextRevision = () => `${revisionPrefix}.${++revisions}`
  const { logSize = defaults.logSize, logTexts = false } = options
  const log = yield* openLog(
    { store, size: logSize, hasTexts: logTexts, nextRevision, retention: deadLetterRetention, clock },
    (cause) => void Deferred.doneUnsafe(died, Exit.failCause(cause))
  )
  const pausing = makePausing(store, clock, nextRevision)
  const nothing = Effect.succeed<ReadonlyArray<InboxStore.Partition>>([])
  const claimed: typeof store.claim =
    recent === undefined ? store.claim : (claim) => Effect.map(store.claim(claim), recent.recall)
  /** The last count, plus the number of updates that this process has added since. */
  let queued = 0
  let countedAt = -Infinity
  let cleanedUpAt = -Infinity

  // If the clock was set back, the difference is negative, but work must not be delayed until the clock catches up.
  const elapsed = (now: number, since: number) => Math.abs(now - since)

  // `countedAt` is set before the store answers, so that concurrent callers do not count as well.
  const count = Effect.suspend(() => {
    countedAt = clock.currentTimeMillisUnsafe()
    return Effect.matchEffect(store.stats, {
      onFailure: (error) => {
        countedAt = -Infinity
        return Effect.fail(error)
      },
      onSuccess: (stats) => Effect.sync(() => void (queued = stats.queued))
    })
  })

  const enqueue = (updates: ReadonlyArray<Received>, marker: Marker): Effect.Effect<void, InboxFull | StoreError> => {
    // A page that is larger than the capacity is accepted by an empty inbox. Otherwise such a page could never be
    // stored.
    if (queued > 0 && updates.length > 0 && queued + updates.length > capacity) return new InboxFull({ capacity })
    const now = clock.currentTimeMillisUnsafe()
    const rows = marker && [
      { key: markerKey(marker.source), row: { text: String(marker.value) }, revision: nextRevision() }
    ]
    const batch = { ...toBatch(updates, now, { deduplicationWindow, partitionKey }), rows }
    return Effect.flatMap(store.enqueue(batch), (added) => {
      queued += added
      recent?.remember(batch.updates)
      wakeAll()
      wakeWatchers(batch)
      metrics.received(updates, added)
      return elapsed(now, cleanedUpAt) < cleanupInterval ? Effect.void : forkCleanup
    })
  }

  const receive = (updates: ReadonlyArray<Received>, marker?: Marker) =>
    Effect.suspend((): Effect.Effect<void, ReceiveError> => {
      if (!isOpen && !store.isShared) return new InboxStopping()
      const interval = queued + updates.length > capacity ? countIntervalWhenFull : countInterval
      // A webhook receives updates one by one, so most calls go without a count.
      if (elapsed(clock.currentTimeMillisUnsafe(), countedAt) < interval) return enqueue(updates, marker)
      return Effect.flatMap(count, () => enqueue(updates, marker))
    })

  // Cleanup starts when updates are received, so an idle inbox does nothing. The source does not wait for the cleanup.
  const forkCleanup = Effect.suspend(() => {
    const now = clock.currentTimeMillisUnsafe()
    cleanedUpAt = now
    const cleanup = store.cleanup({
      fingerprintsBefore: Math.max(0, now - deduplicationWindow),
      deadLettersBefore: Math.max(0, now - deadLetterRetention),
      rowsBefore: now
    })
    const logged = Effect.catch(cleanup, ({ message }) =>
      Effect.logWarning(`The cleanup of the inbox failed, and runs again in 10 minutes. ${message}`)
    )
    return Effect.map(Effect.forkIn(logged, scope), (fiber) => {
      watchFiber(fiber, (cause) => void Deferred.doneUnsafe(died, Exit.failCause(cause)))
    })
  })

  return Inbox.of({
    receive,
    marker: (source) =>
      Effect.map(store.read([markerKey(source)]), ([row]) =>
        row === undefined ? Option.none() : Option.some(BigInt(row.text))
      ),
    stats: Effect.map(store.stats, (stats) => {
      metrics.stats(stats, clock.currentTimeMillisUnsafe())
      return stats
    }),
    store,
    [hooks]: {
      open: Effect.sync(() => {
        isOpen = true
      }),
      close: Effect.sync(() => {
        isOpen = false
      }),
      isOpen: () => isOpen,
      wakeUp: (wake) =>
        Effect.acquireRelease(
          Effect.sync(() => void wakes.add(wake)),
          () => Effect.sync(() => wakes.delete(wake))
        ),
      wakeAll,
      watch: (partitionKey) =>
        Effect.acquireRelease(
          Effect.sync(() => {
            const watcher = Latch.makeUnsafe(false)
            const others = watchers.get(partitionKey)
            if (others === undefined) watchers.set(partitionKey, new Set([watcher]))
            else others.add(watcher)
            return watcher
          }),
          (watcher) =>
            Effect.sync(() => {
              const all = watchers.get(partitionKey)
              if (all?.delete(watcher) === true && all.size === 0) watchers.delete(partitionKey)
            })
        ),
      partitionKeyOf: (update) =>
        partitionKey === undefined ? QueuedUpdate.defaultPartitionKey(update) : String(partitionKey(update)),
      onTimers: () => {
        for (const wake of wakes) wake(true)
      },
      nextRevision,
      log,
      pausing,
      claim: (claim) => Effect.flatMap(pausing.isPaused, (isPaused) => (isPaused ? nothing : claimed(claim))),
      died: Deferred.await(died),
      outage: Outage.make("The inbox"),
      deadLetterRetention,
      leaseDuration
    }
  })
})

/**
 * An inbox with the store of the program, such as `SqlInboxStore` or `RedisInboxStore` of `@colloquy/node`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: Options): Layer.Layer<Inbox, never, InboxStore.InboxStore> =>
  Layer.effect(Inbox, make(options))

/**
 * Like {@link layer}, with options from the configuration. Fails with `InvalidSettings` if an option is missing or
 * malformed.
 *
 * **Example** (The capacity from `BOT_INBOX_CAPACITY`)
 *
 * ```ts
 * import { Bot, Inbox } from "@colloquy/core"
 * import { Config } from "effect"
 *
 * const inbox = Inbox.layerConfig({ capacity: Config.Int("BOT_INBOX_CAPACITY") })
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  options: Config.Wrap<Options> = {}
): Layer.Layer<Inbox, Settings.InvalidSettings, InboxStore.InboxStore> =>
  Layer.effect(Inbox, Effect.flatMap(Settings.unwrap<Options>(options), make))

/**
 * An inbox in memory, for tests and for bots that may lose queued updates when the process stops.
 *
 * **Example** (At most 10,000 queued updates)
 *
 * ```ts
 * import { Inbox } from "@colloquy/core"
 *
 * const inbox = Inbox.layerMemory({ capacity: 10_000 })
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory = (options?: Options): Layer.Layer<Inbox> =>
  Layer.provide(layer(options), Layer.fresh(InboxStore.layerMemory))

const pageSize = 100

const paginate = (of: "queue" | "deadLetters"): Stream.Stream<InboxStore.StoredUpdate, StoreError, Inbox> =>
  Stream.unwrap(
    Inbox.useSync(({ store }) =>
      pages(pageSize, (after: InboxStore.StoredUpdate | undefined) =>
        store.updates({ of, after: after?.id, limit: pageSize })
      )
    )
  )

/**
 * The queued updates of the inbox in the order of their ids, including the updates that are being handled. The stream
 * reads them and changes nothing. An update that is handled or queued meanwhile may be missing.
 *
 * **Example** (The types of the queued updates)
 *
 * ```ts
 * import { Inbox } from "@colloquy/core"
 * import { Result, Stream } from "effect"
 *
 * const types = Inbox.queued.pipe(
 *   Stream.map(({ update: { decoded } }) => (Result.isSuccess(decoded) ? decoded.success.update_type : "malformed")),
 *   Stream.runCollect
 * )
 * ```
 *
 * @category reading
 * @since 0.1.0
 */
export const queued: Stream.Stream<QueuedUpdate.Entry, StoreError, Inbox> = paginate("queue")

/**
 * The dead letters of the inbox, the oldest first: updates whose handler failed in all attempts, and updates that could
 * not be decoded.
 *
 * **Example** (Handle dead letters again after their handler was fixed)
 *
 * ```ts
 * import { Inbox } from "@colloquy/core"
 * import { Stream } from "effect"
 *
 * const replayAll = Inbox.deadLetters.pipe(
 *   Stream.filter(({ error }) => error.includes("TypeError")),
 *   Stream.runForEach(({ id }) => Inbox.replay(id))
 * )
 * ```
 *
 * @category dead letters
 * @since 0.1.0
 */
export const deadLetters: Stream.Stream<QueuedUpdate.DeadLetter, StoreError, Inbox> = Stream.map(
  paginate("deadLetters"),
  ({ failure, id, update }) => ({ id, update, ...failure! })
)

/**
 * Moves a dead letter to the end of its partition, so that the update is handled again. Returns `true` if the dead
 * letter existed.
 *
 * @category dead letters
 * @since 0.1.0
 */
export const replay = (id: string): Effect.Effect<boolean, StoreError, Inbox> =>
  Inbox.use(({ store, [hooks]: { wakeAll } }) =>
    Effect.map(store.takeDeadLetters({ ids: [id], replay: true }), (count) => {
      wakeAll()
      return count > 0
    })
  )

/**
 * Deletes a dead letter. Returns `true` if the dead letter existed.
 *
 * @category dead letters
 * @since 0.1.0
 */
export const drop = (id: string): Effect.Effect<boolean, StoreError, Inbox> =>
  Inbox.use(({ store }) => Effect.map(store.takeDeadLetters({ ids: [id], replay: false }), (count) => count > 0))

/**
 * Pauses the handling of updates, in all processes that use the store of the inbox: updates and timers that are due are stored, and not
 * handled. The pause outlasts restarts. Each process stops within a second; updates that a process has claimed before are still
 * handled. If the source of a program ends while the inbox is paused, the updates that are left wait for the next start.
 *
 * **Example** (A database that is migrated)
 *
 * ```ts
 * import { Inbox } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * declare const migrate: Effect.Effect<void>
 *
 * const maintenance = Effect.acquireUseRelease(
 *   Inbox.pause,
 *   () => migrate,
 *   () => Inbox.resume
 * )
 * ```
 *
 * @category pausing
 * @since 0.1.0
 */
export const pause: Effect.Effect<void, StoreError, Inbox> = Inbox.use(({ [hooks]: { pausing } }) => pausing.set(true))

/**
 * Ends the effect of {@link pause}. This process goes on at once, and other processes that are idle within 5 seconds.
 *
 * @category pausing
 * @since 0.1.0
 */
export const resume: Effect.Effect<void, StoreError, Inbox> = Inbox.use(({ [hooks]: { pausing, wakeAll } }) =>
  Effect.map(pausing.set(false), wakeAll)
)

/**
 * Returns whether the inbox is paused.
 *
 * @category pausing
 * @since 0.1.0
 */
export const isPaused: Effect.Effect<boolean, StoreError, Inbox> = Inbox.use(({ [hooks]: { pausing } }) => pausing.read)
