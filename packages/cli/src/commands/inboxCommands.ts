import * as Inbox from "@colloquy/core/inbox/Inbox"
import * as Operations from "@colloquy/core/tools/Operations"
import * as Timer from "@colloquy/core/bot/Timer"
import * as Argument from "effect/cli/Argument"
import * as Flag from "effect/cli/Flag"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { action, type FlagsOf, group } from "../base/commands.ts"
import { optional, rateFlag, switchFlag, textArgument, timeFlag } from "../base/flags.ts"
import { type ConfirmFlags, confirmed, confirmFlags } from "../base/confirm.ts"
import { failed, invalid } from "../base/failure.ts"
import { count, duration, print, printRows, time } from "../base/output.ts"
import { onInbox } from "../base/stores.ts"
import { deadTest } from "./deadTestCommand.ts"
import {
  chatFlag,
  deadLetterRow,
  describeDeadLetter,
  entryRow,
  limitFlag,
  unknownDeadLetter,
  type UpdateFilter,
  updateFlags
} from "./updateView.ts"

const stats = Effect.gen(function* () {
  const { deadLetters, oldestReceivedAt, queued } = yield* Effect.flatMap(Inbox.Inbox, ({ stats }) => stats)
  const isPaused = yield* Inbox.isPaused
  const now = yield* Clock.currentTimeMillis
  const age = oldestReceivedAt === undefined ? undefined : Math.max(0, now - oldestReceivedAt)
  yield* print(
    {
      queued,
      ...(oldestReceivedAt === undefined ? {} : { oldest_received_at: oldestReceivedAt, oldest_age_ms: age }),
      dead_letters: deadLetters,
      paused: isPaused
    },
    `${count(queued, "queued update")}${age === undefined ? "" : `, the oldest received ${duration(age)} ago`}, ` +
      count(deadLetters, "dead letter") +
      (isPaused ? ". The inbox is paused" : "")
  )
})

const pause = Effect.gen(function* () {
  yield* Inbox.pause
  yield* print(
    { paused: true },
    "Paused the inbox: updates are stored, and not handled. Each process stops within a second, after the updates that it has claimed."
  )
})

const resume = Effect.gen(function* () {
  if (!(yield* Inbox.isPaused)) return yield* failed("The inbox is not paused.")
  yield* Inbox.resume
  yield* print({ paused: false }, "Resumed the inbox. Idle processes go on within 5 seconds.")
})

const list = Effect.fnUntraced(function* ({ limit, ...filter }: UpdateFilter & { readonly limit: number }) {
  const selected = Stream.filter(Inbox.queued, (entry) => Operations.isSelected(filter, entry))
  yield* printRows(selected, limit, "No queued update matches.", entryRow(yield* Clock.currentTimeMillis))
})

export const inbox = group(
  "inbox",
  "Shows the queued updates, including those that are being handled, and pauses their handling",
  [
    action("stats", "Prints the number of queued updates and dead letters, and the age of the oldest update", {}, () =>
      onInbox(stats)
    ),
    action("list", "Lists the queued updates, the oldest first", { ...updateFlags, limit: limitFlag }, (flags) =>
      onInbox(list(flags))
    ),
    action("pause", "Stops the handling of updates in all processes. Updates are stored", {}, () => onInbox(pause)),
    action("resume", "Ends a pause", {}, () => onInbox(resume))
  ]
)

const deadFlags = {
  ...updateFlags,
  cause: Flag.String("cause").pipe(
    Flag.withMetavar("TEXT"),
    optional("Only dead letters whose error contains this text. Upper and lower case are equal")
  ),
  since: timeFlag(
    "since",
    'Only dead letters that failed at or after this time: a time such as 2026-11-21T10:00:00Z, or "2 hours" before now'
  ),
  until: timeFlag("until", "Only dead letters that failed before this time, given as for --since")
}

type DeadFilter = FlagsOf<typeof deadFlags>

const isEmpty = ({ cause, chat, kinds, since, until }: DeadFilter): boolean =>
  kinds.length === 0 && [cause, chat, since, until].every(Predicate.isUndefined)

const listDead = ({ limit, ...filter }: DeadFilter & { readonly limit: number }) =>
  printRows(Operations.deadLetters(filter), limit, "No dead letter matches.", deadLetterRow)

const showDead = Effect.fnUntraced(function* (id: string) {
  const found = yield* Stream.runHead(Stream.filter(Inbox.deadLetters, (letter) => letter.id === id))
  if (Option.isNone(found)) return yield* unknownDeadLetter(id)
  const letter = found.value
  yield* print(
    Operations.deadLetterToJson(letter),
    [
      describeDeadLetter(letter),
      `received  ${time(letter.update.receivedAt)}`,
      `failed    ${time(letter.failedAt)}, after ${count(letter.attempts, "attempt")}`,
      "",
      letter.error,
      "",
      letter.update.text
    ].join("\n")
  )
})

const changeFlags = {
  ...deadFlags,
  all: switchFlag("all", "All dead letters"),
  ids: textArgument("id", "Ids of dead letters").pipe(Argument.variadic())
}

