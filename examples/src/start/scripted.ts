/** The conversation of `npm start` without a terminal: a fixed script that waits for each answer of the bot. */
import { Emulator, type Person } from "@colloquy/testing"
import { Console, Effect, Option, Queue, Stream } from "effect"
import * as transcript from "./transcript.ts"

/** Waits for the next event that has something to show, and prints it. */
const nextEvent = (events: Queue.Dequeue<Person.PersonEvent>): Effect.Effect<Person.PersonEvent> =>
  Effect.flatMap(Queue.take(events), (event) => {
    const text = transcript.describe(event)
    return text === undefined ? nextEvent(events) : Effect.as(Console.log(text), event)
  })

/** As `nextEvent`. Returns `undefined` if the bot does nothing for 10 seconds. */
const nextEventIfAny = (events: Queue.Dequeue<Person.PersonEvent>) =>
  nextEvent(events).pipe(
    Effect.timeoutOption("10 seconds"),
    Effect.tap((event) => (Option.isNone(event) ? Console.log(transcript.noAnswer) : Effect.void)),
    Effect.map(Option.getOrUndefined)
  )

export const scripted = Effect.gen(function* () {
  const person = yield* Emulator.user("Ann")
  const events = yield* Queue.unbounded<Person.PersonEvent>()
  yield* Effect.forkScoped(Stream.runForEach(person.events, (event) => Queue.offer(events, event)))

  yield* Console.log(transcript.you("(opens the bot)"))
  yield* person.start()
  yield* nextEventIfAny(events)

  yield* Console.log(transcript.you("good morning"))
  yield* person.send("good morning")
  const answer = yield* nextEventIfAny(events)
  if (answer?._tag !== "Message") return

  const [button] = transcript.buttonsOf(answer.message)
  if (button === undefined) return
  yield* Console.log(transcript.you(`(presses ${button})`))
  yield* person.press(answer.message, button)
  yield* nextEventIfAny(events)
  yield* nextEventIfAny(events)
}).pipe(Effect.catchTag("PersonError", (error) => Console.log(error.message)))
