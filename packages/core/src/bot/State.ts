/**
 * The state of a program: values that belong to a chat, a user, a user in a chat, or the bot, such as settings, a cart,
 * or the step of a conversation. The store of the inbox keeps the values.
 *
 * While an update is handled, a value is read once and kept, and its changes are written in the transaction that
 * acknowledges the update. A handler that fails changes nothing. If another process or another chat has changed a value
 * in the meantime, no value is written and the handler runs again; because of `Journal`, calls and steps of the first
 * run are not repeated. The metric `colloquy_state_conflicts_total` counts such conflicts by `update_type`. A value
 * that a handler has only read may be changed in the meantime.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Inbox } from "../inbox/Inbox.ts"
import type { Row } from "../inbox/InboxStore.ts"
import * as stateRows from "../inbox/internal/store/stateRows.ts"
import { inScope, makeValue, type Missing, ofUpdate } from "./internal/state/access.ts"
import * as codecs from "./internal/state/codec.ts"
import * as erasure from "./internal/state/forget.ts"
import { fromScope, isOf, missingIds, toScope } from "./internal/state/scopes.ts"
import type { StoreError } from "../base/StoreError.ts"
import type { UserId } from "../model/User.ts"
import type * as Result from "effect/Result"
import { NewerTypeId } from "../inbox/internal/consumer/newer.ts"
import type { ChatId } from "../model/Recipient.ts"
import * as PermanentError from "../base/PermanentError.ts"
import { TaggedError } from "../base/TaggedError.ts"

/**
 * The owner of each value of a state: a chat, a user in all chats, a user in one chat, or the bot.
 *
 * @category models
 * @since 0.1.0
 */
export type Of = "chat" | "user" | "userInChat" | "bot"

/**
 * The ids that identify a value of a state.
 *
 * @category models
 * @since 0.1.0
 */
export type Key<O extends Of> = {
  readonly chat: { readonly chat_id: ChatId }
  readonly user: { readonly user_id: UserId }
  readonly userInChat: { readonly chat_id: ChatId; readonly user_id: UserId }
  readonly bot: Record<never, never>
}[O]

/**
 * A value cannot be read: its schema has changed, there is no migration of its version, or a newer program wrote it. The
 * value stays as it is; `set` and `clear` replace it. With `onStale: "initial"`, a state fails with this error only for values of
 * newer programs.
 *
 * A value that a newer program wrote is no mistake of the update: `Updates.run` leaves the chat to a process with that program, and
 * the attempt does not count.
 *
 * @category errors
 * @since 0.1.0
 */
export class StaleState extends TaggedError("StaleState", () => ({
  /** The name of the state. */
  stateName: Schema.String,
  /** The scope of the value: `chat:1`, `user:2`, `chat:1/user:2`, or `bot`. */
  scope: Schema.String,
  /** The version in which it was written. */
  version: Schema.Number,
  /** The mismatch. */
  problem: Schema.String,
  /** The value as it is stored. */
  raw: Schema.Unknown,
  /** Whether a newer program wrote the value. Default: `false`. */
  isNewer: Schema.optional(Schema.Boolean)
})) {
  get [PermanentError.TypeId](): boolean {
    return this.isNewer !== true
  }

  /** @internal */
  get [NewerTypeId](): string | undefined {
    return this.isNewer === true
      ? `A value of the state "${this.stateName}" cannot be read. ${this.problem}`
      : undefined
  }

  override get message() {
    const advice =
      this.isNewer === true
        ? "Start the newer program."
        : "Increase `version` and add a migration, or use the option `onStale`."
    return `The value of the state "${this.stateName}" of ${this.scope} cannot be read: ${this.problem.replace(/\.$/, "")}. ${advice}`
  }
}

/**
 * A new value does not match the schema of its state. Nothing was changed.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidState extends TaggedError("InvalidState", () => ({
  /** The name of the state. */
  stateName: Schema.String,
  /** The mismatch. */
  problem: Schema.String,
  /** The new value. */
  value: Schema.Unknown
})) {
  get [PermanentError.TypeId](): true {
    return true
  }

  override get message() {
    return `The new value of the state "${this.stateName}" does not match its schema: ${this.problem}`
  }
}

const names = { chat_id: "chat", user_id: "user" } as const

/**
 * A state was used without a key where there is none: outside of the handling of one update, or while an update without
 * the needed user or chat was handled. `at` accepts a key.
 *
 * @category errors
 * @since 0.1.0
 */
