/**
 * Moderates group chats in which the bot is an administrator. A newcomer has to press a button within a minute, and is removed
 * otherwise. An administrator warns a member by replying `/warn` to a message. The third warning removes the member. The test of
 * this example runs in virtual time.
 */
import { Bot, Command, Conversation, Handler, LongPolling, Members, Membership, Messages } from "@colloquy/core"
import { type Recipient, State, Update, type User } from "@colloquy/core"
import { NodeBot, NodeMain } from "@colloquy/node"
import { Config, Duration, Effect, Layer, Schema } from "effect"

const maxWarnings = 3

const Warnings = State.make("warnings", Schema.Int, { of: "userInChat", initial: () => 0, expireAfter: "90 days" })

/** The member has left already, or the bot is no administrator of the chat. */
const removeMember = (chat_id: Recipient.ChatId, user_id: User.UserId) =>
  Effect.catchTag(Members.remove({ chat_id, user_id }), ["NotFound", "Forbidden"], ({ message }) =>
    Effect.logWarning(message)
  )

/** Until newcomers press the button, their messages are removed. */
const Welcome = Conversation.make(
  "welcome",
  { of: "userInChat", input: Schema.String, ifRunning: "restart", texts: { cancelled: "" } },
  Effect.fnUntraced(function* (talk, name) {
    const timeout = yield* Config.Duration("WELCOME_WITHIN").pipe(Config.withDefault(Duration.minutes(1)))
    const remove = ({ message }: Update.Of<"message_created">) =>
      message?.body == null ? Effect.void : Messages.remove({ message_id: message.body.mid })
    yield* talk
      .choose("person", {
        say: `Welcome, ${name}! Please press the button within ${Duration.format(timeout)}.`,
        choices: { yes: "I am a person" },
        timeout,
        otherwise: remove
      })
      .pipe(
        Effect.andThen(talk.say("Welcome! Please be kind.")),
        Effect.catchTag("Unanswered", () =>
          Effect.andThen(
            removeMember(talk.chat_id, talk.user_id),
            talk.say(`${name} did not press the button in time.`)
          )
        )
      )
  })
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

const moderation = Handler.first(
  Membership.fromAdmins(warn),
  Membership.joined((update) =>
    update.user.is_bot || update.is_channel === true ? undefined : Welcome.start(update, update.user.first_name)
  ),
  Membership.left(Welcome.cancel),
  Welcome
)

export const parts = Bot.make(
  // The bot is no administrator of the chat.
  Handler.transform(
    moderation,
    Effect.catchTag("Forbidden", ({ message }) => Effect.logWarning(message))
  )
)

export const bot = Bot.run(parts)

if (import.meta.main) {
  NodeMain.runMain(Effect.provide(bot, LongPolling.layer().pipe(Layer.provideMerge(NodeBot.layerConfig()))))
}
