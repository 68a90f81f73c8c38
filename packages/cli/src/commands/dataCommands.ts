import type * as Broadcast from "@colloquy/core/broadcast/Broadcast"
import * as Broadcasts from "@colloquy/core/broadcast/Broadcasts"
import { BroadcastStore } from "@colloquy/core/broadcast/BroadcastStore"
import * as ChatRecord from "@colloquy/core/bot/ChatRecord"
import * as ChatStore from "@colloquy/core/bot/ChatStore"
import * as Inbox from "@colloquy/core/inbox/Inbox"
import * as Json from "@colloquy/core/base/Json"
import { KnownChat } from "@colloquy/core/bot/ChatStore"
import type { DeadLetter } from "@colloquy/core/inbox/QueuedUpdate"
import type { UserId } from "@colloquy/core/model/User"
import * as State from "@colloquy/core/bot/State"
import * as Timer from "@colloquy/core/bot/Timer"
import * as Update from "@colloquy/core/model/Update"
import * as Argument from "effect/cli/Argument"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { randomUUID } from "node:crypto"
import { appendFileSync, writeFileSync } from "node:fs"
import { resolve } from "node:path"
import { action, type FlagsOf, group } from "../base/commands.ts"
import { parseUserId } from "../base/client.ts"
import { type ConfirmFlags, confirmed, confirmFlags } from "../base/confirm.ts"
import { type CommandFailed, failed, invalid, writing } from "../base/failure.ts"
import { optional, textArgument, timeFlag } from "../base/flags.ts"
import { jsonOrText, parseJson } from "../base/json.ts"
import { type Color, count, print, printRows, type Row, table, time } from "../base/output.ts"
import { Process, readInput, withSettings } from "../base/settings.ts"
import * as stores from "../base/stores.ts"
import { limitFlag } from "./updateView.ts"

const onChats = <A, E, R>(effect: Effect.Effect<A, E, R>) => withSettings(Effect.provide(effect, stores.chats))

const chatFlags = {
  type: Flag.String("type").pipe(optional("Only chats of this type: dialog, chat or channel")),
  activeSince: timeFlag(
    "active-since",
    'Only chats with an update since this time: 2026-11-21T10:00:00Z, or "7 days" ago'
  )
}

const chatToJson = Schema.encodeSync(KnownChat)

const chatRow = (chat: KnownChat): Row => {
  const { chat_id, last_seen, title, type = "unknown type", user } = chat
  return {
    value: chatToJson(chat),
    cells: [
      String(chat_id),
      type,
      `last seen ${time(last_seen)}`,
      title === undefined ? undefined : JSON.stringify(title),
      user === undefined ? undefined : `${user.first_name} (${user.user_id})`
    ]
  }
}

const countChats = (flags: FlagsOf<typeof chatFlags>) =>
  Effect.flatMap(ChatStore.count(flags), (chats) => print({ chats }, String(chats)))

const decodeChat = Schema.decodeUnknownResult(KnownChat)

const readChats = Effect.fnUntraced(function* (file: string) {
  const text = yield* readInput(file)
  const records: Array<ChatRecord.ChatRecord> = []
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue
    const decoded = Result.flatMap(parseJson(line), decodeChat)
    if (Result.isFailure(decoded)) {
      return yield* invalid(
        `${file}, line ${index + 1}: is not a chat as \`colloquy chats export\` writes it. Nothing was stored.`
      )
    }
    records.push(ChatRecord.fromKnownChat(decoded.success))
  }
  return records
})

const importChats = Effect.fnUntraced(function* (records: ReadonlyArray<ChatRecord.ChatRecord>) {
  const store = yield* ChatStore.ChatStore
  for (let from = 0; from < records.length; from += 500) yield* store.upsert(records.slice(from, from + 500))
  yield* print({ chats: records.length }, `Stored ${count(records.length, "chat")}.`)
})

export const chats = group("chats", "Shows, exports and imports the chats that the bot knows", [
  action("list", "Lists chats in the order of their ids", { ...chatFlags, limit: limitFlag }, ({ limit, ...flags }) =>
    onChats(printRows(ChatStore.stream(flags), limit, "No chat matches.", chatRow))
  ),
  action("count", "Prints the number of chats", chatFlags, (flags) => onChats(countChats(flags))),
  action(
    "export",
    "Writes the chats as NDJSON: a chat in each line",
    {
      ...chatFlags,
      file: textArgument("file", "File to write. Default: standard output").pipe(Argument.optional)
    },
    Effect.fnUntraced(function* ({ file, ...flags }) {
      const lines = ChatStore.exportNdjson(flags)
      if (Option.isNone(file)) {
        return yield* Stream.runForEach(lines, (line) => Console.log(line.trimEnd()))
      }
      const { cwd } = yield* Process
      const path = resolve(cwd, file.value)
      yield* writing(path, () => writeFileSync(path, ""))
      const chats = yield* lines.pipe(
        Stream.tap((line) => writing(path, () => appendFileSync(path, line))),
        Stream.runCount
      )
      yield* print({ chats, file: path }, `Wrote ${count(chats, "chat")} to ${path}.`)
    }, onChats)
  ),
  action(
    "import",
    "Stores the chats of an export. Facts of newer updates are kept. - is standard input",
    { file: Argument.String("file") },
    ({ file }) => Effect.flatMap(readChats(file), (records) => onChats(importChats(records)))
  )
])

