import * as Cause from "effect/Cause"
import * as Predicate from "effect/Predicate"
import type { StoreError } from "../../../base/StoreError.ts"
import { GaveUp, type OutageError } from "../../../client/Outage.ts"

const isOfInbox = (error: unknown): error is StoreError =>
  Predicate.isTagged(error, "StoreError") && (error as StoreError).store === "inbox"

/**
 * Returns the failure of the inbox because of which a handler failed, if there is one. Such a failure is no failure of
 * the handler.
 */
export const storeFailureIn = (cause: Cause.Cause<unknown>): OutageError | undefined => {
  for (const reason of cause.reasons) {
    const isDefect = Cause.isDieReason(reason)
    const error = Cause.isFailReason(reason) ? reason.error : isDefect ? reason.defect : undefined
    // The error of a handler can be about another inbox or a broadcast. Only the inbox of the handler dies with this
    // error.
    if (isOfInbox(error) || (isDefect && error instanceof GaveUp)) return error
  }
  return undefined
}

/** Whether a failure of the inbox may pass, so that the handler runs again. Otherwise, the bot ends. */
export const isPassing = (failure: OutageError): failure is StoreError =>
  failure._tag === "StoreError" && (failure.isRetryable || failure.isUncertain === true)
