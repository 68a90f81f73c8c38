/**
 * A person on the emulated platform: their actions, and their view of the bots.
 *
 * `Emulator.user` creates a user and returns the person who acts for them. Each action causes the same updates as on the
 * platform, and fails with {@link PersonError} if the platform does not allow it.
 *
 * @since 0.1.0
 */
import type { Attachment } from "@colloquy/core/model/Attachment"
import type { Chat, ChatId } from "@colloquy/core/model/Chat"
import type { SenderAction } from "@colloquy/core/endpoints/Chats"
import type { Comment, Message, MessageId } from "@colloquy/core/model/Message"
import type { Permission } from "@colloquy/core/model/Member"
import type { NewMessageLink, TextFormat } from "@colloquy/core/model/NewMessage"
import type { UserId, UserWithPhoto } from "@colloquy/core/model/User"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"

/**
 * A person cannot perform an action, for example because the button does not exist, the person is not in the chat, or
 * the message is from another user.
 *
 * @category errors
 * @since 0.1.0
 */
export class PersonError extends Data.TaggedError("PersonError")<{
  /** The first name of the person. */
  readonly person: string
  /** Why the action is not possible. */
  readonly reason: string
}> {
  override get message() {
    return `${this.person} cannot do this: ${this.reason}`
  }
}

/**
 * An action of a bot, as the people in the chat see it.
 *
 * - `Message`: the bot sent a message.
 * - `Edited`: the bot edited a message.
 * - `Removed`: the bot removed a message.
 * - `Action`: the bot showed an action, such as typing.
 * - `Notification`: the bot answered a callback with a notification, which one person sees.
 * - `Comment`: the bot created or edited a comment.
 * - `Notice`: the bot changed the chat or pinned a message, and the people were notified.
 *
 * @category models
 * @since 0.1.0
 */
export type PersonEvent =
  | {
      readonly _tag: "Message"
      readonly chat_id: ChatId
      readonly message: Message
      /** Whether the people received a push notification. */
      readonly notify: boolean
    }
  | { readonly _tag: "Edited"; readonly chat_id: ChatId; readonly message: Message }
  | { readonly _tag: "Removed"; readonly chat_id: ChatId; readonly message_id: MessageId }
  | { readonly _tag: "Action"; readonly chat_id: ChatId; readonly action: SenderAction }
  | {
      readonly _tag: "Notification"
      readonly chat_id: ChatId
      readonly user_id: UserId
      readonly callback_id: string
      readonly text: string
    }
  | { readonly _tag: "Comment"; readonly chat_id: ChatId; readonly comment: Comment }
  | {
      readonly _tag: "Notice"
      readonly chat_id: ChatId
      readonly changed: ReadonlyArray<"icon" | "title" | "description" | "pin">
    }

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
 * A button of a message: its text, its position counted from 0, or the payload of a `callback` button.
 *
 * @category models
 * @since 0.1.0
 */
export type ButtonRef = string | readonly [row: number, column: number] | { readonly payload: string }

/**
 * A mini app that a person opened.
 *
 * @category models
 * @since 0.1.0
 */
export interface OpenedApp {
  /** The address of the mini app. */
  readonly url: string
  /** The init data with the signature of the platform, which `window.WebApp.initData` has in the messenger. */
  readonly initData: string
}

/**
 * An image, video, audio or file that a person sends. The platform completes missing fields of the payload; a bot can
 * send the media on with the token.
 *
 * @category models
 * @since 0.1.0
 */
export interface PersonMedia {
  /** The type of the media. */
  readonly type: "image" | "video" | "audio" | "file"
  /** The address, token and id of the media. Default: created by the platform. */
  readonly payload?:
    | {
        readonly url?: string | null | undefined
        readonly token?: string | null | undefined
        readonly photo_id?: bigint | null | undefined
      }
    | null
    | undefined
  /** The name of a file. Default: its token. */
  readonly filename?: string | null | undefined
  /** The size of a file, in bytes. Default: the length of `content`, or 0. */
  readonly size?: number | null | undefined
  /** The content, which a bot can download with `Attachments.download`. Default: none, the file cannot be downloaded. */
  readonly content?: Uint8Array | null | undefined
}

