/**
 * The parts of `State`: its values, their owners, and its errors.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { NewerTypeId } from "../inbox/internal/consumer/newer.ts"
import type { ChatId } from "../model/Recipient.ts"
import type { StoreError } from "../base/StoreError.ts"
import type { UserId } from "../model/User.ts"
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
  /** What does not match. */
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
  /** What does not match. */
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
  /** To what its values belong. */
  of: Schema.Literals(["chat", "user", "userInChat", "bot"]),
  /** What is missing. `update`: no update, or several together, are being handled. */
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
