/**
 * The views and actions of the operators of a bot: the state of the bot, its dead letters, and the log of its updates as JSON. The command
 * `colloquy` and the page of `NodeBoard` in `@colloquy/node` are made of these functions.
 *
 * Import this module by its path, `@colloquy/core/tools/Operations`. The index of the package does not export the module.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Json from "../base/Json.ts"
import * as Platform from "../base/Platform.ts"
import type { StoreError } from "../base/StoreError.ts"
import * as Inbox from "../inbox/Inbox.ts"
import { hooks } from "../inbox/internal/hooks.ts"
import type { DeadLetter, Entry, QueuedUpdate } from "../inbox/QueuedUpdate.ts"
import * as UpdateLog from "../inbox/UpdateLog.ts"
import * as Update from "../model/Update.ts"

const jsonOf = (text: string): unknown =>
  Result.getOrElse(
    Result.try(() => Json.parse(text)),
    () => text
  )

/**
 * Returns the `update_type` of a queued update, or `malformed`.
 *
 * @category updates
 * @since 0.1.0
 */
export const kindOf = ({ decoded }: QueuedUpdate): string => {
  if (Result.isFailure(decoded)) return "malformed"
  const update = decoded.success
  if (update.update_type !== "unknown") return update.update_type
  const { raw } = update
  return typeof raw === "object" && raw !== null && "update_type" in raw ? String(raw.update_type) : "unknown"
}

/**
 * Returns the chat of a queued update as a text, or `undefined`.
 *
 * @category updates
 * @since 0.1.0
 */
export const chatOf = ({ decoded }: QueuedUpdate): string | undefined => {
  const chat_id = Result.isSuccess(decoded) ? Update.chatOf(decoded.success) : undefined
  return chat_id === undefined ? undefined : String(chat_id)
}

/**
 * Returns a queued update as JSON. `update` is the JSON of the platform.
 *
 * @category updates
 * @since 0.1.0
 */
export const entryToJson = ({ id, update }: Entry) => ({
  id,
  kind: kindOf(update),
  partition_key: update.partitionKey,
  received_at: update.receivedAt,
  update: jsonOf(update.text)
})

/**
 * Returns a dead letter as JSON: {@link entryToJson} with the error, the number of attempts and the time of the last attempt.
 *
 * @category dead letters
 * @since 0.1.0
 */
export const deadLetterToJson = (letter: DeadLetter) => ({
  ...entryToJson(letter),
  error: letter.error,
  attempts: letter.attempts,
  failed_at: letter.failedAt
})

/**
 * Selects updates. An update is selected if it fulfils every given condition.
 *
 * @category updates
 * @since 0.1.0
 */
export interface UpdateFilter {
  /** The types, such as `message_created`. Default, also of an empty list: every type. */
  readonly kinds?: ReadonlyArray<string> | undefined
  /** The id of the chat. Default: every chat. */
  readonly chat?: string | undefined
}

/**
 * Returns whether a queued update is selected.
 *
 * @category updates
 * @since 0.1.0
 */
export const isSelected = ({ chat, kinds = [] }: UpdateFilter, { update }: Entry): boolean =>
  (kinds.length === 0 || kinds.includes(kindOf(update))) && (chat === undefined || chat === chatOf(update))

/**
 * Selects dead letters.
 *
 * @category dead letters
 * @since 0.1.0
 */
export interface DeadLetterFilter extends UpdateFilter {
  /** A text that the error contains. Upper and lower case are equal. Default: every error. */
  readonly cause?: string | undefined
  /** The time of the failure must not be earlier than this, in Unix milliseconds. Default: any time. */
  readonly since?: number | undefined
  /** The time of the failure must be earlier than this, in Unix milliseconds. Default: any time. */
  readonly until?: number | undefined
}

/**
 * The selected dead letters, the oldest first.
 *
 * @category dead letters
 * @since 0.1.0
 */
export const deadLetters = ({
  cause = "",
  since = -Infinity,
  until = Infinity,
  ...filter
}: DeadLetterFilter = {}): Stream.Stream<DeadLetter, StoreError, Inbox.Inbox> =>
  Stream.filter(
    Inbox.deadLetters,
    (letter) =>
      isSelected(filter, letter) &&
      letter.error.toLowerCase().includes(cause.toLowerCase()) &&
      letter.failedAt >= since &&
      letter.failedAt < until
  )

