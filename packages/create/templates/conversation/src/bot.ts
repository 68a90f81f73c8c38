import { Bot, Command, Conversation, Handler, Messages } from "@colloquy/core"
import { Effect, Schema } from "effect"

const Guests = Schema.NumberFromString.check(
  Schema.isInt(),
  Schema.isBetween({ minimum: 1, maximum: 12 }, { message: "needs a number from 1 to 12" })
)

// The answers are stored, so a restart or a deploy does not interrupt the conversation.
export const Booking = Conversation.make(
  "booking",
  { of: "userInChat", timeout: "10 minutes", texts: { unanswered: "I did not hear from you." } },
  Effect.fn(function* (talk) {
    const day = yield* talk.choose("day", {
      say: "A table for which day?",
      choices: { today: "Today", tomorrow: "Tomorrow" }
    })
    const guests = yield* talk.ask("guests", { say: "For how many?", read: Guests })
    const isRight = yield* talk.confirm("right", { say: `A table for ${guests}, ${day}. Is that right?` })
    yield* talk.say(isRight ? "Your table is booked." : "Send /book to begin again.")
  })
)

const book = Command.make("book", { description: "Books a table" }).on(Booking.start)
const cancel = Command.make("cancel", { description: "Cancels the booking" }).on(Booking.cancel)
const rest = Handler.on("message_created", (update) => Messages.reply(update, "Send /book to book a table."))

export const parts = Bot.make(book, cancel, Booking, rest)

export const bot = Bot.run(parts, {
  // All attempts to handle an update have failed. The update is kept: `npx colloquy dead list` shows it.
  onDeadLetter: ({ error, id }) => Effect.logFatal(`The update ${id} was not handled: ${error}`)
})