export class NoStateKey extends TaggedError("NoStateKey", () => ({
  /** The name of the state. */
  stateName: Schema.String,
  /** The owner of each value. */
  of: Schema.Literals(["chat", "user", "userInChat", "bot"]),
  /** The missing ids. `update`: no update, or several together, are being handled. */
  missing: Schema.Array(Schema.Literals(["chat_id", "user_id", "update"])),
  /** The type of the update that is being handled. */
  update_type: Schema.optional(Schema.String)
})) {
  get [PermanentError.TypeId](): true {
    return true
  }

  override get message() {
    const { missing, of, stateName, update_type } = this
    const absent = missing.flatMap((id) => (id === "update" ? [] : [names[id]])).join(" and no ")
    const reason =
      absent === ""
        ? "it is used where no update, or several updates together, are being handled"
        : `the update "${update_type}" has no ${absent}`
    return `The state "${stateName}" belongs to "${of}", but ${reason}. Pass a key to \`at\`.`
  }
}

/**
 * The operations on one value of a state.
 *
 * @category models
 * @since 0.1.0
 */
export interface Value<A, E = never, R = never> {
  /** Returns the value, or the initial value if there is no value or the value has expired. */
  readonly get: Effect.Effect<A, E | StaleState | StoreError, R>
  /** Replaces the value. */
  readonly set: (value: A) => Effect.Effect<void, E | InvalidState | StoreError, R>
  /** Replaces the value by the result of `f`, and returns the result. `f` may be called several times. */
  readonly update: (f: (value: A) => A) => Effect.Effect<A, E | StaleState | InvalidState | StoreError, R>
  /** Replaces the value by the second result of `f`, and returns the first. `f` may be called several times. */
  readonly modify: <B>(
    f: (value: A) => readonly [B, A]
  ) => Effect.Effect<B, E | StaleState | InvalidState | StoreError, R>
  /** Like `update`, with an effect. If the effect fails, no value is changed. The effect may run several times. */
  readonly updateEffect: <E2, R2>(
    f: (value: A) => Effect.Effect<A, E2, R2>
  ) => Effect.Effect<A, E | E2 | StaleState | InvalidState | StoreError, R | R2>
  /** Like `modify`, with an effect. If the effect fails, no value is changed. The effect may run several times. */
  readonly modifyEffect: <B, E2, R2>(
    f: (value: A) => Effect.Effect<readonly [B, A], E2, R2>
  ) => Effect.Effect<B, E | E2 | StaleState | InvalidState | StoreError, R | R2>
  /** Deletes the value, so that `get` returns the initial one. */
  readonly clear: Effect.Effect<void, E | StoreError, R>
}

/**
 * Reads values that an older version of the program wrote: a schema of the old values that decodes to the new values,
 * or a function. A function that throws makes the value stale.
 *
 * @category models
 * @since 0.1.0
 */
export type Migration<A> = Schema.Decoder<A> | ((stored: Schema.Json) => A)

/**
 * The options of `State.make`, except for `of`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<A> {
  /** Returns the value where none is stored. */
  readonly initial: () => A
  /**
   * The version of the schema, a positive whole number. Increase the version when stored values no longer match the
   * schema. Default: 1.
   */
  readonly version?: number | undefined
  /** How to read the values of older versions, by version. Default: they are stale. */
  readonly migrate?: { readonly [version: number]: Migration<A> } | undefined
  /**
   * A value expires when no write has changed the value for this time, by the clock of the process. Default: values do
   * not expire.
   */
  readonly expireAfter?: Duration.Input | undefined
  /**
   * The behaviour if a value cannot be read. `"fail"`: the operation fails with {@link StaleState}. `"initial"`: a
   * warning is logged, and the initial value is used; the next change replaces the stored value. Values of newer
   * programs always fail. Default: `"fail"`.
   */
  readonly onStale?: "fail" | "initial" | undefined
}

/**
 * A value of a state with its key.
 *
 * @category models
 * @since 0.1.0
 */
export interface Entry<A, O extends Of> {
  /** The ids of the chat and the user to whom the value belongs. */
  readonly key: Key<O>
  /** The value, or the reason why the value cannot be read. */
  readonly value: Result.Result<A, StaleState>
}

/**
 * A state, identified by its name. The operations of a state concern the value of the update that is being handled.
 * These operations fail with {@link NoStateKey} if the update does not have the needed ids.
 *
 * @category models
 * @since 0.1.0
 */
