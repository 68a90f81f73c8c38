import type { BotCommand, UserId, UserWithPhoto } from "@colloquy/core/model/User"
import type { ChatId } from "@colloquy/core/model/Chat"
import type { Comment, Message, MessageId } from "@colloquy/core/model/Message"
import type { Permission } from "@colloquy/core/model/Member"
import type { Update } from "@colloquy/core/model/Update"
import type { UploadType } from "@colloquy/core/endpoints/Upload"
import type * as Clock from "effect/Clock"
import type * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type { Exchange, Listener } from "../../EmulatorHttp.ts"
import type { Revocation, UserOptions } from "../../EmulatorOptions.ts"
import type { PersonEvent } from "../../Person.ts"
import type { Delivery } from "../../WebhookSender.ts"
import type { MediaProbe } from "../upload/mediaProbe.ts"
import type { VideoInfo } from "../upload/mp4.ts"
import * as bounds from "./bounds.ts"
import type { EventRecord } from "./events.ts"
import type { FaultState } from "./faults.ts"
import { KeptMap } from "./keptMap.ts"
import { Log } from "./log.ts"

/** A person or a bot. */
export interface UserState {
  profile: UserWithPhoto
  readonly locale: string | undefined
  readonly isPrivate: boolean
  /** The phone number in the contact of the user. */
  readonly phone: string
  /** The location that the user sends when a button requests it. */
  readonly location: NonNullable<UserOptions["location"]>
}

export interface StoredUpdate {
  readonly at: number
  readonly update: Update
}

/** A callback button that was pressed. */
export interface CallbackState {
  readonly message: MessageState
  readonly user: UserState
  isAnswered: boolean
}

/** A subscribed webhook. */
export interface SubscriptionState {
  readonly bot: BotState
  readonly url: string
  time: number
  update_types: ReadonlyArray<string> | undefined
  secret: string | undefined
  /** The position of the next update to deliver. */
  position: number
  /** The scope of its deliveries. */
  readonly scope: Scope.Closeable
  /** The end of the subscription, unless a delivery succeeds before. */
  expiry: { readonly at: number; readonly countdown: Fiber.Fiber<void> } | undefined
}

/** An update on its way to a webhook. */
export interface Sending {
  readonly id: number
  readonly subscription: SubscriptionState
  readonly update: Update
  /** The position of the update among the updates of the bot. */
  readonly number: number
}

/** A delivery that failed and waits for its next attempt. */
export interface WaitingDelivery extends Sending {
  /** The number of the next attempt. */
  readonly attempt: number
  readonly dueAt: number
  /** Starts the next attempt at once. */
  readonly start: () => void
}

export class BotState {
  readonly token: string
  readonly user: UserState
  commands: ReadonlyArray<BotCommand> = []
  readonly updates = new Log<StoredUpdate>(bounds.updates(() => neededFrom(this)))
  /** The position after the last update that GET /updates returned. */
  polledTo: number | undefined
  /** The position up to which polls have acknowledged the updates. */
  committedTo = 0
  /** Whether the bot waits for updates by long polling, or did when its last poll was answered. */
  isConnected = false
  readonly subscriptions = new Map<string, SubscriptionState>()
  /** The subscribed URLs, in order. */
  readonly subscribed = new Log<string>()
  readonly callbacks = new KeptMap<string, CallbackState>(bounds.objects)

  constructor(token: string, user: UserState) {
    this.token = token
    this.user = user
  }
}

/** The position of the first update that the bot has not received: webhooks read on, and polls acknowledge by a marker. */
const neededFrom = ({ committedTo, subscriptions }: BotState): number =>
  subscriptions.size === 0 ? committedTo : Math.min(...[...subscriptions.values()].map(({ position }) => position))

export interface MemberState {
  readonly user: UserState
  readonly joinedAt: number
  lastAccessAt: number
  /** The rights of an administrator. */
  rights: ReadonlySet<Permission> | undefined
  alias: string | undefined
}

