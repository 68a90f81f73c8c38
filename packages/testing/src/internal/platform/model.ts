import type { BotCommand } from "@colloquy/core/Bot"
import type { ChatId } from "@colloquy/core/Chat"
import type { Comment } from "@colloquy/core/Comment"
import type { Permission } from "@colloquy/core/Member"
import type { Message, MessageId } from "@colloquy/core/Message"
import type { Update } from "@colloquy/core/Update"
import type { UploadType } from "@colloquy/core/Upload"
import type { UserId, UserWithPhoto } from "@colloquy/core/User"
import type * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type { PersonEvent } from "../../Person.ts"
import type { Log } from "./log.ts"
import type { MediaProbe } from "../upload/mediaProbe.ts"
import type { VideoInfo } from "../upload/mp4.ts"

/** In degrees. */
export interface Location {
  readonly latitude: number
  readonly longitude: number
}

/** A person or a bot. */
export interface UserState {
  profile: UserWithPhoto
  readonly locale: string | undefined
  /** Whether they forbid others to add them to chats. */
  readonly isPrivate: boolean
  /** What they send where a button asks for it. */
  readonly location: Location
}

/** An update as it waits for the bot. */
export interface StoredUpdate {
  readonly at: number
  readonly update: Update
}

/** A button that a person pressed. */
export interface CallbackState {
  readonly message: MessageState
  readonly user: UserState
  isAnswered: boolean
}

/** A subscribed webhook. */
export interface SubscriptionState {
  readonly url: string
  time: number
  update_types: ReadonlyArray<string> | undefined
  secret: string | undefined
  /** Where its deliveries run. */
  readonly scope: Scope.Closeable
  /** Ends the subscription, unless a delivery succeeds first. */
  countdown: Fiber.Fiber<void> | undefined
}

export interface BotState {
  readonly token: string
  readonly user: UserState
  commands: ReadonlyArray<BotCommand>
  readonly updates: Log<StoredUpdate>
  /** Where the next poll without a marker goes on. */
  polledTo: number | undefined
  readonly subscriptions: Map<string, SubscriptionState>
  /** The addresses that were ever subscribed. */
  readonly subscribed: Log<string>
  readonly callbacks: Map<string, CallbackState>
}

export interface MemberState {
  readonly user: UserState
  readonly joinedAt: number
  lastAccessAt: number
  /** The rights of an administrator. */
  rights: ReadonlySet<Permission> | undefined
  alias: string | undefined
}

export interface ChatState {
  readonly chat_id: ChatId
  readonly type: "chat" | "channel" | "dialog"
  title: string | null
  description: string | null
  icon: MediaState | undefined
  readonly link: string | null
  owner: UserId | undefined
  readonly members: Map<UserId, MemberState>
  /** Who the members are now: another set with each change. */
  memberIds: ReadonlySet<UserId>
  readonly former: Map<UserId, "removed" | "left">
  readonly blocked: Set<UserId>
  readonly messages: Array<MessageState>
  pinned: MessageState | undefined
  isClosed: boolean
  /** The person stopped the dialog. */
  isSuspended: boolean
  hasComments: boolean
  lastEventAt: number
}

/** A message or a channel post. */
export interface MessageState {
  readonly mid: MessageId
  readonly chat: ChatState
  readonly author: UserState
  value: Message
  /** Who saw it, where that is counted: in a channel. */
  readonly viewers: Set<UserId> | undefined
  readonly comments: Array<CommentState>
}

/** A comment under a post. */
export interface CommentState {
  readonly mid: MessageId
  readonly message: MessageState
  readonly author: UserState
  value: Comment
}

/** An uploaded file, or one that is expected. */
export interface MediaState {
  readonly type: UploadType
  readonly token: string
  readonly photo_id: bigint
  filename: string | undefined
  size: number
  /** When its processing is done; absent until it is uploaded. */
  readyAt: number | undefined
  readonly sourceUrl: string | undefined
  /** Of a video whose header tells. */
  video: VideoInfo | undefined
}

/** How far an upload in parts is. */
export interface UploadProgress {
  readonly received: number
  readonly size: number
  readonly parts: number
}

/** An address for one upload. */
export interface UploadSlot {
  readonly id: string
  /** Path and query. */
  readonly address: string
  readonly media: MediaState
  progress: UploadProgress | undefined
  /** What the received parts contain. */
  probe: MediaProbe
  isUsed: boolean
}

/** What a bot did, and who was there. */
export interface RecordedEvent {
  readonly event: PersonEvent
  readonly audience: ReadonlySet<UserId>
}
