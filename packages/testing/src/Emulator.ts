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
import type { Chat } from "@colloquy/core/Chat"
import type { Comment } from "@colloquy/core/Comment"
import type { Permission } from "@colloquy/core/Member"
import type { Message } from "@colloquy/core/Message"
import * as RateLimiter from "@colloquy/core/RateLimiter"
import type { Update } from "@colloquy/core/Update"
import type { UserWithPhoto } from "@colloquy/core/User"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { defaultToken, make } from "./internal/emulator.ts"
import { apiOrigin, makeClient } from "./internal/httpClient.ts"
import * as wire from "./internal/wire.ts"
import type { ChatRef, Heard, MessageRef, Person } from "./Person.ts"

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
}

/**
 * The bot under test, and the limits that its client keeps: none unless told, because they wait by the clock, and a test
 * clock stands still. A test of the limits themselves gives `RateLimiter.documented` and moves the clock.
 *
 * @category models
 * @since 0.1.0
 */
export interface BotOptions extends Options {
  readonly limits?: Partial<RateLimiter.Limits> | undefined
}

/**
 * A person to be made. `isPrivate`: others may not add them to chats. `locale` comes with what they do in the dialog.
 *
 * @category models
 * @since 0.1.0
 */
export interface UserOptions extends Partial<Omit<UserWithPhoto, "first_name" | "is_bot">> {
  readonly first_name: string
  readonly isPrivate?: boolean | undefined
  readonly locale?: string | undefined
}

/**
 * A chat to be made. The owner is the first member unless told. The bot is added as a plain member; `bot` makes it an
 * administrator (with all rights, or with `permissions`), or leaves it out.
 *
 * @category models
 * @since 0.1.0
 */
export interface ChatOptions {
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
export type { Exchange, Intercept, Request, Response } from "./internal/wire.ts"

/**
 * Nothing comes back: the connection is refused, or it breaks.
 *
 * @category errors
 * @since 0.1.0
 */
export const Lost = wire.Lost

/**
 * @category errors
 * @since 0.1.0
 */
export type Lost = wire.Lost

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
    readonly user: (options: string | UserOptions) => Effect.Effect<Person>
    readonly chat: (options?: ChatOptions) => Effect.Effect<Chat>
    readonly closeChat: (chat: ChatRef) => Effect.Effect<void>
    readonly allowComments: (chat: ChatRef, allowed: boolean) => Effect.Effect<void>
    readonly messages: (chat: ChatRef) => Effect.Effect<ReadonlyArray<Message>>
    readonly comments: (post: MessageRef) => Effect.Effect<ReadonlyArray<Comment>>
    readonly updates: Effect.Effect<ReadonlyArray<Update>>
    readonly deliver: (raw: unknown) => Effect.Effect<void>
    readonly requests: Effect.Effect<ReadonlyArray<wire.Exchange>>
    readonly heard: Effect.Effect<ReadonlyArray<Heard>>
    readonly said: (chat: ChatRef) => Stream.Stream<Heard>
    readonly intercept: (intercept: wire.Intercept) => Effect.Effect<void, never, Scope.Scope>
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
 * All that a bot under test needs: the platform in process and a client for its bot.
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
export const layerBot = (options: BotOptions = {}): Layer.Layer<BotApi.BotApi | Emulator | HttpClient.HttpClient> =>
  BotApi.layer({ token: Redacted.make(options.token ?? defaultToken), baseUrl }).pipe(
    Layer.provide(RateLimiter.layerMemory({ ...RateLimiter.unlimited, ...options.limits })),
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
 * Delivers any update as it is, of unknown types too.
 *
 * @category driving
 * @since 0.1.0
 */
export const deliver = (raw: unknown): Effect.Effect<void, never, Emulator> =>
  Emulator.use((emulator) => emulator.deliver(raw))

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
export const comments = (post: MessageRef): Effect.Effect<ReadonlyArray<Comment>, never, Emulator> =>
  Emulator.use((emulator) => emulator.comments(post))

/**
 * The updates of the last day, read or not, those that come by webhook only included.
 *
 * @category looking
 * @since 0.1.0
 */
export const updates: Effect.Effect<ReadonlyArray<Update>, never, Emulator> = Emulator.use(({ updates }) => updates)

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
 * All that bots did so far, as people see it: messages, edits, removals, comments, notifications, actions.
 *
 * @category looking
 * @since 0.1.0
 */
export const heard: Effect.Effect<ReadonlyArray<Heard>, never, Emulator> = Emulator.use(({ heard }) => heard)

/**
 * What bots did and will do in one chat, from its beginning, as it happens.
 *
 * @category looking
 * @since 0.1.0
 */
export const said = (chat: ChatRef): Stream.Stream<Heard, never, Emulator> =>
  Stream.unwrap(Emulator.use((emulator) => Effect.succeed(emulator.said(chat))))

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
export const intercept = (intercept: wire.Intercept): Effect.Effect<void, never, Emulator | Scope.Scope> =>
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
export const refuse: Effect.Effect<never, wire.Lost> = Effect.fail(new wire.Lost({ kind: "refused" }))

/**
 * The connection breaks: nobody knows whether the request was carried out.
 *
 * @category faults
 * @since 0.1.0
 */
export const reset: Effect.Effect<never, wire.Lost> = Effect.fail(new wire.Lost({ kind: "reset" }))
