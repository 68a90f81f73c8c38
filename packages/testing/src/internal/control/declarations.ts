import { Chat, ChatId } from "@colloquy/core/Chat"
import { Comment } from "@colloquy/core/Comment"
import * as Endpoint from "@colloquy/core/Endpoint"
import { Permission } from "@colloquy/core/Member"
import { Message, MessageId } from "@colloquy/core/Message"
import { NewMessageLink, TextFormat } from "@colloquy/core/NewMessage"
import { SecretCharacters, SecretHeader } from "@colloquy/core/Subscription"
import { Update } from "@colloquy/core/Update"
import { UserId, UserWithPhoto } from "@colloquy/core/User"
import * as Schema from "effect/Schema"
import { Rule } from "../../Faults.ts"
import { HeardOnWire } from "./heard.ts"
import { Delivered, Journaled } from "./journal.ts"
import { maybe } from "./maybe.ts"

const Natural = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0, { message: "must be a whole number, 0 or greater" }))

/** Which bot it is about: the first one unless told. */
const toBot = { bot_id: maybe(UserId) }

const who = { user_id: UserId, ...toBot }

const Done = Schema.Struct({ success: Schema.Literal(true) })

const declare = <
  Success extends Schema.Codec<unknown, unknown>,
  Params extends Schema.Struct.Fields = {},
  Query extends Schema.Struct.Fields = {},
  Body extends Schema.Struct.Fields = {}
>(
  method: "GET" | "POST" | "PUT",
  path: string,
  success: Success,
  parts: { readonly params?: Params; readonly query?: Query; readonly body?: Body } = {}
) => {
  const name = `${method.toLowerCase()}${path.replaceAll(/[/_{](\w)|\}/g, (_, letter: string) => (letter ?? "").toUpperCase())}`
  return Endpoint.make(`Emulator.${name}`, () => ({
    method,
    path: `/_emulator${path}` as const,
    ...parts,
    success,
    errors: []
  }))
}

export const health = declare("GET", "/health", Schema.Struct({ status: Schema.Literal("ready") }))

export const reset = declare("POST", "/reset", Done)

export const openapi = declare("GET", "/openapi.json", Schema.Unknown)

export const bots = declare(
  "GET",
  "/bots",
  Schema.Struct({ bots: Schema.Array(Schema.Struct({ token: Schema.String, user: UserWithPhoto })) })
)

const user = {
  first_name: Schema.String,
  user_id: maybe(UserId),
  last_name: maybe(Schema.String),
  username: maybe(Schema.String),
  description: maybe(Schema.String),
  avatar_url: maybe(Schema.String),
  full_avatar_url: maybe(Schema.String),
  phone: maybe(Schema.String),
  is_private: maybe(Schema.Boolean),
  hides_activity: maybe(Schema.Boolean),
  location: maybe(Schema.Struct({ latitude: Schema.Finite, longitude: Schema.Finite })),
  locale: maybe(Schema.String)
}

export const users = declare("POST", "/users", UserWithPhoto, { body: user })

const chat = {
  type: Schema.Literals(["chat", "channel", "dialog"]),
  chat_id: maybe(ChatId),
  title: maybe(Schema.String),
  members: maybe(Schema.Array(UserId)),
  owner_id: maybe(UserId),
  bot: maybe(
    Schema.Union([
      Schema.Struct({ admin: maybe(Schema.Boolean), permissions: maybe(Schema.Array(Permission)) }),
      Schema.Literal(false)
    ])
  ),
  is_public: maybe(Schema.Boolean),
  has_comments: maybe(Schema.Boolean),
  ...toBot
}

export const chats = declare("POST", "/chats", Chat, { body: chat })

/** What somebody said: a person, or the bot where no `user_id` stands. */
const seedMessage = Schema.Struct({
  user_id: maybe(UserId),
  text: maybe(Schema.String),
  attachments: maybe(Schema.Array(Schema.Unknown)),
  format: maybe(TextFormat),
  comments: maybe(Schema.Array(Schema.Struct({ user_id: UserId, text: Schema.String })))
})

export type SeedMessage = typeof seedMessage.Type

const seedChat = Schema.Struct({
  ...chat,
  admins: maybe(Schema.Array(Schema.Struct({ user_id: UserId, permissions: maybe(Schema.Array(Permission)) }))),
  messages: maybe(Schema.Array(seedMessage))
})

export type SeedChat = typeof seedChat.Type

export const seed = declare(
  "POST",
  "/seed",
  Schema.Struct({ users: Schema.Array(UserWithPhoto), chats: Schema.Array(Chat) }),
  {
    body: {
      users: maybe(Schema.Array(Schema.Struct(user))),
      chats: maybe(Schema.Array(seedChat)),
      silent: maybe(Schema.Boolean)
    }
  }
)

export const listChats = declare("GET", "/chats", Schema.Struct({ chats: Schema.Array(Chat) }), { query: toBot })

const inChat = { ...who, chat_id: ChatId }

const atMessage = { ...who, message_id: MessageId }

