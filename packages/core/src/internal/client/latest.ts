import * as Context from "effect/Context"

/**
 * Returns the request to send, when a permit is there: the call has waited, and what it says may be out of date. The request
 * has the endpoint, and the target of the rate limiter, of the call. Default: none, the request of the call is sent.
 */
export const CurrentLatest = Context.Reference<(() => unknown) | undefined>(
  "@colloquy/core/internal/client/CurrentLatest",
  { defaultValue: () => undefined }
)
