import { Chat, ChatId } from "@colloquy/core/model/Chat"
import { Comment, Message, MessageId } from "@colloquy/core/model/Message"
import * as Endpoint from "@colloquy/core/client/Endpoint"
import { Entry } from "@colloquy/core/inbox/UpdateLog"
import { Permission } from "@colloquy/core/model/Member"
import { NewMessageLink, TextFormat } from "@colloquy/core/model/NewMessage"
import { SecretCharacters, SecretHeader } from "@colloquy/core/model/Subscription"
import { Update } from "@colloquy/core/model/Update"
import { UserId, UserWithPhoto } from "@colloquy/core/model/User"
import * as Schema from "effect/Schema"
import { EmulatorEvent, eventTypes } from "../../EmulatorEvent.ts"
import type { Response } from "../../EmulatorHttp.ts"
import { Rule } from "../../Faults.ts"
import { ClockView, LimitsView, StateView, WaitingView } from "./stateView.ts"
import { DeliveryView, SeenView, RequestView } from "./views.ts"

/** An optional field; `null` means absent. */
export const optional = <S extends Schema.Top>(schema: S) => Schema.optional(Schema.NullOr(schema))

const Natural = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0, { message: "must be a whole number, 0 or greater" }))

/** The bot that the call concerns. Default: the first bot. */
const toBot = { bot_id: optional(UserId) }

const person = { user_id: UserId, ...toBot }

const Done = Schema.Struct({ success: Schema.Literal(true) })

/** The success of a call whose handler makes the whole response, because the response is not JSON. */
export const Whole = Schema.declare((_): _ is Response => true)

const declare = <
  Success extends Schema.Codec<unknown, unknown>,
  Params extends Endpoint.Fields = {},
  Query extends Endpoint.Fields = {},
  Body extends Endpoint.Fields = {}
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

/** A call that only succeeds. */
const command = <Body extends Endpoint.Fields>(path: string, body: Body) => declare("POST", path, Done, { body })

export const health = declare("GET", "/health", Schema.Struct({ status: Schema.Literal("ready") }))

export const reset = declare("POST", "/reset", Done)

export const openapi = declare("GET", "/openapi.json", Schema.Unknown)

export const listBots = declare(
  "GET",
  "/bots",
  Schema.Struct({ bots: Schema.Array(Schema.Struct({ token: Schema.String, user: UserWithPhoto })) })
)

const user = {
  first_name: Schema.String,
  user_id: optional(UserId),
  last_name: optional(Schema.String),
  username: optional(Schema.String),
  description: optional(Schema.String),
  avatar_url: optional(Schema.String),
  full_avatar_url: optional(Schema.String),
  phone: optional(Schema.String),
  is_private: optional(Schema.Boolean),
  hides_activity: optional(Schema.Boolean),
  location: optional(Schema.Struct({ latitude: Schema.Finite, longitude: Schema.Finite })),
  locale: optional(Schema.String)
}

export const createUser = declare("POST", "/users", UserWithPhoto, { body: user })

const chat = {
  type: Schema.Literals(["chat", "channel", "dialog"]),
  chat_id: optional(ChatId),
  title: optional(Schema.String),
  members: optional(Schema.Array(UserId)),
  owner_id: optional(UserId),
  bot: optional(
    Schema.Union([
      Schema.Struct({ admin: optional(Schema.Boolean), permissions: optional(Schema.Array(Permission)) }),
      Schema.Literal(false)
    ])
  ),
  is_public: optional(Schema.Boolean),
  has_comments: optional(Schema.Boolean),
  allows_forwarding: optional(Schema.Boolean),
  ...toBot
}

export const createChat = declare("POST", "/chats", Chat, { body: chat })

/** The id and the time of a message or comment that a saved state has. */
const seedPosition = { mid: optional(MessageId), timestamp: optional(Natural) }

/** A comment of a person or a bot. `reply_to` is the place of another comment of the post. */
const seedComment = Schema.Struct({
  user_id: UserId,
  text: Schema.String,
  format: optional(TextFormat),
  on_behalf: optional(Schema.Boolean),
  reply_to: optional(Natural),
  ...seedPosition
})

export type SeedComment = typeof seedComment.Type

/** A message of the person `user_id`. Without `user_id`, a message of the bot `bot_id`, or of the bot of the chat. */
const seedMessage = Schema.Struct({
  user_id: optional(UserId),
  bot_id: optional(UserId),
  text: optional(Schema.String),
  attachments: optional(Schema.Array(Schema.Unknown)),
  format: optional(TextFormat),
  link: optional(
    Schema.Struct({ type: Schema.Literals(["reply", "forward"]), chat_id: optional(ChatId), index: Natural })
  ),
  comments: optional(Schema.Array(seedComment)),
  ...seedPosition
})

export type SeedMessage = typeof seedMessage.Type

