/**
 * Handlers of updates.
 *
 * A handler is a function from an update to an effect. A handler returns `undefined`, or fails with {@link NotHandled},
 * for an update that the handler does not take. A handler does not call the next one: {@link first} composes handlers
 * in order. The errors and the required services of a handler are in its type.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import type * as Layer from "effect/Layer"
import { repeatable } from "./internal/journal/repeatable.ts"
import * as notHandledBy from "./internal/handlers/notHandled.ts"
import { isNotHandledCause, type NotHandledTypeId } from "./internal/handlers/notHandled.ts"
import { onTypes } from "./internal/handlers/onTypes.ts"
import { isTimeoutOf, makeGroup, mapParts, partsOf } from "./internal/handlers/parts.ts"
import type { BotApi } from "../client/BotApi.ts"
import * as Messages from "../endpoints/Messages.ts"
import type { Message } from "../model/Message.ts"
import type { ChatType } from "../model/Recipient.ts"
import * as Update from "../model/Update.ts"
import type { UserId } from "../model/User.ts"

/**
 * The failure of a handler that does not take the update. {@link first} then tries the next handler.
 *
 * `NotHandled` is a signal in the error channel, as `Cause.Done` is: a tagged value without a stack trace.
 * {@link notHandled} is the effect that fails with this value. `NotHandled` is not part of the `E` of a
 * {@link Handler}, because any handler may decline an update.
 *
 * @category errors
 * @since 0.1.0
 */
export interface NotHandled {
  readonly [NotHandledTypeId]: typeof NotHandledTypeId
  readonly _tag: "NotHandled"
}

/**
 * Returns `true` if the value is {@link NotHandled}.
 *
 * @category guards
 * @since 0.1.0
 */
export const isNotHandled: (u: unknown) => u is NotHandled = notHandledBy.isNotHandled

/**
 * The number of the attempt in which an update is handled, beginning with 1. The number continues after a restart and
 * after the replay of a dead letter. Attempts that were interrupted, or whose process died, count. Default: 1.
 *
 * **Example** (Tell the user once that the answer takes longer)
 *
 * ```ts
 * import { Bot, Handler, Messages } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const order = (report: Effect.Effect<string, Error>) =>
 *   Handler.on("message_created", (update) =>
 *     Effect.gen(function* () {
 *       if ((yield* Handler.CurrentAttempt) === 2) yield* Messages.reply(update, "This takes longer than usual.")
 *       return yield* Messages.reply(update, yield* report)
 *     })
 *   )
 * ```
 *
 * @category references
 * @since 0.1.0
 */
export const CurrentAttempt = Context.Reference<number>("@colloquy/core/Handler/CurrentAttempt", {
  defaultValue: () => 1
})

/**
 * The result of the function of a handler: the effect to run, or `undefined` if the handler does not take the update.
 *
 * @category models
 * @since 0.1.0
 */
export type Return<E = unknown, R = unknown> = Effect.Effect<unknown, E, R> | undefined

/**
 * A function from an update to an effect. `U` is the type of the updates that the handler accepts, all updates by
 * default.
 *
 * A handler declines an update in one of two ways:
 *
 * - the function returns `undefined`, when the update itself is enough to decide. No effect is run, so declining costs
 *   nothing;
 * - its effect fails with {@link NotHandled}, when only an effect can decide. See {@link notHandled}.
 *
 * Any function of this shape is a handler. The value with which its effect succeeds is ignored.
 *
 * @category models
 * @since 0.1.0
 */
export interface Handler<out E = never, out R = never, in U = Update.Update> {
  (update: U): Return<E | NotHandled, R>
  /** The parts of a bot that the handler consists of. Default: the function is one part. */
  readonly parts?: ReadonlyArray<Part> | undefined
  /** The conversation that the function starts. Default: none that is known. */
  readonly starts?: Started | undefined
}

/**
 * A conversation that a function starts.
 *
 * @category models
 * @since 0.1.0
 */
