import * as Schema from "effect/Schema"
import { MessageId } from "../Recipient.ts"

/** The id of a message, a post or a comment, not empty. */
export const messageId = MessageId.check(Schema.isMinLength(1, { message: "must not be empty" }))
