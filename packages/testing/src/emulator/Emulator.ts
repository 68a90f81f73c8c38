/**
 * An emulator of the platform, which implements every endpoint, and keeps chats, members, rights, messages, comments,
 * uploads and updates in memory. A test creates chats and people, and performs actions as these people.
 *
 * In process, the emulator is an `HttpClient` that uses no network. The time is read from the `Clock` of the program,
 * so with a test clock hours pass in milliseconds. `EmulatorServer` serves the same emulator on real ports.
 *
 * @since 0.1.0
 */
import * as BotApi from "@colloquy/core/client/BotApi"
import type { Chat } from "@colloquy/core/model/Chat"
import type { Comment, Message } from "@colloquy/core/model/Message"
import * as Deliveries from "@colloquy/core/inbox/Deliveries"
import * as Inbox from "@colloquy/core/inbox/Inbox"
import * as RateLimiter from "@colloquy/core/client/RateLimiter"
import type { Update } from "@colloquy/core/model/Update"
import type { UserId, UserWithPhoto } from "@colloquy/core/model/User"
import * as Settings from "@colloquy/core/client/Settings"
import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { EmulatorEvent } from "./EmulatorEvent.ts"
import type * as EmulatorHttp from "./EmulatorHttp.ts"
import {
  type BotOptions,
  type ChatOptions,
  defaultToken,
  type Options,
  type Revocation,
  type UserOptions
} from "./EmulatorOptions.ts"
import type * as Faults from "./Faults.ts"
import { makeClient } from "./internal/http/inProcessClient.ts"
import { apiOrigin } from "./internal/http/wire.ts"
import * as emulator from "./internal/platform/emulator.ts"
import type { ChatRef, MessageRef, Person, PersonEvent, UserRef } from "./Person.ts"
import type * as WebhookSender from "./WebhookSender.ts"

/**
 * A bot on the platform.
 *
 * @category models
 * @since 0.1.0
 */
export interface Bot {
  /** The token with which the client of the bot authenticates. */
  readonly token: Redacted.Redacted
  /** The profile of the bot. */
  readonly user: UserWithPhoto
  /** The id of the bot. */
  readonly user_id: UserId
}

/**
 * The emulator. Each member is also a function or value of this module, with its documentation.
 *
 * @category services
 * @since 0.1.0
 */
export class Emulator extends Context.Service<
  Emulator,
  {
    /** The token of the bot under test. */
    readonly token: Redacted.Redacted
    /** The base URL of the API in process. */
    readonly baseUrl: string
    /** The profile of the bot under test. */
    readonly bot: UserWithPhoto
    /** See {@link bots}. */
    readonly bots: Effect.Effect<ReadonlyArray<Bot>>
    /** See {@link user}. */
    readonly user: (options: string | UserOptions) => Effect.Effect<Person>
    /** See {@link chat}. */
    readonly chat: (options?: ChatOptions) => Effect.Effect<Chat>
    /** See {@link revokeToken}. */
    readonly revokeToken: (token?: string, as?: Revocation) => Effect.Effect<void>
    /** See {@link closeChat}. */
    readonly closeChat: (chat: ChatRef) => Effect.Effect<void>
    /** See {@link allowComments}. */
    readonly allowComments: (chat: ChatRef, allowed: boolean) => Effect.Effect<void>
    /** See {@link messages}. */
    readonly messages: (chat: ChatRef) => Effect.Effect<ReadonlyArray<Message>>
    /** See {@link comments}. */
    readonly comments: (message: MessageRef) => Effect.Effect<ReadonlyArray<Comment>>
    /** See {@link updates}. */
    readonly updates: Effect.Effect<ReadonlyArray<Update>>
    /** See {@link updatesOf}. */
    readonly updatesOf: (bot: UserRef) => Effect.Effect<ReadonlyArray<Update>>
    /** See {@link deliver}. */
    readonly deliver: (raw: unknown, bot?: UserRef) => Effect.Effect<void>
    /** See {@link requests}. */
    readonly requests: Effect.Effect<ReadonlyArray<EmulatorHttp.Exchange>>
    /** See {@link receive}. */
    readonly receive: (
      url: string,
      receiver: WebhookSender.Receiver<unknown>
    ) => Effect.Effect<void, never, Scope.Scope>
    /** See {@link deliveries}. */
    readonly deliveries: Effect.Effect<ReadonlyArray<WebhookSender.Delivery>>
    /** See {@link attempts}. */
    readonly attempts: Stream.Stream<WebhookSender.Delivery>
    /** See {@link events}. */
    readonly events: Stream.Stream<EmulatorEvent>
    /** See {@link seen}. */
    readonly seen: Effect.Effect<ReadonlyArray<PersonEvent>>
    /** See {@link seenIn}. */
    readonly seenIn: (chat: ChatRef) => Stream.Stream<PersonEvent>
    /** See {@link setFaults}. */
    readonly setFaults: (rules: ReadonlyArray<Faults.Rule>) => Effect.Effect<void>
    /** See {@link addFault}. */
    readonly addFault: (rule: Faults.Rule) => Effect.Effect<void, never, Scope.Scope>
    /** See {@link intercept}. */
    readonly intercept: (interceptor: EmulatorHttp.Interceptor) => Effect.Effect<void, never, Scope.Scope>
    /** Answers a request, in process or from a socket. */
    readonly handle: EmulatorHttp.Handler
  }
