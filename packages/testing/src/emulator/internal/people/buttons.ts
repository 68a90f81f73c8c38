import type { Attachment } from "@colloquy/core/model/Attachment"
import type { Button } from "@colloquy/core/model/Keyboard"
import type { Message } from "@colloquy/core/model/Message"
import * as MiniApp from "@colloquy/core/model/MiniApp"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { ButtonRef, OpenedApp } from "../../Person.ts"
import { requestedContact } from "../platform/contacts.ts"
import { byUser, emit } from "../platform/events.ts"
import { nextName } from "../platform/ids.ts"
import { recordActivity } from "../platform/members.ts"
import { type BotState, type MessageState, now } from "../platform/state.ts"
import { notifyBot } from "../platform/updates.ts"
import { botOf, idOf } from "../platform/users.ts"
import { toMessage } from "../platform/views.ts"
import { type Action, type Actor, cannot, localeOf } from "./access.ts"
import { sendIn } from "./messages.ts"

type Rows = ReadonlyArray<ReadonlyArray<Button>>

/** The buttons of a message, by rows. */
export const rowsOf = (message: Message): Rows =>
  (message.body?.attachments ?? []).flatMap((attachment) =>
    attachment.type === "inline_keyboard" ? attachment.payload.buttons : []
  )

const textOf = (button: Button): string | undefined => (button.type === "unknown" ? undefined : button.text)

const payloadOf = (button: Button) => (button.type === "callback" ? button.payload : undefined)

interface Placed {
  readonly button: Button
  readonly place: readonly [row: number, column: number]
}

const matching = (rows: Rows, ref: ButtonRef): ReadonlyArray<Placed> => {
  const placed = rows.flatMap((row, y) => row.map((button, x): Placed => ({ button, place: [y, x] })))
  if (typeof ref === "string") return placed.filter(({ button }) => textOf(button) === ref)
  if ("payload" in ref) return placed.filter(({ button }) => payloadOf(button) === ref.payload)
  const [row, column] = ref
  return placed.filter(({ place }) => place[0] === row && place[1] === column)
}

const nameOf = (ref: ButtonRef): string => {
  if (typeof ref === "string") return `"${ref}"`
  return "payload" in ref ? `with the payload "${ref.payload}"` : `at row ${ref[0]}, column ${ref[1]}`
}

const maxQuoted = 100

/** The name of a message in an error: its text. */
const quoteOf = ({ value: { body } }: MessageState): string => {
  const text = body?.text ?? ""
  if (text === "") return "The message has no text"
  return `The message is ${JSON.stringify(text.length > maxQuoted ? `${text.slice(0, maxQuoted)}…` : text)}`
}

const pick = (actor: Actor, message: MessageState, ref: ButtonRef): Action<Placed> => {
  const rows = rowsOf(message.value)
  const found = matching(rows, ref)
  if (found.length === 1) return Effect.succeed(found[0])
  if (found.length > 1) {
    return cannot(actor, `there are ${found.length} buttons ${nameOf(ref)}: press one by its [row, column]`)
  }
  const there = rows.flat().map((button) => `"${textOf(button) ?? "of an unknown type"}"`)
  const buttons = there.length === 0 ? "none" : there.join(", ")
  return cannot(actor, `there is no button ${nameOf(ref)}; there are ${buttons}. ${quoteOf(message)}`)
}

const keyboardOwner = (actor: Actor, { author }: MessageState): Action<BotState> => {
  const bot = botOf(actor.state, idOf(author))
  return bot === undefined ? cannot(actor, "the keyboard is not a bot's") : Effect.succeed(bot)
}

/** Opens the mini app of a button, with init data that have the signature of the platform. */
export const openApp =
  (actor: Actor, ref: ButtonRef) =>
  (message: MessageState): Action<OpenedApp> =>
    Effect.gen(function* () {
      const { self, state } = actor
      const { button } = yield* pick(actor, message, ref)
      if (button.type !== "open_app") return yield* cannot(actor, `the button ${nameOf(ref)} opens no mini app`)
      const { token } = yield* keyboardOwner(actor, message)
      const { first_name, last_name, username } = self.profile
      const { chat_id, type } = message.chat
      const initData = yield* MiniApp.sign(
        {
          query_id: nextName(state, "app"),
          user: { id: idOf(self), first_name, last_name, username, language_code: self.locale },
          chat: { id: chat_id, type: type.toUpperCase() },
          ...(button.payload == null ? {} : { start_param: button.payload })
        },
        { token: Redacted.make(token) }
      )
      return { url: button.web_app, initData }
    })

const emitPress = (
  { self, state }: Actor,
  { chat, mid }: MessageState,
  [row, column]: Placed["place"],
  callback_id?: string
): void =>
  emit(state, {
    type: "press",
    ...byUser(chat, self),
    message_id: mid,
    button: [row, column],
    ...(callback_id === undefined ? {} : { callback_id })
  })

const pressCallback = (
  actor: Actor,
  bot: BotState,
  message: MessageState,
  place: Placed["place"],
  payload: string | null | undefined
): string => {
  const { self, state } = actor
  recordActivity(state, message.chat, self)
  const callback_id = nextName(state, "callback")
  const timestamp = now(state)
  bot.callbacks.set(callback_id, { message, user: self, isAnswered: false })
  emitPress(actor, message, place, callback_id)
  notifyBot(state, message.chat, bot, {
    update_type: "message_callback",
    timestamp,
    callback: { timestamp, callback_id, user: self.profile, ...(payload == null ? {} : { payload }) },
    ...(state.messages.has(message.mid) ? { message: toMessage(state, message) } : {}),
    ...localeOf(actor)
  })
  return callback_id
}

export const pressButton =
  (actor: Actor, ref: ButtonRef) =>
  (message: MessageState): Action<string | undefined> =>
    Effect.flatMap(pick(actor, message, ref), ({ button, place }): Action<string | undefined> => {
      const send = (text: string, attachments: ReadonlyArray<Attachment> = []) =>
        Effect.suspend(() => {
          emitPress(actor, message, place)
          return Effect.as(sendIn(actor, message.chat, text, { attachments }), undefined)
        })
      switch (button.type) {
        case "callback":
          return Effect.map(keyboardOwner(actor, message), (bot) =>
            pressCallback(actor, bot, message, place, button.payload)
          )
        case "message":
          return send(button.text)
        case "request_contact":
          return keyboardOwner(actor, message).pipe(
            Effect.flatMap((bot) => requestedContact(bot, actor.self)),
            Effect.flatMap((contact) => send("", [contact]))
          )
        case "request_geo_location":
          return send("", [{ type: "location", ...actor.self.location }])
        default:
          return cannot(actor, `a bot receives nothing when a button of the type ${button.type} is pressed`)
      }
    })
