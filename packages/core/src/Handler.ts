/**
 * What to do with an update, as a value that composes.
 *
 * A handler is a function from an update to an effect. It gives `undefined` for an update that is none of its own, and
 * calls nobody else: which handler has its turn next is said by {@link first}, in one place. Errors and requirements
 * stand in its type, exactly.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import type { ChatType } from "./Recipient.ts"
import * as Update from "./Update.ts"
import type { UserId } from "./User.ts"

const Unhandled = Symbol.for("~@colloquy/core/Handler/Unhandled")

/**
 * What a handler gives: the work to do, or `undefined` for an update that is none of its own.
 *
 * @category models
 * @since 0.1.0
 */
export type Outcome<E = unknown, R = unknown> = Effect.Effect<unknown, E, R> | undefined

/**
 * A handler of updates, or of some of them (`U`). Any function that gives an effect is one. It looks at the update only:
 * what depends on more than that is decided by its effect, which succeeds with {@link unhandled} to leave the update to
 * others. Whatever else it succeeds with means nothing.
 *
 * @category models
 * @since 0.1.0
 */
export interface Handler<out E = never, out R = never, in U = Update.Update> {
  (update: U): Outcome<E, R>
}

/**
 * The errors of a handler.
 *
 * @category utility types
 * @since 0.1.0
 */
export type Error<H extends (update: never) => Outcome> = Effect.Error<ReturnType<H>>

/**
 * What a handler needs.
 *
 * @category utility types
 * @since 0.1.0
 */
export type Services<H extends (update: never) => Outcome> = Effect.Services<ReturnType<H>>

type Given<O> = Outcome<Effect.Error<O>, Effect.Services<O>>

/**
 * For an effect that finds out only as it runs that the update is none of its own: the next one of {@link first} has its
 * turn then. What was done before stays done.
 *
 * **Example**
 *
 * ```ts
 * import { Handler, Messages, type Update } from "@colloquy/core"
 * import { Effect, Ref } from "effect"
 *
 * const unless = (asleep: Ref.Ref<boolean>) => (update: Update.Of<"message_created">) =>
 *   Effect.flatMap(Ref.get(asleep), (isAsleep) =>
 *     isAsleep ? Handler.unhandled : Messages.reply(update, "I am awake")
 *   )
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const unhandled: Effect.Effect<unknown> = Effect.succeed(Unhandled)

const notHandled = Effect.succeed(false)

const isHandled = (result: unknown): boolean => result !== Unhandled

/**
 * Handles updates of one type or of several. The update is narrowed to them.
 *
 * **Example**
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
 * @category constructors
 * @since 0.1.0
 */
export const on = <const Type extends Update.Update["update_type"], O extends Outcome>(
  types: Type | ReadonlyArray<Type>,
  handler: (update: Update.Of<Type>) => O
): Handler<Effect.Error<O>, Effect.Services<O>> => {
  const wanted: ReadonlyArray<string> = typeof types === "string" ? [types] : types
  const isWanted = (update: Update.Update): update is Update.Of<Type> => wanted.includes(update.update_type)
  return (update) => (isWanted(update) ? (handler(update) as Given<O>) : undefined)
}