>()("@colloquy/testing/Emulator") {}

/**
 * The base URL of the API in process.
 *
 * @category settings
 * @since 0.1.0
 */
export const baseUrl: string = apiOrigin

/**
 * Creates an emulator. The webhook deliveries run until the scope closes. An option out of range is a `RangeError`
 * defect.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): Effect.Effect<Emulator["Service"], never, Scope.Scope> =>
  emulator.make(options)

/**
 * The emulator in process, and the `HttpClient` that reaches it. The layer sets `Deliveries.ImmediateShutdown`, so a bot in the
 * test stops at once when the test has ended, also under a test clock.
 *
 * **Example** (Connecting the client of a bot)
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
  ).pipe(
    Layer.provideMerge(Layer.effect(Emulator, make(options))),
    Layer.merge(Layer.succeed(Deliveries.ImmediateShutdown, true))
  )

/**
 * Like {@link layer}, with options from the configuration.
 *
 * **Example** (Reading the token from the environment)
 *
 * ```ts
 * import { Emulator } from "@colloquy/testing"
 * import { Config } from "effect"
 *
 * const emulator = Emulator.layerConfig({ token: Config.String("BOT_TOKEN") })
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  options: Config.Wrap<Options>
): Layer.Layer<Emulator | HttpClient.HttpClient, Settings.InvalidSettings> =>
  Layer.unwrap(Effect.map(Settings.unwrap<Options>(options), layer))

/**
 * Provides the services of a bot under test: the emulator in process, a client of the bot, and an inbox in memory.
 *
 * **Example** (Test the messages of a bot)
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
    Layer.merge(Inbox.layerMemory(options.inbox)),
    Layer.provideMerge(layer(options))
  )

/**
 * Creates a user from a first name or from options, and returns the `Person` by which a test acts as this user. Options
 * that the platform does not allow, such as an id that is taken, are a `RangeError` defect.
 *
 * **Example** (Talking to a bot)
 *
 * ```ts
 * import { Emulator } from "@colloquy/testing"
 * import { Effect } from "effect"
 *
 * const talk = Effect.gen(function* () {
 *   const visitor = yield* Emulator.user("visitor")
 *   yield* visitor.send("hi")
 *   const answer = yield* visitor.reply
 *   yield* visitor.press(answer, "Yes")
 * })
 * ```
 *
 * @category people and chats
 * @since 0.1.0
 */
export const user = (options: string | UserOptions): Effect.Effect<Person, never, Emulator> =>
  Emulator.use((emulator) => emulator.user(options))

/**
 * Creates a group chat or channel. The bot receives `bot_added`, and `bot_admin_permissions_changed` if it is an
 * administrator. Options that the platform does not allow are a `RangeError` defect.
 *
 * **Example** (A channel in which the bot may write)
 *
 * ```ts
 * import { Emulator } from "@colloquy/testing"
 * import { Effect } from "effect"
 *
 * const channel = Effect.gen(function* () {
 *   const owner = yield* Emulator.user("owner")
 *   return yield* Emulator.chat({ type: "channel", owner, bot: { permissions: ["write"] } })
 * })
 * ```
 *
 * @category people and chats
 * @since 0.1.0
 */
export const chat = (options?: ChatOptions): Effect.Effect<Chat, never, Emulator> =>
  Emulator.use((emulator) => emulator.chat(options))

/**
 * Revokes a token, or marks it as deprecated. From then on the platform answers 401 `verify.token` to a revoked token,
 * and 403 `deprecated.token` to a deprecated token. Default: revokes the token of the bot under test.
 *
 * API: Authentication.
 *
 * @category people and chats
 * @since 0.1.0
 */
