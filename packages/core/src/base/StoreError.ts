/**
 * The error of every store: the inbox, chats, broadcasts, the upload cache and the rate limiter.
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { openEnum } from "./internal/wire.ts"
import * as PermanentError from "./PermanentError.ts"
import { TaggedError } from "./TaggedError.ts"

/**
 * The store that failed. The values are the stores of this library; a store of your own may have any other name.
 *
 * @category models
 * @since 0.1.0
 */
export const StoreName = openEnum("inbox", "chats", "broadcasts", "uploads", "rateLimiter")

/**
 * @category models
 * @since 0.1.0
 */
export type StoreName = typeof StoreName.Type

/**
 * An operation of a store failed. Operations are atomic, so a failed operation changed nothing, unless the connection was
 * lost before the result arrived. Every operation can be repeated safely.
 *
 * **Example** (Retry while the failure may be temporary)
 *
 * ```ts
 * import { ChatStore, type StoreError } from "@colloquy/core"
 * import { Effect, Schedule } from "effect"
 *
 * const count = ChatStore.count().pipe(
 *   Effect.retry({
 *     schedule: Schedule.exponential("200 millis"),
 *     while: (error: StoreError.StoreError) => error.isRetryable,
 *     times: 5
 *   })
 * )
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class StoreError extends TaggedError("StoreError", () => ({
  /** The store that failed. */
  store: StoreName,
  /** The operation of the store that failed, such as `"claim"`. */
  operation: Schema.String,
  /** The cause, usually in the words of the database driver. */
  reason: Schema.String,
  /** Whether the same operation may succeed later, for example after a lost connection is restored. */
  isRetryable: Schema.Boolean,
  /**
   * Whether the operation may have been applied, so that a repetition could apply the operation twice. `isRetryable` is
   * then `false`. Default: `false`.
   */
  isUncertain: Schema.optional(Schema.Boolean),
  /** The error of the database driver. */
  cause: Schema.optionalKey(Schema.Unknown)
})) {
  get [PermanentError.TypeId](): boolean {
    return !this.isRetryable
  }

  override get message() {
    const advice = this.isRetryable
      ? "The failure may be temporary: check that the database is reachable, then retry."
      : this.isUncertain === true
        ? "The operation may have been applied."
        : "A retry will fail the same way: check the database and the options of the store."
    return `The ${this.store} store failed in operation "${this.operation}": ${this.reason.replace(/\.$/, "")}. ${advice}`
  }
}

const messagesOf = (error: unknown, seen: ReadonlySet<unknown>): ReadonlyArray<string> => {
  if (seen.has(error)) return []
  if (!Predicate.isObject(error)) return error === undefined || error === null ? [] : [String(error)]
  const within = new Set(seen).add(error)
  const message = Predicate.hasProperty(error, "message") && typeof error.message === "string" ? error.message : ""
  if (message.endsWith(".")) return [message]
  const several = error instanceof AggregateError && message === "" ? (error.errors as ReadonlyArray<unknown>) : []
  const causes = Predicate.hasProperty(error, "cause") ? [...several, error.cause] : several
  return [message, ...causes.flatMap((cause) => messagesOf(cause, within))].filter((text) => text !== "")
}

/**
 * Describes an error of a database driver for the `reason` of a {@link StoreError}: its message and the messages of its
 * causes, because the outer messages often say only that a statement failed. A message that an earlier message contains
 * is left out. The causes of a message that ends with a period are left out too, because such a message explains the
 * error, as the messages of this library do.
 *
 * **Example**
 *
 * ```ts
 * import { StoreError } from "@colloquy/core"
 *
 * const refused = new Error("connect ECONNREFUSED 127.0.0.1:5432")
 *
 * export const reason = StoreError.reasonOf(new Error("Failed to connect", { cause: refused }))
 *  // "Failed to connect: connect ECONNREFUSED 127.0.0.1:5432"
 * ```
 *
 * @category conversions
 * @since 0.1.0
 */
export const reasonOf = (error: unknown): string => {
  const messages = messagesOf(error, new Set())
  const told = messages.filter((text, index) => !messages.slice(0, index).some((earlier) => earlier.includes(text)))
  return told.length > 0 ? told.join(": ") : String(error)
}
