import type { ChatId } from "@colloquy/core/model/Chat"
import type { Permission } from "@colloquy/core/model/Member"
import type { MessageId } from "@colloquy/core/model/Message"
import type { UserId } from "@colloquy/core/model/User"
import * as Effect from "effect/Effect"
import { type ChatRef, type CommentRef, type MessageRef, PersonError, type UserRef } from "../../Person.ts"
import { hasRight } from "../platform/members.ts"
import type { BotState, ChatState, CommentState, MessageState, PlatformState, UserState } from "../platform/state.ts"
import { idOf } from "../platform/users.ts"

/** A person who acts on the platform, and the bot of their dialog. */
export interface Actor {
  readonly state: PlatformState
  readonly bot: BotState
  readonly self: UserState
}

export type Action<A = void> = Effect.Effect<A, PersonError>

export const cannot = ({ self }: Actor, reason: string): Action<never> =>
  Effect.fail(new PersonError({ person: self.profile.first_name, reason }))

export const chatIdOf = (ref: ChatRef): ChatId => (typeof ref === "number" ? ref : ref.chat_id)

export const userIdOf = (ref: UserRef): UserId => (typeof ref === "number" ? ref : ref.user_id)

export const midOf = (ref: MessageRef | CommentRef): MessageId | undefined =>
  typeof ref === "string" ? ref : ref.body?.mid

const isMember = ({ self }: Actor, chat: ChatState): boolean => chat.members.has(idOf(self))

export const chatOf = (actor: Actor, ref: ChatRef): Action<ChatState> =>
  Effect.suspend((): Action<ChatState> => {
    const chat = actor.state.chats.get(chatIdOf(ref))
    return chat === undefined ? cannot(actor, `there is no chat ${chatIdOf(ref)}`) : Effect.succeed(chat)
  })

/** Finds a chat in which the person is a member. */
export const joinedChat = (actor: Actor, ref: ChatRef): Action<ChatState> =>
  Effect.tap(chatOf(actor, ref), (chat) =>
    isMember(actor, chat) ? Effect.void : cannot(actor, `they are not in chat ${chat.chat_id}`)
  )

/** Finds an open chat of the person. Requires the right where not everyone has it. */
const chatWithRight = (actor: Actor, ref: ChatRef, right: Permission, everyoneHas: (chat: ChatState) => boolean) =>
  joinedChat(actor, ref).pipe(
    Effect.tap((chat) =>
      everyoneHas(chat) || hasRight(chat, actor.self, right)
        ? Effect.void
        : cannot(actor, `they lack the right ${right}`)
    ),
    Effect.tap(({ isClosed }) => (isClosed ? cannot(actor, "the chat is closed") : Effect.void))
  )

/** Finds an open chat of the person. In a channel, requires the right. */
export const openChat = (actor: Actor, ref: ChatRef, right: Permission): Action<ChatState> =>
  chatWithRight(actor, ref, right, ({ type }) => type === "chat" || (type === "dialog" && right === "write"))

/** Finds an open chat in which the person is an administrator with a right. */
export const administered = (actor: Actor, ref: ChatRef, right: Permission): Action<ChatState> =>
  chatWithRight(actor, ref, right, () => false)

/** Finds a message in a chat of the person. */
export const messageOf = (actor: Actor, ref: MessageRef): Action<MessageState> =>
  Effect.suspend((): Action<MessageState> => {
    const mid = midOf(ref)
    const message = mid === undefined ? undefined : actor.state.messages.get(mid)
    return message !== undefined && isMember(actor, message.chat)
      ? Effect.succeed(message)
      : cannot(actor, `they see no message ${mid ?? "without an id"}`)
  })

/** Finds a message that is on the person's screen, even if it was removed. */
export const shownMessage = (actor: Actor, ref: MessageRef): Action<MessageState> =>
  Effect.suspend(() => {
    const removed = actor.state.removedMessages.get(midOf(ref)!)
    return removed !== undefined && isMember(actor, removed.chat) ? Effect.succeed(removed) : messageOf(actor, ref)
  })

/** Finds a comment in a channel of the person. */
export const commentOf = (actor: Actor, ref: CommentRef): Action<CommentState> =>
  Effect.suspend((): Action<CommentState> => {
    const found = actor.state.comments.get(midOf(ref)!)
    return found !== undefined && isMember(actor, found.message.chat)
      ? Effect.succeed(found)
      : cannot(actor, `they see no comment ${midOf(ref)}`)
  })

/** The locale of the updates from a dialog. */
export const localeOf = ({ self }: Actor) => (self.locale === undefined ? {} : { user_locale: self.locale })
