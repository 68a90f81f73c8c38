import * as Cause from "effect/Cause"
import * as Predicate from "effect/Predicate"
import type { StoreError } from "../../StoreError.ts"

const isOfInbox = (error: unknown): error is StoreError =>
  Predicate.isTagged(error, "StoreError") && (error as StoreError).store === "inbox"

/** Returns the failure of the inbox because of which a handler failed, if there is one. It is no failure of the handler. */
export const storeFailureIn = (cause: Cause.Cause<unknown>): StoreError | undefined => {
  for (const reason of cause.reasons) {
    const error = Cause.isFailReason(reason) ? reason.error : Cause.isDieReason(reason) ? reason.defect : undefined
    if (isOfInbox(error)) return error
  }
  return undefined
}
