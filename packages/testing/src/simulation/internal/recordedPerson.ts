/** A person whose actions are recorded in the history. */
import type { Message } from "@colloquy/core/model/Message"
import * as Effect from "effect/Effect"
import type { ButtonRef, ChatRef, MessageRef, Person, PersonError, SendOptions } from "../../emulator/Person.ts"
import { rowsOf } from "../../emulator/internal/people/buttons.ts"
import type { PersonActed } from "../SimulationEvent.ts"
import type { Recording } from "./recording.ts"

const idOf = (chat: ChatRef): number => (typeof chat === "number" ? chat : chat.chat_id)

/** The id and the chat of a message, as far as they are known. */
const placeOf = (message: MessageRef): Details =>
  typeof message === "string"
    ? { message_id: message }
    : { message_id: message.body?.mid, chat_id: message.recipient.chat_id ?? undefined }

const labelOf = (message: MessageRef, button: ButtonRef): string => {
  if (typeof button === "string") return button
  const buttons = typeof message === "string" ? [] : rowsOf(message)
  const found =
    "payload" in button
      ? buttons.flat().find((other) => other.type === "callback" && other.payload === button.payload)
      : buttons[button[0]]?.[button[1]]
  if (found !== undefined && found.type !== "unknown") return found.text
  return "payload" in button ? button.payload : `the button ${button[1] + 1} of row ${button[0] + 1}`
}

type ToDialog = readonly [text: string, options?: SendOptions | undefined]
type ToChat = readonly [chat: ChatRef, text: string, options?: SendOptions | undefined]

const isToDialog = (args: ToDialog | ToChat): args is ToDialog => typeof args[0] === "string"

type Details = Partial<Pick<PersonActed, "callback_id" | "chat_id" | "message_id" | "text">>

/** Returns the same person. Actions that have succeeded are in the history. */
export const recordedPerson = (person: Person, recording: Recording): Person => {
  const record = (action: string, details: Details) =>
    Effect.sync(() =>
      recording.add({
        type: "did",
        person: person.user.first_name,
        user_id: person.user_id,
        chat_id: undefined,
        action,
        text: "",
        message_id: undefined,
        callback_id: undefined,
        ...details
      })
    )
  const inDialog = (action: string, effect: Effect.Effect<void, PersonError>) =>
    Effect.flatMap(person.dialog, ({ chat_id }) => Effect.tap(effect, () => record(action, { chat_id })))
  const inChat =
    <A extends ReadonlyArray<unknown>, B, E>(action: string, act: (chat: ChatRef, ...rest: A) => Effect.Effect<B, E>) =>
    (chat: ChatRef, ...rest: A) =>
      Effect.tap(act(chat, ...rest), () => record(action, { chat_id: idOf(chat) }))
  const sent = (message: Message) => record("send", { ...placeOf(message), text: message.body?.text ?? "" })
  return {
    ...person,
    with: (bot) => recordedPerson(person.with(bot), recording),
    start: (payload) =>
      Effect.tap(person.start(payload), ({ chat_id }) => record("start", { chat_id, text: payload ?? "" })),
    stop: inDialog("stop", person.stop),
    clearDialog: inDialog("clearDialog", person.clearDialog),
    removeDialog: inDialog("removeDialog", person.removeDialog),
    send: (...args: ToDialog | ToChat) =>
      Effect.tap(isToDialog(args) ? person.send(...args) : person.send(...args), sent),
    edit: (message, text) =>
      Effect.tap(person.edit(message, text), (edited) => record("edit", { ...placeOf(edited), text })),
    remove: (message) => Effect.tap(person.remove(message), () => record("remove", placeOf(message))),
    press: (message, button) =>
      Effect.tap(person.press(message, button), (callback_id) =>
        record("press", { ...placeOf(message), callback_id, text: labelOf(message, button) })
      ),
    join: inChat("join", person.join),
    leave: inChat("leave", person.leave),
    addBot: inChat("addBot", person.addBot),
    removeBot: inChat("removeBot", person.removeBot)
  }
}
