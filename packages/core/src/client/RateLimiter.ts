/**
 * The rate limiter delays requests so that the bot stays within the limits of the platform.
 *
 * Each call waits for a permit before its request is sent. Permits are granted by priority. The calls of one chat get
 * their permits in the order of the calls, and a busy chat does not delay other chats. A 429 response pauses all calls
 * once and lowers the limit to the real limit of the platform.
 *
 * `layerMemory` limits the requests of one process. `layer` limits the requests of several processes together, with a
 * `RateLimiterStore`.
 *
 * API: Limits.
 *
 * @since 0.1.0
 */
import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { dual } from "effect/Function"
import * as Layer from "effect/Layer"
import type * as EffectScope from "effect/Scope"
import * as Settings from "./Settings.ts"
import { CurrentObserver, makeObserver, type Observer } from "./internal/rateLimiter/metrics.ts"
import { metricContext } from "../base/internal/metricContext.ts"
import { optionalReference } from "../base/internal/optionalReference.ts"
import * as memory from "./internal/rateLimiter/memory.ts"
import { GrantedPermit, type Reports } from "./internal/rateLimiter/permit.ts"
import type { Backend, Waiter } from "./internal/rateLimiter/queue.ts"
import * as shared from "./internal/rateLimiter/shared.ts"
import type { Share as ShareInMillis } from "./internal/rateLimiter/storeSession.ts"
import type { Limits } from "./internal/rateLimiter/window.ts"
import * as Platform from "../base/Platform.ts"
import { type Granted, type Limit as LimitInMillis, RateLimiterStore } from "./RateLimiterStore.ts"
import type { ChatId } from "../model/Recipient.ts"
import { TaggedError } from "../base/TaggedError.ts"

/**
 * The requests that a limit counts.
 *
 * - `host`: all requests to the API host.
 * - `messages`: messages sent to one chat, and comments.
 * - `edits`: edits of messages in one chat.
 * - `removals`: removals of messages in one chat.
 * - `answers`: answers to callbacks in one chat.
 * - `polling`: calls of `GET /updates`.
 *
 * @category models
 * @since 0.1.0
 */
export type Scope = "host" | "messages" | "edits" | "removals" | "answers" | "polling"

/**
 * A limit of at most `count` requests in any window of the given length, wherever the window begins.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limit {
  /** Maximum number of requests in the window: an integer above 0. */
  readonly count: number
  /** Length of the window. */
  readonly window: Duration.Input
}

/**
 * The priority of a call, from the most urgent to the least urgent.
 *
 * - `answer`: an answer to a callback.
 * - `reply`: a call of a handler of updates.
 * - `normal`: any other call.
 * - `broadcast`: a message of a broadcast.
 *
 * A priority with waiting calls gets at least about one of 20 permits, however many calls of other priorities wait.
 *
 * Calls of priority `answer` and `reply` get a permit as soon as the limits allow. Calls of priority `normal` and
 * `broadcast` may use a third of the limit of the host in a burst. Further calls are distributed evenly over the window
 * of the host, so that an answer never waits long. The guaranteed permit of 20 is exempt from this distribution.
 *
 * @category models
 * @since 0.1.0
 */
export type Priority = "answer" | "reply" | "normal" | "broadcast"

/** All priorities, the most urgent first. */
const priorities: ReadonlyArray<Priority> = ["answer", "reply", "normal", "broadcast"]