const seedChat = Schema.Struct({
  ...chat,
  admins: optional(Schema.Array(Schema.Struct({ user_id: UserId, permissions: optional(Schema.Array(Permission)) }))),
  messages: optional(Schema.Array(seedMessage)),
  description: optional(Schema.String),
  pinned: optional(Natural),
  is_stopped: optional(Schema.Boolean),
  is_closed: optional(Schema.Boolean)
})

export type SeedChat = typeof seedChat.Type

const media = {
  type: Schema.Literals(["image", "video", "audio", "file"]),
  token: optional(Schema.String),
  filename: optional(Schema.String),
  size: optional(Natural),
  url: optional(Schema.String),
  content: optional(Schema.Uint8ArrayFromBase64)
}

const seedMedia = Schema.Struct(media)

const seedBody = {
  users: optional(Schema.Array(Schema.Struct(user))),
  media: optional(Schema.Array(seedMedia)),
  chats: optional(Schema.Array(seedChat)),
  silent: optional(Schema.Boolean),
  unchecked: optional(Schema.Boolean)
}

export type Seed = Schema.Struct.Type<typeof seedBody>

export const seed = declare(
  "POST",
  "/seed",
  Schema.Struct({ users: Schema.Array(UserWithPhoto), chats: Schema.Array(Chat) }),
  { body: seedBody }
)

export const getSeed = declare("GET", "/seed", Schema.Struct(seedBody))

/** Media that a person can send by their token. */
export const createMedia = declare("POST", "/media", Schema.Struct({ token: Schema.String }), { body: media })

export type NewMedia = typeof seedMedia.Type

export const getMedia = declare("GET", "/media/{token}", Whole, { params: { token: Schema.String } })

/** `is_kept`: the emulator has the content, which `GET /media/{token}` returns. */
export const describeMedia = declare(
  "GET",
  "/media/{token}/info",
  Schema.Struct({ filename: Schema.NullOr(Schema.String), size: Schema.Int, is_kept: Schema.Boolean }),
  { params: { token: Schema.String } }
)

export const listChats = declare("GET", "/chats", Schema.Struct({ chats: Schema.Array(Chat) }), { query: toBot })

const inChat = { ...person, chat_id: ChatId }

const atMessage = { ...person, message_id: MessageId }

export const sendMessage = declare("POST", "/messages", Message, {
  body: {
    ...person,
    chat_id: optional(ChatId),
    text: optional(Schema.String),
    format: optional(TextFormat),
    attachments: optional(Schema.Array(Schema.Unknown)),
    link: optional(NewMessageLink)
  }
})

export const listMessages = declare(
  "GET",
  "/chats/{chatId}/messages",
  Schema.Struct({
    messages: Schema.Array(Message),
    removed: Schema.Array(Message),
    comment_counts: Schema.Record(Schema.String, Schema.Int)
  }),
  { params: { chat_id: ChatId }, query: { count: optional(Natural) } }
)

export const edit = declare("POST", "/edit", Message, { body: { ...atMessage, text: Schema.String } })

export const remove = command("/remove", atMessage)

export const view = command("/view", atMessage)

export const press = declare("POST", "/press", Schema.Struct({ callback_id: Schema.optionalKey(Schema.String) }), {
  body: {
    ...atMessage,
    button: Schema.Union([Schema.String, Schema.Tuple([Natural, Natural]), Schema.Struct({ payload: Schema.String })])
  }
})

/** The address of a mini app, with the init data that the platform signs for the person. */
export const openApp = declare("POST", "/open_app", Schema.Struct({ url: Schema.String, init_data: Schema.String }), {
  body: { ...atMessage, button: Schema.Tuple([Natural, Natural]) }
})

export const sendComment = declare("POST", "/comments", Comment, {
  body: { ...atMessage, text: Schema.String, reply_to: optional(MessageId), on_behalf: optional(Schema.Boolean) }
})

export const listComments = declare(
  "GET",
  "/messages/{messageId}/comments",
  Schema.Struct({ comments: Schema.Array(Comment) }),
  { params: { message_id: MessageId } }
)

const atComment = { ...person, comment_id: MessageId }

export const editComment = declare("POST", "/edit_comment", Comment, { body: { ...atComment, text: Schema.String } })

export const removeComment = command("/remove_comment", atComment)

export const start = declare("POST", "/start", Chat, { body: { ...person, payload: optional(Schema.String) } })

export const stop = command("/stop", person)

export const clearDialog = command("/clear_dialog", person)

export const removeDialog = command("/remove_dialog", person)

export const muteDialog = command("/mute_dialog", { ...person, until: Natural })

export const unmuteDialog = command("/unmute_dialog", person)

export const join = command("/join", inChat)

export const leave = command("/leave", inChat)

const aboutMember = { ...inChat, member_id: UserId }

export const addMember = command("/add_member", aboutMember)

