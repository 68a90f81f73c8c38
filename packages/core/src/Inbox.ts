/**
 * Where updates stand between the platform and the program: what is in the inbox is acknowledged, and leaves it only
 * when it was handled or put aside.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Fingerprint from "./Fingerprint.ts"
import * as inboxMetrics from "./internal/updates/inboxMetrics.ts"
import * as json from "./internal/client/json.ts"
import { InboxStore, layerMemory as storeMemory, type Stats } from "./InboxStore.ts"
import * as QueuedUpdate from "./QueuedUpdate.ts"
import type { StoreError } from "./StoreError.ts"
import type { MalformedUpdate, Update } from "./Update.ts"

/**
 * The inbox holds `capacity` queued updates and accepts no more. Nothing of the batch was stored, so the source has to
 * deliver it again: a webhook answers 503, and long polling retries.
 *
 * @category errors
 * @since 0.1.0
 */
export class InboxFull extends Data.TaggedError("InboxFull")<{
  /** Maximum number of queued updates. */
  readonly capacity: number
}> {
  override get message() {
    return `The inbox is full: it holds ${this.capacity} queued updates. Handlers are slower than updates arrive, or fail and are retried. Increase \`capacity\` or the concurrency of \`Updates.run\`.`
  }
}

/**
 * The inbox accepts no updates because the program is shutting down. Nothing of the batch was stored, so the source has
 * to deliver it again after the restart.
 *
 * @category errors
 * @since 0.1.0
 */
export class InboxStopping extends Data.TaggedError("InboxStopping") {
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
 * An update as a source brings it: read, or malformed, with its text where the source has it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Received {
  readonly decoded: Result.Result<Update, MalformedUpdate>
  readonly text?: string | undefined
}

/**
 * How an inbox keeps its updates.
 *
 * - `key`: whose turn an update waits for, its chat unless told. An update on which it throws is put aside;
 * - `duplicates`: for how long the same event is recognised, 24 hours unless told, not at all by 0;
 * - `capacity`: about how many updates may wait, 100,000 unless told; the source is refused beyond it;
 * - `keepDead`: for how long dead letters are kept, 30 days unless told;
 * - `lease`: for how long a process that was killed keeps others from its partitions, 30 seconds unless told.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly partitionKey?: ((update: Update) => string | number) | undefined
  readonly deduplicationWindow?: Duration.Input | undefined
  readonly capacity?: number | undefined
  readonly deadLetterRetention?: Duration.Input | undefined
  readonly leaseDuration?: Duration.Input | undefined
}

/**
 * The inbox: sources put updates in, `Updates.run` takes them out.
 *
 * Metrics: `colloquy_updates_received`, `colloquy_updates_duplicate` and, whenever `stats` is looked at (`Updates.run`
 * does every 15 seconds), `colloquy_inbox_backlog`, `colloquy_inbox_age_ms` and `colloquy_inbox_dead`.
 *
 * @category services
 * @since 0.1.0
 */
export class Inbox extends Context.Service<
  Inbox,
  {
    /**
     * Stores updates in their order, with how far their source has been read, all or nothing. When it succeeds, they may
     * be acknowledged. Duplicates are left out, what cannot be read is a dead letter.
     */
    readonly receive: (
      updates: ReadonlyArray<Received>,
      marker?: { readonly source: string; readonly value: bigint }
    ) => Effect.Effect<void, ReceiveError>
    /** Puts a dead letter back at the end of its partition. Gives whether it was there. */
    readonly replay: (id: string) => Effect.Effect<boolean, StoreError>
    /** How far a source has been read. */
    readonly marker: (source: string) => Effect.Effect<bigint | undefined, StoreError>
    /** What waits, since when, and how many updates are dead. */
    readonly stats: Effect.Effect<Stats, StoreError>
    /** Takes updates again, after `close`. */
    readonly open: Effect.Effect<void>
    /** Takes nothing any more. */
    readonly close: Effect.Effect<void>
    readonly isOpen: Effect.Effect<boolean>
    /** Opened when there may be more to claim than at the last look. */
    readonly wakeUp: Latch.Latch
    readonly leaseDuration: Duration.Duration
    readonly store: InboxStore["Service"]
  }
>()("@colloquy/core/Inbox") {}

const defaults = { duplicates: "24 hours", capacity: 100_000, keepDead: "30 days", lease: "30 seconds" } as const

const cleanupInterval = 600_000

const countEvery = 1000

/** Where it seems to be full: handlers may have made room since. */
const recountAfter = 50

const rawText = (raw: unknown): string => (typeof raw === "string" ? raw : json.stringify(raw))

/**
 * An inbox over the store of the program.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (options: Options = {}) {
  const store = yield* InboxStore
  const clock = yield* Clock.Clock
  const scope = yield* Effect.scope
  const metrics = inboxMetrics.make(yield* Effect.context<never>())
  const { capacity = defaults.capacity, partitionKey: key } = options
  const duplicates = Duration.toMillis(options.deduplicationWindow ?? defaults.duplicates)
  const keepDead = Duration.toMillis(options.deadLetterRetention ?? defaults.keepDead)
  const lease = Duration.fromInputUnsafe(options.leaseDuration ?? defaults.lease)
  const wakeUp = Latch.makeUnsafe(false)
  let isOpen = true
  let waiting = 0
  let countedAt = -Infinity
  let cleanedAt = -Infinity

  /** The key that the program gives an update; `undefined` for its chat. */
  const keyOf = (update: Update) => (key === undefined ? undefined : Result.try(() => String(key(update))))

