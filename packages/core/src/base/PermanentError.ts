/**
 * Marks errors that would occur again with the same update. `Bot.run` does not retry a handler that fails or dies
 * with such an error.
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"

/**
 * The key of the mark.
 *
 * @category type ids
 * @since 0.1.0
 */
export const TypeId = "~@colloquy/core/PermanentError"

/**
 * An error that would occur again with the same update.
 *
 * **Example** (An error class whose errors are permanent)
 *
 * ```ts
 * import { Bot, PermanentError } from "@colloquy/core"
 * import { Data } from "effect"
 *
 * class SurveyClosed extends Data.TaggedError("SurveyClosed")<{ readonly survey: string }> {
 *   readonly [PermanentError.TypeId] = true
 * }
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export interface PermanentError {
  /** The mark. */
  readonly [TypeId]: true
}

/**
 * Marks an error as permanent, and returns the error. The error must be an object that is not frozen.
 *
 * **Example** (An error of another library)
 *
 * ```ts
 * import { Handler, PermanentError } from "@colloquy/core"
 * import { Effect, Schema } from "effect"
 *
 * const Vote = Schema.fromJsonString(Schema.Struct({ option: Schema.Number }))
 *
 * const vote = Handler.on("message_callback", ({ callback }) =>
 *   Schema.decodeUnknownEffect(Vote)(callback.payload).pipe(
 *     Effect.mapError(PermanentError.mark),
 *     Effect.flatMap(({ option }) => Effect.logInfo(`a vote for ${option}`))
 *   )
 * )
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const mark = <E extends object>(error: E): E & PermanentError =>
  // The errors of this library have a getter of this name, so an assignment would fail.
  Object.defineProperty(error, TypeId, { value: true, configurable: true }) as E & PermanentError

/**
 * Returns `true` if a value is marked as a permanent error.
 *
 * @category guards
 * @since 0.1.0
 */
export const isPermanentError = (u: unknown): u is PermanentError =>
  Predicate.hasProperty(u, TypeId) && u[TypeId] === true
