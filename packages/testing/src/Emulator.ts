/**
 * The platform in a box: every endpoint answers from the state of chats, members, rights, messages, comments, uploads
 * and updates, and the people in it are driven by the test.
 *
 * In process it is an `HttpClient` that needs no network and runs on the clock of the program: under a test clock, hours
 * take milliseconds. `EmulatorServer` puts the same thing on real ports.
 *
 * @since 0.1.0
 */
import * as BotApi from "@colloquy/core/BotApi"
import type { Chat, ChatId } from "@colloquy/core/Chat"
import type { Comment } from "@colloquy/core/Comment"
import * as Inbox from "@colloquy/core/Inbox"
import type { Permission } from "@colloquy/core/Member"
import type { Message } from "@colloquy/core/Message"
import * as RateLimiter from "@colloquy/core/RateLimiter"
import type { Update } from "@colloquy/core/Update"
import type { UserId, UserWithPhoto } from "@colloquy/core/User"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Faults from "./Faults.ts"
import { defaultToken, make } from "./internal/platform/emulator.ts"
import { apiOrigin, makeClient } from "./internal/http/httpClient.ts"
import * as limits from "./internal/platform/limits.ts"
import type { Revocation } from "./internal/platform/model.ts"
import * as wire from "./internal/http/wire.ts"
import type { ChatRef, PersonEvent, MessageRef, Person, UserRef } from "./Person.ts"
import type * as Webhooks from "./Webhooks.ts"

/**
 * The bot under test. Its token is `emulator-token` unless told.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly token?: string | undefined
  readonly botName?: string | undefined
  readonly botUsername?: string | undefined
  /** For development: webhooks at `http://127.0.0.1` and `http://localhost`, with any port, are taken too. */
  readonly insecureWebhooks?: boolean | undefined
  /** The limits that the platform enforces: none unless told, as a test clock stands still. */
  readonly limits?: Partial<Limits> | false | undefined
  /** How long media are not ready after their upload: in proportion to their size, and `least`. */
  readonly processing?:
    | { readonly bytesPerSecond?: number | undefined; readonly least?: Duration.Input | undefined }
    | undefined
  /** How long a link to a picture lives: a day unless told. */
  readonly imageLinkLifetime?: Duration.Input | undefined
  /** More bots on the same platform, by their tokens: {@link bots} tells of them. */
  readonly moreTokens?: ReadonlyArray<string> | undefined
  /** Refuses fields that the document does not know, which the platform ignores: a misspelt one is noticed. */
  readonly strict?: boolean | undefined
}

/**
 * The bot under test, and the limits that its client keeps: none unless told, because they wait by the clock, and a test
 * clock stands still. A test of the limits themselves gives `RateLimiter.documented` and moves the clock.
 *
 * @category models
 * @since 0.1.0
 */
export interface BotOptions extends Options {
  readonly clientLimits?: Partial<RateLimiter.Options> | undefined
}

/**
 * What the platform enforces for each bot: so many requests in all, messages (edits and comments included) in one chat,
 * answers to callbacks in one chat, and calls of GET /updates, within any sliding `window`. What goes beyond is answered
 * with 429 and takes no place; `retryAfter` adds the header `Retry-After`.
 *
 * API: Limits.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limits {
  readonly host: number
  readonly messages: number
  readonly answers: number
  readonly polling: number
  readonly window: Duration.Input
  readonly retryAfter: boolean
}

/**
 * The limits of the API document: 30 requests a second, 2 messages and 2 answers a second for each chat, and 2 calls of
 * GET /updates.
 *
 * **Example**
 *
 * ```ts
 * import { RateLimiter } from "@colloquy/core"
 * import { Emulator } from "@colloquy/testing"
 *
 * const bot = Emulator.layerBot({
 *   limits: { ...Emulator.documentedLimits, host: 10 },
 *   clientLimits: RateLimiter.documented
 * })
 * ```
 *
 * API: Limits.
 *
 * @category settings
 * @since 0.1.0
 */
export const documentedLimits: Limits = limits.documentedLimits

/**
 * A person to be made. `isPrivate`: others may not add them to chats. `locale` comes with what they do in the dialog.
 * `location` in degrees is what they send where a button asks for it, 0 and 0 unless told. Without `last_activity_time`
 * (null) they hide when they were online.
 *
 * @category models
 * @since 0.1.0
 */
