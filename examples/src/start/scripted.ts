/** The conversation of `npm start` without a terminal: a fixed script that waits for each answer of the bot. */
import { Console, Effect } from "effect"
import { buttonsOf } from "./attachments.ts"
import { makeConversation } from "./conversation.ts"
import * as transcript from "./transcript.ts"

export const scripted = Effect.gen(function* () {
  const { nextEventIfAny, person } = yield* makeConversation
  const answer = Effect.tap(nextEventIfAny("10 seconds"), (event) =>
    event === undefined ? Console.log(transcript.noAnswer) : Effect.void
  )

  yield* Console.log(transcript.you("(opens the bot)"))
  yield* person.start()
  yield* answer

  yield* Console.log(transcript.you("good morning"))
  yield* person.send("good morning")
  const event = yield* answer
  if (event?._tag !== "Message") return

  const [button] = buttonsOf(event.message)
  if (button === undefined) return
  yield* Console.log(transcript.you(`(presses ${button})`))
  yield* person.press(event.message, button)
  yield* answer
  yield* answer
}).pipe(Effect.catchTag("PersonError", (error) => Console.log(error.message)))
