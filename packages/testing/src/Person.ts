/**
 * A person on the emulated platform: what they do to the bot, and what they see of it.
 *
 * @since 0.1.0
 */
import type { Attachment } from "@colloquy/core/Attachment"
import type { Chat, ChatId } from "@colloquy/core/Chat"
import type { Comment } from "@colloquy/core/Comment"
import type { Permission } from "@colloquy/core/Member"
import type { Message, MessageId } from "@colloquy/core/Message"
import type { NewMessageLink } from "@colloquy/core/NewMessage"
import type { UserId, UserWithPhoto } from "@colloquy/core/User"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type * as model from "./internal/platform/model.ts"

/**
 * A person cannot do this: there is no such button, they are not in that chat, the message is somebody else's.
 *
 * @category errors
 * @since 0.1.0
 */
export class PersonError extends Data.TaggedError("PersonError")<{
  readonly person: string
  readonly reason: string
}> {
  override get message() {
    return `${this.person} cannot do this: ${this.reason}`
  }
}

/**
 * What the bot did, as the people in the chat see it: a message (with or without a push notification), an edit, a
 * removal, a comment, the notification that answers a press, an action such as typing, or the system's notice that the
 * bot changed the chat or pinned a message.
 *
 * @category models
 * @since 0.1.0
 */
export type PersonEvent = model.PersonEvent

/**
 * A chat, or its id.
 *
 * @category models
 * @since 0.1.0
 */
export type ChatRef = ChatId | Pick<Chat, "chat_id">

/**
 * A message, or its id.
 *
 * @category models
 * @since 0.1.0
 */
export type MessageRef = MessageId | Message

/**
 * A comment, or its id.
 *
 * @category models
 * @since 0.1.0
 */
export type CommentRef = MessageId | Comment

/**
 * A user (another person, or a bot), or their id.
 *
 * @category models
 * @since 0.1.0
 */
export type UserRef = UserId | { readonly user_id: UserId }

/**
 * A button under a message: by its text, by its place counted from 0, or by the payload of a `callback` button.
 *
 * @category models
 * @since 0.1.0
 */
export type ButtonRef = string | readonly [row: number, column: number] | { readonly payload: string }

/**
 * A picture, film, sound or file of a person's own. What is left out of the payload, the platform adds; a bot can send
 * the media on by the token.
 *
 * @category models
 * @since 0.1.0
 */
export interface PersonMedia {
  readonly type: "image" | "video" | "audio" | "file"
  readonly payload?:
    | {
        readonly url?: string | null | undefined
        readonly token?: string | null | undefined
        readonly photo_id?: bigint | null | undefined
      }
    | null
    | undefined
  readonly filename?: string | null | undefined
  readonly size?: number | null | undefined
}

/**
 * An attachment as a person sends it: as others see it, or media of their own in short.
 *
 * @category models
 * @since 0.1.0
 */
export type PersonAttachment = Attachment | PersonMedia

/**
 * What a person says besides text: attachments, a reply or a forward.
 *
 * @category models
 * @since 0.1.0
 */
export interface SendOptions {
  readonly attachments?: ReadonlyArray<PersonAttachment> | undefined
  readonly link?: NewMessageLink | undefined
}

type Action<A = void> = Effect.Effect<A, PersonError>