  /** How long ago something was. A clock that was set back does not put off what is due. */
  const since = (now: number, then: number) => Math.abs(now - then)

  /** How many wait, about: each process knows of what the others have stored when it looks. One looks for all. */
  const count = Effect.suspend(() => {
    countedAt = clock.currentTimeMillisUnsafe()
    return Effect.matchEffect(store.stats, {
      onFailure: (error) => {
        countedAt = -Infinity
        return Effect.fail(error)
      },
      onSuccess: (stats) => Effect.sync(() => void (waiting = stats.queued))
    })
  })

  const put = (
    updates: ReadonlyArray<Received>,
    marker: { source: string; value: bigint } | undefined
  ): Effect.Effect<void, ReceiveError> => {
    // A page that is larger than the inbox has to get in somehow.
    if (waiting > 0 && updates.length > 0 && waiting + updates.length > capacity) {
      return new InboxFull({ capacity })
    }
    const now = clock.currentTimeMillisUnsafe()
    const duplicatesSince = duplicates === 0 ? Number.MAX_SAFE_INTEGER : Math.max(0, now - duplicates)
    const accepted: Array<QueuedUpdate.QueuedUpdate> = []
    const deadLetters: Array<{ update: QueuedUpdate.QueuedUpdate; error: string }> = []
    for (const { decoded: read, text } of updates) {
      if (Result.isSuccess(read)) {
        const named = keyOf(read.success)
        if (named !== undefined && Result.isFailure(named)) {
          const update = QueuedUpdate.fromDecoded(read, { receivedAt: now, text })
          deadLetters.push({ update, error: `\`partitionKey\` failed: ${String(named.failure)}` })
        } else {
          accepted.push(QueuedUpdate.fromDecoded(read, { receivedAt: now, partitionKey: named?.success, text }))
        }
      } else {
        const { problem, raw } = read.failure
        const kept = text ?? rawText(raw)
        const update = { fingerprint: Fingerprint.ofText(kept), partitionKey: "", receivedAt: now, text: kept }
        deadLetters.push({ update: QueuedUpdate.fromStored(update), error: problem })
      }
    }
    return Effect.flatMap(store.enqueue({ updates: accepted, deadLetters, marker, now, duplicatesSince }), (added) => {
      waiting += added
      wakeUp.openUnsafe()
      metrics.received(added, updates.length - added)
      return since(now, cleanedAt) < cleanupInterval ? Effect.void : cleanup
    })
  }