export interface UserOptions extends Partial<Omit<UserWithPhoto, "first_name" | "is_bot">> {
  readonly first_name: string
  readonly isPrivate?: boolean | undefined
  readonly locale?: string | undefined
  readonly location?: { readonly latitude: number; readonly longitude: number } | undefined
}

/**
 * A bot on the platform: what its client calls with, and who it is.
 *
 * @category models
 * @since 0.1.0
 */
export interface Bot {
  readonly token: Redacted.Redacted
  readonly user: UserWithPhoto
  readonly user_id: UserId
}

/**
 * A chat to be made. The owner is the first member unless told. The bot is added as a plain member; `bot` makes it an
 * administrator (with all rights, or with `permissions`), or leaves it out.
 *
 * @category models
 * @since 0.1.0
 */
export interface ChatOptions {
  readonly chat_id?: ChatId | undefined
  readonly type?: "chat" | "channel" | undefined
  readonly title?: string | undefined
  readonly owner?: Person | undefined
  readonly members?: ReadonlyArray<Person> | undefined
  readonly bot?:
    | { readonly admin?: boolean | undefined; readonly permissions?: ReadonlyArray<Permission> | undefined }
    | false
    | undefined
  readonly isPublic?: boolean | undefined
  readonly hasComments?: boolean | undefined
}

/**
 * A request, an answer, a lost connection, and what can stand in a request's way before it is answered.
 *
 * @category models
 * @since 0.1.0
 */
export type { Exchange, Interceptor as Intercept, Request, Response } from "./internal/http/wire.ts"

/**
 * Nothing comes back: the connection is refused, or it breaks.
 *
 * @category errors
 * @since 0.1.0
 */
export const Lost = wire.ConnectionLost

/**
 * @category errors
 * @since 0.1.0
 */
export type Lost = wire.ConnectionLost

/**
 * The platform: its people and chats to drive, what the bot did to look at.
 *
 * @category services
 * @since 0.1.0
 */
export class Emulator extends Context.Service<
  Emulator,
  {
    readonly token: Redacted.Redacted
    /** Where the API stands in process. */
    readonly baseUrl: string
    readonly bot: UserWithPhoto
    readonly bots: Effect.Effect<ReadonlyArray<Bot>>
    readonly user: (options: string | UserOptions) => Effect.Effect<Person>
    readonly chat: (options?: ChatOptions) => Effect.Effect<Chat>
    readonly revokeToken: (token?: string, as?: Revocation) => Effect.Effect<void>
    readonly closeChat: (chat: ChatRef) => Effect.Effect<void>
    readonly allowComments: (chat: ChatRef, allowed: boolean) => Effect.Effect<void>
    readonly messages: (chat: ChatRef) => Effect.Effect<ReadonlyArray<Message>>
    readonly comments: (message: MessageRef) => Effect.Effect<ReadonlyArray<Comment>>
    readonly updates: Effect.Effect<ReadonlyArray<Update>>
    readonly updatesOf: (bot: UserRef) => Effect.Effect<ReadonlyArray<Update>>
    readonly deliver: (raw: unknown, bot?: UserRef) => Effect.Effect<void>
    readonly requests: Effect.Effect<ReadonlyArray<wire.Exchange>>
    /** Takes the deliveries to an address until the scope closes. */
    readonly receive: (url: string, receiver: Webhooks.Receiver<unknown>) => Effect.Effect<void, never, Scope.Scope>
    readonly deliveries: Effect.Effect<ReadonlyArray<Webhooks.Delivery>>
    readonly attempts: Stream.Stream<Webhooks.Delivery>
    readonly events: Effect.Effect<ReadonlyArray<PersonEvent>>
    readonly eventsIn: (chat: ChatRef) => Stream.Stream<PersonEvent>
    readonly setFaults: (rules: ReadonlyArray<Faults.Rule>) => Effect.Effect<void>
    readonly addFault: (rule: Faults.Rule) => Effect.Effect<void, never, Scope.Scope>
    readonly intercept: (intercept: wire.Interceptor) => Effect.Effect<void, never, Scope.Scope>
    /** Answers a request, whatever it came by. */
    readonly handle: wire.Serve
  }
