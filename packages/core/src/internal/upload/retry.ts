import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import * as Schedule from "effect/Schedule"
import * as ApiError from "../../ApiError.ts"
import * as RetryPolicy from "../../RetryPolicy.ts"
import { UploadFailed } from "../../UploadError.ts"

const endpoint = "Uploads.upload"

/** The failure in the terms of the policy. */
const inTermsOfPolicy = ({ reason }: UploadFailed): ApiError.RequestFailed | undefined => {
  switch (reason._tag) {
    case "Transport":
      return new ApiError.RequestFailed({ endpoint, reason })
    case "Rejected": {
      const { body, code, detail, status } = reason
      const said = { ...(code === undefined ? {} : { code }), ...(detail === undefined ? {} : { detail }) }
      return new ApiError.RequestFailed({
        endpoint,
        reason: new ApiError.UnexpectedStatus({ status, body, ...said })
      })
    }
    default:
      return undefined
  }
}

/**
 * Repeats what failed for the time being, as the policy says for transient failures. It does no harm: what is uploaded
 * twice stands nowhere twice.
 */
export const repeating = <A, E, R>(
  attempt: Effect.Effect<A, E | UploadFailed, R>
): Effect.Effect<A, E | UploadFailed, R> =>
  Effect.catch(attempt, (first) =>
    Effect.gen(function* () {
      const { transient } = yield* RetryPolicy.RetryPolicy
      const pause = yield* Schedule.toStepWithSleep(transient)
      let error = first
      while (true) {
        const failure = error instanceof UploadFailed && error.isRetryable ? inTermsOfPolicy(error) : undefined
        if (failure === undefined) return yield* Effect.fail(error)
        yield* Pull.catchDone(pause(failure), () => Effect.fail(error))
        const result = yield* Effect.result(attempt)
        if (result._tag === "Success") return result.success
        error = result.failure
      }
    })
  )
