import { ChatId } from "@colloquy/core/model/Chat"
import { SenderAction } from "@colloquy/core/endpoints/Chats"
import { Comment, Message, MessageId } from "@colloquy/core/model/Message"
import { Outcome } from "@colloquy/core/inbox/UpdateLog"
import { Permission } from "@colloquy/core/model/Member"
import { Update } from "@colloquy/core/model/Update"
import { UserId, UserWithPhoto } from "@colloquy/core/model/User"
import * as Schema from "effect/Schema"
import { Rule } from "../../Faults.ts"

const chatChanges = [
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
] as const

export const LimitUse = Schema.Struct({
  scope: Schema.Literals(["host", "messages", "answers", "polling"]),
  used: Schema.Int,
  limit: Schema.Int
})

const base = { id: Schema.Int, at: Schema.Int }

const inChat = { ...base, chat_id: ChatId, bot_id: Schema.optionalKey(UserId) }

const byUser = { ...inChat, user_id: UserId }

/** The schema of each type of event. */
export const schemas = {
  message: Schema.Struct({
    ...byUser,
    type: Schema.tag("message"),
    message: Message,
    notify: Schema.Boolean
  }),
  edited: Schema.Struct({
    ...byUser,
    type: Schema.tag("edited"),
    message: Message,
    previous: Message
  }),
  removed: Schema.Struct({
    ...byUser,
    type: Schema.tag("removed"),
    message_id: MessageId
  }),
  comment: Schema.Struct({
    ...byUser,
    type: Schema.tag("comment"),
    comment: Comment
  }),
  comment_edited: Schema.Struct({
    ...byUser,
    type: Schema.tag("comment_edited"),
    comment: Comment,
    previous: Comment
  }),
  comment_removed: Schema.Struct({
    ...byUser,
    type: Schema.tag("comment_removed"),
    comment_id: MessageId,
    message_id: MessageId
  }),
  action: Schema.Struct({
    ...byUser,
    type: Schema.tag("action"),
    action: SenderAction
  }),
  press: Schema.Struct({
    ...byUser,
    type: Schema.tag("press"),
    message_id: MessageId,
    button: Schema.Tuple([Schema.Int, Schema.Int]),
    callback_id: Schema.optionalKey(Schema.String)
  }),
  answer: Schema.Struct({
    ...byUser,
    type: Schema.tag("answer"),
    message_id: MessageId,
    callback_id: Schema.String,
    notification: Schema.optionalKey(Schema.String)
  }),
  notice: Schema.Struct({
    ...inChat,
    type: Schema.tag("notice"),
    changed: Schema.Array(Schema.Literals(["icon", "title", "description", "pin"]))
  }),
  update: Schema.Struct({
    ...base,
    type: Schema.tag("update"),
    bot_id: UserId,
    chat_id: Schema.optionalKey(ChatId),
    update_type: Schema.String,
    number: Schema.Int,
    message_id: Schema.optionalKey(MessageId),
    text: Schema.optionalKey(Schema.String),
    update: Schema.optionalKey(Update)
  }),
  handled: Schema.Struct({
    ...base,
    type: Schema.tag("handled"),
    bot_id: UserId,
    chat_id: Schema.optionalKey(ChatId),
    number: Schema.Int,
    outcome: Outcome,
    part: Schema.optionalKey(Schema.Struct({ kind: Schema.String, name: Schema.String })),
    attempt: Schema.Int,
    took: Schema.Finite,
    error: Schema.optionalKey(Schema.String)
  }),
  connection: Schema.Struct({
    ...base,
    type: Schema.tag("connection"),
    bot_id: UserId,
    is_connected: Schema.Boolean
  }),
  request: Schema.Struct({
    ...base,
    type: Schema.tag("request"),
    bot_id: Schema.optionalKey(UserId),
    chat_id: Schema.optionalKey(ChatId),
    number: Schema.Int,
    took: Schema.Int,
    method: Schema.String,
    path: Schema.String,
    query: Schema.String,
    endpoint: Schema.NullOr(Schema.String),
    status: Schema.NullOr(Schema.Int),
    limits: Schema.Array(LimitUse),
    message_id: Schema.optionalKey(MessageId),
    text: Schema.optionalKey(Schema.String),
    fault: Schema.optionalKey(Rule),
    marker: Schema.optionalKey(Schema.Int),
    headers: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
    body: Schema.optionalKey(Schema.Unknown),
    answer: Schema.optionalKey(Schema.Unknown)
  }),
  delivery: Schema.Struct({
    ...base,
    type: Schema.tag("delivery"),
    bot_id: UserId,
    chat_id: Schema.optionalKey(ChatId),
    delivery_id: Schema.Int,
    url: Schema.String,
    update_type: Schema.String,
    number: Schema.Int,
    attempt: Schema.Int,
    status: Schema.NullOr(Schema.Int),
    failure: Schema.NullOr(Schema.String),
    latency: Schema.Finite,
    state: Schema.Literals(["delivered", "failed", "dead"]),
    next_at: Schema.NullOr(Schema.Int)
  }),
  fault: Schema.Struct({
    ...base,
    type: Schema.tag("fault"),
    bot_id: Schema.optionalKey(UserId),
    chat_id: Schema.optionalKey(ChatId),
    rule: Rule,
    matched: Schema.Int,
    applied: Schema.Int,
    target: Schema.String
  }),
  clock: Schema.Struct({
    ...base,
    type: Schema.tag("clock"),
    now: Schema.Int,
    is_running: Schema.Boolean
  }),
  user: Schema.Struct({
    ...base,
    type: Schema.tag("user"),
    user: UserWithPhoto
  }),
  chat: Schema.Struct({
    ...inChat,
    type: Schema.tag("chat"),
    change: Schema.Literals(chatChanges),
    user_id: Schema.optionalKey(UserId),
    payload: Schema.optionalKey(Schema.String),
    message_id: Schema.optionalKey(MessageId)
  }),
  member: Schema.Struct({
    ...inChat,
    type: Schema.tag("member"),
    change: Schema.Literals(["added", "removed", "rights"]),
    user_id: UserId,
    permissions: Schema.optionalKey(Schema.Array(Permission)),
    by: Schema.optionalKey(UserId)
  }),
  upload: Schema.Struct({
    ...base,
    type: Schema.tag("upload"),
    media: Schema.Literals(["image", "video", "audio", "file"]),
    token: Schema.String,
    filename: Schema.NullOr(Schema.String),
    size: Schema.Int,
    ready_at: Schema.Int
  }),
  reset: Schema.Struct({
    ...base,
    type: Schema.tag("reset")
  }),
  gap: Schema.Struct({
    ...base,
    type: Schema.tag("gap"),
    from: Schema.Int
  })
}
