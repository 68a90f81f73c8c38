/**
 * Follows RSS and Atom feeds: `/follow ADDRESS` in a dialog or a group. New entries arrive every ten minutes. The test of this example
 * runs in virtual time.
 */
import { Bot, Command, Handler, LongPolling, Messages, State, Text, Timer } from "@colloquy/core"
import { NodeBot, NodeMain } from "@colloquy/node"
import { Effect, Layer, Schema } from "effect"
import * as Feeds from "./services/feeds.ts"

/** The entries that the chat has, by the address of their feed. */
const Followed = State.make("followed", Schema.Record(Schema.String, Schema.Array(Schema.String)), {
  of: "chat",
  initial: () => ({})
})

const Check = Timer.make("check")

const follow = Command.make("follow", { description: "Follows a feed", arguments: { url: Command.Word } }).on(
  (update, { url }) =>
    Effect.gen(function* () {
      const entries = yield* Feeds.read(url)
      yield* Followed.update((feeds) => ({ ...feeds, [url]: entries.map(({ id }) => id) }))
      yield* Check.cron("*/10 * * * *", undefined)
      yield* Messages.reply(update, `I will send the new entries of ${url}.`)
    }).pipe(Effect.catchTag("FeedUnavailable", ({ message }) => Messages.reply(update, message)))
)

const unfollow = Command.make("unfollow", { description: "Follows nothing more" }).on((update) =>
  Effect.all([Followed.clear, Check.cancel(), Messages.reply(update, "I will send nothing more.")])
)

const check = Check.on((_, update) =>
  Effect.gen(function* () {
    for (const [url, known] of Object.entries(yield* Followed.get)) {
      const entries = yield* Effect.catch(Feeds.read(url), ({ message }) => Effect.as(Effect.logWarning(message), []))
      const unknown = entries.filter(({ id }) => !known.includes(id)).toReversed()
      for (const { title, url } of unknown) yield* Messages.reply(update, Text.message(Text.link(title, url)))
      const ids = [...unknown.map(({ id }) => id).toReversed(), ...known].slice(0, 200)
      yield* Followed.update((feeds) => ({ ...feeds, [url]: ids }))
    }
    // The bot was stopped, or removed from the chat.
  }).pipe(Effect.catchTag("Forbidden", () => Effect.andThen(Followed.clear, Check.cancel())))
)

const rest = Handler.on(["bot_started", "message_created"], (update) =>
  Messages.reply(update, "Send /follow and the address of a feed.")
)

export const parts = Bot.make(
  Handler.transform(
    Handler.first(follow, unfollow, check, rest),
    Effect.catchTag("InvalidArguments", ({ message, update }) => Messages.reply(update, message))
  )
)

export const bot = Effect.provide(Bot.run(parts), Feeds.layer)

if (import.meta.main) {
  NodeMain.runMain(Effect.provide(bot, LongPolling.layer().pipe(Layer.provideMerge(NodeBot.layerConfig()))))
}
