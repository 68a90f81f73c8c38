/**
 * The content of a message to send.
 *
 * API: Request-side message body (NewMessageBody).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { AttachmentRequests, fromAttachment } from "./AttachmentRequest.ts"
import * as rules from "../base/internal/rules.ts"
import { optional } from "../base/internal/wire.ts"
import * as Platform from "../base/Platform.ts"
import type { Message } from "./Message.ts"
import { MessageId } from "./Recipient.ts"
import * as Text from "./Text.ts"

/**
 * A text of at most 4000 characters, as `Platform.lengthOf` counts them.
 *
 * @category models
 * @since 0.1.0
 */
export const MessageText = rules.text(0, Platform.maxTextLength)

/**
 * The markup of a text.
 *
 * @category models
 * @since 0.1.0
 */
export const TextFormat = Schema.Literals(["markdown", "html"])

/**
 * @category models
 * @since 0.1.0
 */
export type TextFormat = typeof TextFormat.Type

/**
 * A message to forward or to reply to. A message cannot link to a comment.
 *
 * @category models
 * @since 0.1.0
 */
export const NewMessageLink = Schema.Struct({ type: Schema.Literals(["forward", "reply"]), mid: MessageId })

/**
 * @category models
 * @since 0.1.0
 */
export type NewMessageLink = typeof NewMessageLink.Type

/**
 * A message to send.
 *
 * - `text`: at most 4000 characters.
 * - `attachments`: at most 12. In an edit, missing or null keeps the attachments, and an empty array removes them.
 * - `link`: a message to forward or to reply to.
 * - `notify`: whether members receive a push notification. Default: `true`. Leave `notify` out in channels.
 * - `format`: the markup of the text. Default: plain text.
 *
 * @category models
 * @since 0.1.0
 */
export const NewMessageBody = Schema.Struct({
  text: optional(MessageText),
  attachments: optional(AttachmentRequests),
  link: optional(NewMessageLink),
  notify: optional(rules.flag(true)),
  format: optional(TextFormat)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface NewMessageBody extends Schema.Schema.Type<typeof NewMessageBody> {}

/**
 * Returns a message with the text, the formatting and the attachments of a received message, for example to copy the message
 * into another chat without naming its sender. For a forwarded message without a text or attachments of its own, the result has the
 * content of the forwarded message. Spread the result into a request, and change the result as needed.
 *
 * - Not copied: keyboards, attachments of unknown types, and the link to the message that was replied to.
 * - The preview of a link in the text is not copied, because the platform makes a preview again.
 * - The result is empty if nothing of the message can be copied. The platform rejects an empty message.
 *
 * To forward a message with the name of its sender, send `link: { type: "forward", mid }` instead.
 *
 * **Example** (Copy each message into the chat of the team)
 *
 * ```ts
 * import { type Chat, Handler, Messages, NewMessage } from "@colloquy/core"
 *
 * const relay = (team: Chat.ChatId) =>
 *   Handler.on("message_created", ({ message }) =>
 *     message == null ? undefined : Messages.send({ chat_id: team, ...NewMessage.fromMessage(message) })
 *   )
 * ```
 *
 * API: MessageBody, Request-side message body (NewMessageBody).
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromMessage = ({ body, link }: Pick<Message, "body" | "link">): NewMessageBody => {
  const isEmpty = !body?.text && !body?.attachments?.length
  const content = isEmpty && link?.type === "forward" ? link.message : body
  const received = content?.attachments ?? []
  const isOnly = !content?.text && received.length === 1
  const attachments = received.flatMap((attachment) =>
    attachment.type === "share" && !isOnly ? [] : (fromAttachment(attachment) ?? [])
  )
  return {
    ...(content?.text ? Text.message(Text.fromBody(content)) : {}),
    ...(attachments.length > 0 ? { attachments } : {})
  }
}

/**
 * The fields of a comment to send: the text, its format, and the comment to which the new comment replies. Mentions and
 * hyperlinks are not supported in comments.
 *
 * @category models
 * @since 0.1.0
 */
export const commentFields = {
  text: MessageText,
  link: optional(Schema.Struct({ type: Schema.Literal("reply"), mid: MessageId })),
  format: optional(TextFormat)
}
