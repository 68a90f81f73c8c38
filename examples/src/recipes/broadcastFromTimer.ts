import { Bot, Broadcasts, ChatStore, Command, Messages, Timer } from "@colloquy/core"
import { Effect, Option, Schema, Stream } from "effect"

const News = Timer.make("news", Schema.Struct({ name: Schema.String, text: Schema.String }))

const schedule = Command.make("news", { arguments: { text: Schema.String } }).on((update, { text }) =>
  Effect.andThen(
    News.in("8 hours", { name: `news ${update.timestamp}`, text }),
    Messages.reply(update, "I will send the news in 8 hours.")
  )
)

const broadcast = News.on((news) =>
  Effect.gen(function* () {
    const { name, text } = news
    const recipients = ChatStore.stream({ type: "dialog" }).pipe(Stream.map(({ chat_id }) => chat_id))
    const finished = yield* Broadcasts.run({ name, recipients, message: { text } }).pipe(
      Broadcasts.pruneUnreachable,
      Stream.runDrain,
      Effect.timeoutOption("40 seconds")
    )
    // The next run of the same name continues.
    if (Option.isNone(finished)) yield* News.in("1 second", news)
  })
)

export const bot = Bot.run(ChatStore.track(Bot.make(schedule, broadcast)))