/**
 * The options of a rate limiter. Limits that are left out keep the value of {@link defaults}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** All requests to the API host. Default: 30 per second. */
  readonly host?: Limit | undefined
  /** Messages sent to one chat, including comments, edits and removals. Default: 2 per second. */
  readonly messages?: Limit | undefined
  /**
   * Edits of messages in one chat, for a limit of their own. With a limit of `Platform.editsPerSecond`, an edit does
   * not wait for messages of the same chat. The document does not say whether edits have a limit of their own. Default:
   * edits count as `messages`.
   */
  readonly edits?: Limit | undefined
  /**
   * Removals of messages in one chat, for a limit of their own, such as `Platform.removalsPerSecond`. Default: removals
   * count as `messages`.
   */
  readonly removals?: Limit | undefined
  /** Answers to callbacks in one chat. Default: 2 per second. */
  readonly answers?: Limit | undefined
  /** Calls of `GET /updates`. Default: 2 per second. */
  readonly polling?: Limit | undefined
  /**
   * Time added to each window, because requests that are sent a second apart can arrive closer together. The first
   * requests of a process open connections, so these requests count 8 margins later. Default: 25 milliseconds.
   */
  readonly margin?: Duration.Input | undefined
  /**
   * Maximum number of waiting calls of each priority. Further calls of an endpoint fail with `RateLimited`, and `acquire`
   * with the reason `QueueFull`. Default: 20,000.
   */
  readonly maxQueued?: number | undefined
  /**
   * Maximum time that a call waits for its permit. Then a call of an endpoint fails with `RateLimited`, and `acquire` with
   * the reason `MaxWaitExceeded`.
   * {@link withMaxWait} changes the time for single calls. Default: 1 hour.
   */
  readonly maxWait?: Duration.Input | undefined
}

/**
 * The options of a rate limiter that several processes share.
 *
 * @category models
 * @since 0.1.0
 */
export interface SharedOptions extends Options {
  /**
   * The behaviour while the store is unavailable. `"wait"`: calls wait until the store is available again. A
   * {@link Share}: the process sends a share of the limits. Default: `"wait"`.
   */
  readonly onUnavailable?: "wait" | Share | undefined
}

/**
 * The requests that a process may send while the shared store is unreachable.
 *
 * The store reserves the share of a process that is absent, so that all processes together keep the limit of the host.
 * The calls of such a process wait for 5.5 seconds before the process sends its share.
 *
 * @category models
 * @since 0.1.0
 */
export interface Share {
  /**
   * Share of the limits, such as 0.25 for four processes. If the shares of all processes exceed 1, the processes that
   * started last wait instead.
   */
  readonly share: number
  /**
   * Maximum time that the process sends its share. Then calls wait until the store is available again. The share of a
   * killed process is reserved for the same time. Default: 1 minute.
   */
  readonly duration?: Duration.Input | undefined
}

/**
 * The default options: the limits of the API document, with a margin of 25 milliseconds.
 *
 * @category options
 * @since 0.1.0
 */
export const defaults: {
  readonly [K in Exclude<keyof Options, "edits" | "removals">]-?: Exclude<Options[K], undefined>
} = {
  host: { count: Platform.requestsPerSecond, window: 1000 },
  messages: { count: Platform.messagesPerSecond, window: 1000 },
  answers: { count: Platform.answersPerSecond, window: 1000 },
  polling: { count: Platform.pollsPerSecond, window: 1000 },
  margin: 25,
  maxQueued: 20_000,
  maxWait: 3_600_000
}

/**
 * Options without limits, for tests with a clock that does not move. A 429 response still pauses all calls.
 *
 * @category options
 * @since 0.1.0
 */
export const unlimited: typeof defaults = {
  host: { count: 1, window: 0 },
  messages: { count: 1, window: 0 },
  answers: { count: 1, window: 0 },
  polling: { count: 1, window: 0 },
  margin: 0,
  maxQueued: Infinity,
  maxWait: Infinity
}

/**
 * The limit that a request counts towards, besides the limit of the host. The limit of `scope` is counted for `key`, or
 * for the dialog with `user`, or for the chat whose update is being handled ({@link CurrentChat}). Requests without a
 * known key, dialog or chat count together.
 *
 * @category models
 * @since 0.1.0
 */
export interface Target {
  /** The limit that applies besides the limit of the host. */
  readonly scope: Exclude<Scope, "host">
  /** The id of the chat, or another key to count by. */
  readonly key?: string | number
  /** The id of the user, for a message that is addressed to a user. */
  readonly user?: number
  /** The priority of the call, if the caller did not set `answer` or `broadcast`. */
  readonly priority?: Priority
}

