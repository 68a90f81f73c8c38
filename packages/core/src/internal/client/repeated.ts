import * as Effect from "effect/Effect"
import * as ApiError from "../../ApiError.ts"
import type * as Declaration from "../../Declaration.ts"
import type { HandledUpdate } from "../updates/currentUpdate.ts"
import type { Accepted } from "./classify.ts"

const mayBeExecuted = (error: ApiError.ApiError): boolean =>
  error instanceof ApiError.RequestFailed && error.maybeExecuted

const json = { success: true }

const accepted: Accepted = { json, received: { status: 200, headers: {}, text: JSON.stringify(json) } }

type Call = Effect.Effect<Accepted, ApiError.ApiError>

/**
 * Accepts a refusal that says that the call was carried out before, if an earlier attempt of the same update or an earlier request
 * of the call may have done that. Otherwise an update whose handler failed after the call could never be handled successfully.
 */
export const acceptRepeated = <Request, Success, E>(
  { declaration, endpoint }: Declaration.Named<Request, Success, E>,
  request: Request,
  update: HandledUpdate | undefined,
  once: Call,
  retry: (once: Call) => Call
): Call => {
  const { repeated } = declaration
  if (repeated === undefined) return retry(once)
  return Effect.suspend(() => {
    const key = `${endpoint} ${repeated.key(request)}`
    const log = update?.answers
    const attempts = log && (log.attempts ??= new Map<string, number>())
    const last = attempts?.get(key)
    let isRepeated = log !== undefined && (last === undefined ? log.isRedelivered : last < log.attempt)
    let isUnknown = false
    // It is set before the call ends, because an attempt that is interrupted may have carried the call out.
    if (log !== undefined) attempts?.set(key, log.attempt)
    const tried = Effect.catch(once, (error) => {
      if (isRepeated && repeated.errors.some((refusal) => error instanceof refusal)) return Effect.succeed(accepted)
      if (mayBeExecuted(error)) isRepeated = isUnknown = true
      return Effect.fail(error)
    })
    return Effect.tapError(retry(tried), () =>
      Effect.sync(() => {
        if (isUnknown) attempts?.set(key, 0)
        else if (last === undefined) attempts?.delete(key)
        else attempts?.set(key, last)
      })
    )
  })
}
