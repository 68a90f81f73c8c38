import * as Effect from "effect/Effect"
import * as ApiError from "../ApiError.ts"
import type * as Endpoint from "../Endpoint.ts"
import type { CallContext } from "./callContext.ts"
import type { Accepted } from "./classify.ts"

const mayBeExecuted = (error: ApiError.ApiError): boolean =>
  error instanceof ApiError.RequestFailed && error.maybeExecuted

const json = { success: true }

const accepted: Accepted = { json, received: { status: 200, headers: {}, text: JSON.stringify(json) } }

type Call = Effect.Effect<Accepted, ApiError.ApiError>

/**
 * Accepts the refusal of a repeated call, if an earlier attempt of the same update or an earlier request of the call
 * may have carried the call out. Otherwise an update whose handler failed after the call could never be handled
 * successfully.
 */
export const acceptRepeated = <Request, Success, E>(
  { declaration, endpoint }: Endpoint.Named<Request, Success, E>,
  request: Request,
  context: CallContext | undefined,
  once: Call,
  retry: (once: Call) => Call
): Call => {
  const { repeated } = declaration
  if (repeated === undefined) return retry(once)
  return Effect.suspend(() => {
    const key = `${endpoint} ${repeated.key(request)}`
    const log = context?.answers
    const attempts = log && (log.attempts ??= new Map<string, number>())
    const last = attempts?.get(key)
    let isRepeated = log !== undefined && (last === undefined ? log.isRedelivered : last < log.attempt)
    let isUnknown = false
    // Set before the call ends, because an interrupted attempt may have carried the call out.
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
