/**
 * Updates: the events that the platform sends to a bot.
 *
 * API: Events.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as CompiledSchema from "../base/CompiledSchema.ts"
import { decodeJson } from "../base/internal/codec/run.ts"
import * as FieldIssue from "../base/FieldIssue.ts"
import * as malformed from "../base/internal/malformed.ts"
import { lazily, memberOf, Millis, nullish, openUnion, type Unknown } from "../base/internal/wire.ts"
import { missingTime, partsOf } from "./internal/updateParts.ts"
import { Permission } from "./Member.ts"
import { Message } from "./Message.ts"
import { ChatId, ChatType, MessageId } from "./Recipient.ts"
import { parseMarked } from "../base/internal/json.ts"
import { Unparsed } from "../base/internal/nesting.ts"
import { User, UserId, UserWithPhoto } from "./User.ts"
import { TaggedError } from "../base/TaggedError.ts"

const update = <const Type extends string, const Fields extends Schema.Struct.Fields>(type: Type, fields: Fields) =>
  Schema.Struct({ update_type: Schema.tag(type), timestamp: Millis, ...fields })

const locale = { user_locale: nullish(Schema.String) }

// The platform sends the id of the user beside the user too.
const inChat = { chat_id: ChatId, user: UserWithPhoto, user_id: nullish(UserId) }

const inChatOrLeft = { ...inChat, user: nullish(UserWithPhoto) }

const isChannel = { is_channel: nullish(Schema.Boolean) }

const removed = { message_id: MessageId, chat_id: ChatId, user_id: nullish(UserId), post_id: nullish(MessageId) }

/**
 * A callback: a user pressed a button. Pass `callback_id` to `Answers.send`.
 *
 * @category models
 * @since 0.1.0
 */
