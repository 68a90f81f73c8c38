import type { DeadLetter, Entry, QueuedUpdate } from "@colloquy/core/inbox/QueuedUpdate"
import * as Update from "@colloquy/core/model/Update"
import { chatOf, deadLetterToJson, entryToJson, kindOf } from "@colloquy/core/tools/Operations"
import * as Flag from "effect/cli/Flag"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { FlagsOf } from "../base/commands.ts"
import { failed } from "../base/failure.ts"
import { optional, positiveFlag, standard } from "../base/flags.ts"
import { type Row, time } from "../base/output.ts"
import { lateAfter } from "../base/stores.ts"

const decodedOf = ({ decoded }: QueuedUpdate): Update.Update | undefined =>
  Result.isSuccess(decoded) ? decoded.success : undefined

const quote = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 59)}…` : text)

/** Kind, chat, user, timer and text of an update. */
const cellsOf = (queued: QueuedUpdate): Row["cells"] => {
  const update = decodedOf(queued)
  if (update === undefined) return ["malformed", undefined, undefined, undefined, quote(queued.text)]
  const chat = chatOf(queued)
  const user = Update.userOf(update)
  const text = Update.textOf(update)
  return [
    kindOf(queued),
    chat === undefined ? undefined : `chat ${chat}`,
    user === undefined ? undefined : `${user.first_name} (${user.user_id})`,
    update.update_type === "colloquy_timer" ? `timer ${update.name}` : undefined,
    text === undefined ? undefined : quote(text)
  ]
}

/** A queued update as a row of a list. */
export const entryRow =
  (now: number) =>
  (entry: Entry): Row => ({
    value: entryToJson(entry),
    cells: [entry.id, time(entry.update.receivedAt), ...cellsOf(entry.update)],
    color: now - entry.update.receivedAt > lateAfter ? "yellow" : undefined
  })

/** A dead letter as a row of a list. */
export const deadLetterRow = (letter: DeadLetter): Row => ({
  value: deadLetterToJson(letter),
  cells: [letter.id, time(letter.failedAt), ...cellsOf(letter.update)],
  below: letter.error.split("\n", 1)[0]!,
  color: "red"
})

/** A dead letter in one line. */
export const describeDeadLetter = (letter: DeadLetter): string =>
  deadLetterRow(letter).cells.filter(Predicate.isNotUndefined).join("  ")

export const unknownDeadLetter = (id: string) =>
  failed(`There is no dead letter ${id}. \`colloquy dead list\` prints the ids.`)

/** The flag `--chat`. Accepts only whole numbers, because another value would select no chat. */
export const chatFlag = (description: string) =>
  Flag.Int("chat").pipe(Flag.withMetavar("ID"), Flag.map(String), optional(description))

/** The flags that select updates. */
export const updateFlags = {
  kinds: Flag.String("kind").pipe(
    Flag.atLeast(0),
    Flag.withDescription("Only updates of this kind, such as message_created; repeat it for more")
  ),
  chat: chatFlag("Only updates of this chat")
}

export type UpdateFilter = FlagsOf<typeof updateFlags>

export const limitFlag = positiveFlag("limit").pipe(
  standard(50, "Maximum number. If there are more, standard error says so")
)