/**
 * Permission to send one request.
 *
 * @category models
 * @since 0.1.0
 */
export interface Permit extends Granted {
  /** Position of the call in the order of arrival, also when the call is sent again. */
  readonly sequence: number
  /**
   * Confirms the permit, synchronously, right before the request is sent. Returns `false` if the request may not be sent
   * because too much time has passed since the grant, for example because the process was suspended. Then acquire
   * another permit, with this permit as `previous`.
   */
  readonly confirm: (stage: Stage) => boolean
  /**
   * Reports a response. A response that takes longer than the fastest response means that the request may have arrived
   * late, so the permit counts for longer.
   */
  readonly responded: Effect.Effect<void>
  /**
   * Reports a 429 response. All calls pause for `retryAfter`, or for the window of the host by default, and the limit of
   * the host is lowered to the number of requests that the platform accepted. Several 429 responses of requests that
   * were in flight at the same time lower the limit once.
   */
  readonly rejected: (retryAfter?: Duration.Duration) => Effect.Effect<void>
}

/**
 * The stage of a request, which decides how late the request may be sent.
 *
 * - `ready`: within a part of the margin. A request that is later needs another permit.
 * - `connected`: within half a window, because the request has waited for a connection that would be lost.
 * - `final`: however late, because an earlier permit of the same call has expired in `connected`.
 *
 * @category models
 * @since 0.1.0
 */
export type Stage = "ready" | "connected" | "final"

/**
 * The status of a rate limiter.
 *
 * @category models
 * @since 0.1.0
 */
export interface Status {
  /** Number of waiting calls of each priority. */
  readonly waiting: { readonly [P in Priority]: number }
  /** Number of chats and other keys that this process keeps permits of. */
  readonly buckets: number
  /** Maximum number of requests in the window of the host now. After a 429, lower than the configured limit. */
  readonly hostLimit: number
}

/**
 * A call got no permit. Its request was not sent.
 *
 * @category errors
 * @since 0.1.0
 */
export class RateLimiterError extends TaggedError("RateLimiterError", () => ({
  /**
   * `QueueFull`: as many calls of the same priority wait as `maxQueued` allows. `MaxWaitExceeded`: the call did not get a
   * permit within its maximum wait. `Replaced`: a newer call of the same slot took its place ({@link withSlot}).
   */
  reason: Schema.Literals(["QueueFull", "MaxWaitExceeded", "Replaced"]),
  /** The minimum time that a call would have to wait now. */
  retryAfter: Schema.Duration
})) {
  override get message() {
    if (this.reason === "Replaced") return "The rate limiter did not send the request: a newer call took its place."
    const problem =
      this.reason === "QueueFull" ? "too many calls are waiting" : "no permit was available within the maximum wait"
    return `The rate limiter did not send the request: ${problem}. Retry after ${Duration.format(this.retryAfter)}.`
  }
}

/**
 * Grants permits to send requests within the limits.
 *
 * @category services
 * @since 0.1.0
 */
export class RateLimiter extends Context.Service<
  RateLimiter,
  {
    /**
     * Waits for a permit. Then confirm the permit and send the request at once. `target` is the limit that applies
     * besides the limit of the host. To send a request again after a 429, pass its last permit as `previous`: the call
     * then keeps its position in the order of arrival.
     */
    readonly acquire: (target: Target | undefined, previous?: Permit) => Effect.Effect<Permit, RateLimiterError>
    /** Grants no permit for the given time. The longest of several pauses applies. */
    readonly pause: (duration: Duration.Duration) => Effect.Effect<void>
    /** Counts messages to the user and messages to the chat together, because both address the same dialog. */
    readonly linkDialog: (dialog: { readonly user_id: number; readonly chat_id: number }) => Effect.Effect<void>
    /** Returns the current status. */
    readonly status: Effect.Effect<Status>
  }
>()("@colloquy/core/RateLimiter") {}

