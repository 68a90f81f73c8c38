import * as Context from "effect/Context"

/**
 * Returns what is sent instead of the request of a call, when its permit is there: the call has waited, and what it says may be
 * out of date. The result has the target of the rate limiter of the request. Default: none, the request is sent.
 */
export const CurrentLatest = Context.Reference<((request: unknown) => unknown) | undefined>(
  "@colloquy/core/internal/client/CurrentLatest",
  { defaultValue: () => undefined }
)
