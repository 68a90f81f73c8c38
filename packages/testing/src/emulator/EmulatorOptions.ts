/**
 * The options of the emulator: its bots and limits, and the users and chats that a test creates.
 *
 * @since 0.1.0
 */
import type { ChatId } from "@colloquy/core/model/Chat"
import type * as Inbox from "@colloquy/core/inbox/Inbox"
import type { Permission } from "@colloquy/core/model/Member"
import * as Platform from "@colloquy/core/base/Platform"
import type * as RateLimiter from "@colloquy/core/client/RateLimiter"
import type { UserWithPhoto } from "@colloquy/core/model/User"
import type * as Duration from "effect/Duration"
import type { Person } from "./Person.ts"

/**
 * The default token of the bot under test.
 *
 * @category settings
 * @since 0.1.0
 */
export const defaultToken = "emulator-token"

/**
 * The limits of the platform, for each bot. A request beyond a limit is answered with 429 and does not count towards it.
 *
 * API: Limits.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limits {
  /** Maximum number of requests in a window. Default: 30. */
  readonly host: number
  /** Maximum number of messages and comments, edits and deletions of messages included, in one chat in a window. Default: 2. */
  readonly messages: number
  /** Maximum number of answers to callbacks in one chat in a window. Default: 2. */
  readonly answers: number
  /** Maximum number of calls of GET /updates in a window. Default: 2. */
  readonly polling: number
  /** Length of the sliding window. Default: 1 second. */
  readonly window: Duration.Input
  /** Whether a 429 response has the header `Retry-After`. Default: `false`. */
  readonly retryAfter: boolean
}

/**
 * The limits that the API document states: 30 requests a second; 2 messages and 2 answers a second in each chat; 2 calls
 * of GET /updates a second.
 *
 * **Example** (Testing a bot against a lower limit)
 *
 * ```ts
 * import { RateLimiter } from "@colloquy/core"
 * import { Emulator, EmulatorOptions } from "@colloquy/testing"
 *
 * const bot = Emulator.layerBot({
 *   limits: { ...EmulatorOptions.platformLimits, host: 10 },
 *   clientLimits: RateLimiter.defaults
 * })
 * ```
 *
 * API: Limits.
 *
 * @assumption retryAfterHeader
 * @category settings
 * @since 0.1.0
 */
export const platformLimits: Limits = {
  host: Platform.requestsPerSecond,
  messages: Platform.messagesPerSecond,
  answers: Platform.answersPerSecond,
  polling: Platform.pollsPerSecond,
  window: "1 second",
  retryAfter: false
}

/**
 * The options of `Emulator.make` and `Emulator.layer`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The token of the bot under test. Default: {@link defaultToken}. */
  readonly token?: string | undefined
  /** The name of the bot under test. Default: `Bot`. */
  readonly botName?: string | undefined
  /** The username of the bot under test. Default: `bot`. */
  readonly botUsername?: string | undefined
  /** The tokens of more bots on the same platform. Default: none. `Emulator.bots` lists all bots. */
  readonly moreTokens?: ReadonlyArray<string> | undefined
  /**
   * Whether webhooks may be subscribed at `http://127.0.0.1` and `http://localhost`, on any port. For development only.
   * Default: `false`.
   */
  readonly insecureWebhooks?: boolean | undefined
  /** The header that carries the secret in deliveries to webhooks. Default: `X-Svc-Bot-Api-Secret`. */
  readonly secretHeader?: string | undefined
  /** Characters that the secret of a webhook may contain besides letters and digits. Default: `-`. */
  readonly secretCharacters?: string | undefined
  /**
   * The limits that the emulator enforces. Default of each limit: {@link platformLimits}. `false` enforces no limits.
   * Default: `false`, because virtual time does not advance by itself.
   */
  readonly limits?: Partial<Limits> | false | undefined
  /** Processing time of uploaded media before a message can contain them. Default: 1 second for 2 MiB, at least 200 ms. */
  readonly processing?:
    | {
        /** Processed bytes a second. Default: 2 MiB. */
        readonly bytesPerSecond?: number | undefined
        /** Minimum processing time. Default: 200 milliseconds. */
        readonly minimum?: Duration.Input | undefined
      }
    | undefined
  /** How long a link to a file is valid. Default: 1 day. */
  readonly linkLifetime?: Duration.Input | undefined
  /**
   * Whether a request with a field that the API document does not have is answered with 400, to find misspelled fields.
   * The platform itself ignores such fields. Default: `false`.
   */
  readonly strict?: boolean | undefined
  /**
   * The module that exports the bot under test as `bot`, such as `./bot.ts`: a test that is copied from the page imports it.
   * Default: `./bot.ts`.
   */
  readonly botModule?: string | undefined
  /**
   * The `file:` URL of the folder in which the page saves copied tests, which import `botModule` by a relative path. Default: none,
   * so tests are only copied.
   */
  readonly testFolder?: string | undefined
}

