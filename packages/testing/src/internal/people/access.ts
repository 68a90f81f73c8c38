import type { Permission } from "@colloquy/core/Member"
import * as Effect from "effect/Effect"
import type { ChatRef, CommentRef, MessageRef } from "../../Person.ts"
import type { MessageState, CommentState, ChatState } from "../platform/model.ts"
import { chatIdOf, midOf } from "../platform/refs.ts"
import { hasRight } from "../platform/chats.ts"
import { idOf } from "../platform/state.ts"
import { type Actor, cannot, type Action } from "./actor.ts"

const isIn = ({ self }: Actor, chat: ChatState): boolean => chat.members.has(idOf(self))

export const chatOf = (actor: Actor, ref: ChatRef): Action<ChatState> =>
  Effect.suspend((): Action<ChatState> => {
    const chat = actor.state.chats.get(chatIdOf(ref))
    return chat === undefined ? cannot(actor, `there is no chat ${chatIdOf(ref)}`) : Effect.succeed(chat)
  })

/** A chat that they take part in. */
export const joinedChat = (actor: Actor, ref: ChatRef): Action<ChatState> =>
  Effect.tap(chatOf(actor, ref), (chat) =>
    isIn(actor, chat) ? Effect.void : cannot(actor, `they are not in chat ${chat.chat_id}`)
  )

const requireOpen = (actor: Actor, { isClosed }: ChatState): Action =>
  isClosed ? cannot(actor, "the chat is closed") : Effect.void

const lacking = (actor: Actor, right: Permission): Action<never> => cannot(actor, `they lack the right ${right}`)

/** A chat in which they may do what in a channel needs a right. */
const chatWithRight = (actor: Actor, ref: ChatRef, right: Permission): Action<ChatState> =>
  Effect.tap(joinedChat(actor, ref), (chat) =>
    chat.type === "chat" || (chat.type === "dialog" && right === "write") || hasRight(chat, actor.self, right)
      ? Effect.void
      : lacking(actor, right)
  )

export const openChat = (actor: Actor, ref: ChatRef, right: Permission): Action<ChatState> =>
  Effect.tap(chatWithRight(actor, ref, right), (chat) => requireOpen(actor, chat))

/** An open chat in which they are an administrator with a right. */
export const administered = (actor: Actor, ref: ChatRef, right: Permission): Action<ChatState> =>
  joinedChat(actor, ref).pipe(
    Effect.tap((chat) => (hasRight(chat, actor.self, right) ? Effect.void : lacking(actor, right))),
    Effect.tap((chat) => requireOpen(actor, chat))
  )

/** A message that they see. */
export const messageOf = (actor: Actor, ref: MessageRef): Action<MessageState> =>
  Effect.suspend((): Action<MessageState> => {
    const mid = midOf(ref)
    const message = mid === undefined ? undefined : actor.state.messages.get(mid)
    return message !== undefined && isIn(actor, message.chat)
      ? Effect.succeed(message)
      : cannot(actor, `they see no message ${mid ?? "without an id"}`)
  })

/** A message that stands on their screen, though it may have been removed since. */
export const shownMessage = (actor: Actor, ref: MessageRef): Action<MessageState> =>
  Effect.suspend(() => {
    const removed = actor.state.removedMessages.get(midOf(ref)!)
    return removed !== undefined && isIn(actor, removed.chat) ? Effect.succeed(removed) : messageOf(actor, ref)
  })

/** A comment that they see. */
export const commentOf = (actor: Actor, ref: CommentRef): Action<CommentState> =>
  Effect.suspend((): Action<CommentState> => {
    const found = actor.state.comments.get(midOf(ref)!)
    return found !== undefined && isIn(actor, found.message.chat)
      ? Effect.succeed(found)
      : cannot(actor, `they see no comment ${midOf(ref)}`)
  })
