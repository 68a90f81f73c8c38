import * as Effect from "effect/Effect"
import * as ApiError from "../../ApiError.ts"
import { CurrentUpdate } from "./currentUpdate.ts"

const mayBeExecuted = (error: unknown): boolean => error instanceof ApiError.RequestFailed && error.maybeExecuted

/** Whether an earlier attempt of the same update may have answered a callback. */
export const mayBeAnswered = (callback_id: string): Effect.Effect<boolean> =>
  Effect.withFiber((fiber) => {
    const log = fiber.getRef(CurrentUpdate)?.answers
    return Effect.succeed(log !== undefined && (log.isRedelivered || log.attempts?.has(callback_id) === true))
  })

/**
 * Accepts the refusal of an answer (405) if an earlier attempt of the same update may have given it. Otherwise an update
 * whose handler failed after its answer could never be handled successfully.
 */
export const acceptAnswered = <E extends ApiError.ApiError>(
  callback_id: string,
  call: Effect.Effect<void, E>
): Effect.Effect<void, E> =>
  Effect.withFiber((fiber) => {
    const log = fiber.getRef(CurrentUpdate)?.answers
    if (log === undefined) return call
    const attempts = (log.attempts ??= new Map<string, number>())
    const { attempt } = log
    const last = attempts.get(callback_id)
    const isAnswered = last === undefined ? log.isRedelivered : last < attempt
    // It is set before the call ends, because an attempt that is interrupted may have answered.
    attempts.set(callback_id, attempt)
    return Effect.catch(call, (error) => {
      if (isAnswered && error instanceof ApiError.MethodNotAllowed) return Effect.void
      if (!mayBeExecuted(error)) {
        if (last === undefined) attempts.delete(callback_id)
        else attempts.set(callback_id, last)
      }
      return Effect.fail(error)
    })
  })