export interface Started {
  readonly kind: "conversation"
  /** The name of the conversation. */
  readonly name: string
  /** Identifies the conversation. */
  readonly definition: object
}

/**
 * A part of a bot. An update goes to the parts by their kinds and names, not by their places:
 *
 * 1. The press of a button of a menu or a conversation goes to the part that made the button, and a timer to its handler.
 * 2. A command goes to the handlers of the command, in order.
 * 3. Other updates, and updates that these parts decline, go to the conversations and scenes that are open.
 * 4. Finally, the handlers of all other updates are tried in order.
 *
 * @category models
 * @since 0.1.0
 */
export interface Part {
  /** `"handler"`: any other function. `"outdated"`: handles presses and timers of parts that the bot does not have. */
  readonly kind: "command" | "conversation" | "menu" | "scene" | "timer" | "button" | "link" | "handler" | "outdated"
  /** The name, which is unique for parts of a kind. The name of a handler is the types of its updates. */
  readonly name: string
  /** The description of a command. */
  readonly description?: string | undefined
  /** The types of the updates that the part takes. Default: decided by the part. */
  readonly types?: ReadonlyArray<string> | undefined
  /** Whether the part is in a filter, so that another command can have its name. Default: `false`. */
  readonly isConditional?: boolean | undefined
  /** Tells two parts of one kind and name apart. */
  readonly definition?: object | undefined
  /** The name of the timer that the part handles, or of the timeouts of a conversation or a scene. */
  readonly timer?: string | undefined
  /** The conversation that the part starts. */
  readonly starts?: Started | undefined
  /** The layers of the services of the part, with their identities. */
  readonly layers?: ReadonlyArray<readonly [identity: object, layer: Layer.Layer<never, never, unknown>]> | undefined
  /** Handles an update. */
  handle(update: Update.Update): Return
}

/**
 * The errors of the effect that the function of a handler returns, without {@link NotHandled}.
 *
 * @category utility types
 * @since 0.1.0
 */
export type ReturnError<O> = Exclude<Effect.Error<O>, NotHandled>

/**
 * The errors of a handler, without {@link NotHandled}.
 *
 * @category utility types
 * @since 0.1.0
 */
export type Error<H extends (update: never) => Return> = ReturnError<ReturnType<H>>

/**
 * The services that a handler requires.
 *
 * @category utility types
 * @since 0.1.0
 */
export type Services<H extends (update: never) => Return> = Effect.Services<ReturnType<H>>

/**
 * Fails with {@link NotHandled}. Return this effect from a handler to decline the update. Earlier operations of the
 * effect are not undone.
 *
 * **Example** (A handler that depends on state)
 *
 * ```ts
 * import { Handler, Messages } from "@colloquy/core"
 * import { Effect, Ref } from "effect"
 *
 * const unlessPaused = (paused: Ref.Ref<boolean>) =>
 *   Handler.on("message_created", (update) =>
 *     Effect.gen(function* () {
 *       if (yield* Ref.get(paused)) return yield* Handler.notHandled
 *       return yield* Messages.reply(update, "I am listening")
 *     })
 *   )
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const notHandled: Effect.Effect<never, NotHandled> = notHandledBy.notHandled

/** No value has this type. The compiler infers this type if the type of an update is misspelled. */
type Misspelled = string & { readonly "is not a type of update": never }

/**
 * The updates of a type. After a misspelled type, the update is `any`, because further errors in the handler would only
 * distract from the mistake.
 */
// oxlint-disable-next-line typescript/no-explicit-any
type UpdateOf<Type> = [Misspelled] extends [Type] ? any : Update.Of<Extract<Type, Update.Update["update_type"]>>

