const windowMillis = 600_000

/** Without any observation, the clock of this process is assumed to differ by at most this. */
const maxUnknownDifference = 600_000

/**
 * Estimates the time of the platform's clock from below: an event with a time of the platform happened before its
 * receipt. `now` is in milliseconds of the monotonic clock, because the clock of the process can be set. The highest
 * difference between the clocks that was observed is valid as long as the clocks run evenly, so observations are
 * forgotten after 10 to 20 minutes.
 */
export const makePlatformTime = () => {
  let current = -Infinity
  let previous = -Infinity
  let since = -Infinity
  let lastDate: string | undefined
  let lastAt = Number.NaN

  const rotate = (now: number): void => {
    if (Math.abs(now - since) < windowMillis) return
    previous = Math.abs(now - since) < 2 * windowMillis ? current : -Infinity
    current = -Infinity
    since = now
  }

  const observe = (at: number, now: number): void => {
    rotate(now)
    current = Math.max(current, at - now)
  }

  return {
    /** An event happened at the time `at` of the platform's clock, and was received before `now`. */
    observe,
    /** A response with this header `Date` was received at `now`. */
    observeDate: (date: string | undefined, now: number): void => {
      // The header changes once a second.
      if (date !== lastDate) {
        lastDate = date
        lastAt = date === undefined ? Number.NaN : Date.parse(date)
      }
      if (Number.isFinite(lastAt)) observe(lastAt, now)
    },
    /** A time of the platform's clock that is not later than `now`, which is `unix` by the clock of this process. */
    atLeast: (now: number, unix: number): number => {
      rotate(now)
      const difference = Math.max(current, previous)
      return difference === -Infinity ? unix - maxUnknownDifference : now + difference
    }
  }
}

export type PlatformTime = ReturnType<typeof makePlatformTime>