export interface State<A, O extends Of> extends Value<A, NoStateKey> {
  /** The name of the state. */
  readonly name: string
  /** The owner of each value. */
  readonly of: O
  /**
   * The value with a key. While an update of the same inbox is handled, the value is part of the handling, as other
   * values are. Elsewhere, each operation reads and writes the store, and `update` and `modify` are repeated until no
   * other change came in between. A write whose answer is lost is repeated for up to 10 seconds, and is applied once.
   * If the store does not tell whether a change was applied, the operation fails with a `StoreError` whose
   * `isRetryable` is `false`.
   */
  readonly at: (key: Key<O>) => Value<A, never, Inbox>
  /** Emits all values. {@link stream} calls this operation. */
  readonly entries: Stream.Stream<Entry<A, O>, StoreError, Inbox>
}

const pageSize = 500

const refuseOf =
  (name: string) =>
  (problem: string): never => {
    throw new Error(`The state "${name}" ${problem}`)
  }

const check = (
  name: string,
  of: Of,
  { expireAfter, migrate = {}, version = 1 }: Omit<Options<never>, "initial">
): void => {
  const refuse = refuseOf(name)
  if (!isOf(of))
    refuse(`needs an \`of\` that is "chat", "user", "userInChat" or "bot", but it is ${JSON.stringify(of)}.`)
  if (name === "") refuse("needs a name that is not empty.")
  if (!Number.isSafeInteger(version) || version < 1) refuse("needs a `version` that is a positive whole number.")
  for (const from of Object.keys(migrate).map(Number)) {
    if (!(from < version))
      refuse(`has a migration of version ${from}, which is not older than its \`version\`, ${version}.`)
  }
  if (expireAfter !== undefined && !(Duration.toMillis(expireAfter) > 0)) refuse("needs a positive `expireAfter`.")
}

/**
 * Defines a state with a name and a schema. Two states of one inbox have different names. The schema needs no services.
 *
 * Throws if an option is invalid.
 *
 * **Example** (The cart of a user in a chat)
 *
 * ```ts
 * import { Answers, Chat, Handler, State, User } from "@colloquy/core"
 * import { Effect, Schema } from "effect"
 *
 * const Cart = State.make("cart", Schema.Struct({ items: Schema.Array(Schema.String) }), {
 *   of: "userInChat",
 *   initial: () => ({ items: [] }),
 *   expireAfter: "30 days"
 * })
 *
 * // While an update is handled, the key is that of the update.
 * const add = Handler.on("message_callback", (update) =>
 *   Effect.gen(function* () {
 *     const { items } = yield* Cart.update(({ items }) => ({ items: [...items, "tea"] }))
 *     yield* Answers.answer(update, { notification: `${items.length} items` })
 *   })
 * )
 *
 * // Anywhere else, the key is given.
 * const read = (chat_id: Chat.ChatId, user_id: User.UserId) => Cart.at({ chat_id, user_id }).get
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <A, I, const O extends Of>(
  name: string,
  schema: Schema.Codec<A, I>,
  options: Options<NoInfer<A>> & {
    /** The owner of each value. */
    readonly of: O
  }
): State<A, O> => {
  const { of } = options
  check(name, of, options as Omit<Options<never>, "initial">)
  const codec = codecs.make(schema, options, {
    stale: (stale) => new StaleState({ stateName: name, ...stale }),
    invalid: (problem, value) => new InvalidState({ stateName: name, problem, value })
  })
  const withoutKey = (missing: Missing) => new NoStateKey({ stateName: name, of, ...missing })
  const prefix = stateRows.prefixOf(name)
  const entries = Inbox.use(({ store }) => Effect.succeed(store.rows)).pipe(
    Effect.map((page) =>
      Stream.paginate(undefined as Row | undefined, (after) =>
        Effect.map(page({ prefix, by: "key", after, limit: pageSize }), (values) => {
          const last = values.length < pageSize ? Option.none() : Option.some(values.at(-1))
          return [values, last] as const
        })
      )
    ),
    Stream.unwrap,
    Stream.filterEffect((stored) => Effect.map(codec.isExpired(stored), (expired) => !expired)),
    Stream.mapEffect((stored): Effect.Effect<ReadonlyArray<Entry<A, O>>> => {
      const scope = stored.key.slice(prefix.length)
      const key = fromScope(of, scope)
      if (key === undefined) return Effect.succeed([])
      return Effect.map(Effect.result(codec.decode(stored, scope)), (value) => [{ key, value }])
    }),
    Stream.flatMap(Stream.fromIterable)
  )
  return {
    ...makeValue(name, codec, ofUpdate(name, of, codec, withoutKey)),
    name,
    of,
    at: (key) => {
      if (missingIds(of, key).length > 0)
        refuseOf(name)(`needs ${missingIds(of, key).join(" and ")} in the key of \`at\`.`)
      const scope = toScope(of, key)
      return makeValue(
        name,
        codec,
        Inbox.use((inbox) => inScope(name, scope, inbox, codec))
      )
    },
    entries
  }
}

