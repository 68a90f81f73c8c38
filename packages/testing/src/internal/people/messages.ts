import type { Message } from "@colloquy/core/Message"
import * as Platform from "@colloquy/core/Platform"
import * as Effect from "effect/Effect"
import type { ChatRef, Person, SendOptions } from "../../Person.ts"
import { type Content, isEmpty, nothing } from "../platform/content.ts"
import type { ChatState } from "../platform/model.ts"
import { contentOf, linkTo, createMessage, editMessage, removeMessage } from "../platform/messages.ts"
import { dialogPartner, findDialog, hasRight, markActive } from "../platform/chats.ts"
import { toMessage } from "../platform/views.ts"
import { idOf } from "../platform/state.ts"
import { openChat, messageOf } from "./access.ts"
import { type Actor, cannot, type Action } from "./actor.ts"
import { attach } from "./attachments.ts"
import { begin } from "./dialogs.ts"

/** What the platform lets nobody say. */
export const checkText = (actor: Actor, text: string): Action =>
  text.length > Platform.maxTextLength
    ? cannot(actor, `a text has at most ${Platform.maxTextLength} characters`)
    : Effect.void

const requireContent = (actor: Actor, content: Content): Action<Content> =>
  isEmpty(content) ? cannot(actor, "a message has a text, attachments or a link") : Effect.succeed(content)

const readContent = Effect.fnUntraced(function* (
  actor: Actor,
  chat: ChatState | undefined,
  text: string,
  { attachments = [], link }: SendOptions = {}
) {
  yield* checkText(actor, text)
  if (attachments.length > Platform.maxAttachments) {
    return yield* cannot(actor, `a message has at most ${Platform.maxAttachments} attachments`)
  }
  const linked = link === undefined ? undefined : yield* messageOf(actor, link.mid)
  if (linked !== undefined && link?.type === "reply" && linked.chat !== chat) {
    return yield* cannot(actor, "a reply is to a message of the same chat")
  }
  return yield* requireContent(actor, {
    ...nothing,
    text: text === "" ? null : text,
    attachments: yield* Effect.forEach(attachments, (said) => attach(actor, said)),
    link: linked === undefined ? undefined : linkTo(link!.type, linked)
  })
})

const sendInDialog = (actor: Actor, text: string, options?: SendOptions): Action<Message> =>
  Effect.suspend(() => {
    const { bot, self, state } = actor
    const known = findDialog(state, self, bot)
    return Effect.map(readContent(actor, known, text, options), (content) =>
      toMessage(
        state,
        createMessage(state, known === undefined || known.isSuspended ? begin(actor) : known, self, content)
      )
    )
  })

/** They, facing the bot that a dialog is with. */
const facing = (actor: Actor, dialog: ChatState): Actor => {
  const other = dialogPartner(dialog, actor.self)
  const bot = other === undefined ? undefined : actor.state.botOf(idOf(other))
  return bot === undefined ? actor : { ...actor, bot }
}

export const sendIn = (actor: Actor, ref: ChatRef, text: string, options?: SendOptions): Action<Message> =>
  Effect.flatMap(openChat(actor, ref, "write"), (chat) =>
    chat.type === "dialog"
      ? sendInDialog(facing(actor, chat), text, options)
      : Effect.map(readContent(actor, chat, text, options), (content) =>
          toMessage(actor.state, createMessage(actor.state, chat, actor.self, content))
        )
  )

/** What a person does with messages. */
export const messaging = (actor: Actor): Pick<Person, "send" | "edit" | "remove" | "view"> => ({
  send: ((...args: [string, SendOptions?] | Parameters<Person["send"]>) => {
    const [first, second, third] = args
    return typeof first === "string"
      ? sendInDialog(actor, first, second as SendOptions)
      : sendIn(actor, first, second as string, third)
  }) as Person["send"],
  edit: Effect.fnUntraced(function* (ref, text) {
    const message = yield* messageOf(actor, ref)
    if (message.author !== actor.self) return yield* cannot(actor, "the message is not theirs")
    yield* checkText(actor, text)
    const said: Content = { ...contentOf(message), text: text === "" ? null : text, markup: [] }
    editMessage(actor.state, message, yield* requireContent(actor, said), actor.self)
    return toMessage(actor.state, message)
  }),
  remove: Effect.fnUntraced(function* (ref) {
    const message = yield* messageOf(actor, ref)
    if (message.author !== actor.self && !hasRight(message.chat, actor.self, "delete")) {
      return yield* cannot(actor, "the message is not theirs")
    }
    removeMessage(actor.state, message, actor.self)
  }),
  view: (ref) =>
    Effect.map(messageOf(actor, ref), ({ chat, viewers }) => {
      viewers?.add(idOf(actor.self))
      markActive(actor.state, chat, actor.self)
    })
})
