import type { ChatId } from "@colloquy/core/model/Chat"
import type { MessageId } from "@colloquy/core/model/Message"
import type { UserId } from "@colloquy/core/model/User"
import * as Effect from "effect/Effect"
import type { PersonError, Person } from "../../Person.ts"
import {
  botOf,
  success,
  type Handlers,
  personOf,
  commentOf,
  messageOf,
  shownMessageOf,
  chatOf,
  type ToBot
} from "./call.ts"
import { createChat, createUser, readAttachments } from "./creation.ts"
import type { EmulatorContext } from "../platform/context.ts"
import { defined } from "../platform/validation.ts"
import { toChat } from "../platform/views.ts"

/** The ids that a call of a person may name. */
interface Acting extends ToBot {
  readonly user_id: UserId
  readonly chat_id?: ChatId
  readonly member_id?: UserId
  readonly message_id?: MessageId
  readonly comment_id?: MessageId
  readonly reply_to?: MessageId | null | undefined
}

/** Fails with 404 if something is missing, before the person acts. */
const acting = <R extends Acting, A>(
  body: (person: Person, request: R) => Effect.Effect<A, PersonError>,
  findMessage = messageOf
) =>
  Effect.fnUntraced(function* (request: R, control: EmulatorContext) {
    const { chat_id, comment_id, member_id, message_id, reply_to }: Acting = request
    if (member_id !== undefined) yield* personOf(control, { ...request, user_id: member_id }, "member_id")
    if (reply_to != null) yield* commentOf(control, reply_to)
    if (chat_id !== undefined) yield* chatOf(control, chat_id)
    if (message_id !== undefined) yield* findMessage(control, message_id)
    if (comment_id !== undefined) yield* commentOf(control, comment_id)
    return yield* body(yield* personOf(control, request), request)
  })

const command = <R extends Acting>(body: (person: Person, request: R) => Effect.Effect<unknown, PersonError>) =>
  acting<R, typeof success>((person, request) => Effect.as(body(person, request), success))

/** Calls by which people act. */
export const peopleHandlers = {
  createUser,
  createChat,
  sendMessage: (request, control) =>
    Effect.gen(function* () {
      const { chat_id, format, link, text } = request
      const person = yield* personOf(control, request)
      if (chat_id != null) yield* chatOf(control, chat_id)
      if (link != null) yield* messageOf(control, link.mid)
      const attachments = yield* readAttachments(request.attachments ?? [])
      const options = { attachments, ...defined({ format, link }) }
      return yield* chat_id == null ? person.send(text ?? "", options) : person.send(chat_id, text ?? "", options)
    }),
  edit: acting((person, { message_id, text }) => person.edit(message_id, text)),
  remove: command((person, { message_id }) => person.remove(message_id)),
  view: command((person, { message_id }) => person.view(message_id)),
  press: acting(
    (person, { button, message_id }) =>
      Effect.map(person.press(message_id, button), (callback_id) => (callback_id === undefined ? {} : { callback_id })),
    shownMessageOf
  ),
  openApp: acting(
    (person, { button, message_id }) =>
      Effect.map(person.openApp(message_id, button), ({ initData, url }) => ({ url, init_data: initData })),
    shownMessageOf
  ),
  sendComment: acting((person, { message_id, on_behalf, reply_to, text }) =>
    person.comment(message_id, text, { replyTo: reply_to ?? undefined, onBehalf: on_behalf ?? false })
  ),
  editComment: acting((person, { comment_id, text }) => person.editComment(comment_id, text)),
  removeComment: command((person, { comment_id }) => person.removeComment(comment_id)),
  start: acting((person, { payload }) => person.start(payload ?? undefined)),
  stop: command((person) => person.stop),
  clearDialog: command((person) => person.clearDialog),
  removeDialog: command((person) => person.removeDialog),
  muteDialog: command((person, { until }) => person.muteDialog(until)),
  unmuteDialog: command((person) => person.unmuteDialog),
  join: command((person, { chat_id }) => person.join(chat_id)),
  leave: command((person, { chat_id }) => person.leave(chat_id)),
  addMember: command((person, { chat_id, member_id }) => person.addMember(chat_id, member_id)),
  removeMember: command((person, { block, chat_id, member_id }) =>
    person.removeMember(chat_id, member_id, { block: block ?? false })
  ),
  setAdmin: command((person, { chat_id, member_id, permissions }) =>
    person.setAdmin(chat_id, member_id, permissions ?? undefined)
  ),
  addBot: command((person, { chat_id }) => person.addBot(chat_id)),
  removeBot: command((person, { chat_id }) => person.removeBot(chat_id)),
  setBotAdmin: command((person, { chat_id, permissions }) => person.setBotAdmin(chat_id, permissions ?? undefined)),
  rename: command((person, { chat_id, title }) => person.rename(chat_id, title)),
  listChats: (request, control) =>
    Effect.map(botOf(control, request), (bot) => ({
      chats: [...control.state.chats.values()].map((chat) => toChat(control.state, chat, bot))
    }))
} satisfies Partial<Handlers>
