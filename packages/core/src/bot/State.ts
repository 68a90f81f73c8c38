/**
 * The state of a program: values that belong to a chat, a user, a user in a chat, the bot, or a key of your own, such as
 * settings, a cart, an order, or the step of a conversation. The store of the inbox keeps the values.
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
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Inbox } from "../inbox/Inbox.ts"
import type { Row } from "../inbox/InboxStore.ts"
import type { Prediction } from "../inbox/Rehearsal.ts"
import { announce, belongsElsewhere, predictionOf } from "../inbox/internal/rehearsal.ts"
import * as stateRows from "../inbox/internal/store/stateRows.ts"
import { inScope, makeValue, type Missing, ofUpdate, type Place } from "./internal/state/access.ts"
import * as codecs from "./internal/state/codec.ts"
import type { StateCodec } from "./internal/state/codec.ts"
import * as keys from "./internal/state/keys.ts"
import { reading } from "./internal/state/reading.ts"
import { top as readTop } from "./internal/state/top.ts"
import type { StateValue } from "../inbox/internal/store/stateRows.ts"
import * as erasure from "./internal/state/forget.ts"
import { fromScope, isOf, missingIds, toScope } from "./internal/state/scopes.ts"
import type { StoreError } from "../base/StoreError.ts"
import type { UserId } from "../model/User.ts"
import type * as Result from "effect/Result"
import { pages } from "../base/internal/pages.ts"
import { NewerTypeId } from "../inbox/internal/consumer/newer.ts"
import type { ChatId } from "../model/Recipient.ts"
import * as PermanentError from "../base/PermanentError.ts"
import { PermanentTaggedError } from "../base/internal/permanentTaggedError.ts"
import { TaggedError } from "../base/TaggedError.ts"

/**
 * The owner of each value of a state: a chat, a user in all chats, a user in one chat, or the bot.
 *
 * @category models
 * @since 0.1.0
 */
export type Of = "chat" | "user" | "userInChat" | "bot"

/**
 * The schema of the keys of a state whose values belong to something of your own, such as an order or a pair of messages.
 *
 * @category models
 * @since 0.1.0
 */
export type KeySchema = Schema.Codec<unknown, unknown>

/**
 * The key of a value of a state: the ids of its owner, or a value of the schema of the keys.
 *
 * @category models
 * @since 0.1.0
 */
export type Key<O extends Of | KeySchema> = O extends KeySchema
  ? O["Type"]
  : O extends Of
    ? {
        readonly chat: { readonly chat_id: ChatId }
        readonly user: { readonly user_id: UserId }
        readonly userInChat: { readonly chat_id: ChatId; readonly user_id: UserId }
        readonly bot: Record<never, never>
      }[O]
    : never

/**
 * A value cannot be read: its schema has changed, there is no migration of its version, or a newer program wrote it. The
 * value stays as it is; `set` and `clear` replace it. With `onStale: "initial"`, a state fails with this error only for values of
 * newer programs.
 *
 * A value that a newer program wrote is no mistake of the update: `Bot.run` leaves the chat to a process with that program, and
 * the attempt does not count.
 *
 * @category errors
 * @since 0.1.0
 */
