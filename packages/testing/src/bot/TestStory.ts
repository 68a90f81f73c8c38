/**
 * Repeats what a bot did in a chat: the updates of the log of handled updates, with the recorded answers of the platform, in virtual
 * time and without a network. `colloquy updates story CHAT --as test` writes such a test.
 *
 * @since 0.1.0
 */
import type { BotApi } from "@colloquy/core/client/BotApi"
import type { Handler } from "@colloquy/core/inbox/Handler"
import * as Inbox from "@colloquy/core/inbox/Inbox"
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import * as QueuedUpdate from "@colloquy/core/inbox/QueuedUpdate"
import * as UpdateLog from "@colloquy/core/inbox/UpdateLog"
import type * as Updates from "@colloquy/core/inbox/Updates"
import * as Update from "@colloquy/core/model/Update"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import { answerBy, drain, layer } from "./internal/repeating.ts"

/**
 * A story: entries of the log of handled updates. The ids of the chat and of its users are only in the texts.
 *
 * @category models
 * @since 0.1.0
 */
export type Story = ReadonlyArray<Omit<UpdateLog.Entry, "chat_id" | "user_id">>

const inOrder = (story: Story): Story => story.toSorted((a, b) => a.startedAt - b.startedAt)

/**
 * Describes what the bot did in entries of the log that have texts: a line for each attempt to handle an update, with its type, its outcome and the
 * part that took the update, then a line for each call, and a line for the error.
 *
 * **Example** (What a test expects)
 *
 * ```ts
 * import { UpdateLog } from "@colloquy/core"
 * import { TestStory } from "@colloquy/testing"
 * import { Effect } from "effect"
 *
 * const lines = Effect.map(UpdateLog.entries, TestStory.describe)
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export const describe = (story: Story): ReadonlyArray<string> =>
  inOrder(story).flatMap(({ calls, error, outcome, part, update_type }) => [
    `${update_type}: ${outcome}${part === undefined ? "" : ` by ${part.kind} ${part.name}`}`,
    ...calls.map(({ endpoint, request }) => {
      if (request === undefined) return `  ${endpoint}, recorded`
      const { body, method, path, query } = request
      return `  ${method} ${path}${query}${body === undefined ? "" : ` ${body}`}`
    }),
    ...(error === undefined ? [] : [`  ${error}`])
  ])

/**
 * Handles the updates of a story by a bot, in the order and at the times in which they were handled, and returns what the bot did, as
 * {@link describe} describes the story. A call gets its recorded answer; a call that was not recorded succeeds. An update that fails is
 * handled as often as the update of the story that had most attempts.
 *
 * The bot begins without stored values: an update that depends on a value from before the story is handled as if there were none.
 * Timers that the updates of the story set fire at their times; other timers do not.
 *
 * The services of the bot, apart from the client and the inbox, are requirements: provide layers for tests.
 *
 * **Example** (A test that `colloquy updates story --as test` has written)
 *
 * ```ts
 * import { Bot, Command, Messages } from "@colloquy/core"
 * import { TestStory } from "@colloquy/testing"
 * import { Effect } from "effect"
 *
 * const bot = Bot.make(Command.make("start").on((update) => Messages.reply(update, "Hello")))
 *
 * declare const story: TestStory.Story
 *
 * // Expects lines such as "message_created: handled by command start".
 * const lines = () => Effect.runPromise(TestStory.run(bot, story))
 * ```
 *
 * @category running
 * @since 0.1.0
 */
export const run = <E, R>(
  bot: Handler<E, R>,
  story: Story
): Effect.Effect<ReadonlyArray<string>, never, Exclude<R, BotApi | Inbox.Inbox | Updates.Updates>> =>
  Effect.gen(function* () {
    const store = yield* InboxStore.makeMemory
    const inbox = yield* Effect.provideService(Inbox.make({ logTexts: true }), InboxStore.InboxStore, store)
    yield* answerBy(story.flatMap(({ calls }) => calls))
    const retries = story.reduce((most, { attempt }) => Math.max(most, attempt - 1), 0)
    const seen = new Set<string>()
    for (const { id, receivedAt, startedAt, update, update_type } of inOrder(story)) {
      if (seen.has(id)) continue
      seen.add(id)
      if (startedAt > (yield* Clock.currentTimeMillis)) yield* TestClock.setTime(startedAt)
      const decoded = update === undefined ? undefined : Update.parse(update)
      if (decoded !== undefined && Result.isSuccess(decoded) && update_type !== "colloquy_timer") {
        const queued = QueuedUpdate.fromDecoded(decoded, { receivedAt, text: update! })
        yield* store.enqueue({ updates: [queued], deadLetters: [], now: startedAt, duplicatesSince: Infinity })
      }
      yield* drain(bot, inbox, retries)
    }
    return describe(yield* Effect.provideService(UpdateLog.entries, Inbox.Inbox, inbox))
    // The compiler does not know that the services of the bot are not those of the layer.
  }).pipe(Effect.orDie, Effect.scoped, Effect.provide(layer)) as Effect.Effect<ReadonlyArray<string>>
