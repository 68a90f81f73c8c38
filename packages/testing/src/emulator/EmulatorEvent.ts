/**
 * The events of the emulator, as one sequence: actions of people and bots, requests with their responses, deliveries,
 * updates, applied faults, and moves of the clock. `Emulator.events` streams the events in process, and `GET
 * /_emulator/events` as server-sent events.
 *
 * @since 0.1.0
 */
import type { ChatId } from "@colloquy/core/model/Chat"
import type { SenderAction } from "@colloquy/core/endpoints/Chats"
import type { Comment, Message, MessageId } from "@colloquy/core/model/Message"
import type { Permission } from "@colloquy/core/model/Member"
import type { Update } from "@colloquy/core/model/Update"
import type { UserId, UserWithPhoto } from "@colloquy/core/model/User"
import * as Schema from "effect/Schema"
import type { Rule } from "./Faults.ts"
import { schemas } from "./internal/control/eventSchemas.ts"

/**
 * The common fields of all events.
 *
 * @category models
 * @since 0.1.0
 */
export interface Base<Type extends string> {
  /** The position in the sequence, from 0. Grows by one, also after a reset. */
  readonly id: number
  /** The time of the event, in Unix milliseconds of the emulator's clock. */
  readonly at: number
  /** The type of the event. */
  readonly type: Type
}

/**
 * The common fields of events in a chat.
 *
 * @category models
 * @since 0.1.0
 */
export interface InChat<Type extends string> extends Base<Type> {
  /** The chat. */
  readonly chat_id: ChatId
  /** The bot that acted, or the bot of the dialog. */
  readonly bot_id?: UserId
}

/**
 * The common fields of events by a person or a bot in a chat.
 *
 * @category models
 * @since 0.1.0
 */
export interface ByUser<Type extends string> extends InChat<Type> {
  /** The user who acted; for an `answer`, the person who pressed the button. */
  readonly user_id: UserId
}

/**
 * The use of a limit by a request.
 *
 * @category models
 * @since 0.1.0
 */
export interface LimitUse {
  /** The limit: of all requests, of messages or answers in a chat, or of GET /updates. */
  readonly scope: "host" | "messages" | "answers" | "polling"
  /** The admitted requests in the current window, including this request if it was admitted. */
  readonly used: number
  /** The maximum number of requests in a window. */
  readonly limit: number
}

/**
 * A change of a chat.
 *
 * @category models
 * @since 0.1.0
 */
export type ChatChange =
  | "created"
  | "title"
  | "description"
  | "icon"
  | "pin"
  | "closed"
  | "comments"
  | "started"
  | "stopped"
  | "cleared"
  | "deleted"
  | "muted"
  | "unmuted"

/**
 * A person or a bot sent a message.
 *
 * @category models
 * @since 0.1.0
 */
export interface MessageSent extends ByUser<"message"> {
  /** The message. */
  readonly message: Message
  /** Whether people received a push notification. */
  readonly notify: boolean
}

/**
 * A person or a bot edited a message.
 *
 * @category models
 * @since 0.1.0
 */
export interface MessageEdited extends ByUser<"edited"> {
  /** The message after the edit. */
  readonly message: Message
  /** The message before the edit. */
  readonly previous: Message
}

/**
 * A person or a bot removed a message.
 *
 * @category models
 * @since 0.1.0
 */
export interface MessageRemoved extends ByUser<"removed"> {
  /** The message. */
  readonly message_id: MessageId
}

/**
 * A person or a bot commented on a channel post.
 *
 * @category models
 * @since 0.1.0
 */
export interface CommentSent extends ByUser<"comment"> {
  /** The comment. */
  readonly comment: Comment
}

/**
 * A person or a bot edited a comment.
 *
 * @category models
 * @since 0.1.0
 */
export interface CommentEdited extends ByUser<"comment_edited"> {
  /** The comment after the edit. */
  readonly comment: Comment
  /** The comment before the edit. */
  readonly previous: Comment
}

/**
 * A person or a bot removed a comment.
 *
 * @category models
 * @since 0.1.0
 */
export interface CommentRemoved extends ByUser<"comment_removed"> {
  /** The comment. */
  readonly comment_id: MessageId
  /** The post. */
  readonly message_id: MessageId
}

/**
 * A bot showed an action, such as typing.
 *
 * @category models
 * @since 0.1.0
 */
export interface ActionShown extends ByUser<"action"> {
  /** The action. */
  readonly action: SenderAction
}

/**
 * A person pressed a button.
 *
 * @category models
 * @since 0.1.0
 */
export interface ButtonPressed extends ByUser<"press"> {
  /** The message with the button. */
  readonly message_id: MessageId
  /** The place of the button, from 0. */
  readonly button: readonly [row: number, column: number]
  /** The callback; absent for buttons that send a message. */
  readonly callback_id?: string
}

/**
 * A bot answered a press. An edit of the message is a separate event.
 *
 * @category models
 * @since 0.1.0
 */