/**
 * The priority of calls whose endpoint declares none. {@link withPriority} sets the priority. Default: `normal`.
 *
 * @category references
 * @since 0.1.0
 */
export const CurrentPriority = Context.Reference<Priority>("@colloquy/core/RateLimiter/CurrentPriority", {
  defaultValue: () => "normal"
})

/**
 * The chat whose update is being handled. Answers to callbacks count in this chat, because their requests do not name a
 * chat. `Bot.run`, `Answers.answer` and {@link withChat} set the chat. Default: none. Answers then count together.
 *
 * @category references
 * @since 0.1.0
 */
export const CurrentChat = optionalReference<ChatId>("@colloquy/core/RateLimiter/CurrentChat")

/**
 * Whether the current request may be sent now: its permit is valid, and this process holds the chat whose update is
 * being handled. The client of the API sets this function for each request. An HTTP client in which a request can wait,
 * for example for a connection, calls this function right before the request. After `false`, the HTTP client sends
 * nothing and fails with a {@link PermitExpired} as the cause. Default: `true`.
 *
 * @category references
 * @since 0.1.0
 */
export const ConfirmPermit = Context.Reference<() => boolean>("@colloquy/core/RateLimiter/ConfirmPermit", {
  defaultValue: () => () => true
})

/**
 * A request was not sent because its permit had expired, or because the lease of the chat whose update is being handled was
 * not certain any more. The client of the API acquires another permit and confirms the lease again.
 *
 * @category errors
 * @since 0.1.0
 */
export class PermitExpired extends TaggedError("PermitExpired") {
  override get message(): string {
    return "The request was not sent: its permit of the rate limiter, or the lease of its chat, had expired"
  }
}

/** The maximum time that a call waits for its permit. Default: the option `maxWait` of the rate limiter. */
const MaxWait = optionalReference<Duration.Input>("@colloquy/core/RateLimiter/MaxWait")

/** The slot of calls. Default: none. */
const CurrentSlot = optionalReference<string>("@colloquy/core/RateLimiter/CurrentSlot")

const scopes: ReadonlyArray<Scope> = ["host", "messages", "answers", "polling", "edits", "removals"]

const defaultLimits: { readonly [S in Scope]?: Limit } = defaults

/** The limits in milliseconds, with the margin. Edits and removals have a limit of their own only if it is configured. */
const toMillis = Effect.fnUntraced(function* (options: Options) {
  const margin = Duration.toMillis(options.margin ?? defaults.margin)
  const limits: { [S in Scope]?: LimitInMillis } = {}
  for (const scope of scopes) {
    const limit = options[scope] ?? defaultLimits[scope]
    if (limit === undefined) continue
    const { count, window } = limit
    if (!(Number.isInteger(count) && count > 0)) {
      return yield* Effect.die(new RangeError(`RateLimiter: \`${scope}.count\` must be an integer above 0`))
    }
    limits[scope] = { count, window: Duration.toMillis(window) + margin }
  }
  return { limits: limits as Limits, margin }
})

const defaultShareDuration = "1 minute"

const shareOf = (onUnavailable: "wait" | Share): Effect.Effect<ShareInMillis> => {
  if (onUnavailable === "wait") return Effect.succeed({ share: 0, duration: 0 })
  const { duration = defaultShareDuration, share } = onUnavailable
  return share > 0 && share <= 1
    ? Effect.succeed({ share, duration: Duration.toMillis(duration) })
    : Effect.die(new RangeError("RateLimiter: `onUnavailable.share` must be above 0 and at most 1"))
}

/** Maximum number of users whose dialog is remembered. */
const maxDialogs = 10_000

const dialogKey = (user: number): string => `user:${user}`

/** Key of the requests whose chat is unknown. Such requests count together, so that no chat exceeds its limit. */
const unknownChat = "unknown"

const bucketKey = (scope: string, key: string | number): string => `${scope}:${key}`

const replaced = new RateLimiterError({ reason: "Replaced", retryAfter: Duration.zero })

