import { defaultPartitionKey } from "../../QueuedUpdate.ts"
import type { Update } from "../../../model/Update.ts"

/** What logs and spans say about an update. */
export const annotationsOf = (update: Update) => ({
  update_type: update.update_type,
  chat: defaultPartitionKey(update)
})
