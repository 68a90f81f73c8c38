import type * as Answers from "@colloquy/core/Answers"
import * as Effect from "effect/Effect"
import { roomOf } from "./call.ts"
import { readContent } from "../platform/content.ts"
import { tell } from "../platform/hearing.ts"
import { rewrite } from "../platform/posts.ts"
import * as refusal from "../http/refusal.ts"
import { idOf } from "../platform/world.ts"
import type { Handlers } from "./handler.ts"

export const answers: Handlers<typeof Answers> = {
  send: Effect.fnUntraced(function* ({ callback_id, message, notification }, call) {
    const { bot, world } = call
    const press = bot.presses.get(callback_id)
    if (press === undefined) return yield* refusal.notFound(`Callback ${callback_id}`)
    if (press.isAnswered) return yield* refusal.methodNotAllowed("The callback has been answered already")
    if (message == null && notification == null) {
      return yield* refusal.invalidPayload("message, notification: one of them must be given")
    }
    const { post } = press
    const room = yield* roomOf(call, post.room.chat_id)
    if (message != null) {
      if (!world.posts.has(post.mid)) return yield* refusal.methodNotAllowed("The message is gone")
      rewrite(world, post, yield* readContent(call, room, message, post), bot.account)
    }
    press.isAnswered = true
    if (notification != null) {
      const user_id = idOf(press.by)
      const { chat_id } = room
      tell(world, room, { _tag: "Notification", chat_id, user_id, callback_id, text: notification })
    }
  })
}