export interface PressAnswered extends ByUser<"answer"> {
  /** The message with the button. */
  readonly message_id: MessageId
  /** The callback. */
  readonly callback_id: string
  /** The text that the person who pressed the button sees. */
  readonly notification?: string
}

/**
 * The messenger notified the people in a chat of a change by a bot.
 *
 * @category models
 * @since 0.1.0
 */
export interface ChatNotice extends InChat<"notice"> {
  /** The kind of the change. */
  readonly changed: ReadonlyArray<"icon" | "title" | "description" | "pin">
}

/**
 * An update was queued for a bot.
 *
 * @category models
 * @since 0.1.0
 */
export interface UpdateQueued extends Base<"update"> {
  /** The bot. */
  readonly bot_id: UserId
  /** The chat that the update concerns. */
  readonly chat_id?: ChatId
  /** The type of the update. */
  readonly update_type: string
  /** The position of the update among the updates of the bot, which the markers of GET /updates count. */
  readonly number: number
  /** The message or comment that the update concerns. */
  readonly message_id?: MessageId
  /** The text of the message, or the payload of the button: the first 100 characters. */
  readonly text?: string
  /** The update; absent with `details=false`. */
  readonly update?: Update
}

/**
 * A bot has told that an attempt to handle an update has ended. Bots of this library tell it with the setting `BOT_EMULATOR`.
 *
 * @category models
 * @since 0.1.0
 */
export interface UpdateHandled extends Base<"handled"> {
  /** The bot. */
  readonly bot_id: UserId
  /** The chat that the update concerns. */
  readonly chat_id?: ChatId
  /** The position of the update among the updates of the bot. */
  readonly number: number
  /** `unhandled`: no part took the update. `failed`: the update is handled again. `dead`: the update is a dead letter. */
  readonly outcome: "handled" | "unhandled" | "failed" | "dead"
  /** The part that took the update, such as the command `start`. */
  readonly part?: { readonly kind: string; readonly name: string }
  /** The number of the attempt, from 1. */
  readonly attempt: number
  /** How long the attempt took, in milliseconds of the clock of the bot. */
  readonly took: number
  /** The first line of the error of the attempt. */
  readonly error?: string
}

/**
 * A bot began to wait for updates by long polling, or its connection was lost.
 *
 * @category models
 * @since 0.1.0
 */
export interface ConnectionChanged extends Base<"connection"> {
  /** The bot. */
  readonly bot_id: UserId
  /** Whether the bot is connected. */
  readonly is_connected: boolean
}

/**
 * A bot received the response to its request, or the connection was lost. With `details=false`, `headers`, `body` and
 * `answer` are absent: `GET /_emulator/requests?from=NUMBER&count=1` returns them.
 *
 * @category models
 * @since 0.1.0
 */
export interface RequestAnswered extends Base<"request"> {
  /** The bot; absent if the request has no valid token. */
  readonly bot_id?: UserId
  /** The chat that the request concerns, if the emulator knows it. */
  readonly chat_id?: ChatId
  /** The position of the request in `GET /_emulator/requests`. */
  readonly number: number
  /** How long the response took, in milliseconds of the emulator's clock. */
  readonly took: number
  /** The HTTP method. */
  readonly method: string
  /** The path, without the query. */
  readonly path: string
  /** The query with its `?`, or an empty string. */
  readonly query: string
  /** The endpoint, such as `Messages.send`; `null` if no endpoint matched. */
  readonly endpoint: string | null
  /** The HTTP status; `null` if the connection was lost. */
  readonly status: number | null
  /** The limits that the request counted towards. */
  readonly limits: ReadonlyArray<LimitUse>
  /** The message or comment that the request created, changed or removed. */
  readonly message_id?: MessageId
  /** The text of the message or of the notification in the request: its first 100 characters. */
  readonly text?: string
  /** The first rule of the scripted faults that was applied to the request. */
  readonly fault?: Rule
  /** The marker in the response of GET /updates: the bot has taken all updates with a lower number. */
  readonly marker?: number
  /** The headers of the request. */
  readonly headers?: Readonly<Record<string, string>>
  /** The body of the request; JSON is decoded. */
  readonly body?: unknown
  /** The body of the response; JSON is decoded. */
  readonly answer?: unknown
}

/**
 * An attempt to deliver an update to a webhook ended.
 *
 * @category models
 * @since 0.1.0
 */
export interface DeliveryAttempted extends Base<"delivery"> {
  /** The bot. */
  readonly bot_id: UserId
  /** The chat that the update concerns. */
  readonly chat_id?: ChatId
  /** The id of the delivery of one update to one URL, common to all its attempts. */
  readonly delivery_id: number
  /** The URL of the subscription. */
  readonly url: string
  /** The type of the update. */
  readonly update_type: string
  /** The position of the update among the updates of the bot. */
  readonly number: number
  /** The number of the attempt, from 1. */
  readonly attempt: number
  /** The status of the response; `null` if there was none. */
  readonly status: number | null
  /** Why there was no response: a `FailureReason`, or `Unsubscribed` if the subscription ended before the attempt. */
  readonly failure: string | null
  /** How long the attempt took, in milliseconds. */
  readonly latency: number
  /** `failed`: the next attempt is at `next_at`. `dead`: no further attempt. */
  readonly state: "delivered" | "failed" | "dead"
  /** When the next attempt is due, in Unix milliseconds. */
  readonly next_at: number | null
}