/**
 * Moves dead letters to the ends of their partitions, so that they are handled again, or deletes them. Returns how many of them
 * existed.
 *
 * @category dead letters
 * @since 0.1.0
 */
export const takeDeadLetters = (
  verb: "replay" | "drop",
  ids: ReadonlyArray<string>
): Effect.Effect<number, StoreError, Inbox.Inbox> =>
  Inbox.Inbox.use(({ store, [hooks]: { wakeAll } }) =>
    Effect.tap(store.takeDeadLetters({ ids, replay: verb === "replay" }), () => Effect.sync(wakeAll))
  )

const maxPart = 100

/** How many parts of a list are done in a second at most. */
const partsPerSecond = 10

/**
 * Does something with parts of a list of at most 100 elements, one after the other. Returns the sum of the results. With a rate, at most
 * about `rate` elements are done in a second, so that the bot does other work as well.
 *
 * **Example** (Replay all dead letters, ten in a second)
 *
 * ```ts
 * import * as Operations from "@colloquy/core/tools/Operations"
 * import { Effect, Stream } from "effect"
 *
 * const replayed = Effect.gen(function* () {
 *   // The ids are read first, because a replayed update may fail at once and be a dead letter again.
 *   const letters = yield* Stream.runCollect(Operations.deadLetters({ cause: "connection refused" }))
 *   const ids = letters.map(({ id }) => id)
 *   return yield* Operations.paced(ids, 10, (part) => Operations.takeDeadLetters("replay", part))
 * })
 * ```
 *
 * @category dead letters
 * @since 0.1.0
 */
export const paced = <A, E, R>(
  items: ReadonlyArray<A>,
  rate: number | undefined,
  f: (part: ReadonlyArray<A>) => Effect.Effect<number, E, R>
): Effect.Effect<number, E, R> =>
  Effect.gen(function* () {
    const size = rate === undefined ? maxPart : Math.min(maxPart, Math.ceil(rate / partsPerSecond))
    let sum = 0
    for (let from = 0; from < items.length; from += size) {
      sum += yield* f(items.slice(from, from + size))
      if (rate !== undefined && from + size < items.length) yield* Effect.sleep((1000 * size) / rate)
    }
    return sum
  })

const callToJson = ({ duration, error, isRecorded, startedAt, ...call }: UpdateLog.Call) => ({
  endpoint: call.endpoint,
  started_at: startedAt,
  duration_ms: duration,
  ...(call.status === undefined ? {} : { status: call.status }),
  ...(isRecorded === true ? { recorded: true } : {}),
  ...(error === undefined ? {} : { error }),
  ...(call.request === undefined ? {} : { request: call.request }),
  ...(call.answer === undefined ? {} : { answer: call.answer })
})

/**
 * Returns an entry of the log of handled updates as JSON. `update` is the JSON of the platform, if the log has texts.
 *
 * @category updates
 * @since 0.1.0
 */
export const logToJson = ({
  calls,
  endedAt,
  omittedCalls,
  receivedAt,
  startedAt,
  update,
  ...entry
}: UpdateLog.Entry) => ({
  id: entry.id,
  kind: entry.update_type,
  outcome: entry.outcome,
  ...(entry.chat_id === undefined ? {} : { chat_id: entry.chat_id }),
  ...(entry.user_id === undefined ? {} : { user_id: entry.user_id }),
  ...(entry.part === undefined ? {} : { part: entry.part }),
  attempt: entry.attempt,
  received_at: receivedAt,
  started_at: startedAt,
  ended_at: endedAt,
  duration_ms: endedAt - startedAt,
  ...(entry.error === undefined ? {} : { error: entry.error }),
  calls: calls.map(callToJson),
  ...(omittedCalls === undefined ? {} : { omitted_calls: omittedCalls }),
  ...(update === undefined ? {} : { update: Json.parse(update) })
})

const pageSize = 500

/**
 * Conversations after these are not counted: 10,000.
 *
 * @category status
 * @since 0.1.0
 */
export const maxConversations = 10_000

const conversations = "state/conversation%2F"

/** The name of the question in the stored text of a conversation: `[version, record]`. */
const questionIn = (text: string): string | undefined => {
  const parsed = jsonOf(text)
  const record: unknown = Array.isArray(parsed) ? parsed[1] : undefined
  if (typeof record !== "object" || record === null) return undefined
  const waiting: unknown = "waiting" in record ? record.waiting : undefined
  return typeof waiting === "object" && waiting !== null && "name" in waiting ? String(waiting.name) : "(none)"
}

