/** What people of several programs do. */
import type { Message } from "@colloquy/core/model/Message"
import type { ChatId } from "@colloquy/core/model/Recipient"
import * as Emulator from "@colloquy/testing/emulator/Emulator"
import type { ButtonRef, Person, PersonError } from "@colloquy/testing/emulator/Person"
import * as Effect from "effect/Effect"
import type { Simulation } from "../simulation.ts"
import { mayRemove } from "../removal.ts"

/** Sends a message to the dialog with the bot, which has to handle it. */
export const say = (simulation: Simulation, person: Person, text: string): Effect.Effect<Message, PersonError> =>
  Effect.flatMap(person.dialog, ({ chat_id }) => sayIn(simulation, person, chat_id, text))

/** Sends a message to a chat with the bot, which has to handle it. */
export const sayIn = (
  simulation: Simulation,
  person: Person,
  chat_id: ChatId,
  text: string
): Effect.Effect<Message, PersonError> =>
  Effect.suspend(() => {
    const chat = String(chat_id)
    simulation.history.add({ type: "said", chat, subject: text })
    return Effect.tap(person.send(chat_id, text), ({ body }) =>
      Effect.sync(() => mayRemove(simulation, person, chat, body?.mid))
    )
  })

/** Presses a button of a message, which the bot has to handle. Default of `chat`: the dialog with the bot. */
export const press = (
  { history }: Simulation,
  person: Person,
  message: Message,
  button: ButtonRef,
  chat?: ChatId
): Effect.Effect<string | undefined, PersonError> =>
  Effect.gen(function* () {
    const chat_id = chat ?? (yield* person.dialog).chat_id
    const callback = yield* person.press(message, button)
    if (callback !== undefined) history.add({ type: "said", chat: String(chat_id), subject: `callback ${callback}` })
    return callback
  })

/** Waits for a new message of the bot that matches. */
export const waitFor = (person: Person, matches: (text: string) => boolean): Effect.Effect<Message> =>
  Effect.flatMap(
    person.next((event) => event._tag === "Message" && matches(event.message.body?.text ?? "")),
    (event) => (event._tag === "Message" ? Effect.succeed(event.message) : Effect.die(new Error("not a message")))
  )

/** Waits for a message of the bot that matches, when it is sent or after an edit. */
export const waitForText = (person: Person, matches: (text: string) => boolean): Effect.Effect<Message> =>
  Effect.flatMap(
    person.next(
      (event) => (event._tag === "Message" || event._tag === "Edited") && matches(event.message.body?.text ?? "")
    ),
    (event) =>
      event._tag === "Message" || event._tag === "Edited"
        ? Effect.succeed(event.message)
        : Effect.die(new Error("not a message"))
  )

/** Waits until a message shows a text that matches now, for at most half an hour. Returns whether it does. */
export const waitForEdit = (
  person: Person,
  message: Message,
  matches: (text: string) => boolean
): Effect.Effect<boolean, PersonError, Emulator.Emulator> =>
  Effect.gen(function* () {
    const { chat_id } = yield* person.dialog
    for (let waited = 0, pause = 100; waited < 1_800_000; waited += pause, pause = Math.min(10_000, pause * 1.2)) {
      const shown = (yield* Emulator.messages(chat_id)).find(({ body }) => body?.mid === message.body?.mid)
      if (matches(shown?.body?.text ?? "")) return true
      yield* Effect.sleep(pause)
    }
    return false
  })
