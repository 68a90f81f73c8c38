import type * as Answers from "@colloquy/core/endpoints/Answers"
import * as Effect from "effect/Effect"
import * as refusal from "../http/refusal.ts"
import { emit, inChat } from "../platform/events.ts"
import { editMessage } from "../platform/messages.ts"
import { recordSeen } from "../platform/updates.ts"
import { idOf } from "../platform/users.ts"
import { chatOf, type Handlers } from "./call.ts"
import { readContent } from "./content.ts"

/** @assumption emptyAnswer */
export const answers: Handlers<typeof Answers> = {
  send: Effect.fnUntraced(function* ({ callback_id, message, notification }, call) {
    const { bot, state } = call
    const callback = bot.callbacks.get(callback_id)
    if (callback === undefined) return yield* refusal.notFound(`Callback ${callback_id}`)
    if (callback.isAnswered) return yield* refusal.methodNotAllowed("The callback has been answered already")
    if (message == null && notification == null) {
      return yield* refusal.invalidPayload("message, notification: one of them must be given")
    }
    const chat = yield* chatOf(call, callback.message.chat.chat_id)
    if (message != null) {
      if (!state.messages.has(callback.message.mid)) return yield* refusal.methodNotAllowed("The message is gone")
      const content = yield* readContent(call, chat, message, callback.message)
      editMessage(state, callback.message, content, bot.user)
    }
    callback.isAnswered = true
    emit(state, {
      type: "answer",
      ...inChat(chat, bot.user),
      user_id: idOf(callback.user),
      message_id: callback.message.mid,
      callback_id,
      ...(notification == null ? {} : { notification })
    })
    if (notification != null) {
      const user_id = idOf(callback.user)
      const { chat_id } = chat
      recordSeen(state, chat, { _tag: "Notification", chat_id, user_id, callback_id, text: notification })
    }
  })
}
