import * as Cause from "effect/Cause"
import * as Schedule from "effect/Schedule"
import { isPermanentError } from "../../../base/PermanentError.ts"

const isPermanent = (reason: Cause.Reason<unknown>): boolean =>
  (Cause.isFailReason(reason) && isPermanentError(reason.error)) ||
  (Cause.isDieReason(reason) && isPermanentError(reason.defect))

const isRetryable = (cause: Cause.Cause<unknown>): boolean => !cause.reasons.every(isPermanent)

/** When an update is handled again after a failure. */
export type Retry = Schedule.Schedule<unknown, Cause.Cause<unknown>>

/** The delay in milliseconds after a failed attempt of a pipeline without a handler. `undefined`: no further attempt. */
export const delayAfter = (attempt: number): number | undefined => (attempt > 5 ? undefined : 1000 * 2 ** attempt)

/** Retries after 2, 4, 8, 16 and 32 seconds, unless the error is permanent. */
export const defaultRetry: Retry = Schedule.exponential("2 seconds").pipe(
  Schedule.upTo({ times: 5 }),
  Schedule.setInputType<Cause.Cause<unknown>>(),
  Schedule.while(({ input }) => isRetryable(input))
)
