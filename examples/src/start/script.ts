/** A conversation without a person at the keyboard: every step waits for what the bot does. */
import { Emulator, type Person } from "@colloquy/testing"
import { Console, Effect, Option, Queue, Stream } from "effect"
import * as dialogue from "./dialogue.ts"

/** The next thing that the bot does and that can be seen, printed. */
const hear = (heard: Queue.Dequeue<Person.PersonEvent>): Effect.Effect<Person.PersonEvent> =>
  Effect.flatMap(Queue.take(heard), (next) => {
    const text = dialogue.seen(next)
    return text === undefined ? hear(heard) : Effect.as(Console.log(text), next)
  })

/** As `hear`, for a bot that may as well do nothing. */
const hearIfAny = (heard: Queue.Dequeue<Person.PersonEvent>) =>
  hear(heard).pipe(
    Effect.timeoutOption("10 seconds"),
    Effect.tap((next) => (Option.isNone(next) ? Console.log(dialogue.silence) : Effect.void)),
    Effect.map(Option.getOrUndefined)
  )

export const script = Effect.gen(function* () {
  const visitor = yield* Emulator.user("Ann")
  const heard = yield* Queue.unbounded<Person.PersonEvent>()
  yield* Effect.forkScoped(Stream.runForEach(visitor.events, (next) => Queue.offer(heard, next)))

  yield* Console.log(dialogue.you("(opens the bot)"))
  yield* visitor.start()
  yield* hearIfAny(heard)

  yield* Console.log(dialogue.you("good morning"))
  yield* visitor.send("good morning")
  const answer = yield* hearIfAny(heard)
  if (answer?._tag !== "Message") return

  const [button] = dialogue.buttonsOf(answer.message)
  if (button === undefined) return
  yield* Console.log(dialogue.you(`(presses ${button})`))
  yield* visitor.press(answer.message, button)
  yield* hearIfAny(heard)
  yield* hearIfAny(heard)
}).pipe(Effect.catchTag("PersonError", (error) => Console.log(error.message)))
