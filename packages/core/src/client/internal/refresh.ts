import { optionalReference } from "../../base/internal/optionalReference.ts"

interface Refresh {
  /** The name of the endpoint. Other calls, such as the calls of a look-up, are not affected. */
  readonly endpoint: string
  readonly read: (request: unknown) => unknown
}

/**
 * Replaces the request of a call when its permit is granted, because the request may be out of date after the wait. The
 * new request must have the same target of the rate limiter. Default: none, so the request is sent unchanged.
 */
export const CurrentRefresh = optionalReference<Refresh>("@colloquy/core/internal/client/CurrentRefresh")
