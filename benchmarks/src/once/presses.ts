import { Inbox, Update } from "@colloquy/core"
import * as Effect from "effect/Effect"

/** A user presses a button in a chat. */
const pressOf = (index: number, chat_id: number, user_id: number): Inbox.Received => {
  const text = JSON.stringify({
    update_type: "message_callback",
    timestamp: 1 + index,
    callback: {
      timestamp: 1 + index,
      callback_id: `press ${index}`,
      user: { user_id, first_name: "Ann", is_bot: false }
    },
    message: {
      sender: { user_id: 7, first_name: "Bot", is_bot: true },
      recipient: { chat_id, chat_type: "chat" },
      timestamp: 1,
      body: { mid: `mid ${chat_id}`, seq: 1, text: "Press" }
    }
  })
  return { decoded: Update.parse(text), text }
}

/** The number of an update that {@link press} made. */
export const indexOf = (update: Update.Of<"message_callback">): number => update.timestamp - 1

const page = 500

/** Receives a number of presses, in chats and by users that take turns. */
export const press = (count: number, chats: ReadonlyArray<number>, users: number) =>
  Inbox.Inbox.use((inbox) =>
    Effect.forEach(
      Array.from({ length: Math.ceil(count / page) }, (_, at) => at * page),
      (first) =>
        inbox.receive(
          Array.from({ length: Math.min(page, count - first) }, (_, at) =>
            pressOf(first + at, chats[(first + at) % chats.length], 1 + ((first + at) % users))
          )
        ),
      { discard: true }
    )
  )
