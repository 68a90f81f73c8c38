import type { ChatId } from "@colloquy/core/Chat"
import type { MessageId } from "@colloquy/core/Message"
import type { UserId } from "@colloquy/core/User"
import * as Effect from "effect/Effect"
import type { PersonError, Person } from "../../Person.ts"
import type * as refusal from "../http/refusal.ts"
import {
  botOf,
  done,
  type Handled,
  on,
  personOf,
  requireComment,
  requireMessage,
  requireShown,
  chatOf,
  type ToBot
} from "./call.ts"
import * as declarations from "./declarations.ts"
import { makeChat, makeUser } from "./making.ts"
import { readAttachments } from "./saying.ts"
import type { EmulatorContext } from "../platform/context.ts"
import { toChat } from "../platform/views.ts"

type Who = ToBot & { readonly user_id: UserId }

type Doing<R extends Who, A> = (request: R, control: EmulatorContext) => Effect.Effect<A, refusal.Refusal | PersonError>

const doing =
  <R extends Who, A>(body: (person: Person, request: R) => Effect.Effect<A, PersonError>): Doing<R, A> =>
  (request, control) =>
    Effect.flatMap(personOf(control, request), (person) => body(person, request))

const todo = <R extends Who>(body: (person: Person, request: R) => Effect.Effect<unknown, PersonError>) =>
  doing<R, typeof done>((person, request) => Effect.as(body(person, request), done))

/** What is not there is told as such, and not as something that a person cannot do. */
const after =
  <R extends Who, A>(
    require: (control: EmulatorContext, request: R) => Effect.Effect<unknown, refusal.Refusal>,
    doing: Doing<R, A>
  ): Doing<R, A> =>
  (request, control) =>
    Effect.andThen(require(control, request), doing(request, control))

type InChat = Who & { readonly chat_id: ChatId }

const inChat = <R extends InChat>(body: (person: Person, request: R) => Effect.Effect<unknown, PersonError>) =>
  after<R, typeof done>((control, { chat_id }) => chatOf(control, chat_id), todo(body))

const toMember =
  <R extends InChat & { readonly member_id: UserId }>(
    body: (person: Person, member: Person, request: R) => Effect.Effect<unknown, PersonError>
  ): Doing<R, typeof done> =>
  (request, control) =>
    Effect.flatMap(personOf(control, { ...request, user_id: request.member_id }, "member_id"), (member) =>
      inChat<R>((person) => body(person, member, request))(request, control)
    )

type AtMessage = Who & { readonly message_id: MessageId }

const atMessage = <R extends AtMessage, A>(doing: Doing<R, A>) =>
  after<R, A>((control, { message_id }) => requireMessage(control, message_id), doing)

const atComment = <R extends Who & { readonly comment_id: MessageId }, A>(doing: Doing<R, A>) =>
  after<R, A>((control, { comment_id }) => requireComment(control, comment_id), doing)

/** What people do. */
export const people: ReadonlyArray<Handled> = [
  on(declarations.users, makeUser),
  on(declarations.chats, makeChat),
  on(declarations.messages, (request, control) =>
    Effect.gen(function* () {
      const { chat_id, link, text } = request
      const person = yield* personOf(control, request)
      if (chat_id != null) yield* chatOf(control, chat_id)
      if (link != null) yield* requireMessage(control, link.mid)
      const attachments = yield* readAttachments(request.attachments ?? [])
      const options = { attachments, ...(link == null ? {} : { link }) }
      return yield* chat_id == null ? person.send(text ?? "", options) : person.send(chat_id, text ?? "", options)
    })
  ),
  on(declarations.edit, atMessage(doing((person, { message_id, text }) => person.edit(message_id, text)))),
  on(declarations.remove, atMessage(todo((person, { message_id }) => person.remove(message_id)))),
  on(declarations.view, atMessage(todo((person, { message_id }) => person.view(message_id)))),
  on(
    declarations.press,
    after(
      (control, { message_id }) => requireShown(control, message_id),
      doing((person, { button, message_id }) =>
        Effect.map(person.press(message_id, button), (callback_id) =>
          callback_id === undefined ? {} : { callback_id }
        )
      )
    )
  ),
  on(
    declarations.comments,
    after(
      (control, { reply_to }) => (reply_to == null ? Effect.void : requireComment(control, reply_to)),
      atMessage(
        doing((person, { message_id, on_behalf, reply_to, text }) =>
          person.comment(message_id, text, { replyTo: reply_to ?? undefined, onBehalf: on_behalf ?? false })
        )
      )
    )
  ),
  on(
    declarations.editComment,
    atComment(doing((person, { comment_id, text }) => person.editComment(comment_id, text)))
  ),
  on(declarations.removeComment, atComment(todo((person, { comment_id }) => person.removeComment(comment_id)))),
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
    inChat((person, { chat_id }) => person.join(chat_id))
  ),
  on(
    declarations.leave,
    inChat((person, { chat_id }) => person.leave(chat_id))
  ),
  on(
    declarations.add,
    toMember((person, member, { chat_id }) => person.addMember(chat_id, member))
  ),
  on(
    declarations.kick,
    toMember((person, member, { block, chat_id }) => person.removeMember(chat_id, member, { block: block ?? false }))
  ),
  on(
    declarations.appoint,
    toMember((person, member, { chat_id, permissions }) => person.setAdmin(chat_id, member, permissions ?? undefined))
  ),
  on(
    declarations.addBot,
    inChat((person, { chat_id }) => person.addBot(chat_id))
  ),
  on(
    declarations.removeBot,
    inChat((person, { chat_id }) => person.removeBot(chat_id))
  ),
  on(
    declarations.appointBot,
    inChat((person, { chat_id, permissions }) => person.setBotAdmin(chat_id, permissions ?? undefined))
  ),
  on(
    declarations.rename,
    inChat((person, { chat_id, title }) => person.rename(chat_id, title))
  ),
  on(declarations.listChats, (request, control) =>
    Effect.map(botOf(control, request), (bot) => ({
      chats: [...control.state.chats.values()].map((chat) => toChat(control.state, chat, bot))
    }))
  )
]
