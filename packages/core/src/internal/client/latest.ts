import * as Context from "effect/Context"

interface Latest {
  /** The name of the endpoint. Other calls, such as those of a look-up, are not affected. */
  readonly endpoint: string
  readonly read: (request: unknown) => unknown
}

/**
 * Returns what is sent instead of the request of a call, when its permit is there: the call has waited, and what it says may be
 * out of date. The result has the target of the rate limiter of the request. Default: none, the request is sent.
 */
export const CurrentLatest = Context.Reference<Latest | undefined>("@colloquy/core/internal/client/CurrentLatest", {
  defaultValue: () => undefined
})
