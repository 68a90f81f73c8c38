/**
 * Valid values for tests. Each one takes what should differ.
 *
 * @since 0.1.0
 */
import { type Chat, ChatId } from "@colloquy/core/Chat"
import type { Comment } from "@colloquy/core/Comment"
import type { ChatMember } from "@colloquy/core/Member"
import { type Message, type MessageBody, MessageId } from "@colloquy/core/Message"
import type * as Update from "@colloquy/core/Update"
import { type User, UserId, type UserWithPhoto } from "@colloquy/core/User"

/**
 * When everything in the fixtures happens.
 *
 * @category values
 * @since 0.1.0
 */
export const timestamp = 1_763_713_800_000

/**
 * The person of the fixtures.
 *
 * @category values
 * @since 0.1.0
 */
export const userId: UserId = UserId.make(100_000_001)

/**
 * The bot of the fixtures.
 *
 * @category values
 * @since 0.1.0
 */
export const botId: UserId = UserId.make(100_000_000)

/**
 * Their dialog.
 *
 * @category values
 * @since 0.1.0
 */
export const dialogId: ChatId = ChatId.make(500_000_000_001)

/**
 * A group chat.
 *
 * @category values
 * @since 0.1.0
 */
export const groupId: ChatId = ChatId.make(-70_000_000_000_001)

/**
 * A channel.
 *
 * @category values
 * @since 0.1.0
 */
export const channelId: ChatId = ChatId.make(-70_000_000_000_002)

/**
 * The position of a message: beyond 2^53, as every position is.
 *
 * @category values
 * @since 0.1.0
 */
export const seq: bigint = BigInt(timestamp) * 65536n

/**
 * The id of a message.
 *
 * @category values
 * @since 0.1.0
 */
export const messageId: MessageId = MessageId.make(`mid.000000746a528801${seq.toString(16).padStart(16, "0")}`)

/**
 * A person.
 *
 * **Example**
 *
 * ```ts
 * import { Fixtures } from "@colloquy/testing"
 *
 * Fixtures.user({ first_name: "Ann" }).first_name // => "Ann"
 * ```
 *
 * @category fixtures
 * @since 0.1.0
 */
export const user = (differing: Partial<UserWithPhoto> = {}): UserWithPhoto => ({
  user_id: userId,
  first_name: "Visitor",
  username: null,
  is_bot: false,
  last_activity_time: timestamp,
  ...differing
})

/**
 * A bot.
 *
 * @category fixtures
 * @since 0.1.0
 */
export const bot = (differing: Partial<UserWithPhoto> = {}): UserWithPhoto =>
  user({ user_id: botId, first_name: "Bot", username: "bot", is_bot: true, ...differing })

/**
 * A group chat.
 *
 * @category fixtures
 * @since 0.1.0
 */
export const chat = (differing: Partial<Chat> = {}): Chat => ({
  chat_id: groupId,
  type: "chat",
  status: "active",
  title: "Reading club",
  icon: null,
  last_event_time: timestamp,
  participants_count: 3,
  owner_id: userId,
  is_public: false,
  description: null,
  ...differing
})

/**
 * What differs in a message: its parts, and those of its body beside them.
 *
 * @category models
 * @since 0.1.0
 */
export interface MessageDiffering extends Partial<Message>, Partial<Omit<MessageBody, "mid" | "seq" | "text">> {
  readonly mid?: MessageId
  readonly seq?: bigint
  readonly text?: string | null | undefined
}

/**
 * A message from a person to the bot in their dialog.
 *
 * @category fixtures
 * @since 0.1.0
 */
export const message = (differing: MessageDiffering = {}): Message => {
  const { attachments = null, markup = null, mid = messageId, seq: at = seq, text = "Hello", ...parts } = differing
  return {
    sender: user(),
    recipient: { chat_id: dialogId, chat_type: "dialog", user_id: botId },
    timestamp,
    body: { mid, seq: at, text, attachments, markup },
    ...parts
  }
}

/**
 * A post in a channel.
 *
 * @category fixtures
 * @since 0.1.0
 */
export const post = (differing: MessageDiffering = {}): Message => {
  const { sender: _, ...parts } = message({
    recipient: { chat_id: channelId, chat_type: "channel" },
    stat: { views: 1 },
    ...differing
  })
  return parts
}

/**
 * A comment on a post.
 *
 * @category fixtures
 * @since 0.1.0
 */
export const comment = (differing: Partial<Comment> & { readonly text?: string } = {}): Comment => {
  const { text = "Well said", ...parts } = differing
  return {
    sender: user(),
    recipient: { chat_id: channelId, chat_type: "channel", post_id: messageId },
    timestamp,
    body: { mid: MessageId.make(`${messageId}1`), seq, text },
    ...parts
  }
}

/**
 * A member of a chat.
 *
 * @category fixtures
 * @since 0.1.0
 */
export const member = (differing: Partial<ChatMember> = {}): ChatMember => ({
  ...user(),
  last_access_time: timestamp,
  is_owner: false,
  is_admin: false,
  join_time: timestamp,
  ...differing
})

/**
 * A person's message, as an update.
 *
 * @category fixtures
 * @since 0.1.0
 */
export const messageCreated = (differing: MessageDiffering = {}): Update.Of<"message_created"> => ({
  update_type: "message_created",
  timestamp,
  message: message(differing)
})

/**
 * A person's press of a button, as an update.
 *
 * @category fixtures
 * @since 0.1.0
 */
export const messageCallback = (
  differing: { readonly callback_id?: string; readonly payload?: string; readonly user?: User } = {}
): Update.Of<"message_callback"> => ({
  update_type: "message_callback",
  timestamp,
  callback: { timestamp, callback_id: "callback-1", user: user(), ...differing },
  message: message()
})

/**
 * A person's start of the dialog, as an update.
 *
 * @category fixtures
 * @since 0.1.0
 */
export const botStarted = (differing: Partial<Update.Of<"bot_started">> = {}): Update.Of<"bot_started"> => ({
  update_type: "bot_started",
  timestamp,
  chat_id: dialogId,
  user: user(),
  ...differing
})
