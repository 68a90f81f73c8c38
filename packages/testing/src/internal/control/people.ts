import type { ChatId } from "@colloquy/core/Chat"
import type { UserId } from "@colloquy/core/User"
import * as Effect from "effect/Effect"
import type { CannotDo, Person } from "../../Person.ts"
import { toChat } from "../views.ts"
import { type Control, botOf, done, type Handled, on, personOf, roomOf, type ToBot } from "./call.ts"
import * as declarations from "./declarations.ts"
import { makeChat, makeUser } from "./making.ts"
import { readAttachments } from "./saying.ts"

type Who = ToBot & { readonly user_id: UserId }

const doing =
  <R extends Who, A>(body: (person: Person, request: R) => Effect.Effect<A, CannotDo>) =>
  (request: R, control: Control) =>
    Effect.flatMap(personOf(control, request), (person) => body(person, request))

const todo = <R extends Who>(body: (person: Person, request: R) => Effect.Effect<unknown, CannotDo>) =>
  doing<R, typeof done>((person, request) => Effect.as(body(person, request), done))

const inKnownChat =
  <R extends Who & { readonly chat_id: ChatId }>(
    body: (person: Person, request: R) => Effect.Effect<unknown, CannotDo>
  ) =>
  (request: R, control: Control) =>
    Effect.andThen(roomOf(control, request.chat_id), todo(body)(request, control))

/** What people do. */
export const people: ReadonlyArray<Handled> = [
  on(declarations.users, makeUser),
  on(declarations.chats, makeChat),
  on(declarations.messages, (request, control) =>
    Effect.gen(function* () {
      const { chat_id, link, text } = request
      const person = yield* personOf(control, request)
      if (chat_id != null) yield* roomOf(control, chat_id)
      const attachments = yield* readAttachments(control.world, request.attachments ?? [])
      const options = { attachments, ...(link == null ? {} : { link }) }
      return yield* chat_id == null ? person.say(text ?? "", options) : person.say(chat_id, text ?? "", options)
    })
  ),
  on(
    declarations.edit,
    doing((person, { message_id, text }) => person.edit(message_id, text))
  ),
  on(
    declarations.remove,
    todo((person, { message_id }) => person.remove(message_id))
  ),
  on(
    declarations.view,
    todo((person, { message_id }) => person.view(message_id))
  ),
  on(
    declarations.press,
    doing((person, { button, message_id }) =>
      Effect.map(person.press(message_id, button), (callback_id) => (callback_id === undefined ? {} : { callback_id }))
    )
  ),
  on(
    declarations.comments,
    doing((person, { message_id, on_behalf, reply_to, text }) =>
      person.comment(message_id, text, { replyTo: reply_to ?? undefined, onBehalf: on_behalf ?? false })
    )
  ),
  on(
    declarations.editComment,
    doing((person, { comment_id, text }) => person.editComment(comment_id, text))
  ),
  on(
    declarations.removeComment,
    todo((person, { comment_id }) => person.removeComment(comment_id))
  ),
  on(
    declarations.start,
    doing((person, { payload }) => person.start(payload ?? undefined))
  ),
  on(
    declarations.stop,
    todo((person) => person.stop)
  ),
  on(
    declarations.clearDialog,
    todo((person) => person.clearDialog)
  ),
  on(
    declarations.removeDialog,
    todo((person) => person.removeDialog)
  ),
  on(
    declarations.muteDialog,
    todo((person, { until }) => person.muteDialog(until))
  ),
  on(
    declarations.unmuteDialog,
    todo((person) => person.unmuteDialog)
  ),
  on(
    declarations.join,
    inKnownChat((person, { chat_id }) => person.join(chat_id))
  ),
  on(
    declarations.leave,
    inKnownChat((person, { chat_id }) => person.leave(chat_id))
  ),
  on(
    declarations.addBot,
    inKnownChat((person, { chat_id }) => person.addBot(chat_id))
  ),
  on(
    declarations.removeBot,
    inKnownChat((person, { chat_id }) => person.removeBot(chat_id))
  ),
  on(
    declarations.appointBot,
    inKnownChat((person, { chat_id, permissions }) => person.appointBot(chat_id, permissions ?? undefined))
  ),
  on(
    declarations.rename,
    inKnownChat((person, { chat_id, title }) => person.rename(chat_id, title))
  ),
  on(declarations.listChats, (request, control) =>
    Effect.map(botOf(control, request), (bot) => ({
      chats: [...control.world.rooms.values()].map((room) => toChat(control.world, room, bot))
    }))
  )
]