const priorityOf = (current: Priority, declared: Priority | undefined): number =>
  priorities.indexOf(declared !== undefined && (current === "normal" || current === "reply") ? declared : current)

const fromBackend = (
  backend: Backend,
  options: Options,
  limits: Limits,
  observer: Observer | undefined
): RateLimiter["Service"] => {
  const { now, queue } = backend
  const defaultMaxWait = Duration.toMillis(options.maxWait ?? defaults.maxWait)
  const maxQueued = options.maxQueued ?? defaults.maxQueued
  const chats = new Map<number, number>()

  /** Edits and removals count as messages, unless their scope has a limit of its own. */
  const scopeOf = ({ scope }: Target): Scope => (scope in limits ? scope : "messages")

  const keyOf = ({ key, user }: Target, currentChat: ChatId | undefined) =>
    key ?? (user === undefined ? (currentChat ?? unknownChat) : (chats.get(user) ?? dialogKey(user)))

  const reports: Reports = {
    ...backend,
    onRejected: (permit, retryAfter) =>
      Effect.suspend(() => {
        const pause = retryAfter === undefined ? limits.host.window : Duration.toMillis(retryAfter)
        observer?.onRateLimited()
        observer?.onPaused()
        return backend.onRateLimited(permit, pause)
      })
  }

  return RateLimiter.of({
    acquire: (target, previous) =>
      Effect.withFiber((fiber) => {
        const scope = target === undefined ? "host" : scopeOf(target)
        const key = target && keyOf(target, fiber.getRef(CurrentChat))
        const priority = priorityOf(fiber.getRef(CurrentPriority), target?.priority)
        const call = { scope, bucket: key === undefined ? undefined : bucketKey(scope, key), priority }
        const slot = fiber.getRef(CurrentSlot)
        const isInSlot = queue.hasSlot(slot)
        const startedAt = now()

        const reject = (reason: RateLimiterError["reason"]) => {
          observer?.onRejected(priorities[priority])
          const retryAfter = Duration.millis(Math.ceil(backend.retryAfter(call, now())))
          return Effect.fail(new RateLimiterError({ reason, retryAfter }))
        }

        // A call that is sent again is older than the waiting call of its slot.
        if (isInSlot && previous !== undefined) return Effect.fail(replaced)
        const granted = isInSlot ? undefined : backend.grantNow(call, startedAt)
        if (granted !== undefined) {
          observer?.onPermit(priorities[priority], 0)
          const sequence = previous?.sequence ?? queue.takeSequence()
          return Effect.succeed(new GrantedPermit(reports, granted, sequence, call.bucket, startedAt))
        }
        if (previous === undefined && !isInSlot && queue.waiting[priority] >= maxQueued) return reject("QueueFull")

        const maxWait = fiber.getRef(MaxWait)
        return Effect.callback((resume) => {
          const stopped = queue.stopped()
          if (stopped !== undefined) return resume(Effect.die(stopped))
          const sequence = previous?.sequence ?? queue.takeSequence()
          const leave = () => {
            queue.remove(waiter)
            observer?.onWaiting(priorities[waiter.priority], -1)
            if (queue.isEmpty()) backend.onEmpty()
          }
          const waiter: Waiter = {
            priority,
            sequence,
            slot,
            expiresAt: startedAt + (maxWait === undefined ? defaultMaxWait : Duration.toMillis(maxWait)),
            isRetry: previous !== undefined,
            onGranted: (granted) => {
              const sentAt = now()
              const permit = Effect.succeed(
                new GrantedPermit(reports, granted, waiter.sequence, waiter.bucket!.key, sentAt)
              )
              const departure = backend.untilLeave(granted.leavesAt)
              resume(departure === undefined ? permit : Effect.andThen(departure, permit))
              observer?.onWaiting(priorities[waiter.priority], -1)
              observer?.onPermit(priorities[waiter.priority], sentAt - startedAt)
            },
            onEnded: (end) => {
              leave()
              if (end === "expired") resume(reject("MaxWaitExceeded"))
              else resume(end === "replaced" ? Effect.fail(replaced) : Effect.die(end))
            }
          }
          queue.add(scope, call.bucket, waiter)
          observer?.onWaiting(priorities[waiter.priority], 1)
          backend.onAdded()
          return Effect.sync(leave)
        })
      }),
    pause: (duration) =>
      Effect.suspend(() => {
        const millis = Duration.toMillis(duration)
        observer?.onPaused()
        return backend.pause(millis)
      }),
    linkDialog: ({ chat_id, user_id }) =>
      Effect.suspend(() => {
        const isKnown = chats.delete(user_id)
        chats.set(user_id, chat_id)
        if (isKnown) return Effect.void
        for (const oldest of chats.keys()) {
          if (chats.size <= maxDialogs) break
          chats.delete(oldest)
        }
        return backend.merge(bucketKey("messages", dialogKey(user_id)), bucketKey("messages", chat_id))
      }),
    status: Effect.sync(() => ({
      waiting: Object.fromEntries(
        priorities.map((priority, index) => [priority, queue.waiting[index]])
      ) as Status["waiting"],
      ...backend.status()
    }))
  })
}