/**
 * Handles updates of one type or of several types. The type of the update is narrowed to these types. `"unknown"` is
 * the type of updates that this version does not know.
 *
 * The platform sends some comments as `message_created`, with the `post_id` of the post. Such updates are handled as
 * `message_created`, and by handlers of `comment_created` only, as `comment_created`. The same applies to edited and
 * removed comments.
 *
 * **Example** (Handlers of one and of two types)
 *
 * ```ts
 * import { Handler, Messages } from "@colloquy/core"
 *
 * const greet = Handler.on("bot_started", (update) => Messages.reply(update, `Hello, ${update.user.first_name}`))
 *
 * const welcome = Handler.on(["bot_added", "user_added"], (update) => Messages.reply(update, "Welcome"))
 * ```
 *
 * API: Events.
 *
 * @assumption commentsAsMessages
 * @category constructors
 * @since 0.1.0
 */
export const on: <const Type extends Update.Update["update_type"] | Misspelled, O extends Return>(
  types: Type | ReadonlyArray<Type>,
  handler: (update: UpdateOf<Type>) => O
) => Handler<ReturnError<O>, Effect.Services<O>> = onTypes as never

/**
 * The functions with which a handler of {@link promise} calls the platform. Their promises are rejected with the error of the
 * effect, such as `Forbidden`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Calls<in R> {
  /** Aborted when the update is given up: after a timeout, a shutdown, or the loss of the chat to another process. */
  readonly signal: Parameters<Parameters<typeof Effect.promise>[0]>[0]
  /** Sends a message to the chat of the update: `Messages.reply`. */
  readonly reply: (content: Messages.ReplyContent<Update.Update>) => Promise<Message>
  /** Sends a message: `Messages.send`. */
  readonly send: (request: Messages.SendRequest) => Promise<Message>
  /** Runs any other effect, such as `Answers.send` or a state, as a part of the handling of the update. */
  readonly run: <A, E>(effect: Effect.Effect<A, E, R>) => Promise<A>
}

/**
 * Makes a handler of an `async` function, for code without Effect. A rejected promise is a failed attempt, as the failure of an
 * effect: the update is handled again by the retry schedule of the bot. Calls that are made by the functions of the second argument
 * are recorded in the journal, so they are not repeated when the update is handled again.
 *
 * Errors: the reason of the rejection. The compiler does not know its type, so the error is `unknown`.
 *
 * **Example** (An answer from a service with promises)
 *
 * ```ts
 * import { Handler } from "@colloquy/core"
 *
 * declare const weatherIn: (city: string, options: { signal: AbortSignal }) => Promise<string>
 *
 * const weather = Handler.on(
 *   "message_created",
 *   Handler.promise(async (update, { reply, signal }) => {
 *     await reply(await weatherIn(update.message?.body?.text ?? "Berlin", { signal }))
 *   })
 * )
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const promise =
  <U extends Update.Update, R = BotApi>(handler: (update: U, calls: Calls<R>) => Promise<unknown>) =>
  (update: U): Effect.Effect<unknown, unknown, R | BotApi> =>
    Effect.contextWith((services: Context.Context<R | BotApi>) =>
      // @effect-diagnostics-next-line unknownInEffectCatch:off
      Effect.tryPromise({
        try: (signal) => {
          const run = <A, E>(effect: Effect.Effect<A, E, R | BotApi>) =>
            Effect.runPromiseWith(services)(effect, { signal })
          return handler(update, {
            signal,
            run,
            send: (request) => run(Messages.send(request)),
            reply: (content) => run(Messages.reply(update as Update.Repliable, content))
          })
        },
        catch: (reason) => reason
      })
    )

/**
 * Makes one handler of several. The first handler that takes an update handles the update. A failure other than
 * {@link NotHandled} fails the whole handler: no other handler is tried. If no handler takes the update, neither does the
 * result.
 *
 * The handlers are tried in order, except that the updates of a {@link Part} with a name go to this part first.
 *
 * Throws if two different conversations, menus, scenes or timers with the same name are among them, or two commands,
 * buttons or links of one name without a filter.
 *
 * A function that takes any update, as the last handler, defines the answer to updates that no other handler takes.
 *
 * **Example** (Handlers with a fallback)
 *
 * ```ts
 * import { Handler, Messages } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const bot = Handler.first(
 *   Handler.on("bot_started", (update) => Messages.reply(update, "Hello")),
 *   Handler.on("message_created", (update) => Messages.reply(update, "I can only greet")),
 *   (update) => Effect.logDebug(`No handler for ${update.update_type}`)
 * )
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const first = <const H extends ReadonlyArray<Handler<unknown, unknown, U>>, U = Update.Update>(
  ...handlers: H
): Handler<Error<H[number]>, Services<H[number]>, U> => makeGroup(handlers.flatMap(partsOf))

const conditional = { isConditional: true }

/**
 * Restricts a handler to the updates for which the predicate returns `true`. A refinement also narrows the update for
 * the handler.
 *
 * Timeouts of the conversations and scenes in the handler pass, because no user has caused them. The other filters let
 * timeouts pass too.
 *
 * **Example** (A handler of texts in capitals)
 *
 * ```ts
 * import { Handler, Messages, Update } from "@colloquy/core"
 *
 * const capitals = Handler.filter(
 *   Handler.on("message_created", (update) => Messages.reply(update, "Please do not shout")),
 *   (update) => /^[A-Z !]+$/.test(Update.textOf(update) ?? "")
 * )
 * ```
 *
 * @category filtering
 * @since 0.1.0
 */
