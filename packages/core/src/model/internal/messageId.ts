import { notEmpty } from "../../base/internal/rules.ts"
import { MessageId } from "../Recipient.ts"

/** The id of a message, a post or a comment, not empty. */
export const messageId = MessageId.check(notEmpty("must not be empty"))
