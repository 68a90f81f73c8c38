import { chatOf, type Update, userIdOf } from "../../Update.ts"

const chatOfRaw = (raw: unknown): unknown => {
  if (typeof raw !== "object" || raw === null) return undefined
  const { chat_id, message } = raw as Record<string, unknown>
  if (chat_id != null) return chat_id
  if (typeof message !== "object" || message === null) return undefined
  const { recipient } = message as Record<string, unknown>
  return typeof recipient === "object" && recipient !== null
    ? (recipient as Record<string, unknown>)["chat_id"]
    : undefined
}

/** Where an update happened: its chat, or the user where the wire leaves out the chat. */
export const originOf = (update: Update): string => {
  if (update.update_type === "unknown") return String(chatOfRaw(update.raw) ?? "")
  const chat_id = chatOf(update)
  if (chat_id !== undefined) return String(chat_id)
  const user_id = userIdOf(update)
  return user_id === undefined ? "" : `user:${user_id}`
}
