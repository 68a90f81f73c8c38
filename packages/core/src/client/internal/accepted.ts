import { memberOf } from "../../base/internal/wire.ts"

export const isSuccess = (status: number): boolean => status >= 200 && status < 300

/** A response that reports a failure although its status is a success. */
export const isRejected = (body: unknown, status: number): boolean =>
  isSuccess(status) && memberOf("success", body) === false