export const filter: {
  <U extends Update.Update, V extends U>(
    refinement: (update: U) => update is V
  ): <E, R>(handler: Handler<E, R, V>) => Handler<Exclude<E, NotHandled>, R, U>
  <U = Update.Update>(
    predicate: (update: NoInfer<U>) => boolean
  ): <E, R>(handler: Handler<E, R, U>) => Handler<Exclude<E, NotHandled>, R, U>
  <O extends Return, U extends Update.Update, V extends U>(
    handler: (update: V) => O,
    refinement: (update: U) => update is V
  ): Handler<ReturnError<O>, Effect.Services<O>, U>
  <O extends Return, U = Update.Update>(
    handler: (update: U) => O,
    predicate: (update: NoInfer<U>) => boolean
  ): Handler<ReturnError<O>, Effect.Services<O>, U>
} = dual(2, <E, R, U>(handler: Handler<E, R, U>, predicate: (update: U) => boolean): Handler<E, R, U> =>
  mapParts(
    handler,
    (part) => (update) => (isTimeoutOf(part, update) || predicate(update as U) ? part.handle(update) : undefined),
    conditional
  )
)

/**
 * Restricts a handler to the updates for which an effect returns `true`. The effect is run only for updates for which
 * the function of the handler returned an effect. The errors of the predicate are errors of the result.
 *
 * **Example** (A handler that requires the bot to be an administrator)
 *
 * ```ts
 * import { Handler, Members, Messages } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const welcome = Handler.on(
 *   "user_added",
 *   Handler.filterEffect(
 *     (update) => Messages.reply(update, "Please read the rules"),
 *     ({ chat_id }) => Effect.map(Members.getMe({ chat_id }), ({ is_admin }) => is_admin === true)
 *   )
 * )
 * ```
 *
 * @category filtering
 * @since 0.1.0
 */
export const filterEffect: {
  <E2, R2, U = Update.Update>(
    predicate: (update: NoInfer<U>) => Effect.Effect<boolean, E2, R2>
  ): <E, R>(handler: Handler<E, R, U>) => Handler<Exclude<E | E2, NotHandled>, R | R2, U>
  <O extends Return, E2, R2, U = Update.Update>(
    handler: (update: U) => O,
    predicate: (update: NoInfer<U>) => Effect.Effect<boolean, E2, R2>
  ): Handler<ReturnError<O> | Exclude<E2, NotHandled>, Effect.Services<O> | R2, U>
} = dual(
  2,
  <E, R, U, E2, R2>(
    handler: Handler<E, R, U>,
    predicate: (update: U) => Effect.Effect<boolean, E2, R2>
  ): Handler<E | E2, R | R2, U> =>
    mapParts(
      handler,
      (part) => (update) => {
        const effect = part.handle(update)
        if (effect === undefined || isTimeoutOf(part, update)) return effect
        return Effect.flatMap(predicate(update as U), (holds) => (holds ? effect : notHandled))
      },
      conditional
    )
)

