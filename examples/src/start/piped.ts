/** The conversation of `npm start` with lines on standard input that is not a terminal. */
import { Console, Effect, Stream } from "effect"
import { createInterface } from "node:readline"
import { makeConversation } from "./conversation.ts"
import { scripted } from "./scripted.ts"
import * as transcript from "./transcript.ts"

/** How long to wait for more events of the bot after its answer. */
const settleTime = "300 millis"

/** How long to wait for a message with a button, which the rate limits can delay. */
const buttonTime = "2 seconds"

/** Says the lines one after the other, and waits for the answer to each. Without a line, the fixed conversation is run. */
export const piped = Effect.fnUntraced(function* (input: NodeJS.ReadableStream) {
  let conversation: Effect.Success<typeof makeConversation> | undefined

  const answers = Effect.gen(function* () {
    if ((yield* conversation!.nextEventIfAny("10 seconds")) === undefined)
      return yield* Console.log(transcript.noAnswer)
    while ((yield* conversation!.nextEventIfAny(settleTime)) !== undefined);
  })

  const open = Effect.gen(function* () {
    conversation = yield* makeConversation
    yield* Console.log(transcript.you("(opens the bot)"))
    yield* conversation.person.start()
    yield* answers
    return conversation
  })

  const say = Effect.fnUntraced(function* (line: string) {
    const { findButton, nextEventIfAny, person } = conversation ?? (yield* open)
    while ((yield* nextEventIfAny("1 millis")) !== undefined);
    const number = transcript.buttonNumberOf(line)
    if (number === undefined) {
      yield* Console.log(transcript.you(line))
      yield* person.send(line)
      return yield* answers
    }
    while (findButton(number) === undefined && (yield* nextEventIfAny(buttonTime)) !== undefined);
    yield* Console.log(transcript.you(line))
    const found = findButton(number)
    if (found === undefined) return yield* Console.log(transcript.noButton(number))
    yield* person.press(found.message, found.button)
    yield* answers
  })

  yield* Stream.fromAsyncIterable(createInterface({ input }), () => "standard input cannot be read").pipe(
    Stream.filter((line) => line.trim() !== ""),
    Stream.runForEach((line) => Effect.catchTag(say(line), "PersonError", (error) => Console.log(error.message))),
    Effect.orDie
  )
  if (conversation === undefined) yield* scripted
})
