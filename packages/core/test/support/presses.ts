import { type Inbox, Update } from "../../src/index.ts"

/** A user presses a button in a dialog. */
export const pressOf = (chat_id: number, user_id: number, timestamp = 1): Inbox.Received => {
  const user = { user_id, first_name: "Ann", is_bot: false }
  const text = JSON.stringify({
    update_type: "message_callback",
    timestamp,
    callback: { timestamp, callback_id: `${chat_id} ${user_id} ${timestamp}`, user },
    message: {
      sender: { user_id: 7, first_name: "Bot", is_bot: true },
      recipient: { chat_id, chat_type: "dialog", user_id },
      timestamp: 1,
      body: { mid: "m", seq: 1, text: "Press" }
    }
  })
  return { decoded: Update.parse(text), text }
}

/** A user presses a button several times in each of several chats, all at once. */
export const makePresses = (options: {
  readonly chats: number
  readonly each: number
  readonly user: number
}): ReadonlyArray<Inbox.Received> =>
  Array.from({ length: options.chats * options.each }, (_, index) =>
    pressOf(1 + (index % options.chats), options.user, 1 + Math.floor(index / options.chats))
  )
