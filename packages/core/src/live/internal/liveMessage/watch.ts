import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Entry } from "../../../inbox/QueuedUpdate.ts"
import type { MessageId } from "../../../model/Recipient.ts"
import { chatOf, type Update, userIdOf } from "../../../model/Update.ts"
import { CurrentUpdate } from "../../../inbox/internal/consumer/currentUpdate.ts"
import { hooks } from "../../../inbox/internal/hooks.ts"
import { postOf } from "../../../model/internal/postOf.ts"

/** How often a process asks for updates that other processes have received. */
const pollInterval = "500 millis"

const page = 100

export interface Arrival {
  readonly update: Update
  readonly fingerprint: string
}

/**
 * Calls `onArrival` for each update that is queued behind the update that is being handled: waiting updates and updates
 * that this process receives at once, and updates that other processes receive within half a second.
 */
export const watch = <R>(
  onArrival: (arrival: Arrival) => Effect.Effect<void, never, R>
): Effect.Effect<void, never, R> =>
  Effect.scoped(
    Effect.gen(function* () {
      const handled = yield* CurrentUpdate
      const inbox = handled?.changes?.inbox
      if (inbox === undefined || handled?.entry === undefined) return
      const { isShared, updates } = inbox.store
      const { partitionKey } = handled.entry.update
      const stored = yield* inbox[hooks].watch(partitionKey)
      let after = handled.entry.id
      for (;;) {
        stored.closeUnsafe()
        const queued = yield* Effect.catch(updates({ of: "queue", partitionKey, after, limit: page }), (error) =>
          Effect.as(Effect.logWarning(error.message), [] as ReadonlyArray<Entry>)
        )
        for (const { id, update } of queued) {
          after = id
          const { decoded, fingerprint } = update
          if (Result.isSuccess(decoded)) yield* onArrival({ update: decoded.success, fingerprint })
        }
        if (queued.length === page) continue
        yield* isShared ? Effect.raceFirst(stored.await, Effect.sleep(pollInterval)) : stored.await
      }
    })
  )

/** Whether a user has removed one of the messages, or the bot cannot write to the chat any more. */
export const isRemoval = (update: Update, of: Update, ids: ReadonlyArray<MessageId>): boolean => {
  switch (update.update_type) {
    case "message_removed":
    case "comment_removed":
      return ids.includes(update.message_id)
    case "bot_stopped":
    case "bot_removed":
    case "dialog_removed":
    case "dialog_cleared":
      return chatOf(update) === chatOf(of)
    default:
      return false
  }
}

/** Whether an update is a message of the user of another update, in the same chat, or a comment on the same post. */
export const isNextMessage = (update: Update, of: Update): boolean =>
  (update.update_type === "message_created" || update.update_type === "comment_created") &&
  userIdOf(update) === userIdOf(of) &&
  chatOf(update) === chatOf(of) &&
  postOf(update) === postOf(of)
