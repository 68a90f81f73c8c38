/**
 * A message to be sent.
 *
 * API: Request-side message body (NewMessageBody).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { AttachmentRequests } from "./AttachmentRequest.ts"
import * as rules from "./internal/client/rules.ts"
import { optional } from "./internal/client/wire.ts"
import * as Platform from "./Platform.ts"
import { MessageId } from "./Recipient.ts"

/**
 * Text of at most 4000 UTF-16 code units.
 *
 * @category models
 * @since 0.1.0
 */
export const MessageText = rules.short(Platform.maxTextLength)

/**
 * How the text of a message is marked up.
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
 * The message to forward or to reply to. Comments cannot be linked to from messages.
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
 * The parts of a message to be sent. In an edit, `attachments` absent or null changes nothing, and an empty array
 * removes them all. `notify: false` spares the members a push notification; for channels, leave it out.
 *
 * @category models
 * @since 0.1.0
 */
export const fields = {
  text: optional(MessageText),
  attachments: optional(AttachmentRequests),
  link: optional(NewMessageLink),
  notify: Schema.optional(Schema.Boolean),
  format: optional(TextFormat)
}

/**
 * A message to be sent.
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
 * The parts of a comment to be sent: text, format, and the comment it replies to. Mentions and hyperlinks are not
 * supported in comments.
 *
 * @category models
 * @since 0.1.0
 */
export const commentFields = {
  text: MessageText,
  link: optional(Schema.Struct({ type: Schema.Literal("reply"), mid: MessageId })),
  format: optional(TextFormat)
}
