/**
 * The events of the emulator, as one sequence: actions of people and bots, requests with their responses, deliveries,
 * updates, applied faults, and moves of the clock. `Emulator.events` streams the events in process, and `GET
 * /_emulator/events` as server-sent events.
 *
 * @since 0.1.0
 */
import { ChatId } from "@colloquy/core/model/Chat"
import { SenderAction } from "@colloquy/core/endpoints/Chats"
import { Outcome } from "@colloquy/core/inbox/UpdateLog"
import { Comment, Message, MessageId } from "@colloquy/core/model/Message"
import { Permission } from "@colloquy/core/model/Member"
import { Update } from "@colloquy/core/model/Update"
import { UserId, UserWithPhoto } from "@colloquy/core/model/User"
import * as Schema from "effect/Schema"
import { Rule } from "./Faults.ts"

// The types of these schemas have names, which the types of the events repeat in place of all their fields.
const message: Schema.Codec<Message, unknown> = Message
const comment: Schema.Codec<Comment, unknown> = Comment
const update: Schema.Codec<Update, unknown> = Update
const user: Schema.Codec<UserWithPhoto, unknown> = UserWithPhoto
const rule: Schema.Codec<Rule, unknown> = Rule

/**
 * The use of a limit by a request.
 *
 * @category models
 * @since 0.1.0
 */
export const LimitUse = Schema.Struct({
  /** The limit: of all requests, of messages or answers in a chat, or of GET /updates. */
  scope: Schema.Literals(["host", "messages", "answers", "polling"]),
  /** The admitted requests in the current window, including this request if it was admitted. */
  used: Schema.Int,
  /** The maximum number of requests in a window. */
  limit: Schema.Int
})

/**
 * @category models
 * @since 0.1.0
 */
export interface LimitUse extends Schema.Schema.Type<typeof LimitUse> {}

const base = {
  /** The position in the sequence, from 0. Grows by one, also after a reset. */
  id: Schema.Int,
  /** The time of the event, in Unix milliseconds of the emulator's clock. */
  at: Schema.Int
}

const baseInChat = {
  ...base,
  /** The chat. */
  chat_id: ChatId,
  /** The bot that acted, or the bot of the dialog. */
  bot_id: Schema.optionalKey(UserId)
}

const baseByUser = {
  ...baseInChat,
  /** The user who acted; for an `answer`, the person who pressed the button. */
  user_id: UserId
}

const withBase =
  <Base extends Schema.Struct.Fields>(base: Base) =>
  <const Type extends string, Fields extends Schema.Struct.Fields>(type: Type, fields: Fields) =>
    Schema.Struct({ ...base, type: Schema.tag(type), ...fields })

const event = withBase(base)

const inChat = withBase(baseInChat)

const byUser = withBase(baseByUser)

