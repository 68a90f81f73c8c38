import type { MessageId } from "../Recipient.ts"
import { messageOf, type Update } from "../Update.ts"

/** Returns the post of a comment. */
export const postOf = (update: Update): MessageId | undefined =>
  messageOf(update)?.recipient.post_id ?? ("post_id" in update ? (update.post_id ?? undefined) : undefined)