type ChangeFlags = FlagsOf<typeof changeFlags>

const checkSelection = (verb: string, { all, ids, ...filter }: ChangeFlags) => {
  if (ids.length > 0 && (all || !isEmpty(filter)))
    return Effect.fail(invalid("Give ids, or filters, or --all, but not two of them."))
  return ids.length === 0 && !all && isEmpty(filter)
    ? Effect.fail(invalid(`Give the ids of the dead letters to ${verb}, or filters such as --cause, or --all.`))
    : Effect.void
}

/** How many dead letters a plan describes. */
const maxDescribed = 5

const idsOf = ({ ids, ...filter }: ChangeFlags) =>
  ids.length > 0
    ? Effect.succeed(ids)
    : Operations.deadLetters(filter).pipe(
        Stream.map(({ id }) => id),
        Stream.runCollect
      )

/** Says which dead letters are deleted, with the first ones of these. */
const planOf = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
  const selected = new Set(ids)
  const lines = yield* Inbox.deadLetters.pipe(
    Stream.filter(({ id }) => selected.has(id)),
    Stream.map(describeDeadLetter),
    Stream.runCollect
  )
  const more = lines.length - maxDescribed
  const text = [
    `Deletes ${count(lines.length, "dead letter")}.`,
    ...lines.slice(0, maxDescribed),
    ...(more > 0 ? [`… and ${more} more`] : [])
  ]
  return { value: { dead_letters: lines.length }, text: text.join("\n") }
})

const change = (verb: "replay" | "drop", { ids }: ChangeFlags, selected: ReadonlyArray<string>, rate?: number) =>
  Effect.gen(function* () {
    const changed = yield* Operations.paced(selected, rate, (ids) => Operations.takeDeadLetters(verb, ids))
    const done = verb === "replay" ? "Replayed" : "Deleted"
    yield* print(
      { [verb === "replay" ? "replayed" : "dropped"]: changed },
      `${done}: ${count(changed, "dead letter")}.`
    )
    if (ids.length > 0 && changed < ids.length) {
      return yield* failed(
        `${count(ids.length - changed, "dead letter")} of the ${ids.length} did not exist. \`colloquy dead list\` prints the ids.`
      )
    }
  })

// The ids are read before anything changes: a replayed update may fail at once, and be a dead letter again.
const replay = ({ rate, ...flags }: ChangeFlags & { readonly rate: number | undefined }) =>
  Effect.flatMap(idsOf(flags), (ids) => change("replay", flags, ids, rate))

const drop = Effect.fnUntraced(function* (flags: ChangeFlags & ConfirmFlags) {
  const ids = yield* idsOf(flags)
  if (yield* confirmed(flags, planOf(ids))) yield* change("drop", flags, ids)
})

export const dead = group(
  "dead",
  "Shows, replays and deletes dead letters: updates whose handler failed in all attempts",
  [
    action("list", "Lists the dead letters, the oldest first", { ...deadFlags, limit: limitFlag }, (flags) =>
      onInbox(listDead(flags))
    ),
    action("show", "Prints a dead letter with its error and its update", { id: Argument.String("id") }, ({ id }) =>
      onInbox(showDead(id))
    ),
    deadTest,
    action(
      "replay",
      "Moves dead letters to the end of their partitions, so that they are handled again",
      { ...changeFlags, rate: rateFlag },
      (flags) => Effect.andThen(checkSelection("replay", flags), onInbox(replay(flags)))
    ),
    action("drop", "Deletes dead letters, after a question", { ...changeFlags, ...confirmFlags }, (flags) =>
      Effect.andThen(checkSelection("drop", flags), onInbox(drop(flags)))
    )
  ]
)

const timerFlags = {
  name: Flag.String("name").pipe(optional("Only timers with this name")),
  chat: chatFlag("Only timers of this chat"),
  limit: limitFlag
}

const listTimers = Effect.fnUntraced(function* ({ chat, limit, name }: FlagsOf<typeof timerFlags>) {
  const now = yield* Clock.currentTimeMillis
  const selected = Stream.filter(
    Timer.stream,
    (timer) => (name === undefined || name === timer.name) && (chat === undefined || chat === String(timer.chat_id))
  )
  yield* printRows(selected, limit, "No timer matches.", ({ dueAt, ...timer }) => ({
    value: { due_at: dueAt, ...timer },
    cells: [
      time(dueAt),
      dueAt <= now ? "due" : `in ${duration(dueAt - now)}`,
      timer.name,
      timer.key === undefined ? undefined : `key ${timer.key}`,
      timer.chat_id === undefined ? undefined : `chat ${timer.chat_id}`,
      timer.user_id === undefined ? undefined : `user ${timer.user_id}`,
      timer.recurrence === undefined ? undefined : "recurs",
      timer.value
    ],
    color: dueAt <= now ? "yellow" : undefined
  }))
})

export const timers = group("timers", "Shows the timers that are set", [
  action("list", "Lists the timers in the order in which they are due", timerFlags, (flags) =>
    onInbox(listTimers(flags))
  )
])
