/**
 * Identifies the event behind an update, so that a second delivery of the same event is recognized. Updates have no id on
 * the wire.
 *
 * API: Events, Webhook delivery rules.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import { hashText } from "./internal/hashText.ts"
import * as json from "../base/internal/json.ts"
import { encode, type Update } from "./Update.ts"

const sortKeys = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(sortKeys)
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, sortKeys(member)])
  )
}

const hash = (value: unknown): string => hashText(json.stringify(sortKeys(value)))

const ofContent = (update: Update): string => `${update.update_type}:#${hash(encode(update))}`

/**
 * Returns the fingerprint of an update: the same for each delivery of one event, and different for different events.
 *
 * | update | fingerprint |
 * |---|---|
 * | `message_created`, `comment_created` | the message's `mid` |
 * | `message_edited`, `comment_edited` | the message's `mid`, the time of the edit and a hash of the new body |
 * | `message_removed`, `comment_removed` | `message_id` |
 * | `message_callback` | `callback_id` |
 * | `colloquy_timer` | its name, its key and the time when it was due |
 * | membership, dialogs, titles and permissions | the chat, the user and the time |
 * | any other, or one without these fields | a hash of the content, independent of the order of object keys |
 *
 * **Example** (The fingerprint of a callback)
 *
 * ```ts
 * import * as Fingerprint from "@colloquy/core/model/Fingerprint"
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
      const body = update.message?.body
      // Two edits can have the same time.
      return body?.mid === undefined ? ofContent(update) : `${type}:${body.mid}:${update.timestamp}:#${hash(body)}`
    }
    case "message_removed":
    case "comment_removed":
      return `${type}:${update.message_id}`
    case "message_callback":
      return `${type}:${update.callback.callback_id}`
    case "colloquy_timer":
      return JSON.stringify([type, update.name, update.key, update.timestamp])
    case "unknown":
      return ofContent(update)
    case "bot_admin_permissions_changed":
      return `${type}:${update.chat_id}:${update.bot_id ?? ""}:${update.user_id ?? ""}:${update.timestamp}`
    default:
      return `${type}:${update.chat_id}:${update.user?.user_id ?? update.user_id ?? ""}:${update.timestamp}`
  }
}

/**
 * Returns the fingerprint of a text that cannot be decoded as an update. If the text is JSON, the fingerprint is
 * independent of white space and of the order of object keys.
 *
 * @category fingerprints
 * @since 0.1.0
 */
export const ofText = (text: string): string =>
  `unreadable:#${Result.match(
    Result.try(() => json.parseExactly(text)),
    { onSuccess: hash, onFailure: () => hashText(text) }
  )}`
