import type * as TestStory from "@colloquy/testing/bot/TestStory"
import * as Json from "@colloquy/core/base/Json"
import * as UpdateLog from "@colloquy/core/inbox/UpdateLog"
import { ChatId } from "@colloquy/core/model/Recipient"
import { logToJson } from "@colloquy/core/tools/Operations"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { action, type FlagsOf } from "../base/commands.ts"
import { parseChatId } from "../base/client.ts"
import { makeAnonymous, mapTexts } from "../base/anonymous.ts"
import { failed } from "../base/failure.ts"
import { count, noteMore, print, printText } from "../base/output.ts"
import { intervalFlag, standard, textArgument } from "../base/flags.ts"
import { onInbox } from "../base/stores.ts"
import { testFlags, writeTest } from "../base/testSource.ts"
import { colorOf, describeLog, describeStory, isInLog } from "./logView.ts"
import { toSeed } from "./storySeed.ts"
import { limitFlag, updateFlags } from "./updateView.ts"

/** The command `updates tail`. */
export const tail = action(
  "tail",
  "Prints the updates that the bot has handled, with outcome, part, duration and errors, and follows the log of the bot",
  {
    ...updateFlags,
    outcomes: Flag.Literals("outcome", UpdateLog.Outcome.literals).pipe(
      Flag.atLeast(0),
      Flag.withDescription("Only updates with this outcome; repeat the flag for more")
    ),
    last: Flag.Int("last").pipe(
      Flag.filter(
        (last) => last >= 0,
        (last) => `--last ${last}: must be at least 0`
      ),
      standard(10, "How many earlier entries of the log come first")
    ),
    interval: intervalFlag("1 second", "10 millis", "How often the log is read")
  },
  Effect.fnUntraced(function* ({ interval, last, ...filter }) {
    yield* printText("Prints the updates that the bot has handled, and follows the log. Press Ctrl-C to end.")
    yield* UpdateLog.follow({ interval, last }).pipe(
      Stream.filter(isInLog(filter)),
      Stream.runForEach((entry) => print(logToJson(entry), describeLog(entry), colorOf(entry)))
    )
  }, onInbox)
)

const storyFlags = {
  chat: textArgument("chat", "Id of the chat"),
  limit: limitFlag,
  as: Flag.Literals("as", ["text", "test", "seed"]).pipe(
    standard(
      "text",
      "text, a Vitest test of the bot, or a seed, with which the page of the emulator shows the conversation"
    )
  ),
  ...testFlags
}

type StoryFlags = FlagsOf<typeof storyFlags>

const testOf = Effect.fnUntraced(function* (chat: ChatId, story: TestStory.Story, { bot, raw }: StoryFlags) {
  // Most runs do not need the emulator.
  const { describe } = yield* Effect.promise(() => import("@colloquy/testing/bot/TestStory"))
  const lines = describe(story).map((line) => `    ${JSON.stringify(line)}`)
  return writeTest({
    imports: ['import { TestStory } from "@colloquy/testing"'],
    module: bot,
    about: [
      `The last ${count(story.length, "attempt")} to handle an update of chat ${chat}. Change a line below to what the bot should do.`
    ],
    isRaw: raw,
    declaration: "const story: TestStory.Story",
    value: story,
    title: `does in chat ${chat} what the log tells`,
    effect: [
      "Effect.map(TestStory.run(bot, story), (lines) =>",
      "  expect(lines).toEqual([",
      lines.join(",\n    "),
      "  ])",
      ")"
    ]
  })
})

/** Writes entries of the log as a test, or as a seed of the emulator. */
const write = (chat_id: ChatId, entries: ReadonlyArray<UpdateLog.Entry>, flags: StoryFlags) =>
  Effect.gen(function* () {
    if (entries.every(({ update }) => update === undefined)) {
      return yield* failed("The log has no texts. Set the option `logTexts` of the inbox, and run the bot.")
    }
    const replace = flags.raw ? (text: string) => text : makeAnonymous(entries)
    const story = entries.map(({ chat_id: _, user_id: __, ...entry }) => mapTexts(entry, replace) as typeof entry)
    const chat = ChatId.make(Number(replace(String(chat_id))))
    const text = flags.as === "test" ? yield* testOf(chat, story, flags) : Json.stringify(toSeed(chat, story))
    yield* Console.log(text)
  })

const printStoryOf = Effect.fnUntraced(function* (chat_id: ChatId, flags: StoryFlags) {
  const all = (yield* UpdateLog.entries).filter((entry) => entry.chat_id === chat_id)
  if (all.length === 0) {
    const reason = "The log has no update of this chat."
    return yield* flags.as === "text" ? printText(reason) : failed(reason)
  }
  const last = all.slice(-flags.limit)
  if (flags.as !== "text") yield* write(chat_id, last, flags)
  else for (const entry of last) yield* print(logToJson(entry), describeStory(entry), colorOf(entry))
  if (all.length > flags.limit) yield* noteMore(flags.limit)
})

/** The command `updates story`. */
export const story = action(
  "story",
  "Prints the last updates of a chat with what the bot did: parts, calls and errors",
  storyFlags,
  (flags) => Effect.flatMap(parseChatId(flags.chat), (chat_id) => onInbox(printStoryOf(chat_id, flags)))
).pipe(
  Command.withExamples([
    { command: "colloquy updates story 42 --as test > test/story.test.ts", description: "Writes a test" },
    {
      command: "colloquy updates story 42 --as seed > story.json",
      description: "For colloquy-emulator --seed story.json"
    }
  ])
)
