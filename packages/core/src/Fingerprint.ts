/**
 * What makes two deliveries the same event. The wire gives no update an id.
 *
 * API: Events, Webhook delivery rules.
 *
 * @since 0.1.0
 */
import { hash, hashText } from "./internal/updates/fingerprint.ts"
import * as json from "./internal/client/json.ts"
import type { Update } from "./Update.ts"
import { encode } from "./internal/updates/updateText.ts"
import * as Result from "effect/Result"

/**
 * The fingerprint of an update: equal for each delivery of one event, different for different events.
 *
 * - a message or comment that was created: its `mid`; one that was edited: its `mid` and the time of the edit; one that
 *   was removed: its `message_id`;
 * - the press of a button: its `callback_id`;
 * - membership, dialogs, titles and rights: the chat, the user and the time;
 * - anything else: a hash of its content, in which the order of members does not count.
 *
 * **Example**
 *
 * ```ts
 * import { Fingerprint } from "@colloquy/core"
 * import { Fixtures } from "@colloquy/testing"
 *
 * Fingerprint.of(Fixtures.messageCallback()) // => "message_callback:callback-1"
 * ```
 *
 * @assumption duplicateUpdates
 * @category fingerprints
 * @since 0.1.0
 */
export const of = (update: Update): string => {
  const type = update.update_type
  switch (type) {
    case "message_created":
    case "comment_created": {
      const mid = update.message?.body?.mid
      return mid === undefined ? ofContent(update) : `${type}:${mid}`
    }
    case "message_edited":
    case "comment_edited": {
      const mid = update.message?.body?.mid
      return mid === undefined ? ofContent(update) : `${type}:${mid}:${update.timestamp}`
    }
    case "message_removed":
    case "comment_removed":
      return `${type}:${update.message_id}`
    case "message_callback":
      return `${type}:${update.callback.callback_id}`
    case "unknown":
      return ofContent(update)
    case "bot_admin_permissions_changed":
      return `${type}:${update.chat_id}:${update.bot_id ?? ""}:${update.user_id ?? ""}:${update.timestamp}`
    default:
      // Joined: where a text is added up, V8 keeps every step of it for as long as the text.
      return [type, update.chat_id, update.user.user_id, update.timestamp].join(":")
  }
}

const ofContent = (update: Update): string => `${update.update_type}:#${hash(encode(update))}`

/**
 * The fingerprint of a body that cannot be read as an update.
 *
 * @category fingerprints
 * @since 0.1.0
 */
export const ofText = (text: string): string =>
  `unreadable:#${Result.match(
    Result.try(() => json.parseExactly(text)),
    { onSuccess: hash, onFailure: () => hashText(text) }
  )}`
