import * as Json from "@colloquy/core/base/Json"
import * as Platform from "@colloquy/core/base/Platform"
import * as Inbox from "@colloquy/core/inbox/Inbox"
import * as UpdateLog from "@colloquy/core/inbox/UpdateLog"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { invalid } from "../base/failure.ts"
import { switchFlag } from "../base/flags.ts"
import { type Color, colored, count, cut, duration, table, time } from "../base/output.ts"
import { isJson, Process, withSettings } from "../base/settings.ts"
import * as stores from "../base/stores.ts"

const pageSize = 500

/** Conversations after these are not counted. */
const maxConversations = 10_000

const conversations = "state/conversation%2F"

/** The name of the question in the stored text of a conversation: `[version, record]`. */
const questionIn = (text: string): string | undefined => {
  const parsed = Result.getOrElse(
    Result.try(() => Json.parse(text)),
    () => undefined
  )
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
  const busy = processes.filter((process) => now - process.at <= busyFor)
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
        updates_per_second: updatesPerSecond,
        calls_per_second: callsPerSecond,
        waiting_calls: waitingCalls,
        chats_named: chatsNamed
      })
    )
  }
})

type Status = Effect.Success<typeof read>

const list = (values: Readonly<Record<string, number>>): string =>
  Object.entries(values)
    .filter(([, value]) => value > 0)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ") || "none"

type Line = readonly [text: string, color?: Color | undefined]

/** Rows as lines in which the columns are aligned. */
const linesOfTable = (
  rows: ReadonlyArray<readonly [cells: ReadonlyArray<string>, color?: Color]>,
  width: number
): ReadonlyArray<Line> => {
  const lines = table(
    rows.map(([cells]) => cells),
    width - 2
  )
  return rows.map(([, color], index) => [`  ${lines[index]!}`, color])
}

/** The status as lines of text. */
const linesOf = (status: Status, width: number): ReadonlyArray<Line> => {
  const { log, oldest_age_ms = 0, processes } = status
  const age = status.oldest_age_ms === undefined ? "" : `, the oldest received ${duration(oldest_age_ms)} ago`
  const times = "median_ms" in log ? `; half within ${log.median_ms} ms, 95 % within ${log.p95_ms} ms` : ""
  return [
    [`${time(status.at)}  ${status.updates_per_second} updates a second`],
    [""],
    [`queued        ${count(status.queued, "update")}${age}`, oldest_age_ms > stores.lateAfter ? "yellow" : undefined],
    [`dead letters  ${status.dead_letters}`, status.dead_letters > 0 ? "red" : undefined],
    [`last ${log.entries}`.padEnd(14) + list(log.outcomes) + times],
    [
      `calls         ${status.calls_per_second} a second of ${status.calls_per_second_limit}; waiting: ${list(status.waiting_calls)}`
    ],
    ...(status.conversations.length === 0
      ? []
      : ([
          [""],
          [`conversations${"more_conversations" in status ? ` (the first ${maxConversations})` : ""}`],
          ...linesOfTable(
            status.conversations.map(({ conversation, question, ...one }) => [
              [conversation, question, String(one.count)]
            ]),
            width
          )
        ] as const)),
    [""],
    [processes.length === 0 ? "no process has handled an update within the last hour" : "processes"],
    ...linesOfTable(
      processes.map((process) => [
        [
          process.name,
          `for ${duration(status.at - process.started_at)}`,
          `seen ${duration(status.at - process.at)} ago`,
          `${process.handled} handled`,
          count(process.chats, "chat"),
          process.chats_named.join(" ")
        ],
        status.at - process.at <= busyFor ? "green" : "gray"
      ]),
      width
    )
  ]
}

const clear = "\u001B[H\u001B[2J"

/** Prints the status as a screen in a terminal, and as a line of JSON elsewhere. */
const show = (isWatched: boolean) =>
  Effect.gen(function* () {
    const status = yield* read
    const place = yield* Process
    const width = place.columns?.()
    if (width === undefined || (yield* isJson)) return yield* Console.log(Json.stringify(status))
    const lines = linesOf(status, width).map(([text, color]) => colored(place, cut(text, width), color))
    yield* Console.log(`${isWatched ? clear : ""}${lines.join("\n")}`)
  })

const parseInterval = (text: string) => {
  const interval = Option.filter(Duration.fromInput(text as Duration.Input), (value) => Duration.toMillis(value) >= 100)
  return Option.isSome(interval)
    ? Effect.succeed(interval.value)
    : Effect.fail(invalid(`--interval "${text}": must be a duration of at least 100 millis, such as "2 seconds".`))
}

/** The command `status`. */
export const status = Command.make(
  "status",
  {
    watch: switchFlag("watch", "Prints the status again and again. Press Ctrl-C to end"),
    interval: Flag.String("interval").pipe(
      Flag.withDefault("2 seconds"),
      Flag.withDescription("How often --watch prints the status. Default: 2 seconds")
    )
  },
  ({ interval, watch }) =>
    Effect.flatMap(parseInterval(interval), (pause) => {
      const shown = show(watch)
      const watched = watch ? Effect.forever(Effect.andThen(shown, Effect.sleep(pause))) : shown
      return withSettings(Effect.provide(watched, stores.inbox))
    })
).pipe(
  Command.withDescription(
    "Prints what the bot does now: updates, outcomes, calls that wait, dead letters, conversations by question, and processes with their chats. Without a terminal: a line of JSON"
  )
)