  const receive = (updates: ReadonlyArray<Received>, marker?: { source: string; value: bigint }) =>
    Effect.suspend((): Effect.Effect<void, ReceiveError> => {
      if (!isOpen) return new InboxStopping()
      const every = waiting + updates.length > capacity ? recountAfter : countEvery
      // Updates of a webhook come one by one: what is known without an effect takes none.
      if (since(clock.currentTimeMillisUnsafe(), countedAt) < every) return put(updates, marker)
      return Effect.flatMap(count, () => put(updates, marker))
    })

  // With what arrives, so that an inbox that nothing comes to does nothing. Whoever brought it does not wait.
  const cleanup = Effect.suspend(() => {
    const now = clock.currentTimeMillisUnsafe()
    cleanedAt = now
    const limits = { fingerprintsBefore: Math.max(0, now - duplicates), deadLettersBefore: Math.max(0, now - keepDead) }
    const cleaning = Effect.catch(store.cleanup(limits), (error) => Effect.logWarning(error.message))
    return Effect.asVoid(Effect.forkIn(cleaning, scope))
  })

  return Inbox.of({
    receive,
    replay: (id) =>
      Effect.map(store.replay([id]), (count) => {
        wakeUp.openUnsafe()
        return count > 0
      }),
    marker: store.marker,
    stats: Effect.map(store.stats, (stats) => {
      metrics.waiting(stats, clock.currentTimeMillisUnsafe())
      return stats
    }),
    open: Effect.sync(() => {
      isOpen = true
    }),
    close: Effect.sync(() => {
      isOpen = false
    }),
    isOpen: Effect.sync(() => isOpen),
    wakeUp,
    leaseDuration: lease,
    store
  })
})

/**
 * An inbox over the store that the program provides.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: Options): Layer.Layer<Inbox, never, InboxStore> => Layer.effect(Inbox, make(options))

/**
 * An inbox in memory, for tests and for bots that may lose what they have not handled when they stop.
 *
 * **Example**
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
export const layerMemory = (options?: Options): Layer.Layer<Inbox> => Layer.provide(layer(options), storeMemory())

const deadPage = 100

/**
 * The dead letters, from the oldest on: updates whose handler failed as often as it may, and bodies that could not be
 * read. `problem` says why.
 *
 * **Example**
 *
 * ```ts
 * import { Inbox } from "@colloquy/core"
 * import { Effect, Stream } from "effect"
 *
 * // after the handler was mended
 * const again = Inbox.deadLetters.pipe(
 *   Stream.filter(({ error }) => error.includes("the fixed handler")),
 *   Stream.runForEach(({ id }) => Inbox.replay(id))
 * )
 * ```
 *
 * @category dead letters
 * @since 0.1.0
 */
export const deadLetters: Stream.Stream<QueuedUpdate.DeadLetter, StoreError, Inbox> = Stream.unwrap(
  Inbox.use(({ store }) =>
    Effect.succeed(
      Stream.paginate(undefined as string | undefined, (after) =>
        Effect.map(store.deadLetters({ after, limit: deadPage }), (page) => {
          const last = page.at(-1)?.id
          return [page, page.length < deadPage ? Option.none() : Option.some(last)] as const
        })
      )
    )
  )
)

/**
 * Puts a dead letter back at the end of its partition, to be handled again. Gives whether it was there.
 *
 * @category dead letters
 * @since 0.1.0
 */
export const replay = (id: string): Effect.Effect<boolean, StoreError, Inbox> => Inbox.use((inbox) => inbox.replay(id))

/**
 * Forgets a dead letter. Gives whether it was there.
 *
 * @category dead letters
 * @since 0.1.0
 */
export const drop = (id: string): Effect.Effect<boolean, StoreError, Inbox> =>
  Inbox.use(({ store }) => Effect.map(store.drop([id]), (count) => count > 0))
