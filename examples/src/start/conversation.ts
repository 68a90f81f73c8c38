/** A person who talks to the bot of `npm start` without a terminal, and sees its answers. */
import { Emulator, type Person } from "@colloquy/testing"
import { Console, type Duration, Effect, Option, Queue, Stream } from "effect"
import { makeButtons } from "./buttons.ts"
import * as transcript from "./transcript.ts"

export const makeConversation = Effect.gen(function* () {
  const person = yield* Emulator.user("Ann")
  const events = yield* Queue.unbounded<Person.PersonEvent>()
  const buttons = makeButtons()
  yield* Effect.forkScoped(Stream.runForEach(person.events, (event) => Queue.offer(events, event)))

  /** Waits for the next event that has something to show, and prints it. */
  const nextEvent: Effect.Effect<Person.PersonEvent> = Effect.flatMap(Queue.take(events), (event) => {
    buttons.see(event)
    const text = transcript.describe(event)
    return text === undefined ? nextEvent : Effect.as(Console.log(text), event)
  })

  return {
    person,
    findButton: buttons.find,
    /** As `nextEvent`. Returns `undefined` if the bot does nothing for this time. */
    nextEventIfAny: (time: Duration.Input) =>
      nextEvent.pipe(Effect.timeoutOption(time), Effect.map(Option.getOrUndefined))
  }
})
