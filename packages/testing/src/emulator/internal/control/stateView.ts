import { BotCommand, UserId, UserWithPhoto } from "@colloquy/core/model/User"
import { Chat, ChatId } from "@colloquy/core/model/Chat"
import { ChatMember } from "@colloquy/core/model/Member"
import { Message, MessageId } from "@colloquy/core/model/Message"
import * as Schema from "effect/Schema"
import { LimitUse } from "../../EmulatorEvent.ts"
import type { EmulatorContext } from "../platform/context.ts"
import type { Limiter } from "../platform/limits.ts"
import { type BotState, type ChatState, now, type PlatformState, type UserState } from "../platform/state.ts"
import { typeOf } from "../platform/updates.ts"
import { idOf } from "../platform/users.ts"
import { defined } from "../platform/validation.ts"
import { toChat, toMember, toMessage } from "../platform/views.ts"

/** A delivery that waits for its next attempt. */
export const WaitingView = Schema.Struct({
  delivery_id: Schema.Int,
  bot_id: UserId,
  url: Schema.String,
  update_type: Schema.String,
  attempt: Schema.Int,
  due_at: Schema.Int
})

export const toWaiting = ({ waiting }: PlatformState): ReadonlyArray<typeof WaitingView.Type> =>
  [...waiting.values()].map(({ attempt, dueAt, id, subscription, update }) => ({
    delivery_id: id,
    bot_id: idOf(subscription.bot.user),
    url: subscription.url,
    update_type: typeOf(update),
    attempt,
    due_at: dueAt
  }))

const Due = Schema.Struct({ at: Schema.Int, what: Schema.Literals(["delivery", "upload", "unsubscription"]) })

/** The clock of the emulator, and the next due event. */
export const ClockView = Schema.Struct({
  now: Schema.Int,
  is_virtual: Schema.Boolean,
  is_running: Schema.Boolean,
  next_due: Schema.NullOr(Due)
})

/**
 * The next due event: an attempt to deliver, the end of the processing of an upload, or the end of a failing
 * subscription.
 */
export const nextDue = (state: PlatformState): typeof Due.Type | null => {
  const deliveries = [...state.waiting.values()].map(({ dueAt }) => ({ at: dueAt, what: "delivery" as const }))
  const uploads = [...state.media.values()].map(({ readyAt }) => ({ at: readyAt ?? 0, what: "upload" as const }))
  const ends = [...state.bots.values()]
    .flatMap(({ subscriptions }) => [...subscriptions.values()])
    .map(({ expiry }) => ({ at: expiry?.at ?? 0, what: "unsubscription" as const }))
  const due = [...deliveries, ...uploads, ...ends].filter(({ at }) => at > now(state))
  return due.length === 0 ? null : due.reduce((first, each) => (each.at < first.at ? each : first))
}

const UsedLimit = Schema.Struct({
  ...LimitUse.fields,
  bot_id: UserId,
  chat_id: Schema.optionalKey(ChatId),
  free_in_ms: Schema.Finite
})

/** The limits, and how much of each the requests of the current window use. */
export const LimitsView = Schema.Struct({
  limits: Schema.NullOr(
    Schema.Struct({
      host: Schema.Int,
      messages: Schema.Int,
      answers: Schema.Int,
      polling: Schema.Int,
      window_ms: Schema.Finite
    })
  ),
  used: Schema.Array(UsedLimit)
})

export const toLimits = (limiter: Limiter | undefined, at: number): typeof LimitsView.Type =>
  limiter === undefined ? { limits: null, used: [] } : { limits: limiter.settings, used: limiter.gauges(at) }

const BotView = Schema.Struct({
  user: UserWithPhoto,
  is_connected: Schema.Boolean,
  commands: Schema.Array(BotCommand),
  webhooks: Schema.Array(
    Schema.Struct({ url: Schema.String, update_types: Schema.optionalKey(Schema.Array(Schema.String)) })
  )
})

const PersonView = Schema.Struct({
  user: UserWithPhoto,
  phone: Schema.String,
  location: Schema.Struct({ latitude: Schema.Finite, longitude: Schema.Finite }),
  locale: Schema.optionalKey(Schema.String),
  is_private: Schema.Boolean
})

const ChatView = Schema.Struct({
  chat: Chat,
  members: Schema.Array(ChatMember),
  has_comments: Schema.Boolean,
  is_closed: Schema.Boolean,
  is_stopped: Schema.Boolean,
  pinned: Schema.NullOr(MessageId),
  last_message: Schema.NullOr(Message)
})

/** The people, the bots and the chats with their members. `next_event` is the position of the next event. */
export const StateView = Schema.Struct({
  next_event: Schema.Int,
  first_event: Schema.Int,
  clock: ClockView,
  bots: Schema.Array(BotView),
  people: Schema.Array(PersonView),
  chats: Schema.Array(ChatView),
  waiting: Schema.Array(WaitingView),
  bot_module: Schema.NullOr(Schema.String),
  test_folder: Schema.NullOr(Schema.String)
})

const toBotView = ({ commands, isConnected, subscriptions, user }: BotState): typeof BotView.Type => ({
  user: user.profile,
  is_connected: isConnected,
  commands,
  webhooks: [...subscriptions.values()].map(({ update_types, url }) => ({ url, ...defined({ update_types }) }))
})

const toPersonView = ({ isPrivate, locale, location, phone, profile }: UserState): typeof PersonView.Type => ({
  user: profile,
  phone,
  location,
  ...defined({ locale }),
  is_private: isPrivate
})

const toChatView = (state: PlatformState, chat: ChatState): typeof ChatView.Type => {
  const last = chat.messages.at(-1)
  const bots = [...state.bots.values()]
  const bot = bots.find(({ user }) => chat.members.has(idOf(user))) ?? bots[0]
  return {
    chat: toChat(state, chat, bot),
    members: [...chat.members.values()].map((member) => toMember(chat, member)),
    has_comments: chat.hasComments,
    is_closed: chat.isClosed,
    is_stopped: chat.isSuspended,
    pinned: chat.pinned?.mid ?? null,
    last_message: last === undefined ? null : toMessage(state, last)
  }
}

export const toState = (
  { botModule, state, testFolder }: EmulatorContext,
  clock: typeof ClockView.Type
): typeof StateView.Type => ({
  next_event: state.events.end,
  first_event: state.events.start,
  clock,
  bots: [...state.bots.values()].map(toBotView),
  people: [...state.users.values()].filter(({ profile }) => !profile.is_bot).map(toPersonView),
  chats: [...state.chats.values()].map((chat) => toChatView(state, chat)),
  waiting: toWaiting(state),
  bot_module: botModule ?? null,
  test_folder: testFolder ?? null
})
