/**
 * Moderates group chats in which the bot is an administrator. A newcomer has to press a button within a minute, and is removed
 * otherwise. An administrator warns a member by replying `/warn` to a message. The third warning removes the member. The test of
 * this example runs in virtual time.
 */
import {
  Bot,
  Command,
  Handler,
  LongPolling,
  Members,
  Membership,
  Menu,
  Message,
  Messages,
  type Recipient,
  Scene,
  State,
  Update,
  type User
} from "@colloquy/core"
import { NodeBot, NodeMain } from "@colloquy/node"
import { Cache, Config, Duration, Effect, Layer, Schema } from "effect"

const maxWarnings = 3

const Warnings = State.make("warnings", Schema.Int, { of: "userInChat", initial: () => 0, expireAfter: "90 days" })

/** The member has left already, or the bot is no administrator of the chat. */
const removeMember = (chat_id: Recipient.ChatId, user_id: User.UserId) =>
  Effect.catchTag(Members.remove({ chat_id, user_id }), ["NotFound", "Forbidden"], ({ message }) =>
    Effect.logWarning(message)
  )

const warn = Command.make("warn").on(
  Effect.fnUntraced(function* (update) {
    const chat_id = Update.chatOf(update)
    const member = update.message?.link?.sender
    if (chat_id === undefined || member == null) return yield* Messages.reply(update, "Reply to a message with /warn.")
    const warnings = Warnings.at({ chat_id, user_id: member.user_id })
    const count = yield* warnings.update((count) => count + 1)
    if (count < maxWarnings) {
      return yield* Messages.reply(update, `${member.first_name}, this is warning ${count} of ${maxWarnings}.`)
    }
    yield* warnings.clear
    yield* removeMember(chat_id, member.user_id)
    return yield* Messages.reply(update, `${member.first_name} was removed after ${maxWarnings} warnings.`)
  })
)

/** Newcomers have to press a button in time. Until then, their messages are removed. */
const makeWelcome = (within: Duration.Duration) => {
  const Newcomer = Scene.make(
    "newcomer",
    { of: "userInChat", states: { waiting: Schema.Struct({ name: Schema.String, message_id: Message.MessageId }) } },
    {
      waiting: {
        handler: () =>
          Handler.on("message_created", ({ message }) =>
            message?.body == null ? undefined : Messages.remove({ message_id: message.body.mid })
          ),
        timeout: within,
        onTimeout: Effect.fnUntraced(function* ({ data: { message_id, name }, update }) {
          const [chat_id, user_id] = [Update.chatOf(update), Update.userIdOf(update)]
          if (chat_id !== undefined && user_id !== undefined) yield* removeMember(chat_id, user_id)
          yield* Messages.edit({ message_id, text: `${name} did not press the button in time.`, attachments: [] })
        })
      }
    }
  )

  // Only the newcomer can press the button.
  const welcome = Menu.make("welcome", { of: "userInChat" }, ({ update }) => ({
    text: `Welcome, ${update && Update.userOf(update)?.first_name}! Please press the button within ${Duration.format(within)}.`,
    rows: [
      [Menu.button("here", "I am a person", () => Effect.as(Newcomer.end, Menu.finish("Welcome! Please be kind.")))]
    ]
  }))

  const joined = Membership.joined((update) =>
    Effect.gen(function* () {
      if (update.user.is_bot || update.is_channel === true) return
      const message_id = (yield* welcome.reply(update)).body?.mid
      if (message_id !== undefined) yield* Newcomer.go("waiting", { name: update.user.first_name, message_id })
    })
  )

  return Handler.first(
    joined,
    Membership.left(() => Newcomer.end),
    welcome,
    Newcomer
  )
}

export const bot = Effect.gen(function* () {
  const within = yield* Config.Duration("WELCOME_WITHIN").pipe(Config.withDefault(Duration.minutes(1)))
  const admins = yield* Cache.make({
    lookup: (chat_id: Recipient.ChatId) =>
      Effect.map(Members.listAdmins({ chat_id }), ({ members }) => members.map(({ user_id }) => user_id)),
    capacity: 10_000,
    timeToLive: "5 minutes"
  })
  const byAdmin = Handler.filterEffect(warn, (update) => {
    const [chat_id, user_id] = [Update.chatOf(update), Update.userIdOf(update)]
    if (chat_id === undefined || user_id === undefined) return Effect.succeed(false)
    return Effect.map(Cache.get(admins, chat_id), (ids) => ids.includes(user_id))
  })
  const moderation = Handler.first(Handler.inChatType(byAdmin, "chat"), makeWelcome(within))
  // The bot is no administrator of the chat.
  yield* Bot.run(
    Handler.transform(
      moderation,
      Effect.catchTag("Forbidden", ({ message }) => Effect.logWarning(message))
    )
  )
})

if (import.meta.main) {
  NodeMain.runMain(Effect.provide(bot, LongPolling.layer().pipe(Layer.provideMerge(NodeBot.layerConfig()))))
}
