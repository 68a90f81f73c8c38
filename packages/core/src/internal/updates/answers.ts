import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as ApiError from "../../ApiError.ts"

/** The callbacks that the attempts of an update have answered. A worker has one, because it handles one update at a time. */
export interface AnswerLog {
  /** The number of the current attempt. */
  attempt: number
  /** Whether a process that was killed, or the attempts of a dead letter, may have answered. */
  isRedelivered: boolean
  /** The last attempt that answered a callback or may have answered it. */
  attempts: Map<string, number> | undefined
}

/** The log of the update that is being handled. Default: none, outside of handlers. */
export const CurrentAnswerLog = Context.Reference<AnswerLog | undefined>(
  "@colloquy/core/internal/updates/CurrentAnswerLog",
  { defaultValue: () => undefined }
)

const mayBeExecuted = (error: unknown): boolean => error instanceof ApiError.RequestFailed && error.maybeExecuted

/**
 * Accepts the refusal of an answer (405) if an earlier attempt of the same update may have given it. Otherwise an update
 * whose handler failed after its answer could never be handled successfully.
 */
export const acceptAnswered = <E extends ApiError.ApiError>(
  callback_id: string,
  call: Effect.Effect<void, E>
): Effect.Effect<void, E> =>
  Effect.withFiber((fiber) => {
    const log = fiber.getRef(CurrentAnswerLog)
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
