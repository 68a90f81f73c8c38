/** Updates for the tests of handlers. */
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import { Chat, Handler, Message, type Update, User } from "../../src/index.ts"

export const user: User.User = { user_id: User.UserId.make(42), first_name: "Ann", is_bot: false }

export const dialogId = Chat.ChatId.make(4242)

export const botStarted = (payload?: string | null): Update.Of<"bot_started"> => ({
  update_type: "bot_started",
  timestamp: 1,
  chat_id: dialogId,
  user,
  ...(payload === undefined ? {} : { payload })
})

export const message = (text: string | null): Message.Message => ({
  sender: user,
  recipient: { chat_id: dialogId, chat_type: "dialog", user_id: user.user_id },
  timestamp: 1,
  body: { mid: Message.MessageId.make("mid.1"), seq: 1n, text }
})

export const messageCreated = (text: string | null): Update.Of<"message_created"> => ({
  update_type: "message_created",
  timestamp: 1,
  message: message(text)
})

export const callback = (payload: string | null): Update.Of<"message_callback"> => ({
  update_type: "message_callback",
  timestamp: 1,
  callback: { timestamp: 1, callback_id: "callback", user, payload }
})

/** Runs a handler, and returns the second argument that it received, or "not called". */
export const receivedValue = <E, R>(
  make: (handler: (_: unknown, value: unknown) => Effect.Effect<void>) => Handler.Handler<E, R>,
  update: Update.Update
): Effect.Effect<unknown, E, R> =>
  Effect.gen(function* () {
    const received = yield* Ref.make<unknown>("not called")
    const handler = make((_, value) => Ref.set(received, value))
    yield* Handler.run(handler, update)
    return yield* Ref.get(received)
  })