/**
 * The first of the handlers whose own the update is. Give a function that takes any update as the last one to say what
 * happens to what nobody handled.
 *
 * **Example**
 *
 * ```ts
 * import { Handler, Messages } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const bot = Handler.first(
 *   Handler.on("bot_started", (update) => Messages.reply(update, "Hello")),
 *   Handler.on("message_created", (update) => Messages.reply(update, "I only greet")),
 *   (update) => Effect.logDebug(`nothing to do for ${update.update_type}`)
 * )
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const first = <const H extends ReadonlyArray<Handler<unknown, unknown, U>>, U = Update.Update>(
  ...handlers: H
): Handler<Error<H[number]>, Services<H[number]>, U> => {
  const from =
    (start: number): Handler<Error<H[number]>, Services<H[number]>, U> =>
    (update) => {
      for (let at = start; at < handlers.length; at++) {
        const outcome = handlers[at](update) as Given<ReturnType<H[number]>>
        if (outcome === undefined) continue
        if (at === handlers.length - 1) return outcome
        return Effect.flatMap(outcome, (result) =>
          result === Unhandled ? (from(at + 1)(update) ?? unhandled) : Effect.void
        )
      }
      return undefined
    }
  return from(0)
}

/**
 * Handles only the updates for which the predicate holds; a refinement narrows them for the handler.
 *
 * **Example**
 *
 * ```ts
 * import { Handler, Messages, Update } from "@colloquy/core"
 *
 * const shout = Handler.filter(
 *   Handler.on("message_created", (update) => Messages.reply(update, "Not so loud")),
 *   (update) => /^[A-Z !]+$/.test(Update.textOf(update) ?? "")
 * )
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const filter: {
  <U extends Update.Update, V extends U>(
    refinement: (update: U) => update is V
  ): <E, R>(handler: Handler<E, R, V>) => Handler<E, R, U>
  <U = Update.Update>(predicate: (update: NoInfer<U>) => boolean): <E, R>(handler: Handler<E, R, U>) => Handler<E, R, U>
  <E, R, U extends Update.Update, V extends U>(
    handler: Handler<E, R, V>,
    refinement: (update: U) => update is V
  ): Handler<E, R, U>
  <E, R, U>(handler: Handler<E, R, U>, predicate: (update: NoInfer<U>) => boolean): Handler<E, R, U>
} = dual(
  2,
  <E, R, U>(handler: Handler<E, R, U>, predicate: (update: U) => boolean): Handler<E, R, U> =>
    (update) =>
      predicate(update) ? handler(update) : undefined
)

/**
 * Handles only the updates for which an effect says so. It is asked only about updates that are the handler's own.
 *
 * **Example**
 *
 * ```ts
 * import { Handler, Members, Messages } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const rules = Handler.on(
 *   "user_added",
 *   Handler.filterEffect(
 *     (update) => Messages.reply(update, "Mind the rules"),
 *     ({ chat_id }) => Effect.map(Members.getMe({ chat_id }), ({ is_admin }) => is_admin === true)
 *   )
 * )
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const filterEffect: {
  <E2, R2, U = Update.Update>(
    predicate: (update: NoInfer<U>) => Effect.Effect<boolean, E2, R2>
  ): <E, R>(handler: Handler<E, R, U>) => Handler<E | E2, R | R2, U>
  <E, R, U, E2, R2>(
    handler: Handler<E, R, U>,
    predicate: (update: NoInfer<U>) => Effect.Effect<boolean, E2, R2>
  ): Handler<E | E2, R | R2, U>
} = dual(
  2,
  <E, R, U, E2, R2>(
    handler: Handler<E, R, U>,
    predicate: (update: U) => Effect.Effect<boolean, E2, R2>
  ): Handler<E | E2, R | R2, U> =>
    (update) => {
      const outcome = handler(update)
      return (
        outcome &&
        Effect.flatMap(predicate(update), (holds): Effect.Effect<unknown, E, R> => (holds ? outcome : unhandled))
      )
    }
)

/**
 * Handles only what happens in chats of these kinds, as {@link Update.chatTypeOf} tells them.
 *
 * **Example**
 *
 * ```ts
 * import { Handler, Messages } from "@colloquy/core"
 *
 * const shy = Handler.inChat(
 *   Handler.on("message_created", (update) => Messages.reply(update, "Write to me in private")),
 *   "chat"
 * )
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const inChat: {
  (
    types: ChatType | ReadonlyArray<ChatType>
  ): <E, R, U extends Update.Update>(handler: Handler<E, R, U>) => Handler<E, R, U>
  <E, R, U extends Update.Update>(
    handler: Handler<E, R, U>,
    types: ChatType | ReadonlyArray<ChatType>
  ): Handler<E, R, U>
} = dual(2, <E, R, U extends Update.Update>(handler: Handler<E, R, U>, types: ChatType | ReadonlyArray<ChatType>) =>
  filter(handler, (update: U) => {
    const type = Update.chatTypeOf(update)
    return type !== undefined && (typeof types === "string" ? types === type : types.includes(type))
  })
)

/**
 * Handles only what these people do, as {@link Update.userIdOf} tells them.
 *
 * **Example**
 *
 * ```ts
 * import { Handler, Messages, User } from "@colloquy/core"
 *
 * const owners = [User.UserId.make(123456789)]
 *
 * const forOwners = Handler.onlyFrom(
 *   Handler.on("message_created", (update) => Messages.reply(update, "At your command")),
 *   owners
 * )
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const onlyFrom: {
  (people: ReadonlyArray<UserId>): <E, R, U extends Update.Update>(handler: Handler<E, R, U>) => Handler<E, R, U>
  <E, R, U extends Update.Update>(handler: Handler<E, R, U>, people: ReadonlyArray<UserId>): Handler<E, R, U>
} = dual(2, <E, R, U extends Update.Update>(handler: Handler<E, R, U>, people: ReadonlyArray<UserId>) => {
  const wanted = new Set(people)
  return filter(handler, (update: U) => {
    const person = Update.userIdOf(update)
    return person !== undefined && wanted.has(person)
  })
})

/**
 * Changes what a handler does, by anything that changes an effect: `Effect.catchTag`, `Effect.provide`, `Effect.timeout`.
 * Which updates are its own stays the same. What the effect succeeds with must come through, for it may be
 * {@link unhandled}.
 *
 * **Example**
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
    change: (work: Effect.Effect<unknown, E, R>, update: NoInfer<U>) => Effect.Effect<unknown, E2, R2>
  ): (handler: Handler<E, R, U>) => Handler<E2, R2, U>
  <E, R, U, E2, R2>(
    handler: Handler<E, R, U>,
    change: (work: Effect.Effect<unknown, E, R>, update: NoInfer<U>) => Effect.Effect<unknown, E2, R2>
  ): Handler<E2, R2, U>
} = dual(
  2,
  <E, R, U, E2, R2>(
    handler: Handler<E, R, U>,
    change: (work: Effect.Effect<unknown, E, R>, update: U) => Effect.Effect<unknown, E2, R2>
  ): Handler<E2, R2, U> =>
    (update) => {
      const outcome = handler(update)
      return outcome && change(outcome, update)
    }
)

/**
 * Handles an update, and tells whether it was handled: for what drives handlers, and for tests. A handler that throws is
 * a defect of the effect.
 *
 * **Example**
 *
 * ```ts
 * import { Handler, type Update } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const greet = Handler.on("bot_started", (update) => Effect.log(`Hello, ${update.user.first_name}`))
 *
 * const drive = Effect.fn(function* (update: Update.Update) {
 *   const isHandled = yield* Handler.run(greet, update)
 *   if (!isHandled) yield* Effect.logWarning(`nobody handled ${update.update_type}`)
 * })
 * ```
 *
 * @category running
 * @since 0.1.0
 */
export const run = <E, R, U>(handler: Handler<E, R, U>, update: U): Effect.Effect<boolean, E, R> =>
  Effect.suspend(() => {
    const handling = handler(update)
    return handling === undefined ? notHandled : Effect.map(handling, isHandled)
  })