export const revokeToken = (token?: string, as?: Revocation): Effect.Effect<void, never, Emulator> =>
  Emulator.use((emulator) => emulator.revokeToken(token, as))

/**
 * Closes a group chat, or archives a channel. An unknown chat is a `RangeError` defect.
 *
 * @category people and chats
 * @since 0.1.0
 */
export const closeChat = (chat: ChatRef): Effect.Effect<void, never, Emulator> =>
  Emulator.use((emulator) => emulator.closeChat(chat))

/**
 * Enables or disables the comments of a channel. An unknown chat is a `RangeError` defect.
 *
 * @category people and chats
 * @since 0.1.0
 */
export const allowComments = (chat: ChatRef, allowed: boolean): Effect.Effect<void, never, Emulator> =>
  Emulator.use((emulator) => emulator.allowComments(chat, allowed))

/**
 * Delivers an update of any type, unchanged, to a bot. Default: the bot under test. An unknown bot is a `RangeError`
 * defect.
 *
 * @category people and chats
 * @since 0.1.0
 */
export const deliver = (raw: unknown, bot?: UserRef): Effect.Effect<void, never, Emulator> =>
  Emulator.use((emulator) => emulator.deliver(raw, bot))

/**
 * Returns the bots on the platform: the bot under test, then the bots of `moreTokens`. `Person.with` returns a person
 * who acts towards another bot.
 *
 * **Example** (Testing two bots)
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
 *   yield* ann.send("hi")
 *   yield* Messages.send({ user_id: ann.user_id, text: "I am two" }).pipe(Effect.provide(client))
 *   return (yield* ann.reply).body?.text // => "I am two"
 * }).pipe(Effect.provide(Emulator.layerBot({ moreTokens: ["second"] })))
 * ```
 *
 * @category inspection
 * @since 0.1.0
 */
export const bots: Effect.Effect<ReadonlyArray<Bot>, never, Emulator> = Emulator.use(({ bots }) => bots)

/**
 * Returns the messages of a chat after their edits, oldest first.
 *
 * @category inspection
 * @since 0.1.0
 */
export const messages = (chat: ChatRef): Effect.Effect<ReadonlyArray<Message>, never, Emulator> =>
  Emulator.use((emulator) => emulator.messages(chat))

/**
 * Returns the comments on a channel post after their edits, oldest first.
 *
 * @category inspection
 * @since 0.1.0
 */
export const comments = (message: MessageRef): Effect.Effect<ReadonlyArray<Comment>, never, Emulator> =>
  Emulator.use((emulator) => emulator.comments(message))

/**
 * Returns the updates of the bot under test from the last 24 hours, received or not, including updates that are sent to
 * webhooks only.
 *
 * @category inspection
 * @since 0.1.0
 */
export const updates: Effect.Effect<ReadonlyArray<Update>, never, Emulator> = Emulator.use(({ updates }) => updates)

/**
 * Returns the updates of any bot, like {@link updates}. An unknown bot is a `RangeError` defect.
 *
 * @category inspection
 * @since 0.1.0
 */
export const updatesOf = (bot: UserRef): Effect.Effect<ReadonlyArray<Update>, never, Emulator> =>
  Emulator.use((emulator) => emulator.updatesOf(bot))

/**
 * Returns the journal of requests and responses of all bots, oldest first: at least the last 50,000 exchanges, fewer if
 * their texts are larger than 64 MiB.
 *
 * @category inspection
 * @since 0.1.0
 */
export const requests: Effect.Effect<ReadonlyArray<EmulatorHttp.Exchange>, never, Emulator> = Emulator.use(
  ({ requests }) => requests
)

/**
 * Returns the journal of webhook deliveries: at least the last 50,000 ended attempts, with their results.
 *
 * API: Events, Webhook delivery rules.
 *
 * @category inspection
 * @since 0.1.0
 */
export const deliveries: Effect.Effect<ReadonlyArray<WebhookSender.Delivery>, never, Emulator> = Emulator.use(
  ({ deliveries }) => deliveries
)

/**
 * A stream of the attempts to deliver to webhooks, from the first attempt on. An attempt is emitted at its end.
 *
 * API: Events, Webhook delivery rules.
 *
 * @category inspection
 * @since 0.1.0
 */
export const attempts: Stream.Stream<WebhookSender.Delivery, never, Emulator> = Stream.unwrap(
  Emulator.use(({ attempts }) => Effect.succeed(attempts))
)