export const removeMember = command("/remove_member", { ...aboutMember, block: optional(Schema.Boolean) })

export const setAdmin = command("/set_admin", { ...aboutMember, permissions: optional(Schema.Array(Permission)) })

export const addBot = command("/add_bot", inChat)

export const removeBot = command("/remove_bot", inChat)

export const setBotAdmin = command("/set_bot_admin", { ...inChat, permissions: optional(Schema.Array(Permission)) })

export const rename = command("/rename", { ...inChat, title: Schema.String })

export const revokeToken = command("/revoke_token", {
  ...toBot,
  as: optional(Schema.Literals(["revoked", "deprecated"]))
})

export const closeChat = command("/close_chat", { chat_id: ChatId })

export const allowComments = command("/allow_comments", { chat_id: ChatId, allowed: Schema.Boolean })

export const deliverUpdate = command("/updates", { update: Schema.Unknown, ...toBot })

export const listUpdates = declare("GET", "/updates", Schema.Struct({ updates: Schema.Array(Update) }), {
  query: toBot
})

/** The response is a stream of server-sent events. */
export const listEvents = declare("GET", "/events", Whole, {
  query: {
    types: optional(Schema.Array(Schema.Literals(eventTypes))),
    bot_id: optional(UserId),
    chat_id: optional(ChatId),
    from: optional(Natural),
    details: optional(Schema.Boolean),
    max_lag: optional(Natural)
  }
})

/** An event with its details. */
export const getEvent = declare("GET", "/events/{eventId}", EmulatorEvent, { params: { event_id: Natural } })

/** Answers a request of a bot again, as if the bot had sent the request again. */
export const repeatRequest = declare("POST", "/repeat_request", Schema.Struct({ status: Schema.NullOr(Schema.Int) }), {
  body: { number: Natural }
})

/** The parts of the bot, if the emulator knows the module of the bot. */
export const listParts = declare(
  "GET",
  "/parts",
  Schema.Struct({
    parts: Schema.Array(
      Schema.Struct({ kind: Schema.String, name: Schema.String, description: Schema.optionalKey(Schema.String) })
    ),
    problem: Schema.optionalKey(Schema.String)
  })
)

/** Reports how the bot of the token handled its updates. */
export const reportHandled = command("/handled", { entries: Schema.Array(Entry) })

/** Saves a test in the folder of the tests. A file that exists is not replaced. */
export const saveTest = declare("POST", "/tests", Schema.Struct({ path: Schema.String }), {
  body: {
    name: Schema.String.check(Schema.isPattern(/^[\w-]{1,80}$/, { message: "must be letters, digits, - and _" })),
    text: Schema.String
  }
})

export const getJournal = declare("GET", "/journal", Whole)

export const getState = declare("GET", "/state", StateView)

export const getLimits = declare("GET", "/limits", LimitsView)

export const deliverNow = command("/deliver_now", { delivery_id: Natural })

export const getPage = declare("GET", "/ui", Whole)

export const getPageFile = declare("GET", "/ui/{file}", Whole, { params: { file: Schema.String } })

export const listSeen = declare("GET", "/seen", Schema.Struct({ seen: Schema.Array(SeenView), next: Schema.Int }), {
  query: { chat_id: optional(ChatId), user_id: optional(UserId), from: optional(Natural), wait_ms: optional(Natural) }
})

export const listRequests = declare(
  "GET",
  "/requests",
  Schema.Struct({ requests: Schema.Array(RequestView), next: Schema.Int }),
  { query: { from: optional(Natural), count: optional(Natural) } }
)

export const listDeliveries = declare(
  "GET",
  "/deliveries",
  Schema.Struct({ deliveries: Schema.Array(DeliveryView), waiting: Schema.Array(WaitingView) })
)

const ActiveFault = Schema.Struct({
  rule: Rule,
  matched: Schema.Int,
  applied: Schema.Int,
  /** The time of the rule is over. */
  is_over: Schema.optionalKey(Schema.Literal(true))
})

export const listFaults = declare("GET", "/faults", Schema.Struct({ faults: Schema.Array(ActiveFault) }))

export const setFaults = declare("PUT", "/faults", Done, { body: { rules: Schema.Array(Schema.Unknown) } })

const WebhookSettings = Schema.Struct({ secret_header: Schema.String, secret_characters: Schema.String })

export const getWebhooks = declare("GET", "/webhooks", WebhookSettings)

export const setWebhooks = declare("PUT", "/webhooks", WebhookSettings, {
  body: { secret_header: optional(SecretHeader), secret_characters: optional(SecretCharacters) }
})

export const getClock = declare("GET", "/clock", ClockView)

export const advanceClock = declare("POST", "/clock", ClockView, {
  body: {
    advance_ms: optional(Natural),
    to: optional(Schema.Literal("next_due")),
    running: optional(Schema.Boolean)
  }
})
