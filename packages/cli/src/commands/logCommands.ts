import * as Argument from "effect/cli/Argument"
import * as UpdateLog from "@colloquy/core/inbox/UpdateLog"
import type { ChatId } from "@colloquy/core/model/Recipient"
import { logToJson } from "@colloquy/core/tools/Operations"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { parseChatId } from "../base/client.ts"
import { invalid } from "../base/failure.ts"
import { noteMore, printColored, printText } from "../base/output.ts"
import { withSettings } from "../base/settings.ts"
import * as stores from "../base/stores.ts"
import { colorOf, describeLog, describeStory, isInLog, type LogFilter, outcomeFlag } from "./logView.ts"
import { limitFlag, updateFlags } from "./updateView.ts"

const onInbox = <A, E, R>(effect: Effect.Effect<A, E, R>) => withSettings(Effect.provide(effect, stores.inbox))

const parseInterval = (text: string) => {
  const interval = Option.filter(Duration.fromInput(text as Duration.Input), (value) => Duration.toMillis(value) >= 10)
  return Option.isSome(interval)
    ? Effect.succeed(interval.value)
    : Effect.fail(invalid(`--interval "${text}": must be a duration of at least 10 millis, such as "1 second".`))
}

const follow = (filter: LogFilter, interval: Duration.Duration, last: number) =>
  Effect.andThen(
    printText("Prints the updates that the bot has handled, and follows the log. Press Ctrl-C to end."),
    UpdateLog.follow({ interval, last }).pipe(
      Stream.filter(isInLog(filter)),
      Stream.runForEach((entry) => printColored(logToJson(entry), describeLog(entry), colorOf(entry)))
    )
  )

/** The command `updates tail`. */
export const tail = Command.make(
  "tail",
  {
    ...updateFlags,
    outcomes: outcomeFlag,
    last: Flag.Int("last").pipe(
      Flag.filter(
        (last) => last >= 0,
        (last) => `--last ${last}: must be at least 0`
      ),
      Flag.withDefault(10),
      Flag.withDescription("How many earlier entries of the log come first. Default: 10")
    ),
    interval: Flag.String("interval").pipe(
      Flag.withDefault("1 second"),
      Flag.withDescription("How often the log is read. Default: 1 second")
    )
  },
  ({ interval, last, ...filter }) =>
    Effect.flatMap(parseInterval(interval), (duration) => onInbox(follow(filter, duration, last)))
).pipe(
  Command.withDescription(
    "Prints the updates that the bot has handled, with outcome, part, duration and errors, and follows the log of the bot"
  )
)

const tell = (chat_id: ChatId, limit: number) =>
  Effect.gen(function* () {
    const all = (yield* UpdateLog.entries).filter((entry) => entry.chat_id === chat_id)
    if (all.length === 0) return yield* printText("The log has no update of this chat.")
    for (const entry of all.slice(-limit)) yield* printColored(logToJson(entry), describeStory(entry), colorOf(entry))
    if (all.length > limit) yield* noteMore(limit)
  })

/** The command `updates story`. */
export const story = Command.make(
  "story",
  { chat: Argument.String("chat").pipe(Argument.withDescription("Id of the chat")), limit: limitFlag },
  ({ chat, limit }) => Effect.flatMap(parseChatId(chat), (chat_id) => onInbox(tell(chat_id, limit)))
).pipe(Command.withDescription("Prints the last updates of a chat with what the bot did: parts, calls and errors"))