const schemas = [
  /** A person or a bot sent a message. */
  byUser("message", {
    /** The message. */
    message,
    /** Whether people received a push notification. */
    notify: Schema.Boolean
  }),
  /** A person or a bot edited a message. */
  byUser("edited", {
    /** The message after the edit. */
    message,
    /** The message before the edit. */
    previous: message
  }),
  /** A person or a bot removed a message. */
  byUser("removed", {
    /** The message. */
    message_id: MessageId
  }),
  /** A person or a bot commented on a channel post. */
  byUser("comment", {
    /** The comment. */
    comment
  }),
  /** A person or a bot edited a comment. */
  byUser("comment_edited", {
    /** The comment after the edit. */
    comment,
    /** The comment before the edit. */
    previous: comment
  }),
  /** A person or a bot removed a comment. */
  byUser("comment_removed", {
    /** The comment. */
    comment_id: MessageId,
    /** The post. */
    message_id: MessageId
  }),
  /** A bot showed an action, such as typing. */
  byUser("action", {
    /** The action. */
    action: SenderAction
  }),
  /** A person pressed a button. */
  byUser("press", {
    /** The message with the button. */
    message_id: MessageId,
    /** The place of the button, from 0. */
    button: Schema.Tuple([Schema.Int, Schema.Int]),
    /** The callback; absent for buttons that send a message. */
    callback_id: Schema.optionalKey(Schema.String)
  }),
  /** A bot answered a press. An edit of the message is a separate event. */
  byUser("answer", {
    /** The message with the button. */
    message_id: MessageId,
    /** The callback. */
    callback_id: Schema.String,
    /** The text that the person who pressed the button sees. */
    notification: Schema.optionalKey(Schema.String)
  }),
  /** The messenger notified the people in a chat of a change by a bot. */
  inChat("notice", {
    /** The kind of the change. */
    changed: Schema.Array(Schema.Literals(["icon", "title", "description", "pin"]))
  }),
  /** An update was queued for a bot. */
  event("update", {
    /** The bot. */
    bot_id: UserId,
    /** The chat that the update concerns. */
    chat_id: Schema.optionalKey(ChatId),
    /** The type of the update. */
    update_type: Schema.String,
    /** The position of the update among the updates of the bot, which the markers of GET /updates count. */
    number: Schema.Int,
    /** The message or comment that the update concerns. */
    message_id: Schema.optionalKey(MessageId),
    /** The text of the message, or the payload of the button: the first 100 characters. */
    text: Schema.optionalKey(Schema.String),
    /** The update; absent with `details=false`. */
    update: Schema.optionalKey(update)
  }),
  /**
   * A bot has told that an attempt to handle an update has ended. Bots of this library tell it with the setting
   * `BOT_EMULATOR`.
   */
  event("handled", {
    /** The bot. */
    bot_id: UserId,
    /** The chat that the update concerns. */
    chat_id: Schema.optionalKey(ChatId),
    /** The position of the update among the updates of the bot. */
    number: Schema.Int,
    /** `unhandled`: no part took the update. `failed`: the update is handled again. `dead`: the update is a dead letter. */
    outcome: Outcome,
    /** The part that took the update, such as the command `start`. */
    part: Schema.optionalKey(Schema.Struct({ kind: Schema.String, name: Schema.String })),
    /** The number of the attempt, from 1. */
    attempt: Schema.Int,
    /** How long the attempt took, in milliseconds of the clock of the bot. */
    took: Schema.Finite,
    /** The first line of the error of the attempt. */
    error: Schema.optionalKey(Schema.String)
  }),
  /** A bot began to wait for updates by long polling, or its connection was lost. */
  event("connection", {
    /** The bot. */
    bot_id: UserId,
    /** Whether the bot is connected. */
    is_connected: Schema.Boolean
  }),
  /**
   * A bot received the response to its request, or the connection was lost. With `details=false`, `headers`, `body`
   * and `answer` are absent: `GET /_emulator/requests?from=NUMBER&count=1` returns them.
   */
  event("request", {
    /** The bot; absent if the request has no valid token. */
    bot_id: Schema.optionalKey(UserId),
    /** The chat that the request concerns, if the emulator knows it. */
    chat_id: Schema.optionalKey(ChatId),
    /** The position of the request in `GET /_emulator/requests`. */
    number: Schema.Int,
    /** How long the response took, in milliseconds of the emulator's clock. */
    took: Schema.Int,
    /** The HTTP method. */
    method: Schema.String,
    /** The path, without the query. */
    path: Schema.String,
    /** The query with its `?`, or an empty string. */
    query: Schema.String,
    /** The endpoint, such as `Messages.send`; `null` if no endpoint matched. */
    endpoint: Schema.NullOr(Schema.String),
    /** The HTTP status; `null` if the connection was lost. */
    status: Schema.NullOr(Schema.Int),
    /** The limits that the request counted towards. */
    limits: Schema.Array(LimitUse),
    /** The message or comment that the request created, changed or removed. */
    message_id: Schema.optionalKey(MessageId),
    /** The text of the message or of the notification in the request: its first 100 characters. */
    text: Schema.optionalKey(Schema.String),
    /** The first rule of the scripted faults that was applied to the request. */
    fault: Schema.optionalKey(rule),
    /** The marker in the response of GET /updates: the bot has taken all updates with a lower number. */
    marker: Schema.optionalKey(Schema.Int),
    /** The headers of the request. */
    headers: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
    /** The body of the request; JSON is decoded. */
    body: Schema.optionalKey(Schema.Unknown),
    /** The body of the response; JSON is decoded. */
    answer: Schema.optionalKey(Schema.Unknown)
  }),
  /** An attempt to deliver an update to a webhook ended. */
  event("delivery", {
    /** The bot. */
    bot_id: UserId,
    /** The chat that the update concerns. */
    chat_id: Schema.optionalKey(ChatId),
    /** The id of the delivery of one update to one URL, common to all its attempts. */
    delivery_id: Schema.Int,
    /** The URL of the subscription. */
    url: Schema.String,
    /** The type of the update. */
    update_type: Schema.String,
    /** The position of the update among the updates of the bot. */
    number: Schema.Int,
    /** The number of the attempt, from 1. */
    attempt: Schema.Int,
    /** The status of the response; `null` if there was none. */
    status: Schema.NullOr(Schema.Int),
    /** Why there was no response: a `FailureReason`, or `Unsubscribed` if the subscription ended before the attempt. */
    failure: Schema.NullOr(Schema.String),
    /** How long the attempt took, in milliseconds. */
    latency: Schema.Finite,
    /** `failed`: the next attempt is at `next_at`. `dead`: no further attempt. */
    state: Schema.Literals(["delivered", "failed", "dead"]),
    /** When the next attempt is due, in Unix milliseconds. */
    next_at: Schema.NullOr(Schema.Int)
  }),
  /** A rule of the scripted faults was applied to a request or a delivery. */
  event("fault", {
    /** The bot. */
    bot_id: Schema.optionalKey(UserId),
    /** The chat. */
    chat_id: Schema.optionalKey(ChatId),
    /** The rule. */
    rule,
    /** How many requests or deliveries the rule has matched. */
    matched: Schema.Int,
    /** How often the rule was applied. */
    applied: Schema.Int,
    /** The target of the fault: a method and path, or the type of an update. */
    target: Schema.String
  }),
  /** A call under `/_emulator` moved, stopped or started the clock. */
  event("clock", {
    /** The time after the call, in Unix milliseconds. */
    now: Schema.Int,
    /** Whether the clock follows real time. */
    is_running: Schema.Boolean
  }),
  /** A user was created. */
  event("user", {
    /** The profile of the user. */
    user
  }),
  /** A chat was created or changed. */
  inChat("chat", {
    /** The kind of the change. */
    change: Schema.Literals([
      "created",
      "title",
      "description",
      "icon",
      "pin",
      "closed",
      "comments",
      "started",
      "stopped",
      "cleared",
      "deleted",
      "muted",
      "unmuted"
    ]),
    /** The user who made the change. */
    user_id: Schema.optionalKey(UserId),
    /** The payload of the deep link by which a bot was started. */
    payload: Schema.optionalKey(Schema.String),
    /** The message that was pinned; absent if the pin was removed. */
    message_id: Schema.optionalKey(MessageId)
  }),
  /** A user became a member of a chat, is no longer a member, or has other rights. */
  inChat("member", {
    /** The kind of the change. */
    change: Schema.Literals(["added", "removed", "rights"]),
    /** The member. */
    user_id: UserId,
    /** The rights of an administrator. */
    permissions: Schema.optionalKey(Schema.Array(Permission)),
    /** The user who made the change, if not the member. */
    by: Schema.optionalKey(UserId)
  }),
  /** A file was uploaded. */
  event("upload", {
    /** The type of the media. */
    media: Schema.Literals(["image", "video", "audio", "file"]),
    /** The token of the media. */
    token: Schema.String,
    /** The name of the file. */
    filename: Schema.NullOr(Schema.String),
    /** The size of the file, in bytes. */
    size: Schema.Int,
    /** When a message can contain the media, in Unix milliseconds. */
    ready_at: Schema.Int
  }),
  /** The state of the emulator was reset. */
  event("reset", {}),
  /**
   * The reader missed the events from the position `from` to `id`, because the emulator no longer keeps them or
   * because the reader is too far behind. Read the state again.
   */
  event("gap", {
    /** The first position that the reader missed. */
    from: Schema.Int
  })
] as const

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
export type EmulatorEvent = (typeof schemas)[number]["Type"]

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
export const EmulatorEvent: Schema.Codec<EmulatorEvent, unknown> = Schema.Union(schemas)

/**
 * All types of events.
 *
 * @category models
 * @since 0.1.0
 */
export const eventTypes: ReadonlyArray<EventType> = schemas.map(({ fields }) => fields.type.schema.literal)
