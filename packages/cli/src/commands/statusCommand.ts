import * as Json from "@colloquy/core/base/Json"
import * as Operations from "@colloquy/core/tools/Operations"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { action } from "../base/commands.ts"
import { intervalFlag, switchFlag } from "../base/flags.ts"
import { type Color, colored, count, cut, duration, table, time } from "../base/output.ts"
import { isJson, Process } from "../base/settings.ts"
import * as stores from "../base/stores.ts"

const list = (values: Readonly<Record<string, number>>): string =>
  Object.entries(values)
    .filter(([, value]) => value > 0)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ") || "none"

type Line = readonly [text: string, color?: Color | undefined]

/** The lines of a table, without colors. */
const linesOfTable = (rows: ReadonlyArray<ReadonlyArray<string>>, width: number) =>
  table(rows, width - 2).map((line) => [`  ${line}`] as const)

/** The status as lines of text. */
const linesOf = (status: Operations.Status, width: number): ReadonlyArray<Line> => {
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
          [`conversations${"more_conversations" in status ? ` (the first ${Operations.maxConversations})` : ""}`],
          ...linesOfTable(
            status.conversations.map(({ conversation, question, ...one }) => [
              conversation,
              question,
              String(one.count)
            ]),
            width
          )
        ] as const)),
    [""],
    [processes.length === 0 ? "no process has handled an update within the last hour" : "processes"],
    ...linesOfTable(
      processes.map((process) => [
        process.name,
        `for ${duration(status.at - process.started_at)}`,
        `seen ${duration(status.at - process.at)} ago`,
        `${process.handled} handled`,
        count(process.chats, "chat"),
        process.chats_named.join(" ")
      ]),
      width
    ).map(([line], index): Line => [line, processes[index]!.is_busy ? "green" : "gray"])
  ]
}

const clear = "\u001B[H\u001B[2J"

/** Prints the status as a screen in a terminal, and as a line of JSON elsewhere. */
const show = Effect.fnUntraced(function* (isWatched: boolean) {
  const status = yield* Operations.status
  const place = yield* Process
  const width = place.columns?.()
  if (width === undefined || (yield* isJson)) return yield* Console.log(Json.stringify(status))
  const lines = linesOf(status, width).map(([text, color]) => colored(place, cut(text, width), color))
  yield* Console.log(`${isWatched ? clear : ""}${lines.join("\n")}`)
})

/** The command `status`. */
export const status = action(
  "status",
  "Prints what the bot does now: updates, outcomes, calls that wait, dead letters, conversations by question, and processes with their chats. Without a terminal: a line of JSON",
  {
    watch: switchFlag("watch", "Prints the status again and again. Press Ctrl-C to end"),
    interval: intervalFlag("2 seconds", "100 millis", "How often --watch prints the status")
  },
  ({ interval, watch }) => {
    const shown = show(watch)
    const watched = watch ? Effect.forever(Effect.andThen(shown, Effect.sleep(interval))) : shown
    return stores.onInbox(watched)
  }
)