/**
 * A stream of all events of the emulator, from the first kept event on: actions of people and bots, requests with their
 * responses, deliveries, updates, applied faults, and moves of the clock. The emulator keeps at least the last 50,000
 * events, fewer if their texts are larger than 64 MiB. A reader that is too slow misses events, and receives an event
 * of the type `gap`.
 *
 * **Example** (Waiting for a delivery that is never attempted again)
 *
 * ```ts
 * import { Emulator } from "@colloquy/testing"
 * import { Stream } from "effect"
 *
 * const dead = Emulator.events.pipe(
 *   Stream.filter((event) => event.type === "delivery" && event.state === "dead"),
 *   Stream.runHead
 * )
 * ```
 *
 * @category inspection
 * @since 0.1.0
 */
export const events: Stream.Stream<EmulatorEvent, never, Emulator> = Stream.unwrap(
  Emulator.use(({ events }) => Effect.succeed(events))
)

/**
 * Returns the actions of bots so far, as people see them: messages, edits, removals, comments, notifications, actions
 * and notices, oldest first.
 *
 * @category inspection
 * @since 0.1.0
 */
export const seen: Effect.Effect<ReadonlyArray<PersonEvent>, never, Emulator> = Emulator.use(({ seen }) => seen)

/**
 * A stream of the actions of bots in one chat, as people see them, from the first event of the chat on.
 *
 * @category inspection
 * @since 0.1.0
 */
export const seenIn = (chat: ChatRef): Stream.Stream<PersonEvent, never, Emulator> =>
  Stream.unwrap(Emulator.use((emulator) => Effect.succeed(emulator.seenIn(chat))))

/**
 * Receives the webhook deliveries to a URL in process, until the scope closes. A delivery to a URL without a receiver
 * goes to the network only where a `WebhookSender` is provided; otherwise the URL is unreachable. A receiver that fails
 * resets the connection; a receiver that takes longer than 30 seconds times out.
 *
 * **Example** (Receiving the updates of a webhook)
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
 *   yield* visitor.send("hi")
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
  receiver: WebhookSender.Receiver<E, R>
): Effect.Effect<void, never, Emulator | R | Scope.Scope> =>
  Effect.contextWith((context: Context.Context<R>) =>
    Emulator.use((emulator) => emulator.receive(url, (request) => Effect.provideContext(receiver(request), context)))
  )

/**
 * Replaces the scripted faults and sets their counters to zero. An empty list removes all faults. An invalid rule is a
 * `RangeError` defect.
 *
 * **Example** (Failing requests)
 *
 * ```ts
 * import { Emulator } from "@colloquy/testing"
 *
 * const failing = Emulator.setFaults([
 *   { endpoint: "Messages.send", nth: 2, status: 503 },
 *   { probability: 0.05, seed: 1, reset: "after" }
 * ])
 * const working = Emulator.setFaults([])
 * ```
 *
 * @category faults
 * @since 0.1.0
 */
export const setFaults = (rules: ReadonlyArray<Faults.Rule>): Effect.Effect<void, never, Emulator> =>
  Emulator.use((emulator) => emulator.setFaults(rules))

/**
 * Adds a scripted fault until the scope closes. An invalid rule is a `RangeError` defect.
 *
 * @category faults
 * @since 0.1.0
 */
export const addFault = (rule: Faults.Rule): Effect.Effect<void, never, Emulator | Scope.Scope> =>
  Emulator.use((emulator) => emulator.addFault(rule))

/**
 * Runs an interceptor around every request to the API and the upload hosts, until the scope closes. The interceptor
 * that was added last runs first.
 *
 * **Example** (Delaying and failing requests)
 *
 * ```ts
 * import { Emulator, EmulatorHttp } from "@colloquy/testing"
 * import { Effect } from "effect"
 *
 * const badGateway = Emulator.intercept((request, next) =>
 *   request.path === "/me" ? Effect.succeed(EmulatorHttp.respond(502, "<html>Bad gateway</html>")) : next
 * )
 * const slow = Emulator.intercept((_, next) => Effect.delay(next, "3 seconds"))
 * const broken = Emulator.intercept(() => EmulatorHttp.connectionReset)
 * ```
 *
 * @category faults
 * @since 0.1.0
 */
export const intercept = (interceptor: EmulatorHttp.Interceptor): Effect.Effect<void, never, Emulator | Scope.Scope> =>
  Emulator.use((emulator) => emulator.intercept(interceptor))