>()("@colloquy/testing/Emulator") {}

/**
 * The platform in process, and the `HttpClient` that reaches it. Time is the clock's.
 *
 * **Example**
 *
 * ```ts
 * import { BotApi, RateLimiter } from "@colloquy/core"
 * import { Emulator } from "@colloquy/testing"
 * import { Layer, Redacted } from "effect"
 *
 * const bot = BotApi.layer({ token: Redacted.make("my-token"), baseUrl: Emulator.baseUrl }).pipe(
 *   Layer.provide(RateLimiter.layerMemory()),
 *   Layer.provideMerge(Emulator.layer({ token: "my-token" }))
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options = {}): Layer.Layer<Emulator | HttpClient.HttpClient> =>
  Layer.effect(
    HttpClient.HttpClient,
    Emulator.use(({ handle }) => Effect.succeed(makeClient(handle)))
  ).pipe(Layer.provideMerge(Layer.effect(Emulator, make(options))))

/**
 * All that a bot under test needs: the platform in process, a client for its bot, and an inbox in memory.
 *
 * **Example**
 *
 * ```ts
 * import { Messages } from "@colloquy/core"
 * import { Emulator } from "@colloquy/testing"
 * import { Effect } from "effect"
 *
 * const test = Effect.gen(function* () {
 *   const visitor = yield* Emulator.user("visitor")
 *   yield* visitor.start()
 *   yield* Messages.send({ user_id: visitor.user_id, text: "Hello" })
 *   return (yield* visitor.reply).body?.text // => "Hello"
 * }).pipe(Effect.provide(Emulator.layerBot()))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerBot = (
  options: BotOptions = {}
): Layer.Layer<BotApi.BotApi | Emulator | HttpClient.HttpClient | Inbox.Inbox> =>
  BotApi.layer({ token: Redacted.make(options.token ?? defaultToken), baseUrl }).pipe(
    Layer.provide(RateLimiter.layerMemory({ ...RateLimiter.unlimited, ...options.clientLimits })),
    Layer.merge(Inbox.layerMemory()),
    Layer.provideMerge(layer(options))
  )

/**
 * Where the API stands in process.
 *
 * @category settings
 * @since 0.1.0
 */
export const baseUrl: string = apiOrigin

/**
 * A new person, by their name or more.
 *
 * **Example**
 *
 * ```ts
 * import { Emulator } from "@colloquy/testing"
 * import { Effect } from "effect"
 *
 * const talk = Effect.gen(function* () {
 *   const visitor = yield* Emulator.user("visitor")
 *   yield* visitor.say("hi")
 *   const answer = yield* visitor.reply
 *   yield* visitor.press(answer, "Yes")
 * })
 * ```
 *
 * @category driving
 * @since 0.1.0
 */
export const user = (options: string | UserOptions): Effect.Effect<Person, never, Emulator> =>
  Emulator.use((emulator) => emulator.user(options))

/**
 * A new group chat or channel, with the updates that its making causes: `bot_added`, and
 * `bot_admin_permissions_changed` where the bot is an administrator.
 *
 * @category driving
 * @since 0.1.0
 */
export const chat = (options?: ChatOptions): Effect.Effect<Chat, never, Emulator> =>
  Emulator.use((emulator) => emulator.chat(options))

/**
 * Why a token is of no more use: it was revoked, or it is deprecated as the bot has another one.
 *
 * @category models
 * @since 0.1.0
 */
export type { Revocation } from "./internal/platform/model.ts"

/**
 * Revokes a token, the bot's own unless told: from then on the platform answers 401 to it. To one that is `deprecated`
 * it answers 403 `deprecated.token`.
 *
 * API: Authentication.
 *
 * @category driving
 * @since 0.1.0
 */
export const revokeToken = (token?: string, as?: Revocation): Effect.Effect<void, never, Emulator> =>
  Emulator.use((emulator) => emulator.revokeToken(token, as))

/**
 * Closes a chat, or archives a channel.
 *
 * @category driving
 * @since 0.1.0
 */
export const closeChat = (chat: ChatRef): Effect.Effect<void, never, Emulator> =>
  Emulator.use((emulator) => emulator.closeChat(chat))

/**
 * Enables or disables the comments of a channel.
 *
 * @category driving
 * @since 0.1.0
 */
