/**
 * The log of handled updates: which part handled an update, with which outcome, how long, and which calls it made. The inbox
 * keeps the last 1,000 entries in its store, for all processes of a bot, and `colloquy updates tail`, `colloquy status` and
 * `colloquy updates story` read the log.
 *
 * An entry is added at the end of each attempt, and written within a second. If a process is killed, its entries of the last
 * second are missing; the updates themselves are not lost. If a process handles more than 1,000 updates within a second, the
 * log has the last 1,000 of these. An update of a group (`Deliveries.groupedWithin`) has no calls in the log, because the group
 * made the calls.
 *
 * The log has ids, types, names, times and the first line of errors. The log has no texts of messages, unless the option
 * `logTexts` of the inbox is set.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { StoreError } from "../base/StoreError.ts"
import { ChatId } from "../model/Recipient.ts"
import { UserId } from "../model/User.ts"
import { Inbox } from "./Inbox.ts"
import { hooks } from "./internal/hooks.ts"
import { keySince, prefix, rowsSince } from "./internal/log/log.ts"
import { processPrefix } from "./internal/log/processes.ts"

/**
 * The outcome of an attempt to handle an update.
 *
 * - `handled`: the handler succeeded, and the update was acknowledged.
 * - `unhandled`: no part took the update, which was acknowledged.
 * - `failed`: the handler failed, and the update is handled again.
 * - `dead`: the update became a dead letter.
 *
 * @category models
 * @since 0.1.0
 */
export const Outcome = Schema.Literals(["handled", "unhandled", "failed", "dead"])

/**
 * The type of {@link Outcome}.
 *
 * @category models
 * @since 0.1.0
 */
export type Outcome = typeof Outcome.Type

/**
 * A call of an endpoint that a handler made.
 *
 * @category models
 * @since 0.1.0
 */
export const Call = Schema.Struct({
  /** The endpoint, such as `Messages.send`. */
  endpoint: Schema.String,
  /** When the call began, in Unix milliseconds. */
  startedAt: Schema.Finite,
  /** Duration in milliseconds, with the wait for the rate limit and with retries. */
  duration: Schema.Finite,
  /** The HTTP status of the last answer. Missing if the platform has not answered. */
  status: Schema.optionalKey(Schema.Int),
  /** `true` if nothing was sent, because an earlier attempt had made the call: the journal had the answer. */
  isRecorded: Schema.optionalKey(Schema.Boolean),
  /** The first line of the error. Missing if the call succeeded. */
  error: Schema.optionalKey(Schema.String),
  /** The request. Only with the option `logTexts`. */
  request: Schema.optionalKey(
    Schema.Struct({
      method: Schema.String,
      path: Schema.String,
      query: Schema.String,
      body: Schema.optionalKey(Schema.String)
    })
  ),
  /** The text of the last answer. Only with the option `logTexts`. */
  answer: Schema.optionalKey(Schema.String)
})

/**
 * The type of {@link Call}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Call extends Schema.Schema.Type<typeof Call> {}

/**
 * An entry of the log: an attempt to handle an update that has ended.
 *
 * @category models
 * @since 0.1.0
 */
export const Entry = Schema.Struct({
  /** The id of the update in the inbox. The entries of the attempts of an update have the same id. */
  id: Schema.String,
  /** Identifies the event of the update: see `QueuedUpdate.fingerprintOf`. Missing in entries of earlier versions. */
  fingerprint: Schema.optionalKey(Schema.String),
  /** The type of the update, `colloquy_timer` for a timer, or `malformed`. */
  update_type: Schema.String,
  /** The chat of the update. Missing if the update has no chat. */
  chat_id: Schema.optionalKey(ChatId),
  /** The user who caused the update. Missing if the update has no user. */
  user_id: Schema.optionalKey(UserId),
  /** The outcome. */
  outcome: Outcome,
  /** The part that took the update, such as the command `start`. Missing if no part took the update. */
  part: Schema.optionalKey(Schema.Struct({ kind: Schema.String, name: Schema.String })),
  /** The number of the attempt, from 1. */
  attempt: Schema.Int,
  /** When the inbox received the update, in Unix milliseconds. */
  receivedAt: Schema.Finite,
  /** When the attempt began, in Unix milliseconds. */
  startedAt: Schema.Finite,
  /** When the store had the outcome of the attempt, in Unix milliseconds. */
  endedAt: Schema.Finite,
  /** The first line of the error. Missing unless the outcome is `failed` or `dead`. */
  error: Schema.optionalKey(Schema.String),
  /** The first 50 calls, in the order in which they began. */
  calls: Schema.Array(Call),
  /** The number of further calls. Missing if there are none. */
  omittedCalls: Schema.optionalKey(Schema.Int),
  /** The JSON text of the update. Only with the option `logTexts`. */
  update: Schema.optionalKey(Schema.String)
})