export class StaleState extends TaggedError("StaleState", () => ({
  /** The name of the state. */
  stateName: Schema.String,
  /** The scope of the value: `chat:1`, `user:2`, `chat:1/user:2`, `bot`, or `key:` and the JSON text of the key. */
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

  /** The mark by which the inbox leaves the update to a newer program. */
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
 * A new value, or a key, does not match the schema of its state, or is too long. Nothing was changed.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidState extends PermanentTaggedError("InvalidState", () => ({
  /** The name of the state. */
  stateName: Schema.String,
  /** The mismatch. */
  problem: Schema.String,
  /** The new value, or the key. */
  value: Schema.Unknown,
  /** Whether the key does not match. Default: `false`. */
  isKey: Schema.optional(Schema.Boolean)
})) {
  override get message() {
    return this.isKey === true
      ? `A key of the state "${this.stateName}" does not match its schema: ${this.problem}`
      : `The new value of the state "${this.stateName}" does not match its schema: ${this.problem}`
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
export class NoStateKey extends PermanentTaggedError("NoStateKey", () => ({
  /** The name of the state. */
  stateName: Schema.String,
  /** The owner of each value. */
  of: Schema.Literals(["chat", "user", "userInChat", "bot"]),
  /** The missing ids. `update`: no update, or several together, are being handled. */
  missing: Schema.Array(Schema.Literals(["chat_id", "user_id", "update"])),
  /** The type of the update that is being handled. */
  update_type: Schema.optional(Schema.String)
})) {
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
  /**
   * Returns the finite number by which {@link top} sorts the values, the greatest first. The number is stored with each value that
   * is written. A value that was written without `sortBy` is not sorted until the value is written again. Default: the
   * values are not sorted.
   */
  readonly sortBy?: ((value: A) => number) | undefined
}

/**
 * A value of a state with its key.
 *
 * @category models
 * @since 0.1.0
 */
export interface Entry<A, O extends Of | KeySchema> {
  /** The ids of the chat and the user to whom the value belongs, or the key of your own. */
  readonly key: Key<O>
  /** The value, or the reason why the value cannot be read. */
  readonly value: Result.Result<A, StaleState>
}

/**
 * A state with keys of your own, identified by its name. `at` accepts a key.
 *
 * @category models
 * @since 0.1.0
 */
export interface Keyed<A, O extends Of | KeySchema> {
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
  readonly at: (key: Key<O>) => Value<A, O extends Of ? never : InvalidState, Inbox>
  /** The operations of {@link stream} and {@link top}. */
  readonly [reading]: {
    readonly entries: Stream.Stream<Entry<A, O>, StoreError, Inbox>
    readonly first: (limit: number) => Effect.Effect<ReadonlyArray<Entry<A, O>>, StoreError, Inbox>
  }
}

/**
 * A state, identified by its name. The operations of a state concern the value of the update that is being handled.
 * These operations fail with {@link NoStateKey} if the update does not have the needed ids.
 *
 * @category models
 * @since 0.1.0
 */
export interface State<A, O extends Of> extends Value<A, NoStateKey>, Keyed<A, O> {}

const pageSize = 500

const refuseOf =
  (name: string) =>
  (problem: string): never => {
    throw new Error(`The state "${name}" ${problem}`)
  }

/** The part that all states have in common. Entries whose key does not match are left out. */
const makeKeyed = <A, O, K, E>(
  name: string,
  of: O,
  codec: StateCodec<A>,
  placeOf: (key: K) => Effect.Effect<Place, E, Inbox>,
  fromScope: (scope: string) => K | undefined
) => {
  announce({
    name,
    rehearse: (stored, scope) =>
      fromScope(scope) === undefined
        ? Effect.succeed(belongsElsewhere)
        : Effect.matchCause(codec.decode(stored, scope), {
            onSuccess: (): Prediction => ({ outcome: "continues" }),
            onFailure: predictionOf
          })
  })
  const prefix = stateRows.prefixOf(name)
  type Read = { readonly key: K; readonly value: Result.Result<A, StaleState> }
  const toEntry = (stored: StateValue, scope: string): Effect.Effect<ReadonlyArray<Read>> => {
    const key = fromScope(scope)
    if (key === undefined) return Effect.succeed([])
    return Effect.map(Effect.result(codec.decode(stored, scope)), (value) => [{ key, value }])
  }
  const entries = Inbox.useSync(({ store }) =>
    pages(pageSize, (after: Row | undefined) => store.rows({ prefix, by: "key", after, limit: pageSize }))
  ).pipe(
    Stream.unwrap,
    Stream.filterEffect((stored) => Effect.map(codec.isExpired(stored), (expired) => !expired)),
    Stream.mapEffect((stored) => toEntry(stored, stored.key.slice(prefix.length))),
    Stream.flattenIterable
  )
  const first = (limit: number) => {
    if (!codec.isSorted) refuseOf(name)("needs the option `sortBy` for `top`.")
    if (!Number.isSafeInteger(limit) || limit < 1)
      refuseOf(name)("needs a positive whole number as the `limit` of `top`.")
    return Effect.flatMap(readTop(name, limit), (all) =>
      Effect.map(
        Effect.forEach(all, ({ scope, value }) => toEntry(value, scope)),
        (entries) => entries.flat()
      )
    )
  }
  return {
    name,
    of,
    at: (key: K): Value<A, E, Inbox> => makeValue(name, codec, placeOf(key)),
    [reading]: { entries, first }
  }
}

const ofIds = <A, O extends Of>(name: string, of: O, codec: StateCodec<A>): State<A, Of> => {
  const withoutKey = (missing: Missing) => new NoStateKey({ stateName: name, of, ...missing })
  const placeOf = (key: Key<Of>) => {
    const missing = missingIds(of, key)
    if (missing.length > 0) refuseOf(name)(`needs ${missing.join(" and ")} in the key of \`at\`.`)
    return inScope(name, toScope(of, key), codec)
  }
  return {
    ...makeValue(name, codec, ofUpdate(name, of, codec, withoutKey)),
    ...makeKeyed(name, of, codec, placeOf, (scope): Key<Of> | undefined => fromScope(of, scope))
  }
}

const ofKeys = <A>(name: string, of: KeySchema, codec: StateCodec<A>): Keyed<A, KeySchema> => {
  const { fromScope, toScope } = keys.make(
    name,
    of,
    (problem, value) => new InvalidState({ stateName: name, problem, value, isKey: true })
  )
  const placeOf = (key: unknown) => Effect.flatMap(toScope(key), (scope) => inScope(name, scope, codec))
  return makeKeyed(name, of, codec, placeOf, fromScope)
}

const check = (
  name: string,
  of: Of | KeySchema,
  { expireAfter, migrate = {}, version = 1 }: Omit<Options<never>, "initial">
): void => {
  const refuse = refuseOf(name)
  if (!Schema.isSchema(of) && !isOf(of))
    refuse(`needs an \`of\` that is "chat", "user", "userInChat", "bot" or a schema, but it is ${JSON.stringify(of)}.`)
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
 * `of` is the owner of each value, or the schema of keys of your own. A key is stored as its JSON text, which has up to about
 * 900 characters. A key that does not match or is too long fails with {@link InvalidState}.
 *
 * Throws if an option is invalid.
 *
 * **Example** (The cart of a user in a chat)
 *
 * ```ts
 * import { Answers, Bot, Chat, Handler, State, User } from "@colloquy/core"
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
 *
 * // A value for each order.
 * const Paid = State.make("paid", Schema.Boolean, { of: Schema.Struct({ order: Schema.Int }), initial: () => false })
 *
 * const pay = (order: number) => Paid.at({ order }).set(true)
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <A, I, const O extends Of | KeySchema>(
  name: string,
  schema: Schema.Codec<A, I>,
  options: Options<NoInfer<A>> & {
    /** The owner of each value, or the schema of the keys. */
    readonly of: O
  }
): [O] extends [KeySchema] ? Keyed<A, O> : State<A, Extract<O, Of>> => {
  check(name, options.of, options as Omit<Options<never>, "initial">)
  const codec = codecs.make(schema, options, {
    stale: (stale) => new StaleState({ stateName: name, ...stale }),
    invalid: (problem, value) => new InvalidState({ stateName: name, problem, value })
  })
  const of: Of | KeySchema = options.of
  const state: unknown = typeof of === "string" ? ofIds(name, of, codec) : ofKeys(name, of, codec)
  return state as [O] extends [KeySchema] ? Keyed<A, O> : State<A, Extract<O, Of>>
}

/**
 * Returns the key of the row that `InboxStore` has for a value. The text of the row is the JSON text of an array: the
 * version of the schema, and the value. In place of the version, a state with `sortBy` has an array of the version and the
 * number. For tools that read and write values without the program of the bot.
 *
 * @category rows
 * @since 0.1.0
 */
export const rowKey: (value: {
  /** The name of the state. */
  readonly name: string
  /** The owner of the value: `chat:1`, `user:2`, `chat:1/user:2`, `bot`, or `key:` and the JSON text of the key. */
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
export const stream = <A, O extends Of | KeySchema>(
  state: Pick<Keyed<A, O>, typeof reading>
): Stream.Stream<Entry<A, O>, StoreError, Inbox> => state[reading].entries

/**
 * Returns the values of a state with the greatest numbers of its option `sortBy`, the greatest first, with their keys. At most
 * `limit` values and a few more are read, however many values exist. While an update is handled, the values that the handler
 * has read or changed are as the handler sees them.
 *
 * Values with the same number are in an order of their keys that does not change. Values that have expired are left out. A
 * value that cannot be read is a failure in its entry.
 *
 * Throws if the state has no `sortBy`, or if `limit` is not a positive whole number.
 *
 * **Example** (The ten best players)
 *
 * ```ts
 * import { Command, Messages, State } from "@colloquy/core"
 * import { Effect, Result, Schema } from "effect"
 *
 * const Player = State.make("player", Schema.Struct({ name: Schema.String, points: Schema.Int }), {
 *   of: "user",
 *   initial: () => ({ name: "", points: 0 }),
 *   sortBy: ({ points }) => points
 * })
 *
 * const best = Command.make("best").on((update) =>
 *   Effect.gen(function* () {
 *     const players = yield* State.top(Player, { limit: 10 })
 *     const lines = players.map(({ value }) =>
 *       Result.isSuccess(value) ? `${value.success.name}: ${value.success.points}` : "?"
 *     )
 *     yield* Messages.reply(update, lines.join("\n") || "Nobody has played.")
 *   })
 * )
 * ```
 *
 * @category reading
 * @since 0.1.0
 */
export const top = <A, O extends Of | KeySchema>(
  state: Pick<Keyed<A, O>, typeof reading>,
  options: {
    /** Maximum number of values. */
    readonly limit: number
  }
): Effect.Effect<ReadonlyArray<Entry<A, O>>, StoreError, Inbox> => state[reading].first(options.limit)

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
 * chat, the timers and the dead letters of the user, with what their attempts have seen, the entries of the user in the log of handled
 * updates, and the dialogs with the user in the `ChatStore`, if the program provides one. `forget` reads all dead letters, all chats and
 * the log.
 *
 * The timers of a user are the timers that were set with the `user_id`: by a handler of an update of the user, also in
 * a group, or by `for` of `Timer`. Timers that were set for a chat alone stay. Updates that wait in the inbox or are being handled get an
 * entry of the log afterwards, such as the update that asked for the deletion. Updates that wait are still handled, and values of chats, such as a group that names its members, and of keys of your own are not changed. While an update is handled,
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