export const allowComments = (chat: ChatRef, allowed: boolean): Effect.Effect<void, never, Emulator> =>
  Emulator.use((emulator) => emulator.allowComments(chat, allowed))

/**
 * Delivers any update as it is, of unknown types too: to the bot under test unless told.
 *
 * @category driving
 * @since 0.1.0
 */
export const deliver = (raw: unknown, bot?: UserRef): Effect.Effect<void, never, Emulator> =>
  Emulator.use((emulator) => emulator.deliver(raw, bot))

/**
 * The bots on the platform: the bot under test, then those of `moreTokens`. A person faces another one by `with`.
 *
 * **Example**
 *
 * ```ts
 * import { BotApi, Messages, RateLimiter } from "@colloquy/core"
 * import { Emulator } from "@colloquy/testing"
 * import { Effect, Layer } from "effect"
 *
 * const test = Effect.gen(function* () {
 *   const [, second] = yield* Emulator.bots
 *   const client = BotApi.layer({ token: second.token, baseUrl: Emulator.baseUrl }).pipe(
 *     Layer.provide(RateLimiter.layerMemory(RateLimiter.unlimited))
 *   )
 *   const ann = (yield* Emulator.user("Ann")).with(second)
 *   yield* ann.say("hi")
 *   yield* Messages.send({ user_id: ann.user_id, text: "I am two" }).pipe(Effect.provide(client))
 *   return (yield* ann.reply).body?.text // => "I am two"
 * }).pipe(Effect.provide(Emulator.layerBot({ moreTokens: ["second"] })))
 * ```
 *
 * @category looking
 * @since 0.1.0
 */
export const bots: Effect.Effect<ReadonlyArray<Bot>, never, Emulator> = Emulator.use(({ bots }) => bots)

/**
 * What stands in a chat, in order, with edits applied.
 *
 * @category looking
 * @since 0.1.0
 */
export const messages = (chat: ChatRef): Effect.Effect<ReadonlyArray<Message>, never, Emulator> =>
  Emulator.use((emulator) => emulator.messages(chat))

/**
 * The comments under a post, in order, with edits applied.
 *
 * @category looking
 * @since 0.1.0
 */
export const comments = (message: MessageRef): Effect.Effect<ReadonlyArray<Comment>, never, Emulator> =>
  Emulator.use((emulator) => emulator.comments(message))

/**
 * The updates of the bot under test in the last day, read or not, those that come by webhook only included.
 *
 * @category looking
 * @since 0.1.0
 */
export const updates: Effect.Effect<ReadonlyArray<Update>, never, Emulator> = Emulator.use(({ updates }) => updates)

/**
 * The updates of any bot, as {@link updates} gives those of the bot under test.
 *
 * @category looking
 * @since 0.1.0
 */
export const updatesOf = (bot: UserRef): Effect.Effect<ReadonlyArray<Update>, never, Emulator> =>
  Emulator.use((emulator) => emulator.updatesOf(bot))

/**
 * The journal of what the bot called and what it was answered.
 *
 * @category looking
 * @since 0.1.0
 */
export const requests: Effect.Effect<ReadonlyArray<wire.Exchange>, never, Emulator> = Emulator.use(
  ({ requests }) => requests
)

/**
 * The journal of webhook deliveries: every attempt that has ended, and how.
 *
 * API: Events, Webhook delivery rules.
 *
 * @category looking
 * @since 0.1.0
 */
export const deliveries: Effect.Effect<ReadonlyArray<Webhooks.Delivery>, never, Emulator> = Emulator.use(
  ({ deliveries }) => deliveries
)

/**
 * The attempts at webhook deliveries from the first one on, each as it ends.
 *
 * API: Events, Webhook delivery rules.
 *
 * @category looking
 * @since 0.1.0
 */
export const attempts: Stream.Stream<Webhooks.Delivery, never, Emulator> = Stream.unwrap(
  Emulator.use(({ attempts }) => Effect.succeed(attempts))
)

/**
 * All that bots did so far, as people see it: messages, edits, removals, comments, notifications, actions.
 *
 * @category looking
 * @since 0.1.0
 */
export const events: Effect.Effect<ReadonlyArray<PersonEvent>, never, Emulator> = Emulator.use(({ events }) => events)

