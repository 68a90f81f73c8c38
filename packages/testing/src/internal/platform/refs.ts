import type { ChatId } from "@colloquy/core/Chat"
import type { MessageId } from "@colloquy/core/Message"
import type { UserId } from "@colloquy/core/User"
import type { ChatRef, CommentRef, MessageRef, UserRef } from "../../Person.ts"

export const chatIdOf = (ref: ChatRef): ChatId => (typeof ref === "number" ? ref : ref.chat_id)

export const userIdOf = (ref: UserRef): UserId => (typeof ref === "number" ? ref : ref.user_id)

export const midOf = (ref: MessageRef | CommentRef): MessageId | undefined =>
  typeof ref === "string" ? ref : ref.body?.mid