/**
 * Creates a rate limiter that several processes share, on the {@link RateLimiterStore} of the context. See {@link layer}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (
  options: SharedOptions = {}
): Effect.fn.Return<RateLimiter["Service"], never, RateLimiterStore | EffectScope.Scope> {
  const { limits, margin } = yield* toMillis(options)
  const { share, duration } = yield* shareOf(options.onUnavailable ?? "wait")
  const backend = yield* shared.make(yield* RateLimiterStore, limits, margin, { share, duration })
  return fromBackend(backend, options, limits, yield* CurrentObserver)
})

/**
 * Creates a rate limiter for one process. See {@link layerMemory}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeMemory = Effect.fnUntraced(function* (
  options: Options = {}
): Effect.fn.Return<RateLimiter["Service"]> {
  const { limits, margin } = yield* toMillis(options)
  return fromBackend(yield* memory.make(limits, margin), options, limits, yield* CurrentObserver)
})

/**
 * A rate limiter that several processes share, on a `RateLimiterStore`.
 *
 * The store counts the permits, and the pauses and the lowered limits after 429 responses apply to all processes. The
 * priorities apply within each process; among the processes, the process that has waited longest comes first.
 *
 * Dies if the count of a limit is not an integer above 0.
 *
 * **Example** (Share the limits of one bot by Redis)
 *
 * ```ts
 * import { Bot, RateLimiter } from "@colloquy/core"
 * import { RedisRateLimiterStore } from "@colloquy/node"
 * import { NodeRedis } from "@effect/platform-node"
 * import { Layer } from "effect"
 *
 * const limiter = RateLimiter.layer({ onUnavailable: { share: 0.25 } }).pipe(
 *   Layer.provide(RedisRateLimiterStore.layer({ prefix: "my-bot" })),
 *   Layer.provide(NodeRedis.layer({ url: "redis://127.0.0.1:6379" }))
 * )
 * ```
 *
 * API: Limits.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: SharedOptions): Layer.Layer<RateLimiter, never, RateLimiterStore> =>
  Layer.effect(RateLimiter, make(options))

/**
 * {@link layer} with options from `Config`. No setting is read by default.
 *
 * **Example** (Read the limit of the host from a setting)
 *
 * ```ts
 * import { RateLimiter } from "@colloquy/core"
 * import { Config } from "effect"
 *
 * const limiter = RateLimiter.layerConfig({
 *   host: { count: Config.Int("REQUESTS_PER_SECOND"), window: Config.succeed("1 second") }
 * })
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  options: Config.Wrap<SharedOptions> = {}
): Layer.Layer<RateLimiter, Settings.InvalidSettings, RateLimiterStore> =>
  Layer.effect(RateLimiter, Effect.flatMap(Settings.unwrap<SharedOptions>(options), make))

/**
 * A rate limiter for one process.
 *
 * Dies if the count of a limit is not an integer above 0.
 *
 * **Example** (Lower the limit of the host)
 *
 * ```ts
 * import { RateLimiter } from "@colloquy/core"
 *
 * const limiter = RateLimiter.layerMemory({ host: { count: 10, window: "1 second" } })
 * ```
 *
 * API: Limits.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory = (options?: Options): Layer.Layer<RateLimiter> =>
  Layer.effect(RateLimiter, makeMemory(options))

/** The implementation of a function that provides the value of a reference. */
const providing = <S>(reference: Context.Reference<S>) =>
  dual(2, <A, E, R>(self: Effect.Effect<A, E, R>, value: S) => Effect.provideService(self, reference, value))