/** Counts the running conversations by their questions. */
const byQuestion = Effect.gen(function* () {
  const { store } = yield* Inbox.Inbox
  const counts = new Map<string, number>()
  let after: { readonly key: string } | undefined
  for (let read = 0; read < maxConversations; read += pageSize) {
    const page = yield* store.rows({ prefix: conversations, by: "key", after, limit: pageSize })
    for (const { key, text } of page) {
      const question = questionIn(text)
      if (question === undefined) continue
      const [segment = ""] = key.slice(conversations.length).split("/", 1)
      const id = Json.stringify([decodeURIComponent(segment), question])
      counts.set(id, (counts.get(id) ?? 0) + 1)
    }
    after = page.at(-1)
    if (page.length < pageSize) return { counts, isCut: false }
  }
  return { counts, isCut: true }
})

const at = (sorted: ReadonlyArray<number>, part: number): number | undefined =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]

/** A process that has written within this time is busy. */
const busyFor = 5000

const read = Effect.gen(function* () {
  const now = yield* Clock.currentTimeMillis
  const { deadLetters, oldestReceivedAt, queued } = yield* Effect.flatMap(Inbox.Inbox, ({ stats }) => stats)
  const entries = yield* UpdateLog.entries
  const processes = yield* UpdateLog.processes
  const busy = processes.filter(({ at }) => now - at <= busyFor)
  const { counts, isCut } = yield* byQuestion
  const durations = entries.map(({ endedAt, startedAt }) => endedAt - startedAt).sort((a, b) => a - b)
  const waiting: Record<string, number> = {}
  for (const { waitingCalls } of busy) {
    for (const [priority, calls] of Object.entries(waitingCalls)) waiting[priority] = (waiting[priority] ?? 0) + calls
  }
  const rate = (of: "callsPerSecond" | "updatesPerSecond") =>
    Math.round(10 * busy.reduce((sum, process) => sum + process[of], 0)) / 10
  return {
    at: now,
    updates_per_second: rate("updatesPerSecond"),
    queued,
    ...(oldestReceivedAt === undefined ? {} : { oldest_age_ms: Math.max(0, now - oldestReceivedAt) }),
    dead_letters: deadLetters,
    log: {
      entries: entries.length,
      ...(entries[0] === undefined ? {} : { since: entries[0].endedAt }),
      outcomes: Object.fromEntries(
        UpdateLog.Outcome.literals.map((outcome) => [
          outcome,
          entries.filter((entry) => entry.outcome === outcome).length
        ])
      ),
      ...(durations.length === 0 ? {} : { median_ms: at(durations, 0.5), p95_ms: at(durations, 0.95) })
    },
    calls_per_second: rate("callsPerSecond"),
    calls_per_second_limit: Platform.requestsPerSecond,
    waiting_calls: waiting,
    conversations: [...counts].map(([id, number]) => {
      const [conversation, question] = Json.parse(id) as readonly [string, string]
      return { conversation, question, count: number }
    }),
    ...(isCut ? { more_conversations: true } : {}),
    processes: processes.map(
      ({ at, callsPerSecond, chatsNamed, startedAt, updatesPerSecond, waitingCalls, ...process }) => ({
        ...process,
        started_at: startedAt,
        at,
        is_busy: now - at <= busyFor,
        updates_per_second: updatesPerSecond,
        calls_per_second: callsPerSecond,
        waiting_calls: waitingCalls,
        chats_named: chatsNamed
      })
    )
  }
})

/**
 * The present state of a bot as JSON: queued updates, dead letters, the outcomes and durations in the log, calls and their limit in a second,
 * calls that wait by priority, running conversations by question, and processes with their chats. Times are Unix milliseconds.
 * `more_conversations` says that only the first {@link maxConversations} are counted.
 *
 * @category status
 * @since 0.1.0
 */
export interface Status extends Effect.Success<typeof read> {}

/**
 * Returns what the bot does now. The rates and the waiting calls are those of processes that have handled an update within the last five
 * seconds.
 *
 * @category status
 * @since 0.1.0
 */
export const status: Effect.Effect<Status, StoreError, Inbox.Inbox> = read