const possibleTypes = (update: Update.Update): ReadonlyArray<ChatType> => {
  const type = Update.chatTypeOf(update)
  if (type !== undefined) return [type]
  if (update.update_type !== "colloquy_timer") return []
  return update.chat_id === undefined ? ["dialog"] : ["chat", "channel"]
}

/**
 * Restricts a handler to updates of chats of one type or of several types: `dialog`, `chat` (a group chat) or `channel`.
 * The handler does not take an update that does not say the type of its chat: see `Update.chatTypeOf`. Timeouts of conversations and
 * scenes pass: see {@link filter}.
 *
 * An update of a timer has the type of the chat whose update set the timer. The update of a timer that was set by
 * `Timer.for` for another chat, or outside of handlers, passes unless the chat of the timer is certainly of another type:
 * the timer of a user counts as a dialog, and the timer of a chat with a negative id as a group chat and as a channel.
 *
 * **Example** (A reply in group chats only)
 *
 * ```ts
 * import { Handler, Messages } from "@colloquy/core"
 *
 * const redirect = Handler.inChatType(
 *   Handler.on("message_created", (update) => Messages.reply(update, "Please write to me in private")),
 *   "chat"
 * )
 * ```
 *
 * @category filtering
 * @since 0.1.0
 */
export const inChatType: {
  (
    types: ChatType | ReadonlyArray<ChatType>
  ): <E, R, U extends Update.Update>(handler: Handler<E, R, U>) => Handler<Exclude<E, NotHandled>, R, U>
  <E, R, U extends Update.Update>(
    handler: Handler<E, R, U>,
    types: ChatType | ReadonlyArray<ChatType>
  ): Handler<Exclude<E, NotHandled>, R, U>
} = dual(2, <E, R, U extends Update.Update>(handler: Handler<E, R, U>, types: ChatType | ReadonlyArray<ChatType>) =>
  filter(handler, (update: U) =>
    possibleTypes(update).some((type) => (typeof types === "string" ? types === type : types.includes(type)))
  )
)

/**
 * Restricts a handler to updates that these users caused. The handler does not take an update that does not say who
 * caused the update: see `Update.userIdOf`. Timeouts of conversations and scenes pass: see {@link filter}.
 *
 * **Example** (A handler for the owners of the bot)
 *
 * ```ts
 * import { Handler, Messages, User } from "@colloquy/core"
 *
 * const owners = [User.UserId.make(123456789)]
 *
 * const forOwners = Handler.fromUsers(
 *   Handler.on("message_created", (update) => Messages.reply(update, "Welcome back")),
 *   owners
 * )
 * ```
 *
 * @category filtering
 * @since 0.1.0
 */
export const fromUsers: {
  (
    userIds: ReadonlyArray<UserId>
  ): <E, R, U extends Update.Update>(handler: Handler<E, R, U>) => Handler<Exclude<E, NotHandled>, R, U>
  <E, R, U extends Update.Update>(
    handler: Handler<E, R, U>,
    userIds: ReadonlyArray<UserId>
  ): Handler<Exclude<E, NotHandled>, R, U>
} = dual(2, <E, R, U extends Update.Update>(handler: Handler<E, R, U>, userIds: ReadonlyArray<UserId>) => {
  const accepted = new Set(userIds)
  return filter(handler, (update: U) => {
    const user_id = Update.userIdOf(update)
    return user_id !== undefined && accepted.has(user_id)
  })
})

const dieOfNotHandled = Effect.orDie(notHandled)

const isNotHandledDefect = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.length > 0 && cause.reasons.every((reason) => Cause.isDieReason(reason) && isNotHandled(reason.defect))