/**
 * What bots did and will do in one chat, from its beginning, as it happens.
 *
 * @category looking
 * @since 0.1.0
 */
export const eventsIn = (chat: ChatRef): Stream.Stream<PersonEvent, never, Emulator> =>
  Stream.unwrap(Emulator.use((emulator) => Effect.succeed(emulator.eventsIn(chat))))

/**
 * Takes the webhook deliveries to an address in process, until the scope closes. An address that nobody receives at is
 * unreachable; a receiver that fails breaks the connection; one that takes 30 seconds is too late.
 *
 * **Example**
 *
 * ```ts
 * import { Subscriptions } from "@colloquy/core"
 * import { Emulator } from "@colloquy/testing"
 * import { Effect, Queue } from "effect"
 *
 * const url = "https://bot.example/updates"
 *
 * const test = Effect.gen(function* () {
 *   const bodies = yield* Queue.unbounded<string>()
 *   yield* Emulator.receive(url, ({ body }) => Effect.as(Queue.offer(bodies, body), { status: 200 }))
 *   yield* Subscriptions.subscribe({ url })
 *   const visitor = yield* Emulator.user("visitor")
 *   yield* visitor.say("hi")
 *   return yield* Queue.take(bodies)
 * })
 * ```
 *
 * API: Events, Webhook delivery rules.
 *
 * @category webhooks
 * @since 0.1.0
 */
export const receive = <E, R>(
  url: string,
  receiver: Webhooks.Receiver<E, R>
): Effect.Effect<void, never, Emulator | R | Scope.Scope> =>
  Effect.contextWith((context: Context.Context<R>) =>
    Emulator.use((emulator) => emulator.receive(url, (request) => Effect.provideContext(receiver(request), context)))
  )

/**
 * Replaces the scripted faults; no rules, no faults. Rules count from here on.
 *
 * **Example**
 *
 * ```ts
 * import { Emulator } from "@colloquy/testing"
 *
 * const trouble = Emulator.setFaults([
 *   { endpoint: "Messages.send", nth: 2, status: 503 },
 *   { probability: 0.05, seed: 1, reset: "after" }
 * ])
 * const peace = Emulator.setFaults([])
 * ```
 *
 * @category faults
 * @since 0.1.0
 */
export const setFaults = (rules: ReadonlyArray<Faults.Rule>): Effect.Effect<void, never, Emulator> =>
  Emulator.use((emulator) => emulator.setFaults(rules))

/**
 * Adds a scripted fault until the scope closes.
 *
 * @category faults
 * @since 0.1.0
 */
export const addFault = (rule: Faults.Rule): Effect.Effect<void, never, Emulator | Scope.Scope> =>
  Emulator.use((emulator) => emulator.addFault(rule))

/**
 * Stands in the way of every request, the uploads' included, until the scope closes. The last one set is asked first;
 * `next` answers the request.
 *
 * **Example**
 *
 * ```ts
 * import { Emulator } from "@colloquy/testing"
 * import { Effect } from "effect"
 *
 * const trouble = Emulator.intercept((request, next) =>
 *   request.path === "/me" ? Effect.succeed(Emulator.respond(502, "<html>Bad gateway</html>")) : next
 * )
 * const slow = Emulator.intercept((_, next) => Effect.delay(next, "3 seconds"))
 * const broken = Emulator.intercept(() => Emulator.reset)
 * ```
 *
 * @category faults
 * @since 0.1.0
 */
export const intercept = (intercept: wire.Interceptor): Effect.Effect<void, never, Emulator | Scope.Scope> =>
  Emulator.use((emulator) => emulator.intercept(intercept))

/**
 * An answer: a text as it is, anything else as JSON.
 *
 * @category faults
 * @since 0.1.0
 */
export const respond = wire.respond

/**
 * The connection is refused: the platform never sees the request.
 *
 * @category faults
 * @since 0.1.0
 */
export const refuse: Effect.Effect<never, wire.ConnectionLost> = Effect.fail(
  new wire.ConnectionLost({ kind: "refused" })
)

/**
 * The connection breaks: nobody knows whether the request was carried out.
 *
 * @category faults
 * @since 0.1.0
 */
export const reset: Effect.Effect<never, wire.ConnectionLost> = Effect.fail(new wire.ConnectionLost({ kind: "reset" }))