/**
 * An attachment that a person sends: complete, as others see it, or media in short form.
 *
 * @category models
 * @since 0.1.0
 */
export type PersonAttachment = Attachment | PersonMedia

/**
 * The options of {@link Person.send}.
 *
 * @category models
 * @since 0.1.0
 */
export interface SendOptions {
  /** The attachments, at most 12. Default: none. */
  readonly attachments?: ReadonlyArray<PersonAttachment> | undefined
  /** The markup of the text, as in `Messages.send`. Default: none, the text is plain. */
  readonly format?: TextFormat | undefined
  /** The message that is replied to or forwarded. Default: none. */
  readonly link?: NewMessageLink | undefined
}

/**
 * A person. Their actions are delivered as updates to the bots that would receive them on the platform.
 *
 * **Example** (Acting as a person)
 *
 * ```ts
 * import { Emulator } from "@colloquy/testing"
 * import { Effect } from "effect"
 *
 * const talk = Effect.gen(function* () {
 *   const ann = yield* Emulator.user("Ann")
 *   yield* ann.start()
 *   const question = yield* ann.reply
 *   yield* ann.press(question, "Yes")
 *   return yield* ann.notification
 * })
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export interface Person {
  /** The profile of the person when this value was created. */
  readonly user: UserWithPhoto
  /** The id of the person. */
  readonly user_id: UserId
  /**
   * Returns the same person, acting towards another bot of the platform: the dialog of this value is with that bot, and
   * actions on "the bot" concern that bot. The person sees the events of all bots. Throws a
   * `RangeError` for a user that is not a bot.
   */
  readonly with: (bot: UserRef) => Person
  /** Returns the dialog with the bot, which {@link start} or the first message opens. */
  readonly dialog: Effect.Effect<Chat, PersonError>
  /**
   * Opens the dialog, or restarts a stopped dialog: `bot_started`. `payload` is the payload of a deep link, of at most
   * 128 characters.
   */
  readonly start: (payload?: string) => Effect.Effect<Chat, PersonError>
  /** Stops the bot: `bot_stopped`. The bot cannot write to the dialog until the next {@link start}. */
  readonly stop: Effect.Effect<void, PersonError>
  /**
   * Sends a message to the dialog, or to a chat: `message_created`. The first message to a new or stopped dialog starts
   * the dialog: `bot_started`.
   */
  readonly send: {
    (text: string, options?: SendOptions): Effect.Effect<Message, PersonError>
    (chat: ChatRef, text: string, options?: SendOptions): Effect.Effect<Message, PersonError>
  }
  /** Edits the text of a message of this person: `message_edited`. */
  readonly edit: (message: MessageRef, text: string) => Effect.Effect<Message, PersonError>
  /** Removes a message of this person, or any message with the right `delete`: `message_removed`. */
  readonly remove: (message: MessageRef) => Effect.Effect<void, PersonError>
  /**
   * Presses a button. A `callback` button causes `message_callback`, without `message` if the message was removed, and
   * returns the id of the callback. A `message`, `request_contact` or `request_geo_location` button sends a message and
   * returns `undefined`. Other buttons fail.
   */
  readonly press: (message: MessageRef, button: ButtonRef) => Effect.Effect<string | undefined, PersonError>
  /**
   * Opens the mini app of an `open_app` button. Returns its address, and init data that `MiniApp.verify` accepts with the token
   * of the bot. The bot receives nothing. Other buttons fail.
   */
  readonly openApp: (message: MessageRef, button: ButtonRef) => Effect.Effect<OpenedApp, PersonError>
  /** Joins a group chat or channel: `user_added`. Does nothing if the person is a member. */
  readonly join: (chat: ChatRef) => Effect.Effect<void, PersonError>
  /** Leaves a group chat or channel: `user_removed`. */
  readonly leave: (chat: ChatRef) => Effect.Effect<void, PersonError>
  /**
   * Adds another person to a chat: `user_added` with `inviter_id`. In a channel, requires the right
   * `add_remove_members`.
   */
  readonly addMember: (chat: ChatRef, person: UserRef) => Effect.Effect<void, PersonError>
  /**
   * Removes another person from a chat: `user_removed` with `admin_id`. Requires the right `add_remove_members`. With
   * `block`, the person cannot join again. Default: no block.
   */
  readonly removeMember: (
    chat: ChatRef,
    person: UserRef,
    options?: { readonly block?: boolean | undefined }
  ) => Effect.Effect<void, PersonError>
  /**
   * Makes another person an administrator with these rights, or a plain member without `permissions`. No bot receives
   * an update. Requires the right `add_admins`.
   */
  readonly setAdmin: (
    chat: ChatRef,
    person: UserRef,
    permissions: ReadonlyArray<Permission> | undefined
  ) => Effect.Effect<void, PersonError>
  /** Adds the bot to a chat: `bot_added`. Does nothing if the bot is a member. */
  readonly addBot: (chat: ChatRef) => Effect.Effect<void, PersonError>
  /** Removes the bot from a chat: `bot_removed`. Requires the right `add_remove_members`. */
  readonly removeBot: (chat: ChatRef) => Effect.Effect<void, PersonError>
  /**
   * Makes the bot an administrator with these rights, or a plain member without `permissions`:
   * `bot_admin_permissions_changed`. Requires the right `add_admins`.
   */
  readonly setBotAdmin: (
    chat: ChatRef,
    permissions: ReadonlyArray<Permission> | undefined
  ) => Effect.Effect<void, PersonError>
  /** Changes the title of a chat: `chat_title_changed`. In a channel, requires the right `change_chat_info`. */
  readonly rename: (chat: ChatRef, title: string) => Effect.Effect<void, PersonError>
  /**
   * Comments on a channel post: `comment_created`. With `onBehalf`, an administrator comments on behalf of the channel:
   * the comment has no sender.
   */
  readonly comment: (
    message: MessageRef,
    text: string,
    options?: {
      /** The comment to reply to. Default: none. */
      readonly replyTo?: CommentRef | undefined
      /** Whether the comment is on behalf of the channel. Default: `false`. */
      readonly onBehalf?: boolean | undefined
    }
  ) => Effect.Effect<Comment, PersonError>
  /** Edits a comment of this person: `comment_edited`. */
  readonly editComment: (comment: CommentRef, text: string) => Effect.Effect<Comment, PersonError>
  /** Removes a comment of this person, or any comment with the right `delete`: `comment_removed`. */
  readonly removeComment: (comment: CommentRef) => Effect.Effect<void, PersonError>
  /** Views a channel post. Each person counts as one view. */
  readonly view: (message: MessageRef) => Effect.Effect<void, PersonError>
  /** Clears the history of the dialog: `dialog_cleared`. */
  readonly clearDialog: Effect.Effect<void, PersonError>
  /** Deletes the dialog, which also stops the bot: `dialog_removed` and `bot_stopped`. */
  readonly removeDialog: Effect.Effect<void, PersonError>
  /** Mutes the dialog until a time in Unix milliseconds: `dialog_muted`. */
  readonly muteDialog: (until: number) => Effect.Effect<void, PersonError>
  /** Unmutes the dialog: `dialog_unmuted`. */
  readonly unmuteDialog: Effect.Effect<void, PersonError>
  /** Waits for the next message of a bot in the chats of this person. Each message is returned once. */
  readonly reply: Effect.Effect<Message>
  /** Waits for the next notification with which a bot answers a callback of this person. Each is returned once. */
  readonly notification: Effect.Effect<string>
  /**
   * Waits for the next event of a kind, or for the next event that matches a predicate. Each event is returned once by
   * {@link reply}, {@link notification} or this function.
   */
  readonly next: {
    <K extends PersonEvent["_tag"]>(kind: K): Effect.Effect<Extract<PersonEvent, { readonly _tag: K }>>
    (matches: (event: PersonEvent) => boolean): Effect.Effect<PersonEvent>
  }
  /**
   * Returns the events that {@link reply}, {@link notification}, {@link next} and earlier calls have not returned yet,
   * without actions: an empty list if the bot did not answer. Each event is returned once.
   */
  readonly unread: Effect.Effect<ReadonlyArray<PersonEvent>>
  /** The events of bots in the chats of this person, from the creation of this value on. */
  readonly events: Stream.Stream<PersonEvent>
}