const checkScope = (scope: string) =>
  /^(?:bot|chat:-?\d+|user:\d+|chat:-?\d+\/user:\d+|key:.+)$/.test(scope)
    ? Effect.void
    : Effect.fail(invalid(`"${scope}" is not a scope: use chat:ID, user:ID, chat:ID/user:ID, key:JSON, or bot.`))

const stateArguments = {
  name: textArgument("name", "Name of the state"),
  scope: textArgument("scope", "To what the value belongs: chat:ID, user:ID, chat:ID/user:ID, key:JSON, or bot")
}

/** The row of a value, and its parts. */
const readState = (name: string, scope: string) =>
  Effect.map(
    Inbox.Inbox.use(({ store }) => store.read([State.rowKey({ name, scope })])),
    ([row]) => {
      const stored = row === undefined ? undefined : jsonOrText(row.text)
      if (!Array.isArray(stored)) return { row, isSorted: false, version: 1, value: stored }
      const [head, value] = stored as [unknown, unknown]
      const isSorted = Array.isArray(head)
      return { row, isSorted, version: Number(isSorted ? head[0] : head), value }
    }
  )

const getState = Effect.fnUntraced(function* ({ name, scope }: FlagsOf<typeof stateArguments>) {
  const { row, value, version } = yield* readState(name, scope)
  if (row === undefined) return yield* failed(`The state "${name}" has no value for ${scope}.`)
  yield* print({ name, scope, value, version, expires_at: row.expiresAt }, Json.stringify(value))
})

const parseValue = (text: string): Effect.Effect<unknown, CommandFailed> =>
  Effect.mapError(Effect.fromResult(parseJson(text)), () =>
    invalid(`The value is not JSON. A text is in quotes: '"ru"'.`)
  )

const setFlags = {
  ...stateArguments,
  value: textArgument("json", "The value as JSON. The bot checks it when it reads it"),
  version: Flag.Int("version-of-schema").pipe(
    optional("Version of the schema of the value. Default: that of the present value, or 1")
  )
}

const setState = Effect.fnUntraced(function* ({ name, scope, version }: FlagsOf<typeof setFlags>, value: unknown) {
  const { store } = yield* Inbox.Inbox
  const stored = yield* readState(name, scope)
  if (stored.isSorted) {
    return yield* failed(
      `The values of the state "${name}" are sorted by a number that the program computes. Nothing was written; set the value ` +
        "in the program."
    )
  }
  const writtenVersion = version ?? stored.version
  const write = {
    key: State.rowKey({ name, scope }),
    row: {
      text: Json.stringify([writtenVersion, value]),
      expiresAt: stored.row?.expiresAt,
      user: /user:\d+$/.exec(scope)?.[0]
    },
    expected: stored.row?.revision ?? null,
    revision: randomUUID()
  }
  const [result] = yield* store.write([{ rows: [write] }])
  if (result !== "applied") {
    return yield* failed(
      `The bot changed the value for ${scope} at the same time. Nothing was written; run the command again.`
    )
  }
  yield* print({ name, scope, value, version: writtenVersion }, `Set the state "${name}" for ${scope}.`)
})

const runCount = <A, E, R>(rows: Stream.Stream<A, E, R>, isCounted: (row: A) => boolean) =>
  Stream.runCount(Stream.filter(rows, isCounted))

const isOf = (user_id: UserId, { update: { decoded } }: DeadLetter): boolean =>
  Result.isSuccess(decoded) && Update.userIdOf(decoded.success) === user_id

const describeForgotten = ({ chats, deadLetters, timers, values }: State.Forgotten): string =>
  `${count(values, "value")} of the state, ${count(timers, "timer")}, ${count(deadLetters, "dead letter")}, ${count(chats, "dialog")}.`