/**
 * Applies a function to the effect of a handler: `Effect.catchTag`, `Effect.provide`, `Effect.timeout`, or any other
 * that returns an effect. Which updates the handler takes stays the same.
 *
 * The effect that the function receives does not fail with {@link NotHandled}, so `Effect.catch`, `Effect.retry` or
 * `Effect.ignore` act on the errors of the handler only. An update that the handler declines still goes to the next
 * handler. Inside the function, `NotHandled` is a defect: operators on causes and defects, such as `Effect.catchCause`,
 * see this defect, and {@link isNotHandled} recognizes it. The second argument of the function is the update, so an
 * operator with optional arguments is called: `Effect.ignore()`.
 *
 * **Example** (A handler that ignores a refusal)
 *
 * ```ts
 * import { Handler, Messages } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const greet = Handler.transform(
 *   Handler.on("bot_started", (update) => Messages.reply(update, "Hello")),
 *   Effect.catchTag("Forbidden", (error) => Effect.logInfo(error.message))
 * )
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const transform: {
  <E, R, E2, R2, U = Update.Update>(
    f: (effect: Effect.Effect<unknown, E, R>, update: NoInfer<U>) => Effect.Effect<unknown, E2, R2>
  ): (handler: Handler<E, R, U>) => Handler<Exclude<E2, NotHandled>, R2, U>
  <E, R, U, E2, R2>(
    handler: Handler<E, R, U>,
    f: (effect: Effect.Effect<unknown, E, R>, update: NoInfer<U>) => Effect.Effect<unknown, E2, R2>
  ): Handler<Exclude<E2, NotHandled>, R2, U>
} = dual(
  2,
  <E, R, U, E2, R2>(
    handler: Handler<E, R, U>,
    f: (effect: Effect.Effect<unknown, E, R>, update: U) => Effect.Effect<unknown, E2, R2>
  ): Handler<E2, R2, U> =>
    mapParts(handler, (part) => (update) => {
      const effect = part.handle(update)
      if (effect === undefined) return undefined
      const hidden = Effect.catchCauseIf(effect, isNotHandledCause, () => dieOfNotHandled)
      return Effect.catchCauseIf(
        f(repeatable(hidden as Effect.Effect<unknown, E, R>), update as U),
        isNotHandledDefect,
        () => notHandled
      )
    })
)

const succeedTrue = Effect.succeed(true)
const succeedFalse = Effect.succeed(false)

// All updates share one object: benchmarks/src/pipeline.ts measures the cost of a handled update.
const toIsHandled = {
  onSuccess: (_: unknown): Effect.Effect<boolean> => succeedTrue,
  onFailure: (cause: Cause.Cause<unknown>): Effect.Effect<boolean, unknown> =>
    isNotHandledCause(cause) ? succeedFalse : Effect.failCause(cause)
}

/**
 * Runs a handler for an update. Succeeds with `true` if the handler took the update, and with `false` otherwise. An
 * exception that the function of the handler throws is a defect of the effect.
 *
 * `Bot.run` does this for every update of a bot. Use `run` in tests, or to run handlers by other means.
 *
 * **Example** (A warning about updates that are not handled)
 *
 * ```ts
 * import { Handler, type Update } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const greet = Handler.on("bot_started", (update) => Effect.log(`Hello, ${update.user.first_name}`))
 *
 * const handle = Effect.fn(function* (update: Update.Update) {
 *   const isHandled = yield* Handler.run(greet, update)
 *   if (!isHandled) yield* Effect.logWarning(`No handler for ${update.update_type}`)
 * })
 * ```
 *
 * @category running
 * @since 0.1.0
 */
export const run = <E, R, U>(handler: Handler<E, R, U>, update: U): Effect.Effect<boolean, Exclude<E, NotHandled>, R> =>
  Effect.suspend(() => {
    const effect = handler(update)
    if (effect === undefined) return succeedFalse
    return Effect.matchCauseEffect(effect, toIsHandled) as Effect.Effect<boolean, Exclude<E, NotHandled>, R>
  })
