import { ChatId } from "@colloquy/core/Chat"
import { MessageId } from "@colloquy/core/Message"
import { UserId, type UserWithPhoto } from "@colloquy/core/User"
import type * as Clock from "effect/Clock"
import type { Revocation } from "../../EmulatorOptions.ts"
import { withoutUndefined } from "./defined.ts"
import type { FaultState } from "./faults.ts"
import { uploadOrigins } from "../http/wire.ts"
import type { Limiter } from "./limits.ts"
import { type Bounds, Log } from "./log.ts"
import { defaultMediaSettings, type MediaSettings } from "./media.ts"
import { Pictures } from "./pictures.ts"
import type {
  UserState,
  BotState,
  RecordedEvent,
  Location,
  MediaState,
  MessageState,
  CommentState,
  ChatState,
  UploadSlot
} from "./model.ts"
import type { Delivery } from "../../WebhookSender.ts"
import type { WebhookRuntime } from "../webhook/runtime.ts"
import type { Exchange, Interceptor } from "../../EmulatorHttp.ts"

const firstUser = 100_000_001
const firstDialog = 500_000_000_001
const firstGroup = -70_000_000_000_001
const firstPhoto = 9_100_000_000_000_000_001n

/** A journal holds at least so many of its last entries: the memory of an emulator's journals has an end. */
const entries = 50_000

const lengthOf = (headers: Exchange["headers"]): number => {
  let length = 0
  for (const name in headers) length += headers[name]?.length ?? 0
  return length
}

/** Fewer where their texts are long: 64 MiB of them, at two bytes for each letter. */
const exchangeBounds: Bounds<Exchange> = {
  entries,
  weight: 2 ** 25,
  weigh: ({ answer = "", body = "", headers, path, query }) =>
    answer.length + body.length + path.length + query.length + lengthOf(headers)
}

const safeIntegers = 2n ** 53n

/** A clock that starts in 1970, as a test's does, would give positions below 2^53: they count from 2023 instead. */
const positionEpoch = 1_700_000_000_000

const hex16 = (value: bigint): string => BigInt.asUintN(64, value).toString(16).padStart(16, "0")

/** Everything that stands on the platform. Changed by plain functions, each within one step. */
export class PlatformState {
  readonly users = new Map<UserId, UserState>()
  readonly bots = new Map<string, BotState>()
  readonly revokedTokens = new Map<string, Revocation>()
  readonly chats = new Map<ChatId, ChatState>()
  readonly dialogs = new Map<string, ChatState>()
  readonly messages = new Map<MessageId, MessageState>()
  /** Removed messages, which people may have on their screens still. */
  readonly removedMessages = new Map<MessageId, MessageState>()
  readonly comments = new Map<MessageId, CommentState>()
  readonly media = new Map<string, MediaState>()
  readonly uploadSlots = new Map<string, UploadSlot>()
  readonly events = new Log<RecordedEvent>()
  readonly exchanges = new Log(exchangeBounds)
  readonly deliveries = new Log<Delivery>({ entries })
  readonly interceptors: Array<Interceptor> = []
  readonly pictures = new Pictures()
  /** The scripted faults, in their order. */
  faults: ReadonlyArray<FaultState> = []
  limiter: Limiter | undefined
  mediaSettings: MediaSettings = defaultMediaSettings
  /** Where pictures can be looked at, as the bot that called last can reach it; before, as whoever sets the stage can. */
  readonly imageOrigins: { bot?: string; stage?: string } = {}

  /** Whether fields that the document does not know are refused. */
  isStrict = false

  readonly webhooks: WebhookRuntime
  readonly #clock: Clock.Clock
  readonly #epoch: bigint
  /** How often everything was emptied. */
  resets = 0
  #made = 0
  #lastTick = -1
  #inTick = 0

  constructor(clock: Clock.Clock, webhooks: WebhookRuntime) {
    this.webhooks = webhooks
    this.#clock = clock
    const inPast = BigInt(this.now) * 65536n < safeIntegers
    this.#epoch = inPast ? BigInt(positionEpoch) : 0n
  }

