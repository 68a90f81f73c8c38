/** A conversation without a person at the keyboard: every step waits for what the bot does. */
import { Emulator, type Person } from "@colloquy/testing"
import { Console, Effect, Queue, Stream } from "effect"
import * as dialogue from "./dialogue.ts"

/** The next thing that the bot does and that can be seen, printed. */
const hear = (heard: Queue.Dequeue<Person.Heard>): Effect.Effect<Person.Heard> =>
  Effect.flatMap(Queue.take(heard), (next) => {
    const text = dialogue.seen(next)
    return text === undefined ? hear(heard) : Effect.as(Console.log(text), next)
  })

export const script = Effect.gen(function* () {
  const visitor = yield* Emulator.user("Ann")
  const heard = yield* Queue.unbounded<Person.Heard>()
  yield* Effect.forkScoped(Stream.runForEach(visitor.hears, (next) => Queue.offer(heard, next)))

  yield* Console.log(dialogue.you("(opens the bot)"))
  yield* visitor.start()
  yield* hear(heard)

  yield* Console.log(dialogue.you("good morning"))
  yield* visitor.say("good morning")
  const answer = yield* hear(heard)

  yield* Console.log(dialogue.you("(presses Louder)"))
  if (answer._tag === "Message") yield* visitor.press(answer.message, "Louder")
  yield* hear(heard)
  yield* hear(heard)
}).pipe(Effect.timeout("30 seconds"))
