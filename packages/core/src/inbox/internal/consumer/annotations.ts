import { defaultPartitionKey } from "../../QueuedUpdate.ts"
import type { Update } from "../../../model/Update.ts"

/** Annotations of logs and spans about an update. */
export const annotationsOf = (update: Update) => ({
  update_type: update.update_type,
  chat: defaultPartitionKey(update)
})
