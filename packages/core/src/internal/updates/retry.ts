import * as Cause from "effect/Cause"
import * as Schedule from "effect/Schedule"
import * as ApiError from "../../ApiError.ts"
import { isPermanentError } from "../../PermanentError.ts"
import { StoreError } from "../../StoreError.ts"
import { UploadFailed } from "../../UploadError.ts"

const refusals = [
  ApiError.Forbidden,
  ApiError.NotFound,
  ApiError.MethodNotAllowed,
  ApiError.CommentsTimeoutExceeded,
  ApiError.AddParticipantFailed,
  ApiError.OperationRejected
]

/** Errors of this library that know whether a retry may succeed. The property of other errors may mean something else. */
const isRetryableError = (error: unknown): boolean | undefined =>
  error instanceof ApiError.RequestFailed || error instanceof StoreError || error instanceof UploadFailed
    ? error.isRetryable
    : undefined

const isPermanent = (error: unknown): boolean =>
  refusals.some((refusal) => error instanceof refusal) || isPermanentError(error) || isRetryableError(error) === false

const isRetryable = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) => !(Cause.isFailReason(reason) && isPermanent(reason.error)))

/** When an update is handled again after a failure. Its input is the cause of the failure. */
export type Retry = Schedule.Schedule<unknown, Cause.Cause<unknown>>

/** Retries after 2, 4, 8, 16 and 32 seconds, unless the error is permanent. */
export const defaultRetry: Retry = Schedule.exponential("2 seconds").pipe(
  Schedule.upTo({ times: 5 }),
  Schedule.setInputType<Cause.Cause<unknown>>(),
  Schedule.while(({ input }) => isRetryable(input))
)