/**
 * Returns the key of the row that `InboxStore` has for a value. The text of the row is the JSON text of an array: the
 * version of the schema, and the value. For tools that read and write values without the program of the bot.
 *
 * @category rows
 * @since 0.1.0
 */
export const rowKey: (value: {
  /** The name of the state. */
  readonly name: string
  /** To what the value belongs: `chat:1`, `user:2`, `chat:1/user:2`, or `bot`. */
  readonly scope: string
}) => string = stateRows.rowKey

/**
 * Creates a migration from a schema of the old values and a function. The option `migrate` of `State.make` accepts a
 * migration.
 *
 * **Example** (Version 2 counts the items)
 *
 * ```ts
 * import { State } from "@colloquy/core"
 * import { Schema } from "effect"
 *
 * const CartV1 = Schema.Struct({ items: Schema.Array(Schema.String) })
 *
 * const Cart = State.make("cart", Schema.Struct({ items: Schema.Record(Schema.String, Schema.Int) }), {
 *   of: "user",
 *   initial: () => ({ items: {} }),
 *   version: 2,
 *   migrate: {
 *     1: State.migration(CartV1, ({ items }) => ({ items: Object.fromEntries(items.map((item) => [item, 1])) }))
 *   }
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const migration = <Old, A>(schema: Schema.Decoder<Old>, f: (old: Old) => A): Migration<A> => {
  const decode = Schema.decodeUnknownSync(Schema.toCodecJson(schema))
  return (stored) => f(decode(stored))
}

/**
 * Emits all values of a state with their keys, in pages. Values that have expired are left out. A value that cannot be read
 * is a failure in its element, and the stream continues. Values that are written meanwhile may be missing.
 *
 * **Example** (The number of users who chose a language)
 *
 * ```ts
 * import { State } from "@colloquy/core"
 * import { Result, Schema, Stream } from "effect"
 *
 * const Language = State.make("language", Schema.String, { of: "user", initial: () => "ru" })
 *
 * const english = State.stream(Language).pipe(
 *   Stream.filter(({ value }) => Result.isSuccess(value) && value.success === "en"),
 *   Stream.runCount
 * )
 * ```
 *
 * @category reading
 * @since 0.1.0
 */
export const stream = <A, O extends Of>(state: State<A, O>): Stream.Stream<Entry<A, O>, StoreError, Inbox> =>
  state.entries

/**
 * The numbers of deleted entries of {@link forget}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Forgotten {
  /** Number of values of the state. */
  readonly values: number
  /** Number of timers, including timers that are due and not yet handled. */
  readonly timers: number
  /** Number of chats in the `ChatStore`. */
  readonly chats: number
  /** Number of dead letters. */
  readonly deadLetters: number
}

/**
 * Deletes the stored data of a person, at once: the values of every state that belong to the user or to the user in a
 * chat, the timers and the dead letters of the user, and the dialogs with the user in the `ChatStore`, if the program
 * provides one. `forget` reads all dead letters and all chats.
 *
 * The timers of a user are the timers that were set with the `user_id`: by a handler of an update of the user, also in
 * a group, or by `for` of `Timer`. Timers that were set for a chat alone stay. Updates that wait in the inbox are still
 * handled, and values of chats, such as a group that names its members, are not changed. While an update is handled,
 * values and timers of the user that the handler has changed before are not written.
 *
 * **Example** (A command that erases its sender)
 *
 * ```ts
 * import { Command, Messages, State, Update } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const forget = Command.make("forget").on(
 *   Effect.fn(function* (update) {
 *     const user_id = Update.userIdOf(update)
 *     if (user_id !== undefined) yield* State.forget({ user_id })
 *     yield* Messages.reply(update, "I have deleted what I knew about you.")
 *   })
 * )
 * ```
 *
 * @category erasure
 * @since 0.1.0
 */
export const forget = ({ user_id }: { readonly user_id: UserId }): Effect.Effect<Forgotten, StoreError, Inbox> =>
  erasure.forget(user_id)