/**
 * A person. Every update that their doing causes is delivered to the bots that would see it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Person {
  readonly user: UserWithPhoto
  readonly user_id: UserId
  /**
   * The same person, facing another bot of the platform: what they do in the dialog, and what they do to the bot, is
   * then about that one. They hear all bots. A user that is no bot is a `RangeError`.
   */
  readonly with: (bot: UserRef) => Person
  /** The dialog with the bot, opened by {@link start} or by the first message. */
  readonly dialog: Action<Chat>
  /** Opens the dialog, or starts a stopped one again: `bot_started`, with a deep link's payload of up to 128 characters. */
  readonly start: (payload?: string) => Action<Chat>
  /** Stops the bot: `bot_stopped`; it cannot write until the next {@link start}. */
  readonly stop: Action
  /** Says something in the dialog, which begins with `bot_started`, or in a chat. */
  readonly send: {
    (text: string, options?: SendOptions): Action<Message>
    (chat: ChatRef, text: string, options?: SendOptions): Action<Message>
  }
  /** Edits an own message: `message_edited`. */
  readonly edit: (message: MessageRef, text: string) => Action<Message>
  /** Removes an own message, or any message as an administrator: `message_removed`. */
  readonly remove: (message: MessageRef) => Action
  /**
   * Presses a button by its text, its place [row, column] or its `payload`. A `callback` button gives the callback's
   * id; `message`, `request_contact` and `request_geo_location` buttons make the person say something, and give
   * nothing. Of a message that was removed since, the callback comes without `message`.
   */
  readonly press: (message: MessageRef, button: ButtonRef) => Action<string | undefined>
  /** Joins a group chat or a channel: `user_added`. Nothing where they are in already. */
  readonly join: (chat: ChatRef) => Action
  /** Leaves a group chat or a channel: `user_removed`. */
  readonly leave: (chat: ChatRef) => Action
  /** Adds another person to a chat: `user_added` with `inviter_id`. In a channel it needs the right `add_remove_members`. */
  readonly addMember: (chat: ChatRef, person: UserRef) => Action
  /**
   * Removes another person from a chat: `user_removed` with `admin_id`. It needs the right `add_remove_members`;
   * `block` keeps them from joining again.
   */
  readonly removeMember: (chat: ChatRef, person: UserRef, options?: { readonly block?: boolean | undefined }) => Action
  /**
   * Makes another person an administrator with these rights, or a plain member; no bot is told of it. It needs the
   * right `add_admins`.
   */
  readonly setAdmin: (chat: ChatRef, person: UserRef, permissions: ReadonlyArray<Permission> | undefined) => Action
  /** Adds the bot to a chat: `bot_added`. Nothing where it is in already. */
  readonly addBot: (chat: ChatRef) => Action
  /** Removes the bot from a chat: `bot_removed`. */
  readonly removeBot: (chat: ChatRef) => Action
  /**
   * Makes the bot an administrator with these rights, or a plain member: `bot_admin_permissions_changed`. It needs the
   * right `add_admins`.
   */
  readonly setBotAdmin: (chat: ChatRef, permissions: ReadonlyArray<Permission> | undefined) => Action
  /** Gives a chat another title: `chat_title_changed`. */
  readonly rename: (chat: ChatRef, title: string) => Action
  /** Comments on a post: `comment_created`; `onBehalf` of the channel without a sender. */
  readonly comment: (
    message: MessageRef,
    text: string,
    options?: { readonly replyTo?: CommentRef | undefined; readonly onBehalf?: boolean | undefined }
  ) => Action<Comment>
  /** Edits an own comment: `comment_edited`. */
  readonly editComment: (comment: CommentRef, text: string) => Action<Comment>
  /** Removes an own comment, or any comment with the right `delete`: `comment_removed`. */
  readonly removeComment: (comment: CommentRef) => Action
  /** Sees a post: it counts one view for each person. */
  readonly view: (message: MessageRef) => Action
  /** Clears the dialog's history: `dialog_cleared`. */
  readonly clearDialog: Action
  /** Deletes the dialog: `dialog_removed`. */
  readonly removeDialog: Action
  /** Mutes the dialog until a time in Unix milliseconds: `dialog_muted`. */
  readonly muteDialog: (until: number) => Action
  /** Unmutes the dialog: `dialog_unmuted`. */
  readonly unmuteDialog: Action
  /** Waits for the next message that a bot says where this person is; each one is given once. */
  readonly reply: Effect.Effect<Message>
  /** Waits for the next notification that answers a press of this person; each one is given once. */
  readonly notification: Effect.Effect<string>
  /**
   * Waits for the next thing of a kind that a bot does where this person is, or for the next one that fits: `Edited`,
   * `Removed`, `Comment` and so on. What {@link reply}, {@link notification} or this gave once, none of them gives again.
   */
  readonly next: {
    <K extends PersonEvent["_tag"]>(kind: K): Effect.Effect<Extract<PersonEvent, { readonly _tag: K }>>
    (fits: (heard: PersonEvent) => boolean): Effect.Effect<PersonEvent>
  }
  /**
   * What they heard and {@link reply}, {@link notification} and {@link next} did not give yet: nothing, where the bot
   * kept silent. Actions, such as typing, pass by.
   */
  readonly unread: Effect.Effect<ReadonlyArray<PersonEvent>>
  /** What bots did where this person is, from the making of the person on. */
  readonly events: Stream.Stream<PersonEvent>
}
