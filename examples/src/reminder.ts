/**
 * Reminds people eight hours later of what they asked, also when it was restarted meanwhile: `/remind feed the cat`. Its
 * test lets the eight hours pass in no time.
 */
import {
  type Chat,
  ChatData,
  ChatStore,
  Command,
  Handler,
  LongPolling,
  Messages,
  Update,
  Updates
} from "@colloquy/core"
import { NodeBot, NodeInbox, NodeMain, SqlChatStore } from "@colloquy/node"
import { Clock, Config, Duration, Effect, FiberMap, Layer, Option, Schema, Stream } from "effect"

const after = Config.Duration("REMIND_AFTER").pipe(Config.withDefault(Duration.hours(8)))

const Reminder = Schema.Struct({ at: Schema.Int, text: Schema.String })

/** One for each chat, beside what is known of it. */
const reminders = ChatData.make("reminder", Reminder)

const remind = Effect.fn(function* (chat_id: Chat.ChatId, { at, text }: typeof Reminder.Type) {
  yield* Effect.sleep(Duration.millis(at - (yield* Clock.currentTimeMillis)))
  yield* Messages.send({ chat_id, text: `You wanted to be reminded: ${text}` }).pipe(
    Effect.catchTag(["Forbidden", "NotFound"], (error) => Effect.logInfo(error.message))
  )
  yield* reminders.remove(chat_id)
})

/** The bot. It needs a `ChatStore`, which holds the reminders. */
export const bot = Effect.gen(function* () {
  const delay = yield* after
  const waiting = yield* FiberMap.make<Chat.ChatId>()

  const start = (chat_id: Chat.ChatId, reminder: typeof Reminder.Type) =>
    remind(chat_id, reminder).pipe(
      Effect.catch((error) => Effect.logError(`Left for the next start: ${error.message}`)),
      FiberMap.run(waiting, chat_id)
    )

  const accept = Command.make("remind", { arguments: { text: Schema.String } }).on(
    Effect.fn(function* (update, { text }) {
      const chat_id = Update.chatOf(update)
      if (chat_id === undefined) return yield* Handler.notHandled
      const reminder = { at: (yield* Clock.currentTimeMillis) + Duration.toMillis(delay), text }
      yield* FiberMap.remove(waiting, chat_id)
      yield* reminders.set(chat_id, reminder)
      yield* start(chat_id, reminder)
      return yield* Messages.reply(update, `In ${Duration.format(delay)}, then.`)
    })
  )

  // Those that waited when the program was stopped.
  yield* ChatStore.stream().pipe(
    Stream.runForEach(
      Effect.fn(function* (chat) {
        const kept = yield* reminders.from(chat)
        if (Option.isSome(kept)) yield* start(chat.chat_id, kept.value)
      })
    )
  )
  const handler = Handler.transform(
    accept,
    Effect.catchTag("InvalidArguments", ({ message, update }) => Messages.reply(update, message))
  )
  yield* Updates.run(ChatStore.track(handler))
}).pipe(Effect.scoped)

if (import.meta.main) {
  const chats = SqlChatStore.layer().pipe(Layer.provide(NodeInbox.layerSqlConfig))
  const updates = LongPolling.layer().pipe(Layer.provideMerge(NodeBot.layerConfig()))
  NodeMain.runMain(Effect.provide(bot, Layer.merge(updates, chats)))
}
