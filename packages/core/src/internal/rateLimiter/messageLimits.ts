import type { Message } from "../../Message.ts"
import type * as RateLimiter from "../../RateLimiter.ts"

/** A message to one chat: a dialog is known by its user where its chat is not given. */
export const message = (request: {
  readonly chat_id?: number | null | undefined
  readonly user_id?: number | null | undefined
}): RateLimiter.Target | undefined =>
  request.chat_id != null
    ? { scope: "messages", key: request.chat_id }
    : request.user_id != null
      ? { scope: "messages", user: request.user_id }
      : undefined

/**
 * The chat of a message, where its id tells.
 *
 * @assumption messageIds
 */
export const chatOf = (mid: string): number | undefined => {
  const digits = /^mid\.([\da-f]{16})[\da-f]{16}$/i.exec(mid)?.[1]
  return digits === undefined ? undefined : Number(BigInt.asIntN(64, BigInt(`0x${digits}`)))
}

/** A change of a message: where its id does not tell the chat, only the host's limit can be kept. */
export const edit = ({ message_id }: { readonly message_id: string }): RateLimiter.Target | undefined => {
  const chat = chatOf(message_id)
  return chat === undefined ? undefined : { scope: "messages", key: chat }
}

/** A comment under one post: a message to its channel. */
export const comment = (request: { readonly message_id: string }): RateLimiter.Target =>
  edit(request) ?? { scope: "messages", key: request.message_id }

/** What the message that was sent to a user tells: the chat of the dialog. */
export const dialogOf = (claim: RateLimiter.Target | undefined, sent: unknown) => {
  if (claim?.user === undefined) return undefined
  const chat_id = (sent as Message).recipient.chat_id
  return chat_id == null ? undefined : { user_id: claim.user, chat_id }
}
