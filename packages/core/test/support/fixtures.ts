import { Chat, Message, User } from "../../src/index.ts"

export const chat_id = Chat.ChatId.make(-70000000000001)
export const user_id = User.UserId.make(42)
export const mid = Message.MessageId.make("mid.ffffc0564e3a2fff019d48b64b123456")
export const seq = 116328127605864690n

export const user = { user_id: 42, first_name: "Ann", is_bot: false }

export const bot = { user_id: 7, first_name: "Echo", username: "echo_bot", is_bot: true }

export const message = (changes: object = {}) => ({
  recipient: { chat_id: -70000000000001, chat_type: "chat" },
  timestamp: 1775000000000,
  body: { mid, seq, text: "hello" },
  ...changes
})

export const comment = (changes: object = {}) => ({
  sender: user,
  recipient: { chat_id: -70000000000001, chat_type: "channel", post_id: mid },
  timestamp: 1775000000000,
  body: { mid: "mid.comment", seq: 1, text: "hello" },
  ...changes
})

export const chat = (changes: object = {}) => ({
  chat_id: -70000000000001,
  type: "chat",
  status: "active",
  title: "Team",
  last_event_time: 1775000000000,
  participants_count: 3,
  is_public: false,
  ...changes
})