/**
 * The type of {@link Entry}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Entry extends Schema.Schema.Type<typeof Entry> {}

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Entry))

// An entry that another version of the library wrote may be unreadable.
const entriesIn = (text: string): ReadonlyArray<Entry> =>
  text.split("\n").flatMap((line) => Option.toArray(decode(line)))

const byEnd = (a: Entry, b: Entry): number => a.endedAt - b.endedAt

const since = (time: number): Effect.Effect<ReadonlyArray<Entry>, StoreError, Inbox> =>
  Inbox.use(({ store, [hooks]: { log } }) =>
    Effect.map(rowsSince(store, time === 0 ? prefix : keySince(time)), (rows) =>
      [...rows.flatMap(({ text }) => entriesIn(text)), ...log.unwritten.filter(({ endedAt }) => endedAt >= time)].sort(
        byEnd
      )
    )
  )

/**
 * Returns the last entries of the log, the oldest first, of all processes that use the inbox. The number of entries is at most the option
 * `logSize` of the inbox that reads.
 *
 * **Example** (The slowest of the last updates)
 *
 * ```ts
 * import { UpdateLog } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const slowest = Effect.map(UpdateLog.entries, (entries) =>
 *   entries.toSorted((a, b) => b.endedAt - b.startedAt - (a.endedAt - a.startedAt)).slice(0, 10)
 * )
 * ```
 *
 * @category reading
 * @since 0.1.0
 */
export const entries: Effect.Effect<ReadonlyArray<Entry>, StoreError, Inbox> = Inbox.use(({ [hooks]: { log } }) =>
  log.size === 0 ? Effect.succeed([]) : Effect.map(since(0), (all) => all.slice(-log.size))
)

/**
 * Options of {@link follow}.
 *
 * @category models
 * @since 0.1.0
 */
export interface FollowOptions {
  /** How often the store is read. Default: 1 second. */
  readonly interval?: Duration.Input | undefined
  /** How many earlier entries come first. Default: 0. */
  readonly last?: number | undefined
}

/** Clocks of processes may differ, and an entry is written after its end. */
const overlap = 60_000

/**
 * Emits the entries of the log from now on, as they are written. The stream does not end. An entry that is written more than a
 * minute after its end, because the store was away, may be missing.
 *
 * **Example** (Print failures)
 *
 * ```ts
 * import { UpdateLog } from "@colloquy/core"
 * import { Console, Stream } from "effect"
 *
 * const failures = UpdateLog.follow().pipe(
 *   Stream.filter(({ outcome }) => outcome === "failed" || outcome === "dead"),
 *   Stream.runForEach(({ chat_id, error }) => Console.log(chat_id, error))
 * )
 * ```
 *
 * @category reading
 * @since 0.1.0
 */
export const follow = ({ interval = "1 second", last = 0 }: FollowOptions = {}): Stream.Stream<
  Entry,
  StoreError,
  Inbox
> => {
  const idOf = ({ attempt, endedAt, id }: Entry): string => `${id} ${attempt} ${endedAt}`
  return Stream.unwrap(
    Effect.gen(function* () {
      const earlier = yield* entries
      let seen = new Map(earlier.map((entry) => [idOf(entry), entry.endedAt]))
      const next = Effect.gen(function* () {
        yield* Effect.sleep(interval)
        // A row has the key of its first entry.
        const from = (yield* Clock.currentTimeMillis) - overlap
        const read = yield* since(from)
        const added = read.filter((entry) => !seen.has(idOf(entry)))
        seen = new Map(
          [...seen, ...added.map((entry) => [idOf(entry), entry.endedAt] as const)].filter(
            ([, at]) => at >= from - overlap
          )
        )
        return added
      })
      const shown = last === 0 ? [] : earlier.slice(-last)
      return Stream.concat(Stream.fromIterable(shown), Stream.fromIterableEffectRepeat(next))
    })
  )
}

/**
 * A process of the bot, as the process described itself with its last entries of the log.
 *
 * @category models
 * @since 0.1.0
 */
export const Process = Schema.Struct({
  /** A name that no other process has. */
  name: Schema.String,
  /** When the process started, in Unix milliseconds. */
  startedAt: Schema.Finite,
  /** When the process described itself, in Unix milliseconds: within a second after its last update. */
  at: Schema.Finite,
  /** Number of attempts to handle an update since the start. */
  handled: Schema.Finite,
  /** Attempts to handle an update a second, since the description before. */
  updatesPerSecond: Schema.Finite,
  /** Permits of the rate limiter a second, since the description before. */
  callsPerSecond: Schema.Finite,
  /** Number of calls that waited for a permit, by priority. */
  waitingCalls: Schema.Record(Schema.String, Schema.Finite),
  /** Number of partitions that the process held. A partition is a chat, unless the inbox has the option `partitionKey`. */
  chats: Schema.Finite,
  /** The keys of the first 20 of these partitions. */
  chatsNamed: Schema.Array(Schema.String)
})

/**
 * The type of {@link Process}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Process extends Schema.Schema.Type<typeof Process> {}

const decodeProcess = Schema.decodeUnknownOption(Schema.fromJsonString(Process))

const maxProcesses = 1000

/**
 * Returns the processes of the bot that have handled an update within the last hour, and have not ended. A process that was killed is
 * returned until its hour is over. A process that has no updates describes itself again with its next update.
 *
 * **Example** (The number of chats of each process)
 *
 * ```ts
 * import { UpdateLog } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const chats = Effect.map(UpdateLog.processes, (processes) => processes.map(({ chats, name }) => [name, chats] as const))
 * ```
 *
 * @category reading
 * @since 0.1.0
 */
export const processes: Effect.Effect<ReadonlyArray<Process>, StoreError, Inbox> = Effect.gen(function* () {
  const { store } = yield* Inbox
  const now = yield* Clock.currentTimeMillis
  const rows = yield* store.rows({ prefix: processPrefix, by: "key", limit: maxProcesses })
  return rows.flatMap(({ expiresAt, text }) =>
    expiresAt !== undefined && expiresAt < now ? [] : Option.toArray(decodeProcess(text))
  )
})