/**
 * Sets the priority of the calls of an effect. Answers to callbacks keep the priority `answer` unless the new priority
 * is `broadcast`.
 *
 * **Example** (Send a newsletter with the lowest priority)
 *
 * ```ts
 * import { Chat, Messages, RateLimiter } from "@colloquy/core"
 *
 * const newsletter = Messages.send({ chat_id: Chat.ChatId.make(4242), text: "News" }).pipe(
 *   RateLimiter.withPriority("broadcast")
 * )
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const withPriority: {
  (priority: Priority): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, priority: Priority): Effect.Effect<A, E, R>
} = providing(CurrentPriority)

/**
 * Sets the chat whose update is being handled. Answers to callbacks count in this chat.
 *
 * **Example** (Count an answer in its chat)
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
} = providing(CurrentChat)

/**
 * Sets the maximum time that the calls of an effect wait for their permits. Then the calls fail with `RateLimited`, and
 * their requests are not sent. With 0, a call that would have to wait fails at once.
 *
 * **Example** (Fail instead of waiting)
 *
 * ```ts
 * import { Chat, Messages, RateLimiter } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const send = Messages.send({ chat_id: Chat.ChatId.make(4242), text: "Hello" }).pipe(
 *   RateLimiter.withMaxWait(0),
 *   Effect.catchTag("RateLimited", ({ retryAfter }) => Effect.log("Retry after", retryAfter))
 * )
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const withMaxWait: {
  (maxWait: Duration.Input): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, maxWait: Duration.Input): Effect.Effect<A, E, R>
} = providing(MaxWait)

/**
 * Gives the calls of an effect one place in the queue of the rate limiter: a newer call with the same slot replaces the
 * waiting call, and takes its place with the more urgent priority of the two. The replaced call fails with
 * `RateLimited`, which has `isReplaced: true`, and its request is not sent. A request that has left is not affected.
 *
 * Use a slot for calls of which only the latest matters, such as edits of one message.
 *
 * **Example** (Show only the latest count)
 *
 * ```ts
 * import { type Message, Messages, RateLimiter } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const show = (message_id: Message.MessageId, count: number) =>
 *   Messages.edit({ message_id, text: `${count} votes` }).pipe(
 *     RateLimiter.withSlot(`votes ${message_id}`),
 *     Effect.catchIf(
 *       (error) => error._tag === "RateLimited" && error.isReplaced === true,
 *       () => Effect.void
 *     )
 *   )
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const withSlot: {
  (slot: string): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, slot: string): Effect.Effect<A, E, R>
} = providing(CurrentSlot)

/**
 * Keeps the metrics of the rate limiters that are built with this layer, whose names begin with `colloquy_limiter_`.
 * The metrics cost about a microsecond for each
 * call. `NodeBot.layer` uses this layer.
 *
 * **Example** (Keep the metrics of a rate limiter)
 *
 * ```ts
 * import { RateLimiter } from "@colloquy/core"
 * import { Layer } from "effect"
 *
 * const limiter = RateLimiter.layerMemory().pipe(Layer.provide(RateLimiter.layerMetrics))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMetrics: Layer.Layer<never> = Layer.effect(
  CurrentObserver,
  Effect.map(Effect.context<never>(), (services) => makeObserver(priorities, metricContext(services)))
)