const forgetUser = Effect.fnUntraced(function* (user_id: UserId, flags: ConfirmFlags) {
  const chatStore = Effect.option(Effect.scoped(Effect.provide(Effect.void, stores.chats)))
  const hasChats = Option.isSome(yield* chatStore)
  const toValue = ({ deadLetters, ...others }: State.Forgotten) => ({ user_id, ...others, dead_letters: deadLetters })
  const dialogs = runCount(ChatStore.stream(), ({ user }) => user?.user_id === user_id)
  const plan = Effect.map(
    Effect.all({
      // The store has no index of users.
      values: runCount(stores.rowsOf("state/", "key"), ({ key }) => key.endsWith(`/user:${user_id}`)),
      timers: runCount(Timer.stream, (timer) => timer.user_id === user_id),
      deadLetters: runCount(Inbox.deadLetters, (letter) => isOf(user_id, letter)),
      chats: hasChats ? Effect.provide(dialogs, stores.chats) : Effect.succeed(0)
    }),
    (found) => ({ value: toValue(found), text: `Deletes of user ${user_id}: ${describeForgotten(found)}` })
  )
  if (!(yield* confirmed(flags, plan))) return
  const forget = State.forget({ user_id })
  const forgotten = yield* hasChats ? Effect.provide(forget, stores.chats) : forget
  yield* print(toValue(forgotten), `Deleted of user ${user_id}: ${describeForgotten(forgotten)}`)
})

export const state = group("state", "Shows and changes the state of the bot, and deletes the stored data of a user", [
  action("get", "Prints a value as JSON", stateArguments, (flags) =>
    Effect.andThen(checkScope(flags.scope), stores.onInbox(getState(flags)))
  ),
  action(
    "set",
    "Writes a value. An update that is being handled with the old value is handled again",
    setFlags,
    (flags) =>
      Effect.andThen(
        checkScope(flags.scope),
        Effect.flatMap(parseValue(flags.value), (value) => stores.onInbox(setState(flags, value)))
      )
  ),
  action(
    "forget",
    "Deletes the stored data of a user: state, timers, dead letters and dialogs, after a question",
    { user: Argument.String("user"), ...confirmFlags },
    ({ user, ...flags }) => Effect.flatMap(parseUserId(user), (user_id) => stores.onInbox(forgetUser(user_id, flags)))
  )
])

const onBroadcasts = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  withSettings(Effect.provide(effect, stores.broadcasts))

const describeBroadcast = ({ counts, name, startedAt, status, total }: Broadcast.Summary): string =>
  table([
    ["name", name],
    ["status", status],
    ["started", time(startedAt)],
    ["recipients", total === undefined ? "unknown" : String(total)],
    ...Object.entries(counts).map(([outcome, number]) => [outcome.toLowerCase(), String(number)])
  ]).join("\n")

const broadcastColors: Readonly<Record<Broadcast.Status, Color>> = {
  running: "green",
  paused: "yellow",
  cancelled: "gray",
  finished: "gray"
}

const summaryOf = Effect.fnUntraced(function* (name: string) {
  const found = yield* BroadcastStore.use((store) => store.summary(name))
  return Option.isSome(found) ? found.value : yield* failed(`There is no broadcast "${name}".`)
})

const broadcastToJson = ({ startedAt, ...summary }: Broadcast.Summary) => ({ ...summary, started_at: startedAt })

const broadcastStatus = (name: string) =>
  Effect.flatMap(summaryOf(name), (summary) =>
    print(broadcastToJson(summary), describeBroadcast(summary), broadcastColors[summary.status])
  )

const broadcastRow = (summary: Broadcast.Summary): Row => {
  const { counts, name, startedAt, status, total = "unknown" } = summary
  const done = Object.values(counts).reduce((sum, number) => sum + number, 0)
  return {
    value: broadcastToJson(summary),
    cells: [name, status, `started ${time(startedAt)}`, `${done} of ${total}`],
    color: broadcastColors[status]
  }
}

const listBroadcasts = (limit: number) =>
  Effect.flatMap(
    BroadcastStore.use((store) => store.list(limit + 1)),
    (found) => printRows(Stream.fromIterable(found), limit, "There is no broadcast.", broadcastRow)
  )

const setBroadcast = Effect.fnUntraced(function* (name: string, verb: "pause" | "resume") {
  const { status } = yield* summaryOf(name)
  const isChanged = yield* Broadcasts[verb](name)
  if (!isChanged) return yield* failed(`The broadcast "${name}" was ${status}, so it cannot be ${verb}d.`)
  yield* print(
    { name, status: verb === "pause" ? "paused" : "running" },
    verb === "pause"
      ? `Paused the broadcast "${name}". Messages that are being sent still arrive.`
      : `Resumed the broadcast "${name}". It continues in the process that runs it, or when it is run again.`
  )
})

const broadcastName = { name: textArgument("name", "Name of the broadcast") }

export const broadcast = group("broadcast", "Shows, pauses and resumes broadcasts", [
  action("list", "Lists the broadcasts, the last started first", { limit: limitFlag }, ({ limit }) =>
    onBroadcasts(listBroadcasts(limit))
  ),
  action("status", "Prints the state of a broadcast and the number of its results", broadcastName, ({ name }) =>
    onBroadcasts(broadcastStatus(name))
  ),
  action("pause", "Pauses a broadcast", broadcastName, ({ name }) => onBroadcasts(setBroadcast(name, "pause"))),
  action("resume", "Resumes a broadcast that was paused", broadcastName, ({ name }) =>
    onBroadcasts(setBroadcast(name, "resume"))
  )
])
