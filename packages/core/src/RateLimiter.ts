/**
 * The platform's limits, kept before it has to enforce them.
 *
 * Calls depart in the order of their lanes, first come first served within a chat; a busy chat takes one place in the
 * common queue, however many calls wait in it. A 429 pauses everybody once and teaches what the platform really allows.
 *
 * API: Limits.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Layer from "effect/Layer"
import * as driver from "./internal/rateLimiter/driver.ts"
import * as memory from "./internal/rateLimiter/memory.ts"
import * as Platform from "./Platform.ts"
import type { ChatId } from "./Recipient.ts"

/**
 * What a limit counts: all requests to the API host, messages in one chat (sent, edited, comments), answers to callbacks
 * in one chat, calls of GET /updates.
 *
 * @category models
 * @since 0.1.0
 */
export type Scope = "host" | "messages" | "answers" | "polling"

/**
 * At most `count` departures in any window of time.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limit {
  readonly count: number
  readonly window: Duration.Input
}

/**
 * The table of limits.
 *
 * @category models
 * @since 0.1.0
 */
export type Limits = { readonly [S in Scope]: Limit }

/**
 * Who goes first: an answer to the press of a button, a reply to an update that is being handled, any other call, a
 * broadcast. A lane that waits has one of about twenty departures, however much comes before it.
 *
 * Answers and replies take whatever the limits allow at once. The others may do so with a third of the host's limit, and
 * are spread over its window beyond that: so there is always a place soon for an answer.
 *
 * @category models
 * @since 0.1.0
 */
export type Priority = "answer" | "reply" | "normal" | "broadcast"

/** @internal */
export const priorities: ReadonlyArray<Priority> = ["answer", "reply", "normal", "broadcast"]

/**
 * The limits, and how calls wait for them.
 *
 * - `margin` is added to each window, because the network squeezes departures together on their way. The first requests
 *   of a process, which open connections, count eight margins more.
 * - `backlog` is how many calls may wait in one lane; those beyond fail at once.
 * - `deadline` is how long a call may wait, unless {@link withMaxWait} says otherwise.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends Limits {
  readonly margin: Duration.Input
  readonly maxQueued: number
  readonly maxWait: Duration.Input
}

/**
 * The limits of the document: 30 requests a second, 2 messages and 2 answers a second for each chat. The margin is 25
 * ms; 20,000 calls may wait in a lane, each for an hour.
 *
 * @category settings
 * @since 0.1.0
 */
export const defaults: Options = {
  host: { count: Platform.requestsPerSecond, window: 1000 },
  messages: { count: Platform.messagesPerSecond, window: 1000 },
  answers: { count: Platform.answersPerSecond, window: 1000 },
  polling: { count: Platform.pollsPerSecond, window: 1000 },
  margin: 25,
  maxQueued: 20_000,
  maxWait: 3_600_000
}

/**
 * No limits, for tests on a clock that stands still. A 429 still pauses everybody.
 *
 * @category settings
 * @since 0.1.0
 */
export const unlimited: Options = {
  host: { count: 1, window: 0 },
  messages: { count: 1, window: 0 },
  answers: { count: 1, window: 0 },
  polling: { count: 1, window: 0 },
  margin: 0,
  maxQueued: Infinity,
  maxWait: Infinity
}

/**
 * What a request takes besides its place at the host: a place in a scope's line. The line is that of `key`, of the
 * dialog with `user`, or of the chat whose update is being handled ({@link CurrentChat}). Without any of them only the
 * host's limit holds. `lane` goes before the one that is in force by itself.
 *
 * @category models
 * @since 0.1.0
 */
export interface Target {
  readonly scope: Exclude<Scope, "host">
  readonly key?: string | number
  readonly user?: number
  readonly priority?: Priority
}

/**
 * A request that was let go, `at` a time in milliseconds of the limiter's clock, after `load` others within the host's
 * window. Give it back when it was answered, or refused with 429, and where it is to depart again.
 *
 * @category models
 * @since 0.1.0
 */
export interface Permit extends driver.Departure {}

/**
 * How things stand: how many calls wait in each lane, how many chats are remembered, and how many requests are let go
 * within the host's window, which is less than its limit after a 429.
 *
 * @category models
 * @since 0.1.0
 */
export interface Status {
  readonly waiting: { readonly [L in Priority]: number }
  readonly chats: number
  readonly allowed: number
}

/**
 * A call that the limiter did not let go: nothing was sent. `isFull` where the lane's backlog is used up, otherwise its
 * deadline passed. `retryAfter` is how long a call that comes now waits at least.
 *
 * @category errors
 * @since 0.1.0
 */
