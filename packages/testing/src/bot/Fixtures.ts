/**
 * Valid values for tests: users, chats, messages, comments and updates. Each function takes the fields that differ from
 * its defaults.
 *
 * @since 0.1.0
 */
import { type Chat, ChatId } from "@colloquy/core/model/Chat"
import { type Comment, type Message, type MessageBody, MessageId } from "@colloquy/core/model/Message"
import type { ChatMember } from "@colloquy/core/model/Member"
import type * as Update from "@colloquy/core/model/Update"
import { type User, UserId, type UserWithPhoto } from "@colloquy/core/model/User"

/**
 * The time of all fixtures, in Unix milliseconds.
 *
 * @category values
 * @since 0.1.0
 */
export const timestamp = 1_763_713_800_000

/**
 * The id of the person in the fixtures.
 *
 * @category values
 * @since 0.1.0
 */
export const userId: UserId = UserId.make(100_000_001)

/**
 * The id of the bot in the fixtures.
 *
 * @category values
 * @since 0.1.0
 */
export const botId: UserId = UserId.make(100_000_000)

/**
 * The id of the dialog between the person and the bot.
 *
 * @category values
 * @since 0.1.0
 */
export const dialogId: ChatId = ChatId.make(500_000_000_001)

/**
 * The id of the group chat in the fixtures.
 *
 * @category values
 * @since 0.1.0
 */
export const groupId: ChatId = ChatId.make(-70_000_000_000_001)

/**
 * The id of the channel in the fixtures.
 *
 * @category values
 * @since 0.1.0
 */
export const channelId: ChatId = ChatId.make(-70_000_000_000_002)

/**
 * The position of a message, larger than 2^53 like every position.
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
 * Creates a person.
 *
 * **Example** (A person with another name)
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
export const user = (overrides: Partial<UserWithPhoto> = {}): UserWithPhoto => ({
  user_id: userId,
  first_name: "Visitor",
  username: null,
  is_bot: false,
  last_activity_time: timestamp,
  ...overrides
})

/**
 * Creates a bot.
 *
 * @category fixtures
 * @since 0.1.0
 */
export const bot = (overrides: Partial<UserWithPhoto> = {}): UserWithPhoto =>
  user({ user_id: botId, first_name: "Bot", username: "bot", is_bot: true, ...overrides })

/**
 * Creates a group chat.
 *
 * @category fixtures
 * @since 0.1.0
 */
export const chat = (overrides: Partial<Chat> = {}): Chat => ({
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
  ...overrides
})

/**
 * The fields of a message and of its body that differ from the defaults.
 *
 * @category models
 * @since 0.1.0
 */
export interface MessageOverrides extends Partial<Message>, Partial<Omit<MessageBody, "mid" | "seq" | "text">> {
  /** The id of the message. Default: {@link messageId}. */
  readonly mid?: MessageId
  /** The position of the message. Default: {@link seq}. */
  readonly seq?: bigint
  /** The text of the message. Default: `Hello`. */
  readonly text?: string | null | undefined
}

/**
 * Creates a message from the person to the bot in their dialog.
 *
 * @category fixtures
 * @since 0.1.0
 */
export const message = (overrides: MessageOverrides = {}): Message => {
  const { attachments = null, markup = null, mid = messageId, seq: at = seq, text = "Hello", ...parts } = overrides
  return {
    sender: user(),
    recipient: { chat_id: dialogId, chat_type: "dialog", user_id: botId },
    timestamp,
    body: { mid, seq: at, text, attachments, markup },
    ...parts
  }
}

/**
 * Creates a channel post: a message without a sender, with its views.
 *
 * @category fixtures
 * @since 0.1.0
 */
export const channelMessage = (overrides: MessageOverrides = {}): Message => {
  const { sender: _, ...parts } = message({
    recipient: { chat_id: channelId, chat_type: "channel" },
    stat: { views: 1 },
    ...overrides
  })
  return parts
}

/**
 * Creates a comment on a channel post.
 *
 * @category fixtures
 * @since 0.1.0
 */
export const comment = (overrides: Partial<Comment> & { readonly text?: string } = {}): Comment => {
  const { text = "Well said", ...parts } = overrides
  return {
    sender: user(),
    recipient: { chat_id: channelId, chat_type: "channel", post_id: messageId },
    timestamp,
    body: { mid: MessageId.make(`${messageId}1`), seq, text },
    ...parts
  }
}

/**
 * Creates a member of a chat.
 *
 * @category fixtures
 * @since 0.1.0
 */
export const member = (overrides: Partial<ChatMember> = {}): ChatMember => ({
  ...user(),
  last_access_time: timestamp,
  is_owner: false,
  is_admin: false,
  join_time: timestamp,
  ...overrides
})

/**
 * Creates the update for a message of the person.
 *
 * @category fixtures
 * @since 0.1.0
 */
export const messageCreated = (overrides: MessageOverrides = {}): Update.Of<"message_created"> => ({
  update_type: "message_created",
  timestamp,
  message: message(overrides)
})

/**
 * Creates the update for a callback button that the person pressed.
 *
 * @category fixtures
 * @since 0.1.0
 */
export const messageCallback = (
  overrides: { readonly callback_id?: string; readonly payload?: string; readonly user?: User } = {}
): Update.Of<"message_callback"> => ({
  update_type: "message_callback",
  timestamp,
  callback: { timestamp, callback_id: "callback-1", user: user(), ...overrides },
  message: message()
})

/**
 * Creates the update for the start of the dialog.
 *
 * @category fixtures
 * @since 0.1.0
 */
export const botStarted = (overrides: Partial<Update.Of<"bot_started">> = {}): Update.Of<"bot_started"> => ({
  update_type: "bot_started",
  timestamp,
  chat_id: dialogId,
  user: user(),
  ...overrides
})