/**
 * A rule of the scripted faults was applied to a request or a delivery.
 *
 * @category models
 * @since 0.1.0
 */
export interface FaultApplied extends Base<"fault"> {
  /** The bot. */
  readonly bot_id?: UserId
  /** The chat. */
  readonly chat_id?: ChatId
  /** The rule. */
  readonly rule: Rule
  /** How many requests or deliveries the rule has matched. */
  readonly matched: number
  /** How often the rule was applied. */
  readonly applied: number
  /** The target of the fault: a method and path, or the type of an update. */
  readonly target: string
}

/**
 * A call under `/_emulator` moved, stopped or started the clock.
 *
 * @category models
 * @since 0.1.0
 */
export interface ClockMoved extends Base<"clock"> {
  /** The time after the call, in Unix milliseconds. */
  readonly now: number
  /** Whether the clock follows real time. */
  readonly is_running: boolean
}

/**
 * A user was created.
 *
 * @category models
 * @since 0.1.0
 */
export interface UserCreated extends Base<"user"> {
  /** The profile of the user. */
  readonly user: UserWithPhoto
}

/**
 * A chat was created or changed.
 *
 * @category models
 * @since 0.1.0
 */
export interface ChatChanged extends InChat<"chat"> {
  /** The kind of the change. */
  readonly change: ChatChange
  /** The user who made the change. */
  readonly user_id?: UserId
  /** The payload of the deep link by which a bot was started. */
  readonly payload?: string
  /** The message that was pinned; absent if the pin was removed. */
  readonly message_id?: MessageId
}

/**
 * A user became a member of a chat, is no longer a member, or has other rights.
 *
 * @category models
 * @since 0.1.0
 */
export interface MemberChanged extends InChat<"member"> {
  /** The kind of the change. */
  readonly change: "added" | "removed" | "rights"
  /** The member. */
  readonly user_id: UserId
  /** The rights of an administrator. */
  readonly permissions?: ReadonlyArray<Permission>
  /** The user who made the change, if not the member. */
  readonly by?: UserId
}

/**
 * A file was uploaded.
 *
 * @category models
 * @since 0.1.0
 */
export interface FileUploaded extends Base<"upload"> {
  /** The type of the media. */
  readonly media: "image" | "video" | "audio" | "file"
  /** The token of the media. */
  readonly token: string
  /** The name of the file. */
  readonly filename: string | null
  /** The size of the file, in bytes. */
  readonly size: number
  /** When a message can contain the media, in Unix milliseconds. */
  readonly ready_at: number
}

/**
 * The state of the emulator was reset.
 *
 * @category models
 * @since 0.1.0
 */
export interface StateReset extends Base<"reset"> {}

/**
 * The reader missed the events from the position `from` to `id`, because the emulator no longer keeps them or because the
 * reader is too far behind. Read the state again.
 *
 * @category models
 * @since 0.1.0
 */
export interface EventsMissed extends Base<"gap"> {
  /** The first position that the reader missed. */
  readonly from: number
}

/**
 * The events of the emulator, by their `type`.
 *
 * **Example** (Waiting for an event)
 *
 * ```ts
 * import { Emulator } from "@colloquy/testing"
 * import { Stream } from "effect"
 *
 * const press = Emulator.events.pipe(
 *   Stream.filter((event) => event.type === "press"),
 *   Stream.runHead
 * )
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export type EmulatorEvent =
  | MessageSent
  | MessageEdited
  | MessageRemoved
  | CommentSent
  | CommentEdited
  | CommentRemoved
  | ActionShown
  | ButtonPressed
  | PressAnswered
  | ChatNotice
  | UpdateQueued
  | UpdateHandled
  | ConnectionChanged
  | RequestAnswered
  | DeliveryAttempted
  | FaultApplied
  | ClockMoved
  | UserCreated
  | ChatChanged
  | MemberChanged
  | FileUploaded
  | StateReset
  | EventsMissed

/**
 * The types of events.
 *
 * @category models
 * @since 0.1.0
 */
export type EventType = EmulatorEvent["type"]

/**
 * The schema of {@link EmulatorEvent}.
 *
 * @category schemas
 * @since 0.1.0
 */
export const EmulatorEvent: Schema.Codec<EmulatorEvent, unknown> = Schema.Union(Object.values(schemas))

/**
 * All types of events.
 *
 * @category models
 * @since 0.1.0
 */
export const eventTypes: ReadonlyArray<EventType> = Object.keys(schemas) as Array<EventType>
