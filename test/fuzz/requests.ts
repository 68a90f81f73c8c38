/** A request of each endpoint. */
import { Keyboard } from "@colloquy/core"
import { Fixtures } from "@colloquy/testing"

const { channelId, dialogId, groupId, messageId, userId } = Fixtures

const ofMessage = { message_id: messageId }

const ofComment = { ...ofMessage, comment_id: messageId }

const inGroup = { chat_id: groupId }

export const requests: Readonly<Record<string, unknown>> = {
  "Answers.send": { callback_id: "callback-1", notification: "Thank you" },
  "Chats.get": inGroup,
  "Chats.edit": { ...inGroup, title: "Writing club" },
  "Chats.sendAction": { chat_id: dialogId, action: "typing_on" },
  "Chats.getPin": inGroup,
  "Chats.pin": { ...inGroup, ...ofMessage },
  "Chats.unpin": inGroup,
  "Comments.list": { ...ofMessage, count: 10 },
  "Comments.get": ofComment,
  "Comments.send": { ...ofMessage, text: "Second" },
  "Comments.edit": { ...ofComment, text: "First" },
  "Comments.remove": ofComment,
  "Me.get": undefined,
  "Me.setCommands": { commands: [{ name: "help" }] },
  "Members.list": { ...inGroup, marker: 0n },
  "Members.add": { ...inGroup, user_ids: [userId] },
  "Members.remove": { ...inGroup, user_id: userId },
  "Members.getMe": { chat_id: channelId },
  "Members.leave": { chat_id: channelId },
  "Members.listAdmins": inGroup,
  "Members.setAdmins": { ...inGroup, admins: [{ user_id: userId, permissions: ["write"] }] },
  "Members.removeAdmin": { ...inGroup, user_id: userId },
  "Messages.send": { ...inGroup, text: "Hello", attachments: [Keyboard.make([Keyboard.callback("Yes", "yes")])] },
  "Messages.list": { ...inGroup, count: 10 },
  "Messages.get": ofMessage,
  "Messages.edit": { ...ofMessage, text: "Done" },
  "Messages.remove": ofMessage,
  "Subscriptions.list": undefined,
  "Subscriptions.subscribe": { url: "https://bot.example/updates", secret: "a-long-secret" },
  "Subscriptions.unsubscribe": { url: "https://bot.example/updates" },
  "Updates.list": { timeout: 0 },
  "Uploads.create": { type: "image" },
  "Videos.get": { token: "t" }
}
