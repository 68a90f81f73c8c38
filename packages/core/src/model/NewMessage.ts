/**
 * The content of a message to send.
 *
 * API: Request-side message body (NewMessageBody).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { AttachmentRequests } from "./AttachmentRequest.ts"
import * as rules from "../base/internal/rules.ts"
import { optional } from "../base/internal/wire.ts"
import * as Platform from "../base/Platform.ts"
import { MessageId } from "./Recipient.ts"

/**
 * A text of at most 4000 characters, as `Platform.lengthOf` counts them.
 *
 * @category models
 * @since 0.1.0
 */
export const MessageText = rules.textUpTo(Platform.maxTextLength)

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
 * The fields of a message to send.
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
export const fields = {
  text: optional(MessageText),
  attachments: optional(AttachmentRequests),
  link: optional(NewMessageLink),
  notify: optional(rules.flag(true)),
  format: optional(TextFormat)
}

/**
 * A message to send. {@link fields} has its fields.
 *
 * @category models
 * @since 0.1.0
 */
export const NewMessageBody = Schema.Struct(fields)

/**
 * @category models
 * @since 0.1.0
 */
export interface NewMessageBody extends Schema.Schema.Type<typeof NewMessageBody> {}

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