export class ChatState {
  readonly chat_id: ChatId
  readonly type: "chat" | "channel" | "dialog"
  title: string | null = null
  description: string | null = null
  icon: MediaState | undefined
  readonly link: string | null = null
  owner: UserId | undefined
  readonly members = new Map<UserId, MemberState>()
  /** The keys of `members`: a new set after each change, so that an event can keep the set of its time. */
  memberIds: ReadonlySet<UserId> = new Set()
  readonly former = new Map<UserId, "removed" | "left">()
  readonly blocked = new Set<UserId>()
  messages: Array<MessageState> = []
  /** How many old messages are no longer kept. */
  forgottenMessages = 0
  pinned: MessageState | undefined
  isClosed = false
  /** Whether the person stopped the dialog. */
  isSuspended = false
  hasComments = true
  readonly allowsForwarding: boolean = true
  lastEventAt: number

  constructor(chat_id: ChatId, type: ChatState["type"], at: number) {
    this.chat_id = chat_id
    this.type = type
    this.lastEventAt = at
  }
}

/** A message or a channel post. */
export interface MessageState {
  readonly mid: MessageId
  readonly chat: ChatState
  readonly author: UserState
  value: Message
  /** The users who viewed the message, counted in a channel only. */
  readonly viewers: Set<UserId> | undefined
  comments: Array<CommentState>
}

export interface CommentState {
  readonly mid: MessageId
  readonly message: MessageState
  readonly author: UserState
  value: Comment
}

/** An uploaded or expected file. */
export class MediaState {
  readonly type: UploadType
  readonly token: string
  readonly photo_id: bigint
  filename: string | undefined
  size = 0
  /** The end of the processing; `undefined` before the upload. */
  readyAt: number | undefined
  readonly sourceUrl: string | undefined
  /** The number of messages with this file. */
  holders = 0
  /** The properties in the header of a video. */
  video: VideoInfo | undefined

  constructor(type: UploadType, token: string, photo_id: bigint, sourceUrl: string | undefined) {
    this.type = type
    this.token = token
    this.photo_id = photo_id
    this.sourceUrl = sourceUrl
  }
}

/** A file whose content is kept. */
export interface StoredFile {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly contentType: string
}

/** An address for one upload. */
export interface UploadSlot {
  readonly id: string
  /** Path and query. */
  readonly address: string
  readonly media: MediaState
  /** The size of a file that is received in parts, after its first part. */
  size: number | undefined
  /** The properties of the received parts. */
  probe: MediaProbe
  isUsed: boolean
}

/** An action of a bot, and the users who saw it. */
export interface SeenEvent {
  readonly event: PersonEvent
  readonly audience: ReadonlySet<UserId>
}

/** How long media are processed, and how long a link to an image is valid, in milliseconds. */
export interface MediaSettings {
  readonly bytesPerSecond: number
  readonly minimumProcessing: number
  readonly linkLifetime: number
}

/** Removes the oldest messages from their chats. */
const forgetMessages = (removed: ReadonlyArray<MessageState>): void => {
  const gone = new Set(removed)
  for (const chat of new Set(removed.map(({ chat }) => chat))) {
    const kept = chat.messages.filter((message) => !gone.has(message))
    chat.forgottenMessages += chat.messages.length - kept.length
    chat.messages = kept
  }
}

/** Removes the oldest comments from their posts. */
const forgetComments = (removed: ReadonlyArray<CommentState>): void => {
  const gone = new Set(removed)
  for (const message of new Set(removed.map(({ message }) => message))) {
    message.comments = message.comments.filter((comment) => !gone.has(comment))
  }
}

const safeIntegers = 2n ** 53n

/** A test clock starts in 1970, which would give positions below 2^53: they count from 2023 instead. */
const testPositionEpoch = 1_700_000_000_000n

/**
 * The state of the whole platform. The other modules of this folder change the state, each change in one synchronous
 * step.
 */
