import type { Update } from "../Update.ts"

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
  if ("chat_id" in update) return String(update.chat_id)
  const recipient = update.message?.recipient
  if (recipient?.chat_id != null) return String(recipient.chat_id)
  const user_id =
    recipient?.user_id ?? (update.update_type === "message_callback" ? update.callback.user.user_id : undefined)
  return user_id == null ? "" : `user:${user_id}`
}
