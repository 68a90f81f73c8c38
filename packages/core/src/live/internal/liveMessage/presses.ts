import { memoize } from "effect/Function"
import type { BotApi } from "../../../client/BotApi.ts"
import type { MessageId } from "../../../model/Recipient.ts"
import { messageOf, type Of } from "../../../model/Update.ts"

const prefix = "colloquy:stop:"

export const stopPayload = (notification: string): string => prefix + notification

/** Returns the notification that answers a press of a stop button, or `undefined` for another press. */
export const notificationOf = ({ callback }: Of<"message_callback">): string | undefined =>
  callback.payload?.startsWith(prefix) === true ? callback.payload.slice(prefix.length) : undefined

export const messageIdOf = (update: Of<"message_callback">): MessageId | undefined => messageOf(update)?.body?.mid

const maxAnswered = 1000

/** The live messages of a bot that run in this process. */
export const runningOf = memoize((_bot: BotApi["Service"]) => {
  const answered = new Set<string>()
  return {
    /** Functions that stop the live message of a message. */
    stops: new Map<MessageId, () => void>(),
    isAnswered: (callback_id: string): boolean => answered.has(callback_id),
    setAnswered: (callback_id: string): void => {
      answered.add(callback_id)
      if (answered.size > maxAnswered) answered.delete(answered.values().next().value!)
    }
  }
})
