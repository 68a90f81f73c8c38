/** Names for what is handled, such as the text of a message, the id of a callback, or the id in the value of a timer. */

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null

const at = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>((part, key) => (isRecord(part) ? part[key] : undefined), value)

/** The id in the value of a timer. A value without an id can be that of several timers, which have different keys. */
const timerId = (key: unknown, value: unknown): string => {
  if (typeof value !== "string") return ""
  const parsed: unknown = JSON.parse(value)
  const id = isRecord(parsed) ? parsed["id"] : undefined
  return typeof id === "string" ? id : `${String(key)} ${value}`
}

/** Returns the name of an update from its JSON text. */
export const subjectOf = (text: string): string => {
  const update: unknown = JSON.parse(text)
  const type = at(update, "update_type")
  switch (type) {
    case "message_created":
      return String(at(update, "message", "body", "text"))
    case "message_callback":
      return `callback ${String(at(update, "callback", "callback_id"))}`
    case "colloquy_timer":
      return `timer ${String(at(update, "name"))} ${timerId(at(update, "key"), at(update, "value"))}`
    case "message_removed":
      return `message_removed ${String(at(update, "message_id"))}`
    default:
      return `${String(type)} ${String(at(update, "chat_id"))} ${String(at(update, "timestamp"))}`
  }
}

/** A message that the platform has created. */
export interface Sent {
  readonly chat: string
  readonly text: string
  readonly mid: string
}

/** Whether a request sends a message. */
export const isSending = (method: string, path: string): boolean => method === "POST" && path.startsWith("/messages?")

/** Reads the answer to `POST /messages`. */
export const sentMessage = (answer: string): Sent | undefined => {
  const parsed: unknown = JSON.parse(answer)
  const mid = at(parsed, "message", "body", "mid")
  if (typeof mid !== "string") return undefined
  const text = at(parsed, "message", "body", "text")
  return {
    chat: String(at(parsed, "message", "recipient", "chat_id")),
    text: typeof text === "string" ? text : "",
    mid
  }
}
