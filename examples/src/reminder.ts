/**
 * Sends a reminder eight hours after the command `/remind feed the cat`, even if the program is restarted in between. The
 * test of this example runs in virtual time.
 */
import { type Chat, Command, Handler, LongPolling, Messages, State, Update, Updates } from "@colloquy/core"
import { NodeBot, NodeMain } from "@colloquy/node"
import { Clock, Config, Duration, Effect, FiberMap, Layer, Result, Schema, Stream } from "effect"

const after = Config.Duration("REMIND_AFTER").pipe(Config.withDefault(Duration.hours(8)))

const Reminder = Schema.Struct({ at: Schema.Int, text: Schema.String })

/** One reminder for each chat. */
const reminders = State.make("reminder", Schema.UndefinedOr(Reminder), { of: "chat", initial: () => undefined })

const remind = Effect.fn(function* (chat_id: Chat.ChatId, { at, text }: typeof Reminder.Type) {
  yield* Effect.sleep(Duration.millis(at - (yield* Clock.currentTimeMillis)))
  yield* Messages.send({ chat_id, text: `Reminder: ${text}` }).pipe(
    Effect.catchTag(["Forbidden", "NotFound"], (error) => Effect.logInfo(error.message))
  )
  yield* reminders.at({ chat_id }).clear
})

/** The bot. Its reminders are in the store of the inbox. */
export const bot = Effect.gen(function* () {
  const delay = yield* after
  const pending = yield* FiberMap.make<Chat.ChatId>()

  const start = (chat_id: Chat.ChatId, reminder: typeof Reminder.Type) =>
    remind(chat_id, reminder).pipe(
      Effect.catch((error) =>
        Effect.logError(`A reminder was not sent. It will be sent after the next start: ${error.message}`)
      ),
      FiberMap.run(pending, chat_id)
    )

  const command = Command.make("remind", { arguments: { text: Schema.String } }).on(
    Effect.fn(function* (update, { text }) {
      const chat_id = Update.chatOf(update)
      if (chat_id === undefined) return yield* Handler.notHandled
      const reminder = { at: (yield* Clock.currentTimeMillis) + Duration.toMillis(delay), text }
      yield* FiberMap.remove(pending, chat_id)
      yield* reminders.set(reminder)
      yield* start(chat_id, reminder)
      return yield* Messages.reply(update, `I will remind you in ${Duration.format(delay)}.`)
    })
  )

  // Schedules the reminders that were pending when the program stopped.
  yield* Stream.runForEach(State.stream(reminders), ({ key, value }) =>
    Result.isSuccess(value) && value.success !== undefined ? start(key.chat_id, value.success) : Effect.void
  )
  const handler = Handler.transform(
    command,
    Effect.catchTag("InvalidArguments", ({ message, update }) => Messages.reply(update, message))
  )
  yield* Updates.run(handler)
}).pipe(Effect.scoped)

if (import.meta.main) {
  NodeMain.runMain(Effect.provide(bot, LongPolling.layer().pipe(Layer.provideMerge(NodeBot.layerConfig()))))
}
