import type { ChatId } from "@colloquy/core/model/Chat"
import type { MessageId } from "@colloquy/core/model/Message"
import type { UserId } from "@colloquy/core/model/User"
import * as Effect from "effect/Effect"
import type { PersonError, Person } from "../../Person.ts"
import type * as refusal from "../http/refusal.ts"
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

type PersonRequest = ToBot & { readonly user_id: UserId }

type PersonHandler<R extends PersonRequest, A> = (
  request: R,
  control: EmulatorContext
) => Effect.Effect<A, refusal.Refusal | PersonError>

const asPerson =
  <R extends PersonRequest, A>(
    body: (person: Person, request: R) => Effect.Effect<A, PersonError>
  ): PersonHandler<R, A> =>
  (request, control) =>
    Effect.flatMap(personOf(control, request), (person) => body(person, request))

const command = <R extends PersonRequest>(body: (person: Person, request: R) => Effect.Effect<unknown, PersonError>) =>
  asPerson<R, typeof success>((person, request) => Effect.as(body(person, request), success))

/** Fails with 404 if something is missing, before the person acts. */
const after =
  <R extends PersonRequest, A>(
    require: (control: EmulatorContext, request: R) => Effect.Effect<unknown, refusal.Refusal>,
    doing: PersonHandler<R, A>
  ): PersonHandler<R, A> =>
  (request, control) =>
    Effect.andThen(require(control, request), doing(request, control))

type InChat = PersonRequest & { readonly chat_id: ChatId }

const inChat = <R extends InChat>(body: (person: Person, request: R) => Effect.Effect<unknown, PersonError>) =>
  after<R, typeof success>((control, { chat_id }) => chatOf(control, chat_id), command(body))

const onMember =
  <R extends InChat & { readonly member_id: UserId }>(
    body: (person: Person, member: Person, request: R) => Effect.Effect<unknown, PersonError>
  ): PersonHandler<R, typeof success> =>
  (request, control) =>
    Effect.flatMap(personOf(control, { ...request, user_id: request.member_id }, "member_id"), (member) =>
      inChat<R>((person) => body(person, member, request))(request, control)
    )

type AtMessage = PersonRequest & { readonly message_id: MessageId }

const onMessage = <R extends AtMessage, A>(doing: PersonHandler<R, A>) =>
  after<R, A>((control, { message_id }) => messageOf(control, message_id), doing)

const onShownMessage = <R extends AtMessage, A>(doing: PersonHandler<R, A>) =>
  after<R, A>((control, { message_id }) => shownMessageOf(control, message_id), doing)

const onComment = <R extends PersonRequest & { readonly comment_id: MessageId }, A>(doing: PersonHandler<R, A>) =>
  after<R, A>((control, { comment_id }) => commentOf(control, comment_id), doing)

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
  edit: onMessage(asPerson((person, { message_id, text }) => person.edit(message_id, text))),
  remove: onMessage(command((person, { message_id }) => person.remove(message_id))),
  view: onMessage(command((person, { message_id }) => person.view(message_id))),
  press: onShownMessage(
    asPerson((person, { button, message_id }) =>
      Effect.map(person.press(message_id, button), (callback_id) => (callback_id === undefined ? {} : { callback_id }))
    )
  ),
  openApp: onShownMessage(
    asPerson((person, { button, message_id }) =>
      Effect.map(person.openApp(message_id, button), ({ initData, url }) => ({ url, init_data: initData }))
    )
  ),
  sendComment: after(
    (control, { reply_to }) => (reply_to == null ? Effect.void : commentOf(control, reply_to)),
    onMessage(
      asPerson((person, { message_id, on_behalf, reply_to, text }) =>
        person.comment(message_id, text, { replyTo: reply_to ?? undefined, onBehalf: on_behalf ?? false })
      )
    )
  ),
  editComment: onComment(asPerson((person, { comment_id, text }) => person.editComment(comment_id, text))),
  removeComment: onComment(command((person, { comment_id }) => person.removeComment(comment_id))),
  start: asPerson((person, { payload }) => person.start(payload ?? undefined)),
  stop: command((person) => person.stop),
  clearDialog: command((person) => person.clearDialog),
  removeDialog: command((person) => person.removeDialog),
  muteDialog: command((person, { until }) => person.muteDialog(until)),
  unmuteDialog: command((person) => person.unmuteDialog),
  join: inChat((person, { chat_id }) => person.join(chat_id)),
  leave: inChat((person, { chat_id }) => person.leave(chat_id)),
  addMember: onMember((person, member, { chat_id }) => person.addMember(chat_id, member)),
  removeMember: onMember((person, member, { block, chat_id }) =>
    person.removeMember(chat_id, member, { block: block ?? false })
  ),
  setAdmin: onMember((person, member, { chat_id, permissions }) =>
    person.setAdmin(chat_id, member, permissions ?? undefined)
  ),
  addBot: inChat((person, { chat_id }) => person.addBot(chat_id)),
  removeBot: inChat((person, { chat_id }) => person.removeBot(chat_id)),
  setBotAdmin: inChat((person, { chat_id, permissions }) => person.setBotAdmin(chat_id, permissions ?? undefined)),
  rename: inChat((person, { chat_id, title }) => person.rename(chat_id, title)),
  listChats: (request, control) =>
    Effect.map(botOf(control, request), (bot) => ({
      chats: [...control.state.chats.values()].map((chat) => toChat(control.state, chat, bot))
    }))
} satisfies Partial<Handlers>
