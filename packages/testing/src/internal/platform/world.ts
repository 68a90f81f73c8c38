import { ChatId } from "@colloquy/core/Chat"
import { MessageId } from "@colloquy/core/Message"
import { UserId, type UserWithPhoto } from "@colloquy/core/User"
import type * as Clock from "effect/Clock"
import { withoutUndefined } from "./defined.ts"
import type { Fault } from "./faults.ts"
import { uploadOrigins } from "../http/httpClient.ts"
import type { Limiter } from "./limits.ts"
import { type Bounds, Log } from "./log.ts"
import { defaultMediaSettings, type MediaSettings } from "./media.ts"
import { Pictures } from "./pictures.ts"
import type { Account, Bot, Hearing, Location, Media, Post, Remark, Revocation, Room, UploadSlot } from "./model.ts"
import type { Delivery } from "../../Webhooks.ts"
import type { Outlet } from "../webhook/outlet.ts"
import type { Exchange, Intercept } from "../http/wire.ts"

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
export class World {
  readonly accounts = new Map<UserId, Account>()
  readonly bots = new Map<string, Bot>()
  readonly revoked = new Map<string, Revocation>()
  readonly rooms = new Map<ChatId, Room>()
  readonly dialogs = new Map<string, Room>()
  readonly posts = new Map<MessageId, Post>()
  /** Removed messages, which people may have on their screens still. */
  readonly removed = new Map<MessageId, Post>()
  readonly remarks = new Map<MessageId, Remark>()
  readonly media = new Map<string, Media>()
  readonly slots = new Map<string, UploadSlot>()
  readonly heard = new Log<Hearing>()
  readonly exchanges = new Log(exchangeBounds)
  readonly deliveries = new Log<Delivery>({ entries })
  readonly intercepts: Array<Intercept> = []
  readonly pictures = new Pictures()
  /** The scripted faults, in their order. */
  faults: ReadonlyArray<Fault> = []
  limiter: Limiter | undefined
  mediaSettings: MediaSettings = defaultMediaSettings
  /** Where pictures can be looked at, as the bot that called last can reach it; before, as whoever sets the stage can. */
  readonly imageOrigins: { bot?: string; stage?: string } = {}

  /** Whether fields that the document does not know are refused. */
  isStrict = false

  readonly outlet: Outlet
  readonly #clock: Clock.Clock
  readonly #epoch: bigint
  /** How often everything was emptied. */
  resets = 0
  #made = 0
  #lastTick = -1
  #inTick = 0

  constructor(clock: Clock.Clock, outlet: Outlet) {
    this.outlet = outlet
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
    return this.accounts.has(user_id) ? this.#nextUserId() : user_id
  }

  nextChatId(type: Room["type"]): ChatId {
    const chat_id = ChatId.make(type === "dialog" ? firstDialog + this.#next() : firstGroup - this.#next())
    return this.rooms.has(chat_id) ? this.nextChatId(type) : chat_id
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
    const state = [this.accounts, this.revoked, this.rooms, this.dialogs, this.posts, this.removed, this.remarks]
    for (const part of [...state, this.media, this.slots, this.heard, this.exchanges, this.deliveries]) part.clear()
    this.pictures.clear()
    this.faults = []
    this.limiter?.clear()
    this.#made = bots.length
    for (const bot of bots) {
      this.accounts.set(idOf(bot.account), bot.account)
      bot.account.user = { ...bot.account.user, last_activity_time: this.now }
      bot.commands = []
      bot.updates.clear()
      bot.polledTo = undefined
      bot.subscriptions.clear()
      bot.subscribed.clear()
      bot.presses.clear()
    }
  }

  addAccount(
    profile: Partial<UserWithPhoto> & Pick<UserWithPhoto, "first_name">,
    options: {
      readonly isPrivate?: boolean | undefined
      readonly locale?: string | undefined
      readonly location?: Location | undefined
    } = {}
  ): Account {
    const { last_activity_time = this.now, user_id = this.#nextUserId(), ...rest } = profile
    const user: UserWithPhoto = {
      user_id,
      username: null,
      is_bot: false,
      ...(last_activity_time === null ? {} : { last_activity_time }),
      ...withoutUndefined(rest)
    }
    const { isPrivate = false, locale, location = { latitude: 0, longitude: 0 } } = options
    const account: Account = { user, isPrivate, locale, location }
    this.accounts.set(user_id, account)
    return account
  }

  addBot(options: { readonly token: string; readonly name: string; readonly username: string }): Bot {
    const { token, name, username } = options
    const account = this.addAccount({ first_name: name, username, is_bot: true })
    const bot: Bot = {
      token,
      account,
      commands: [],
      updates: new Log(),
      polledTo: undefined,
      subscriptions: new Map(),
      subscribed: new Log(),
      presses: new Map()
    }
    this.bots.set(token, bot)
    return bot
  }

  botOf(user_id: UserId): Bot | undefined {
    for (const bot of this.bots.values()) if (idOf(bot.account) === user_id) return bot
    return undefined
  }
}

export const idOf = ({ user }: Account): UserId => user.user_id