export const RateLimiterError = driver.NotLetGo

/**
 * @category errors
 * @since 0.1.0
 */
export type RateLimiterError = driver.NotLetGo

/**
 * Lets requests depart within the limits.
 *
 * @category services
 * @since 0.1.0
 */
export class RateLimiter extends Context.Service<
  RateLimiter,
  {
    /**
     * Waits for a place; the caller sends right after. What departs `again`, after a 429 say, goes before whoever came
     * later than it did at first.
     */
    readonly acquire: (claim: Target | undefined, again?: Permit) => Effect.Effect<Permit, RateLimiterError>
    /** What departed was answered. Answers that take longer than the fastest tell that requests arrive late. */
    readonly onResponse: (departure: Permit) => Effect.Effect<void>
    /**
     * The platform refused what departed (429). Everybody pauses, for as long as the platform asked or for the host's
     * window, and the host's limit is lowered to what fitted. All that had departed by then belongs to the one lesson.
     */
    readonly onRateLimited: (departure: Permit, asked?: Duration.Duration) => Effect.Effect<void>
    /** Lets nobody depart for a while. The longest of several pauses counts. */
    readonly pause: (duration: Duration.Duration) => Effect.Effect<void>
    /** The dialog with a user has this chat: from now on both are one line. */
    readonly linkDialog: (dialog: { readonly user_id: number; readonly chat_id: number }) => Effect.Effect<void>
    readonly status: Effect.Effect<Status>
  }
>()("@colloquy/core/RateLimiter") {}

/**
 * The lane of calls that do not declare one: `normal` unless set. {@link withPriority} sets it.
 *
 * @category references
 * @since 0.1.0
 */
export const CurrentPriority = Context.Reference<Priority>("@colloquy/core/RateLimiter/CurrentPriority", {
  defaultValue: () => "normal"
})

/**
 * The chat whose update is being handled, none unless set. Answers to callbacks count there, because they do not say
 * their chat.
 *
 * @category references
 * @since 0.1.0
 */
export const CurrentChat = Context.Reference<ChatId | undefined>("@colloquy/core/RateLimiter/CurrentChat", {
  defaultValue: () => undefined
})

/**
 * How long a call waits for its place before it fails with `RateLimited`: as the limiter's settings say unless set.
 *
 * @category references
 * @since 0.1.0
 */
export const MaxWait = Context.Reference<Duration.Input | undefined>("@colloquy/core/RateLimiter/MaxWait", {
  defaultValue: () => undefined
})

/**
 * Who watches the limiters that are made: nobody unless set. `RateLimiterMetrics.layer` does it.
 *
 * @category references
 * @since 0.1.0
 */
export const Watcher = Context.Reference<driver.Watcher | undefined>("@colloquy/core/RateLimiter/Watcher", {
  defaultValue: () => undefined
})

/**
 * What a watcher is told. A `rank` is that of a lane, 0 for `answer` to 3 for `broadcast`; times are milliseconds.
 *
 * @category models
 * @since 0.1.0
 */
export type Watcher = driver.Watcher

/**
 * Puts calls into a lane. Answers to callbacks stay in the lane `answer` unless this says `broadcast`.
 *
 * **Example**
 *
 * ```ts
 * import { Chat, Messages, RateLimiter } from "@colloquy/core"
 *
 * const newsletter = Messages.send({ chat_id: Chat.ChatId.make(4242), text: "News" }).pipe(
 *   RateLimiter.withLane("broadcast")
 * )
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const withPriority: {
  (lane: Priority): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, lane: Priority): Effect.Effect<A, E, R>
} = dual(2, <A, E, R>(self: Effect.Effect<A, E, R>, lane: Priority) =>
  Effect.provideService(self, CurrentPriority, lane)
)

/**
 * Says in whose chat an update is being handled: answers to callbacks count there.
 *
 * **Example**
 *
 * ```ts
 * import { Answers, Chat, RateLimiter } from "@colloquy/core"
 *
 * const thank = Answers.send({ callback_id: "callback", notification: "Thank you" }).pipe(
 *   RateLimiter.withChat(Chat.ChatId.make(4242))
 * )
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const withChat: {
  (chat_id: ChatId | undefined): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, chat_id: ChatId | undefined): Effect.Effect<A, E, R>
} = dual(2, <A, E, R>(self: Effect.Effect<A, E, R>, chat_id: ChatId | undefined) =>
  Effect.provideService(self, CurrentChat, chat_id)
)

/**
 * How long calls wait for their place before they fail with `RateLimited`, with nothing sent. With 0 they fail at once
 * where they would have to wait.
 *
 * **Example**
 *
 * ```ts
 * import { Chat, Messages, RateLimiter } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const nowOrNever = Messages.send({ chat_id: Chat.ChatId.make(4242), text: "Hello" }).pipe(
 *   RateLimiter.withDeadline(0),
 *   Effect.catchTag("RateLimited", ({ retryAfter }) => Effect.log("Too busy", retryAfter))
 * )
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const withMaxWait: {
  (deadline: Duration.Input): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, deadline: Duration.Input): Effect.Effect<A, E, R>
} = dual(2, <A, E, R>(self: Effect.Effect<A, E, R>, deadline: Duration.Input) =>
  Effect.provideService(self, MaxWait, deadline)
)

/** How many dialogs are remembered by their user. */
const mostDialogs = 10_000