export const messages = declare("POST", "/messages", Message, {
  body: {
    ...who,
    chat_id: maybe(ChatId),
    text: maybe(Schema.String),
    attachments: maybe(Schema.Array(Schema.Unknown)),
    link: maybe(NewMessageLink)
  }
})

export const listMessages = declare(
  "GET",
  "/chats/{chatId}/messages",
  Schema.Struct({ messages: Schema.Array(Message) }),
  { params: { chat_id: ChatId } }
)

export const edit = declare("POST", "/edit", Message, { body: { ...atMessage, text: Schema.String } })

export const remove = declare("POST", "/remove", Done, { body: atMessage })

export const view = declare("POST", "/view", Done, { body: atMessage })

export const press = declare("POST", "/press", Schema.Struct({ callback_id: Schema.optionalKey(Schema.String) }), {
  body: {
    ...atMessage,
    button: Schema.Union([Schema.String, Schema.Tuple([Natural, Natural]), Schema.Struct({ payload: Schema.String })])
  }
})

export const comments = declare("POST", "/comments", Comment, {
  body: { ...atMessage, text: Schema.String, reply_to: maybe(MessageId), on_behalf: maybe(Schema.Boolean) }
})

export const listComments = declare(
  "GET",
  "/messages/{messageId}/comments",
  Schema.Struct({ comments: Schema.Array(Comment) }),
  { params: { message_id: MessageId } }
)

const atComment = { ...who, comment_id: MessageId }

export const editComment = declare("POST", "/edit_comment", Comment, { body: { ...atComment, text: Schema.String } })

export const removeComment = declare("POST", "/remove_comment", Done, { body: atComment })

export const start = declare("POST", "/start", Chat, { body: { ...who, payload: maybe(Schema.String) } })

export const stop = declare("POST", "/stop", Done, { body: who })

export const clearDialog = declare("POST", "/clear_dialog", Done, { body: who })

export const removeDialog = declare("POST", "/remove_dialog", Done, { body: who })

export const muteDialog = declare("POST", "/mute_dialog", Done, { body: { ...who, until: Natural } })

export const unmuteDialog = declare("POST", "/unmute_dialog", Done, { body: who })

export const join = declare("POST", "/join", Done, { body: inChat })

export const leave = declare("POST", "/leave", Done, { body: inChat })

const aboutMember = { ...inChat, member_id: UserId }

export const add = declare("POST", "/add", Done, { body: aboutMember })

export const kick = declare("POST", "/kick", Done, { body: { ...aboutMember, block: maybe(Schema.Boolean) } })

export const appoint = declare("POST", "/appoint", Done, {
  body: { ...aboutMember, permissions: maybe(Schema.Array(Permission)) }
})

export const addBot = declare("POST", "/add_bot", Done, { body: inChat })

export const removeBot = declare("POST", "/remove_bot", Done, { body: inChat })

export const appointBot = declare("POST", "/appoint_bot", Done, {
  body: { ...inChat, permissions: maybe(Schema.Array(Permission)) }
})

export const rename = declare("POST", "/rename", Done, { body: { ...inChat, title: Schema.String } })

export const revoke = declare("POST", "/revoke", Done, {
  body: { ...toBot, as: maybe(Schema.Literals(["revoked", "deprecated"])) }
})

export const closeChat = declare("POST", "/close_chat", Done, { body: { chat_id: ChatId } })

export const allowComments = declare("POST", "/allow_comments", Done, {
  body: { chat_id: ChatId, allowed: Schema.Boolean }
})

export const events = declare("POST", "/events", Done, { body: { update: Schema.Unknown, ...toBot } })

export const listUpdates = declare("GET", "/updates", Schema.Struct({ updates: Schema.Array(Update) }), {
  query: toBot
})

export const heard = declare("GET", "/heard", Schema.Struct({ heard: Schema.Array(HeardOnWire), next: Schema.Int }), {
  query: { chat_id: maybe(ChatId), user_id: maybe(UserId), from: maybe(Natural), wait_ms: maybe(Natural) }
})

export const requests = declare(
  "GET",
  "/requests",
  Schema.Struct({ requests: Schema.Array(Journaled), next: Schema.Int }),
  { query: { from: maybe(Natural) } }
)

export const deliveries = declare("GET", "/deliveries", Schema.Struct({ deliveries: Schema.Array(Delivered) }))

const Standing = Schema.Struct({ rule: Rule, matched: Schema.Int, applied: Schema.Int })

export const listFaults = declare("GET", "/faults", Schema.Struct({ faults: Schema.Array(Standing) }))

export const setFaults = declare("PUT", "/faults", Done, { body: { rules: Schema.Array(Schema.Unknown) } })

const WebhookSettings = Schema.Struct({ secret_header: Schema.String, secret_characters: Schema.String })

export const webhooks = declare("GET", "/webhooks", WebhookSettings)

export const setWebhooks = declare("PUT", "/webhooks", WebhookSettings, {
  body: { secret_header: maybe(SecretHeader), secret_characters: maybe(SecretCharacters) }
})

const Time = Schema.Struct({ now: Schema.Int, is_virtual: Schema.Boolean })

export const time = declare("GET", "/clock", Time)

export const clock = declare("POST", "/clock", Time, { body: { advance_ms: Natural } })
