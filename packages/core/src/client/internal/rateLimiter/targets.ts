import type { Dialog } from "../../Endpoint.ts"
import type { Message } from "../../../model/Message.ts"
import type { Target } from "../../RateLimiter.ts"

/** The target of a message that is sent to a chat or a user. */
export const message = (request: {
  readonly chat_id?: number | null | undefined
  readonly user_id?: number | null | undefined
}): Target | undefined =>
  request.chat_id != null
    ? { scope: "messages", key: request.chat_id }
    : request.user_id != null
      ? { scope: "messages", user: request.user_id }
      : undefined

/**
 * Returns the chat of a message, if the id of the message contains the chat.
 *
 * @assumption messageIds
 */
export const chatOf = (messageId: string): number | undefined => {
  const digits = /^mid\.([\da-f]{16})[\da-f]{16}$/i.exec(messageId)?.[1]
  return digits === undefined ? undefined : Number(BigInt.asIntN(64, BigInt(`0x${digits}`)))
}

/** The target of a change of a message. If the id of the message does not contain its chat, only the limit of the host applies. */
const change =
  (scope: "edits" | "removals") =>
  ({ message_id }: { readonly message_id: string }): Target | undefined => {
    const chat = chatOf(message_id)
    return chat === undefined ? undefined : { scope, key: chat }
  }

export const edit = change("edits")

export const removal = change("removals")

/** The target of a comment, which counts as a message to the channel of the post. */
export const comment = ({ message_id }: { readonly message_id: string }): Target => ({
  scope: "messages",
  key: chatOf(message_id) ?? message_id
})

/** Returns the dialog that a message to a user was sent to. */
export const dialog = (
  request: { readonly chat_id?: number | null | undefined; readonly user_id?: number | null | undefined },
  { recipient: { chat_id } }: Message
): Dialog | undefined =>
  request.chat_id != null || request.user_id == null || chat_id == null
    ? undefined
    : { user_id: request.user_id, chat_id }