/**
 * The options of `Emulator.layerBot`.
 *
 * @category models
 * @since 0.1.0
 */
export interface BotOptions extends Options {
  /**
   * The limits of the client of the bot; missing limits are unlimited. Default: `RateLimiter.unlimited`, because the
   * limiter waits by the clock and a test clock stands still. To test the limits, use `RateLimiter.defaults` and move
   * the clock.
   */
  readonly clientLimits?: RateLimiter.Options | undefined
  /** The options of the inbox in memory. Default: the defaults of `Inbox.layerMemory`. */
  readonly inbox?: Inbox.Options | undefined
}

/**
 * A user to create with `Emulator.user`. `last_activity_time: null` hides when the user was online.
 *
 * @category models
 * @since 0.1.0
 */
export interface UserOptions extends Partial<Omit<UserWithPhoto, "first_name" | "is_bot">> {
  /** The first name. */
  readonly first_name: string
  /** Whether the user does not allow others to add them to chats. Default: `false`. */
  readonly isPrivate?: boolean | undefined
  /** The `user_locale` of the updates from dialogs with this user. Default: none. */
  readonly locale?: string | undefined
  /**
   * The phone number in the contact that the user sends when a button requests it. Default: a unique number of the form
   * `+7900` and seven digits.
   */
  readonly phone?: string | undefined
  /** The location that the user sends when a button requests it, in degrees. Default: latitude 0, longitude 0. */
  readonly location?: { readonly latitude: number; readonly longitude: number } | undefined
}

/**
 * The role of the bot in a chat to create: `admin: true` is an administrator with all rights, and `permissions` an
 * administrator with these rights. `false` leaves the bot out of the chat.
 *
 * @category models
 * @since 0.1.0
 */
export type BotRole =
  | {
      /** Whether the bot is an administrator. Default: `true` if `permissions` is set, else `false`. */
      readonly admin?: boolean | undefined
      /** The rights of the bot as an administrator. Default: all rights. */
      readonly permissions?: ReadonlyArray<Permission> | undefined
    }
  | false

/**
 * A group chat or channel to create with `Emulator.chat`.
 *
 * @category models
 * @since 0.1.0
 */
export interface ChatOptions {
  /** The id of the chat, a negative number. Default: a new id. */
  readonly chat_id?: ChatId | undefined
  /** The type of the chat. Default: `chat`. */
  readonly type?: "chat" | "channel" | undefined
  /** The title, of 1 to 200 characters. Default: `Group chat` or `Channel`. */
  readonly title?: string | undefined
  /** The owner. Default: the first of `members`, or a new user. */
  readonly owner?: Person | undefined
  /** The other members. Default: none. */
  readonly members?: ReadonlyArray<Person> | undefined
  /** The role of the bot. Default: a member without rights. */
  readonly bot?: BotRole | undefined
  /** Whether the chat is public and has a link. Default: `false`. */
  readonly isPublic?: boolean | undefined
  /** Whether the posts of a channel can be commented on. Default: `true`. */
  readonly hasComments?: boolean | undefined
  /** Whether the messages of the chat can be forwarded. Forwarding others is answered with 403. Default: `true`. */
  readonly allowsForwarding?: boolean | undefined
}

/**
 * The reason why a token no longer works: revoked, or deprecated by another token of the bot.
 *
 * @category models
 * @since 0.1.0
 */
export type Revocation = "revoked" | "deprecated"