export const Callback = Schema.Struct({
  timestamp: Millis,
  callback_id: Schema.String,
  payload: nullish(Schema.String),
  user: User
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Callback extends Schema.Schema.Type<typeof Callback> {}

/**
 * The types of updates that this version knows, with their schemas.
 *
 * - `message_created`, `message_edited`: `message`, which can be missing.
 * - `message_callback`: `callback`, and `message` unless the message was deleted.
 * - `message_removed`: the removed message, its chat, and the user who removed the message.
 * - `comment_created`, `comment_edited`, `comment_removed`: by webhook only. `message.recipient.post_id` is the post.
 * - `bot_added`, `bot_removed`, `user_added`, `user_removed`: changes of membership, with the `user`.
 * - `bot_started` (with the `payload` of the deep link), `bot_stopped`, `dialog_cleared`, `dialog_removed`,
 *   `dialog_muted`, `dialog_unmuted`: an action of a user on the dialog. Only `bot_started` always has the `user`, and
 *   `bot_removed` can be without a `user` too.
 * - `chat_title_changed`, `bot_admin_permissions_changed`: changes of a chat and of the rights of the bot.
 *
 * @assumption updateTypes
 * @category models
 * @since 0.1.0
 */
export const cases = lazily({
  message_created: () => update("message_created", { message: nullish(Message), ...locale }),
  message_callback: () => update("message_callback", { callback: Callback, message: nullish(Message), ...locale }),
  message_edited: () => update("message_edited", { message: nullish(Message) }),
  message_removed: () => update("message_removed", removed),
  comment_created: () => update("comment_created", { message: Message }),
  comment_edited: () => update("comment_edited", { message: Message }),
  comment_removed: () => update("comment_removed", removed),
  bot_added: () => update("bot_added", { ...inChat, ...isChannel }),
  bot_removed: () => update("bot_removed", { ...inChatOrLeft, ...isChannel }),
  user_added: () => update("user_added", { ...inChat, inviter_id: nullish(UserId), ...isChannel }),
  user_removed: () => update("user_removed", { ...inChat, admin_id: nullish(UserId), ...isChannel }),
  bot_started: () => update("bot_started", { ...inChat, payload: nullish(Schema.String), ...locale }),
  bot_stopped: () => update("bot_stopped", { ...inChatOrLeft, ...locale }),
  dialog_cleared: () => update("dialog_cleared", { ...inChatOrLeft, ...locale }),
  dialog_removed: () => update("dialog_removed", { ...inChatOrLeft, ...locale }),
  dialog_muted: () => update("dialog_muted", { ...inChatOrLeft, muted_until: nullish(Millis), ...locale }),
  dialog_unmuted: () => update("dialog_unmuted", { ...inChatOrLeft, ...locale }),
  chat_title_changed: () => update("chat_title_changed", { ...inChat, title: nullish(Schema.String) }),
  bot_admin_permissions_changed: () =>
    update("bot_admin_permissions_changed", {
      chat_id: ChatId,
      user_id: nullish(UserId),
      bot_id: nullish(UserId),
      ...isChannel,
      is_admin: nullish(Schema.Boolean),
      permissions: nullish(Schema.Array(Permission))
    })
})

/**
 * A message was created.
 *
 * @category models
 * @since 0.1.0
 */
export interface MessageCreated extends Schema.Schema.Type<typeof cases.message_created> {}

/**
 * A user pressed a button.
 *
 * @category models
 * @since 0.1.0
 */
export interface MessageCallback extends Schema.Schema.Type<typeof cases.message_callback> {}

/**
 * A message was edited.
 *
 * @category models
 * @since 0.1.0
 */
export interface MessageEdited extends Schema.Schema.Type<typeof cases.message_edited> {}

/**
 * A message was removed.
 *
 * @category models
 * @since 0.1.0
 */
export interface MessageRemoved extends Schema.Schema.Type<typeof cases.message_removed> {}

/**
 * A comment was created.
 *
 * @category models
 * @since 0.1.0
 */
export interface CommentCreated extends Schema.Schema.Type<typeof cases.comment_created> {}

/**
 * A comment was edited.
 *
 * @category models
 * @since 0.1.0
 */
export interface CommentEdited extends Schema.Schema.Type<typeof cases.comment_edited> {}

/**
 * A comment was removed.
 *
 * @category models
 * @since 0.1.0
 */
export interface CommentRemoved extends Schema.Schema.Type<typeof cases.comment_removed> {}

/**
 * The bot was added to a chat.
 *
 * @category models
 * @since 0.1.0
 */
export interface BotAdded extends Schema.Schema.Type<typeof cases.bot_added> {}

/**
 * The bot was removed from a chat.
 *
 * @category models
 * @since 0.1.0
 */
export interface BotRemoved extends Schema.Schema.Type<typeof cases.bot_removed> {}

/**
 * A user joined a chat.
 *
 * @category models
 * @since 0.1.0
 */
export interface UserAdded extends Schema.Schema.Type<typeof cases.user_added> {}

/**
 * A user left a chat.
 *
 * @category models
 * @since 0.1.0
 */
export interface UserRemoved extends Schema.Schema.Type<typeof cases.user_removed> {}

/**
 * A user started the bot.
 *
 * @category models
 * @since 0.1.0
 */
export interface BotStarted extends Schema.Schema.Type<typeof cases.bot_started> {}

/**
 * A user stopped the bot.
 *
 * @category models
 * @since 0.1.0
 */
export interface BotStopped extends Schema.Schema.Type<typeof cases.bot_stopped> {}

/**
 * A user cleared the dialog.
 *
 * @category models
 * @since 0.1.0
 */
export interface DialogCleared extends Schema.Schema.Type<typeof cases.dialog_cleared> {}

/**
 * A user removed the dialog.
 *
 * @category models
 * @since 0.1.0
 */
export interface DialogRemoved extends Schema.Schema.Type<typeof cases.dialog_removed> {}

/**
 * A user muted the dialog.
 *
 * @category models
 * @since 0.1.0
 */
export interface DialogMuted extends Schema.Schema.Type<typeof cases.dialog_muted> {}

/**
 * A user unmuted the dialog.
 *
 * @category models
 * @since 0.1.0
 */
export interface DialogUnmuted extends Schema.Schema.Type<typeof cases.dialog_unmuted> {}

/**
 * The title of a chat was changed.
 *
 * @category models
 * @since 0.1.0
 */
export interface ChatTitleChanged extends Schema.Schema.Type<typeof cases.chat_title_changed> {}

/**
 * The rights of the bot were changed.
 *
 * @category models
 * @since 0.1.0
 */
export interface BotAdminPermissionsChanged extends Schema.Schema.Type<typeof cases.bot_admin_permissions_changed> {}

/**
 * An update of any type that this version knows.
 *
 * @category models
 * @since 0.1.0
 */
export type KnownUpdate =
  | MessageCreated
  | MessageCallback
  | MessageEdited
  | MessageRemoved
  | CommentCreated
  | CommentEdited
  | CommentRemoved
  | BotAdded
  | BotRemoved
  | UserAdded
  | UserRemoved
  | BotStarted
  | BotStopped
  | DialogCleared
  | DialogRemoved
  | DialogMuted
  | DialogUnmuted
  | ChatTitleChanged
  | BotAdminPermissionsChanged

/**
 * A timer that is due. The bot sends this update to itself: see `Timer`. The platform sends no updates of this type.
 *
 * @category models
 * @since 0.1.0
 */
export const TimerUpdate = update("colloquy_timer", {
  /** The name of the timer. */
  name: Schema.String,
  /** The key that distinguishes timers of this name in the whole inbox. */
  key: Schema.String,
  /** The chat that the timer belongs to. */
  chat_id: Schema.optionalKey(ChatId),
  /** The type of the chat, if a handler of an update of the chat set the timer, and the update has the type. */
  chat_type: Schema.optionalKey(ChatType),
  /** The user that the timer belongs to. */
  user_id: Schema.optionalKey(UserId),
  /** The JSON text of the value. */
  value: Schema.String,
  /** The recurrence of the timer. Absent if the timer does not recur. */
  recurrence: Schema.optionalKey(
    Schema.Struct({
      /** The cron expression. */
      cron: Schema.String,
      /** The time zone of the cron expression. */
      timeZone: Schema.String,
      /** The treatment of missed occurrences. */
      missed: Schema.Literals(["one", "all", "none"])
    })
  )
})

/**
 * A timer that is due. `timestamp` is the time when the timer was due.
 *
 * @category models
 * @since 0.1.0
 */
export interface TimerUpdate extends Schema.Schema.Type<typeof TimerUpdate> {}

/**
 * An update of a type that this version does not know.
 *
 * @category models
 * @since 0.1.0
 */
export interface UnknownUpdate extends Unknown<"update_type"> {}

/**
 * Any update. An unknown type is decoded as `{ update_type: "unknown", raw }`, so a `switch` over `update_type` narrows
 * the type.
 *
 * **Example**
 *
 * ```ts
 * import type { Update } from "@colloquy/core"
 *
 * const describe = (update: Update.Update): string => {
 *   switch (update.update_type) {
 *     case "message_created":
 *       return update.message?.body?.text ?? "(no text)"
 *     case "bot_started":
 *       return `started by ${update.user.first_name}`
 *     default:
 *       return update.update_type
 *   }
 * }
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export const Update: Schema.Codec<Update, unknown> = openUnion("update_type", () => ({
  ...cases,
  colloquy_timer: TimerUpdate
}))

/**
 * @category models
 * @since 0.1.0
 */
export type Update = Repliable | UnknownUpdate

/**
 * An update that can be replied to: any update except an update of a type that this version does not know. A function that
 * replies takes such an update.
 *
 * **Example** (A reply to any update)
 *
 * ```ts
 * import { Bot, Handler, Messages, Update } from "@colloquy/core"
 *
 * const welcome = (update: Update.Repliable) =>
 *   Messages.reply(update, `Welcome, ${Update.userOf(update)?.first_name ?? "friend"}`)
 *
 * const bot = Handler.on(["bot_started", "user_added"], welcome)
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export type Repliable = KnownUpdate | TimerUpdate

/**
 * An update about a comment. The reply to a comment is a comment.
 *
 * @category models
 * @since 0.1.0
 */
export type Comment = CommentCreated | CommentEdited | CommentRemoved

/**
 * An update whose reply is a message: any update that can be replied to, except updates about comments.
 *
 * @category models
 * @since 0.1.0
 */
export type RepliableByMessage = Exclude<Repliable, Comment>

/**
 * An update that has the message or the comment that was created or edited, or whose button was pressed. A reply can quote the
 * message.
 *
 * @category models
 * @since 0.1.0
 */
export type WithMessage = MessageCreated | MessageEdited | MessageCallback | CommentCreated | CommentEdited

/**
 * The type of an update that this version knows.
 *
 * @category models
 * @since 0.1.0
 */
export type UpdateType = keyof typeof cases

/**
 * The update of one type.
 *
 * @category models
 * @since 0.1.0
 */
export type Of<Type extends Update["update_type"]> = Extract<Update, { readonly update_type: Type }>

/**
 * The types of updates with a text that somebody wrote.
 *
 * @category models
 * @since 0.1.0
 */
export type TextType = "message_created" | "message_edited" | "comment_created" | "comment_edited"

/**
 * An update of a known type cannot be decoded. `raw` is its JSON. The other updates of the same response are decoded.
 *
 * @category errors
 * @since 0.1.0
 */
export class MalformedUpdate extends TaggedError("MalformedUpdate", () => ({
  problem: Schema.String,
  raw: Schema.Unknown
})) {
  override get message() {
    return `an update cannot be decoded: ${this.problem}. Its JSON is in \`raw\`.`
  }
}

type Type = Update["update_type"]

const schemaOf = (type: Type): Schema.Codec<Update, unknown> => {
  if (type === "unknown") return openUnion("update_type", () => ({}))
  return type === "colloquy_timer" ? TimerUpdate : cases[type]
}

const makeCodec = (schema: Schema.Codec<Update, unknown>) => ({
  decode: decodeJson(schema),
  encode: CompiledSchema.encodeUnknownResult(schema as Schema.Codec<unknown, unknown>)
})

type Codec = ReturnType<typeof makeCodec>

const codecs = new Map<string, Codec>()

const isType = (type: string): type is Type =>
  type === "unknown" || type === "colloquy_timer" || Object.hasOwn(cases, type)

const codecOf = (type: string): Codec => {
  const known = codecs.get(type)
  if (known !== undefined) return known
  if (!isType(type)) return codecOf("unknown")
  const codec = makeCodec(schemaOf(type))
  codecs.set(type, codec)
  return codec
}

const decodeAny = decodeJson(Update)

const decoderOf = (json: unknown): malformed.Decode<Update> => {
  const type = memberOf("update_type", json)
  return typeof type === "string" ? codecOf(type).decode : decodeAny
}

/**
 * A part of an update that could not be decoded.
 *
 * @category models
 * @since 0.1.0
 */
export interface MalformedPart {
  /** The path of the part, such as `message.body.attachments[0]`. */
  readonly field: string
  /** The problem of the part. */
  readonly problem: string
  /** The JSON of the part. */
  readonly raw: unknown
}

/**
 * Returns the parts of an update that could not be decoded, with their JSON. Malformed parts do not fail the rest of
 * the update:
 *
 * - an attachment, a button or an element of markup is decoded as an unknown one, `{ type: "unknown", raw }`;
 * - of a user, the fields that can be decoded remain. A missing `first_name` is the `name` of the user, or empty;
 * - the `link` and the `stat` of a message are left out, and so are members that can be missing, such as `url` and
 *   `user_locale`;
 * - a missing `timestamp` of an update is the time when the inbox received the update, and 0 where there is no inbox.
 *
 * The type, the chat and the content of an update are required, and so is the id of each of its users. An update
 * without these parts is a {@link MalformedUpdate}. An update with more than 4096 values is not repaired. `Bot.run`
 * logs one warning for an update with malformed parts.
 *
 * **Example** (A photo without its id)
 *
 * ```ts
 * import { Handler, Update } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const report = Handler.on("message_created", (update) =>
 *   Effect.forEach(Update.malformedParts(update), ({ field, problem }) => Effect.logInfo(`${field}: ${problem}`))
 * )
 * ```
 *
 * @category getters
 * @since 0.1.0
 */
export const malformedParts = (update: Update): ReadonlyArray<MalformedPart> => partsOf.get(update) ?? []

/**
 * Returns the JSON value of an update, as on the wire, which {@link decode} decodes. `Json.stringify` makes text of this value.
 *
 * **Example**
 *
 * ```ts
 * import { Json, Update } from "@colloquy/core"
 *
 * const toText = (update: Update.Update): string => Json.stringify(Update.encode(update))
 * ```
 *
 * @category parsing
 * @since 0.1.0
 */
export const encode = (update: Update): unknown => Result.getOrThrow(codecOf(update.update_type).encode(update))

/** An update without a time gets the time of its receipt: see {@link datedAt}. */
const repairUpdate: malformed.Repair = (json, field) =>
  field === missingTime ? { ...json, [missingTime]: 0 } : undefined

/**
 * Decodes an update from a JSON value that `Json.parse` has read. Fails with {@link MalformedUpdate} if a known update is
 * malformed.
 *
 * **Example** (The updates of a page)
 *
 * ```ts
 * import { Update } from "@colloquy/core"
 *
 * const decodeAll = (updates: ReadonlyArray<unknown>) => updates.map(Update.decode)
 * ```
 *
 * @category parsing
 * @since 0.1.0
 */
export const decode = (json: unknown): Result.Result<Update, MalformedUpdate> => {
  const parts: Array<MalformedPart> = []
  const read = malformed.decode(decoderOf(json), json, parts, repairUpdate)
  if (Result.isFailure(read)) {
    return Result.fail(new MalformedUpdate({ problem: FieldIssue.format(read.failure), raw: malformed.rawOf(json) }))
  }
  if (parts.length > 0) partsOf.set(read.success, parts)
  return read as Result.Result<Update, never>
}

const notParsed = (error: unknown): string =>
  error instanceof Unparsed ? `its JSON ${error.problem}` : "it is not JSON, or is incomplete"

/**
 * Decodes an update from JSON, such as the body of a webhook request, with exact integers. Fails with
 * {@link MalformedUpdate} if the text is not JSON or a known update is malformed.
 *
 * **Example**
 *
 * ```ts
 * import { Update } from "@colloquy/core"
 * import { Result } from "effect"
 *
 * const update = Update.parse(`{"update_type":"bot_started","timestamp":1774000000000}`)
 * Result.isFailure(update) // => true: `chat_id` is missing
 * ```
 *
 * API: Events.
 *
 * @category parsing
 * @since 0.1.0
 */
export const parse = (text: string): Result.Result<Update, MalformedUpdate> => {
  const json = Result.try(() => parseMarked(text))
  return Result.isSuccess(json)
    ? decode(json.success)
    : Result.fail(new MalformedUpdate({ problem: notParsed(json.failure), raw: text }))
}

/**
 * Returns the message or the comment that was created or edited, or that has the pressed button.
 *
 * @category getters
 * @since 0.1.0
 */
export const messageOf = (update: Update): Message | undefined =>
  "message" in update ? (update.message ?? undefined) : undefined

/**
 * Returns the chat of an update, or `undefined` if the platform left the chat out, for example with a deleted message.
 *
 * **Example**
 *
 * ```ts
 * import { Update } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const logged = (update: Update.Update) =>
 *   Effect.annotateLogs(Effect.logInfo(update.update_type), { chat_id: Update.chatOf(update) })
 * ```
 *
 * @category getters
 * @since 0.1.0
 */
export const chatOf = (update: Update): ChatId | undefined =>
  "chat_id" in update ? update.chat_id : (messageOf(update)?.recipient.chat_id ?? undefined)

/**
 * Returns the type of the chat of an update: `dialog`, `chat` (a group chat) or `channel`, also for comments. Returns
 * `undefined` if the update has no type of the chat.
 *
 * @assumption dialogIds
 * @category getters
 * @since 0.1.0
 */
export const chatTypeOf = (update: Update): ChatType | undefined => {
  const said = update.update_type === "colloquy_timer" ? update.chat_type : messageOf(update)?.recipient.chat_type
  if (said !== undefined) return said
  if (update.update_type === "comment_removed") return "channel"
  if ("is_channel" in update && update.is_channel != null) return update.is_channel ? "channel" : "chat"
  const chat = chatOf(update)
  return chat !== undefined && chat > 0 ? "dialog" : undefined
}

/**
 * Returns the user of an update, who wrote, pressed the button, started the bot, joined or left. Returns `undefined`
 * for a post, a comment on behalf of the channel and a removed message.
 *
 * @category getters
 * @since 0.1.0
 */
export const userOf = (update: Update): User | undefined => {
  if (update.update_type === "message_callback") return update.callback.user
  return "user" in update ? (update.user ?? undefined) : (messageOf(update)?.sender ?? undefined)
}

/**
 * Returns the id of the user of an update ({@link userOf}). Some updates contain only the id of the user who removed a
 * message or changed the rights of the bot.
 *
 * @category getters
 * @since 0.1.0
 */
export const userIdOf = (update: Update): UserId | undefined =>
  userOf(update)?.user_id ?? ("user_id" in update ? (update.user_id ?? undefined) : undefined)

/**
 * Returns the text of a created or edited message or comment, or `undefined` if the text is empty. A callback has no
 * text, even if its message has a text.
 *
 * **Example**
 *
 * ```ts
 * import { Messages, Update } from "@colloquy/core"
 *
 * const echo = (update: Update.Of<"message_created">) =>
 *   Messages.reply(update, Update.textOf(update) ?? "(no text)")
 * ```
 *
 * @category getters
 * @since 0.1.0
 */
export const textOf = (update: Update): string | undefined =>
  update.update_type === "message_callback" ? undefined : messageOf(update)?.body?.text || undefined
