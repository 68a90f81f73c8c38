import type { AdaptiveState, Granted } from "../../RateLimiterStore.ts"

const minRaiseDelay = 5000
const maxRaiseDelay = 300_000

/** The state before the first 429: the limit is the configured limit. */
export const initial = (count: number): AdaptiveState => ({
  limit: count,
  limitBefore: count,
  limitAfter: 0,
  reducedAt: -1,
  raiseAt: 0,
  raiseBy: 1,
  raiseDelay: minRaiseDelay
})

/**
 * Lowers the limit after a 429. The new limit is the number of permits that were granted before the rejected permit.
 *
 * Other programs may use the same token, so one reduction never goes below a quarter of the limit, or below half of the
 * limit if the 429 may come from the limit of the chat. A reduction to the result of the last reduction or below
 * doubles the delay of the next raise.
 */
export const reduce = (
  state: AdaptiveState,
  { at, isBucketFull, used }: Granted,
  now: number,
  pause: number
): AdaptiveState => {
  const isSame = at <= state.reducedAt
  const limitBefore = isSame ? state.limitBefore : state.limit
  const found = Math.max(1, Math.min(used, limitBefore - 1), Math.floor(limitBefore / (isBucketFull ? 2 : 4)))
  if (isSame) {
    const limit = Math.min(state.limit, found)
    return { ...state, limit, limitAfter: limit }
  }
  const raiseDelay = found > state.limitAfter ? minRaiseDelay : Math.min(state.raiseDelay * 2, maxRaiseDelay)
  return {
    limit: found,
    limitBefore,
    limitAfter: found,
    reducedAt: now,
    raiseAt: now + pause + raiseDelay,
    raiseBy: 1,
    raiseDelay
  }
}

/** Raises the limit after a permit, if that permit used the limit up and the last reduction is long enough ago. */
export const raise = (state: AdaptiveState, count: number, used: number, now: number, window: number): AdaptiveState =>
  state.limit >= count || now < state.raiseAt || used + 1 < state.limit
    ? state
    : {
        ...state,
        limit: Math.min(count, state.limit + state.raiseBy),
        raiseBy: state.raiseBy * 2,
        raiseAt: now + window * 1.5
      }