  get imageOrigin(): string {
    const { bot, stage } = this.imageOrigins
    return bot ?? stage ?? uploadOrigins.image
  }

  get now(): number {
    return Math.floor(this.#clock.currentTimeMillisUnsafe())
  }

  #next(): number {
    return this.#made++
  }

  #nextUserId(): UserId {
    const user_id = UserId.make(firstUser + this.#next())
    return this.users.has(user_id) ? this.#nextUserId() : user_id
  }

  nextChatId(type: ChatState["type"]): ChatId {
    const chat_id = ChatId.make(type === "dialog" ? firstDialog + this.#next() : firstGroup - this.#next())
    return this.chats.has(chat_id) ? this.nextChatId(type) : chat_id
  }

  nextPhotoId(): bigint {
    return firstPhoto + BigInt(this.#next())
  }

  /** A name that nobody else has, readable in a log. */
  nextName(prefix: string): string {
    return `${prefix}-${(this.#next() + 0x10000).toString(36)}${this.now.toString(36)}`
  }

  /** The next position of a message, unique over all chats, and the id made of it. */
  nextPosition(chat_id: ChatId): { readonly seq: bigint; readonly mid: MessageId } {
    const { now } = this
    this.#inTick = now === this.#lastTick ? this.#inTick + 1 : 0
    this.#lastTick = now
    const seq = (this.#epoch + BigInt(now)) * 65536n + BigInt(this.#inTick)
    return { seq, mid: MessageId.make(`mid.${hex16(BigInt(chat_id))}${hex16(seq)}`) }
  }

  /** Empties everything; the bots stay, with their tokens, as they were made. Intercepts are their owners' to remove. */
  reset(): void {
    this.resets++
    const bots = [...this.bots.values()]
    const state = [
      this.users,
      this.revokedTokens,
      this.chats,
      this.dialogs,
      this.messages,
      this.removedMessages,
      this.comments
    ]
    for (const part of [...state, this.media, this.uploadSlots, this.events, this.exchanges, this.deliveries])
      part.clear()
    this.pictures.clear()
    this.faults = []
    this.limiter?.clear()
    this.#made = bots.length
    for (const bot of bots) {
      this.users.set(idOf(bot.user), bot.user)
      bot.user.profile = { ...bot.user.profile, last_activity_time: this.now }
      bot.commands = []
      bot.updates.clear()
      bot.polledTo = undefined
      bot.subscriptions.clear()
      bot.subscribed.clear()
      bot.callbacks.clear()
    }
  }

  addUser(
    profile: Partial<UserWithPhoto> & Pick<UserWithPhoto, "first_name">,
    options: {
      readonly isPrivate?: boolean | undefined
      readonly locale?: string | undefined
      readonly location?: Location | undefined
    } = {}
  ): UserState {
    const { last_activity_time = this.now, user_id = this.#nextUserId(), ...rest } = profile
    const known: UserWithPhoto = {
      user_id,
      username: null,
      is_bot: false,
      ...(last_activity_time === null ? {} : { last_activity_time }),
      ...withoutUndefined(rest)
    }
    const { isPrivate = false, locale, location = { latitude: 0, longitude: 0 } } = options
    const user: UserState = { profile: known, isPrivate, locale, location }
    this.users.set(user_id, user)
    return user
  }

  addBot(options: { readonly token: string; readonly name: string; readonly username: string }): BotState {
    const { token, name, username } = options
    const user = this.addUser({ first_name: name, username, is_bot: true })
    const bot: BotState = {
      token,
      user,
      commands: [],
      updates: new Log(),
      polledTo: undefined,
      subscriptions: new Map(),
      subscribed: new Log(),
      callbacks: new Map()
    }
    this.bots.set(token, bot)
    return bot
  }

  botOf(user_id: UserId): BotState | undefined {
    for (const bot of this.bots.values()) if (idOf(bot.user) === user_id) return bot
    return undefined
  }
}

export const idOf = ({ profile: user }: UserState): UserId => user.user_id
