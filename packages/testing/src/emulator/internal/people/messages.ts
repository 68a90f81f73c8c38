import type { Attachment } from "@colloquy/core/model/Attachment"
import type { Message } from "@colloquy/core/model/Message"
import * as Platform from "@colloquy/core/base/Platform"
import * as Effect from "effect/Effect"
import type { ChatRef, MessageRef, Person, PersonAttachment, PersonMedia, SendOptions } from "../../Person.ts"
import { parseText } from "../text/parse.ts"
import { dialogPartner, findDialog } from "../platform/chats.ts"
import type { Position } from "../platform/ids.ts"
import { createMedia, isMedia, toAttachment } from "../platform/media.ts"
import { hasRight, recordActivity } from "../platform/members.ts"
import {
  type Content,
  contentOf,
  createMessage,
  editMessage,
  emptyContent,
  isEmpty,
  linkTo,
  mayForward,
  removeMessage
} from "../platform/messages.ts"
import { type ChatState, type MessageState, now } from "../platform/state.ts"
import { botOf, idOf } from "../platform/users.ts"
import { defined } from "../platform/validation.ts"
import { toMessage } from "../platform/views.ts"
import { storeContent } from "../upload/files.ts"
import { type Action, type Actor, cannot, messageOf, midOf, openChat } from "./access.ts"
import { startDialog } from "./dialogs.ts"

export const checkText = (actor: Actor, text: string): Action =>
  Platform.lengthOf(text) > Platform.maxTextLength
    ? cannot(actor, `a text has at most ${Platform.maxTextLength} characters`)
    : Effect.void

const requireContent = (actor: Actor, content: Content): Action<Content> =>
  isEmpty(content) ? cannot(actor, "a message has a text, attachments or a link") : Effect.succeed(content)

/** The media that a person sends: uploaded and processed, so that a bot can send them on by their token. */
const mediaOf = Effect.fnUntraced(function* (actor: Actor, attachment: PersonMedia) {
  const { state } = actor
  const { photo_id, token, url } = attachment.payload ?? {}
  const known = token == null ? undefined : state.media.get(token)
  if (known !== undefined) return known
  const media = createMedia(state, attachment.type, defined({ token, photo_id, sourceUrl: url }))
  media.readyAt = now(state)
  if (attachment.type === "file") {
    media.filename = attachment.filename ?? undefined
    media.size = attachment.size ?? 0
  }
  if (attachment.content != null) {
    yield* Effect.catch(storeContent(state, media, new Uint8Array(attachment.content)), ({ message }) =>
      cannot(actor, `${attachment.type}: ${message}`)
    )
  }
  return media
})

/** Completes an attachment as the platform does. */
const completeAttachment = Effect.fnUntraced(function* (actor: Actor, attachment: PersonAttachment) {
  if (!isMedia(attachment)) return attachment
  const media = yield* mediaOf(actor, attachment)
  if (media.type !== attachment.type) return yield* cannot(actor, `no ${attachment.type} has the token ${media.token}`)
  const { content: _, payload: __, ...rest } = attachment as PersonMedia
  return { ...toAttachment(actor.state, media), ...defined(rest) } as Attachment
})

type FindMessage = (actor: Actor, ref: MessageRef) => Action<MessageState>

const readContent = Effect.fnUntraced(function* (
  actor: Actor,
  chat: ChatState | undefined,
  text: string,
  { attachments = [], format, link }: SendOptions = {},
  find: FindMessage = messageOf
) {
  yield* checkText(actor, text)
  if (attachments.length > Platform.maxAttachments) {
    return yield* cannot(actor, `a message has at most ${Platform.maxAttachments} attachments`)
  }
  const linked = link === undefined ? undefined : yield* find(actor, link.mid)
  if (linked !== undefined && link?.type === "reply" && linked.chat !== chat) {
    return yield* cannot(actor, "a reply is to a message of the same chat")
  }
  if (linked !== undefined && link?.type === "forward" && !mayForward(actor.state, linked)) {
    return yield* cannot(actor, "forwarding from that chat is prohibited")
  }
  return yield* requireContent(actor, {
    ...emptyContent,
    ...(text === "" ? { text: null } : parseText(text, format)),
    attachments: yield* Effect.forEach(attachments, (attachment) => completeAttachment(actor, attachment)),
    link: linked === undefined ? undefined : linkTo(link!.type, linked)
  })
})

const anyMessage: FindMessage = (actor, ref) => {
  const message = actor.state.messages.get(midOf(ref)!)
  return message === undefined ? messageOf(actor, ref) : Effect.succeed(message)
}

/** Sends a message of a saved state, in which the author may be no member any more. */
export const restoreMessage = (
  actor: Actor,
  chat: ChatState,
  text: string,
  options: SendOptions,
  position: Position | undefined
): Action =>
  Effect.map(readContent(actor, chat, text, options, anyMessage), (content) => {
    createMessage(actor.state, chat, actor.self, content, true, position)
  })

const sendInDialog = (actor: Actor, text: string, options?: SendOptions): Action<Message> =>
  Effect.suspend(() => {
    const { bot, self, state } = actor
    const known = findDialog(state, self, bot)
    return Effect.map(readContent(actor, known, text, options), (content) =>
      toMessage(
        state,
        createMessage(state, known === undefined || known.isSuspended ? startDialog(actor) : known, self, content)
      )
    )
  })

/** The person, acting towards the bot of a dialog. */
const towardsBotOf = (actor: Actor, dialog: ChatState): Actor => {
  const other = dialogPartner(dialog, actor.self)
  const bot = other === undefined ? undefined : botOf(actor.state, idOf(other))
  return bot === undefined ? actor : { ...actor, bot }
}

export const sendIn = (actor: Actor, ref: ChatRef, text: string, options?: SendOptions): Action<Message> =>
  Effect.flatMap(openChat(actor, ref, "write"), (chat) =>
    chat.type === "dialog"
      ? sendInDialog(towardsBotOf(actor, chat), text, options)
      : Effect.map(readContent(actor, chat, text, options), (content) =>
          toMessage(actor.state, createMessage(actor.state, chat, actor.self, content))
        )
  )

export const messageActions = (actor: Actor): Pick<Person, "send" | "edit" | "remove" | "view"> => ({
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
    const content: Content = { ...contentOf(message), text: text === "" ? null : text, markup: [] }
    editMessage(actor.state, message, yield* requireContent(actor, content), actor.self)
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
      recordActivity(actor.state, chat, actor.self)
    })
})