const dialogOf = (user: number): string => `user:${user}`

/** What a line is called, in every process. */
const lineOf = (scope: string, key: string | number): string => `${scope}:${key}`

/**
 * The limiter on top of what lets requests depart.
 *
 * @internal
 */
export const fromDriver = (
  { acquire, answered, merge, pause, refused, status }: driver.Driver,
  { maxQueued: backlog, maxWait: deadline }: Options
): RateLimiter["Service"] => {
  const patience = Duration.toMillis(deadline)
  const chats = new Map<number, number>()

  const rankOf = (current: Priority, declared: Priority | undefined) =>
    priorities.indexOf(declared !== undefined && (current === "normal" || current === "reply") ? declared : current)

  return RateLimiter.of({
    acquire: (claim, again) =>
      Effect.withFiber((fiber) => {
        const { key, priority: lane, scope = "host", user } = claim ?? {}
        const own = fiber.getRef(MaxWait)
        const whose =
          key ?? (user === undefined ? claim && fiber.getRef(CurrentChat) : (chats.get(user) ?? dialogOf(user)))
        return acquire({
          scope,
          line: whose === undefined ? undefined : lineOf(scope, whose),
          rank: rankOf(fiber.getRef(CurrentPriority), lane),
          patience: own === undefined ? patience : Duration.toMillis(own),
          backlog,
          again
        })
      }),
    onResponse: answered,
    onRateLimited: (departure, asked) => refused(departure, asked && Duration.toMillis(asked)),
    pause: (duration) => pause(Duration.toMillis(duration)),
    linkDialog: ({ chat_id, user_id }) =>
      Effect.suspend(() => {
        const isKnown = chats.delete(user_id)
        chats.set(user_id, chat_id)
        if (isKnown) return Effect.void
        for (const oldest of chats.keys()) {
          if (chats.size <= mostDialogs) break
          chats.delete(oldest)
        }
        return merge(lineOf("messages", dialogOf(user_id)), lineOf("messages", chat_id))
      }),
    status: Effect.map(status, ({ waiting, lines, level }) => ({
      waiting: Object.fromEntries(priorities.map((lane, rank) => [lane, waiting[rank]])) as Status["waiting"],
      chats: lines,
      allowed: level
    }))
  })
}

/**
 * The limits in milliseconds, with the margin. Dies of a limit that lets nobody go.
 *
 * @internal
 */
export const inNumbers = Effect.fnUntraced(function* (settings: Options) {
  const margin = Duration.toMillis(settings.margin)
  const { host, messages, answers, polling } = settings
  const limits: Record<string, driver.Limit> = {}
  for (const [scope, { count, window }] of Object.entries({ host, messages, answers, polling })) {
    if (!(Number.isInteger(count) && count > 0)) {
      return yield* Effect.die(new RangeError(`RateLimiter: the count of \`${scope}\` must be a whole number above 0`))
    }
    limits[scope] = { count, window: Duration.toMillis(window) + margin }
  }
  return limits as Record<Scope, driver.Limit>
})

/**
 * A limiter of one process.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (settings: Options) {
  return fromDriver(
    yield* memory.make(yield* inNumbers(settings), Duration.toMillis(settings.margin), yield* Watcher),
    settings
  )
})

/**
 * The limiter of one process. Without settings the documented ones hold: 30 requests a second for the host, 2 messages
 * a second for each chat. What is left out keeps its documented value.
 *
 * **Example**
 *
 * ```ts
 * import { RateLimiter } from "@colloquy/core"
 *
 * const careful = RateLimiter.layerMemory({ host: { count: 10, window: "1 second" } })
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory = (settings?: Partial<Options>): Layer.Layer<RateLimiter> =>
  Layer.effect(RateLimiter, make({ ...defaults, ...settings }))