export class PlatformState {
  readonly clock: Clock.Clock
  /** When the emulator started, in milliseconds of real time. */
  readonly startedAt: number
  readonly mediaSettings: MediaSettings
  readonly users = new Map<UserId, UserState>()
  readonly bots = new Map<string, BotState>()
  readonly revokedTokens = new Map<string, Revocation>()
  readonly chats = new Map<ChatId, ChatState>()
  readonly dialogs = new Map<string, ChatState>()
  readonly messages = new KeptMap<MessageId, MessageState>(bounds.messages, forgetMessages)
  /** Removed messages, which people may still see on their screens. */
  readonly removedMessages = new KeptMap<MessageId, MessageState>(bounds.messages)
  readonly comments = new KeptMap<MessageId, CommentState>(bounds.messages, forgetComments)
  readonly media = new KeptMap<string, MediaState>(bounds.objects)
  /** The files that can be downloaded, by their `photo_id`. */
  readonly files = new KeptMap<string, StoredFile>(bounds.files)
  /** The addresses of images that were not uploaded, by their `photo_id`. */
  readonly imageUrls = new KeptMap<string, string>(bounds.urls)
  readonly uploadSlots = new KeptMap<string, UploadSlot>(bounds.objects)
  /** All events. */
  readonly events = new Log<EventRecord>(bounds.events)
  /** The actions of bots that people saw. */
  readonly seen = new Log<SeenEvent>(bounds.seen)
  readonly exchanges = new Log<Exchange>(bounds.exchanges)
  readonly deliveries = new Log<Delivery>(bounds.deliveries)
  /** The deliveries that wait for their next attempt, by their id. */
  readonly waiting = new Map<number, WaitingDelivery>()
  /** How many deliveries were started. */
  startedDeliveries = 0
  faults: Array<FaultState> = []
  /** The origins of links to files, by which the last call of a bot or of the control API reached the emulator. */
  readonly fileOrigins: { bot?: Listener["uploads"]; control?: Listener["uploads"] } = {}
  /** The number of resets. */
  resets = 0
  /** How many ids and names were created. */
  created = 0
  /** Added to the clock for the positions of messages. */
  readonly positionEpoch: bigint
  /** The time of the last message, and the number of messages at that time. */
  lastPosition: { readonly at: number; readonly count: number } = { at: -1, count: 0 }
  /** The last position of a message that was restored from a seed. */
  restoredTo = 0n

  constructor(clock: Clock.Clock, options: Pick<PlatformState, "mediaSettings" | "startedAt">) {
    this.clock = clock
    this.startedAt = options.startedAt
    this.mediaSettings = options.mediaSettings
    const startsInPast = BigInt(now(this)) * 65536n < safeIntegers
    this.positionEpoch = startsInPast ? testPositionEpoch : 0n
  }
}

export const now = ({ clock }: PlatformState): number => Math.floor(clock.currentTimeMillisUnsafe())

/** Removes everything except the bots and their tokens. */
export const reset = (state: PlatformState): void => {
  state.resets++
  const bots = [...state.bots.values()]
  const { chats, comments, deliveries, dialogs, exchanges, files, imageUrls, media, messages } = state
  const { removedMessages, revokedTokens, seen, uploadSlots, users, waiting } = state
  for (const part of [users, revokedTokens, chats, dialogs, messages, removedMessages, comments, waiting]) part.clear()
  for (const part of [media, files, imageUrls, uploadSlots, seen, exchanges, deliveries]) part.clear()
  state.faults = []
  state.created = bots.length
  state.restoredTo = 0n
  for (const bot of bots) {
    users.set(bot.user.profile.user_id, bot.user)
    bot.user.profile = { ...bot.user.profile, last_activity_time: now(state) }
    bot.commands = []
    bot.updates.clear()
    bot.polledTo = undefined
    bot.committedTo = 0
    bot.subscriptions.clear()
    bot.subscribed.clear()
    bot.callbacks.clear()
  }
  state.events.append({ type: "reset", at: now(state) })
}
