import * as Inbox from "@colloquy/core/inbox/Inbox"
import * as Json from "@colloquy/core/base/Json"
import * as QueuedUpdate from "@colloquy/core/inbox/QueuedUpdate"
import * as Update from "@colloquy/core/model/Update"
import { paced } from "@colloquy/core/tools/Operations"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { action, type FlagsOf, group } from "../base/commands.ts"
import { rateFlag, switchFlag, textArgument } from "../base/flags.ts"
import { invalid } from "../base/failure.ts"
import { parseJson } from "../base/json.ts"
import { count, print } from "../base/output.ts"
import { readInput } from "../base/settings.ts"
import { onInbox } from "../base/stores.ts"
import { story, tail } from "./logCommands.ts"

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The JSON texts of the updates in a file, each with its place in the file. */
const textsIn = (text: string): ReadonlyArray<{ readonly at: string; readonly text: string }> => {
  const unwrap = (value: unknown): unknown =>
    isRecord(value) && isRecord(value["update"]) && value["update_type"] === undefined ? value["update"] : value
  const whole = parseJson(text)
  if (Result.isSuccess(whole)) {
    const value = whole.success
    const all = Array.isArray(value)
      ? value
      : isRecord(value) && Array.isArray(value["updates"])
        ? value["updates"]
        : [value]
    return all.map((update: unknown, index) => ({ at: `update ${index + 1}`, text: Json.stringify(unwrap(update)) }))
  }
  return text.split("\n").flatMap((line, index) => {
    if (line.trim() === "") return []
    const parsed = parseJson(line)
    return [{ at: `line ${index + 1}`, text: Result.isSuccess(parsed) ? Json.stringify(unwrap(parsed.success)) : line }]
  })
}

const deduplicationWindow = 86_400_000

/** The updates of a file, all of which can be decoded. */
const readUpdates = Effect.fnUntraced(function* (file: string) {
  const text = yield* readInput(file)
  const updates: Array<QueuedUpdate.QueuedUpdate> = []
  const now = yield* Clock.currentTimeMillis
  for (const { at, text: json } of textsIn(text)) {
    const decoded = Update.parse(json)
    if (Result.isFailure(decoded)) {
      return yield* invalid(`${file}, ${at}: is not an update: ${decoded.failure.problem}. Nothing was stored.`)
    }
    updates.push(QueuedUpdate.fromDecoded(decoded, { receivedAt: now, text: json }))
  }
  return updates
})

const replayFlags = {
  file: textArgument(
    "file",
    "JSON: an update in each line, an array, or an answer of GET /updates. - is standard input"
  ),
  again: switchFlag("again", "Also queues updates that the inbox received in the last 24 hours"),
  dryRun: switchFlag("dry-run", "Checks the file, and stores nothing"),
  rate: rateFlag
}

type ReplayFlags = FlagsOf<typeof replayFlags>

const enqueue = (updates: ReadonlyArray<QueuedUpdate.QueuedUpdate>, { again, rate }: ReplayFlags) =>
  Effect.gen(function* () {
    const { store } = yield* Inbox.Inbox
    const now = yield* Clock.currentTimeMillis
    const duplicatesSince = again ? Number.MAX_SAFE_INTEGER : now - deduplicationWindow
    const added = yield* paced(updates, rate, (updates) =>
      store.enqueue({ updates, deadLetters: [], now, duplicatesSince })
    )
    const left = updates.length - added
    yield* print(
      { queued: added, duplicates: left },
      `Queued: ${count(added, "update")}.` +
        (left === 0 ? "" : ` Left out as duplicates of the last 24 hours: ${left}; --again queues them.`)
    )
  })

/** Reads the file before the settings, so that a mistake in the file is found without a bot. */
const replay = (flags: ReplayFlags) =>
  Effect.flatMap(readUpdates(flags.file), (updates) =>
    flags.dryRun
      ? print({ updates: updates.length }, `${flags.file}: ${count(updates.length, "update")}. Nothing was stored.`)
      : onInbox(enqueue(updates, flags))
  )

export const updates = group("updates", "Shows the updates that the bot has handled, and queues updates from a file", [
  tail,
  story,
  action("replay", "Queues the updates of a file, for the bot to handle", replayFlags, replay)
])
