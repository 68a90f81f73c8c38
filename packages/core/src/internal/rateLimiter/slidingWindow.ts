import type { Limit } from "./driver.ts"

/** The departures of one limit that may still be in its window: the next may go when the oldest of them has left it. */
export interface Log {
  readonly count: number
  readonly window: number
  readonly times: Array<number>
  /** The first departure that is still in the window. */
  first: number
}

export const make = ({ count, window }: Limit): Log => ({ count, window, times: [], first: 0 })

/** How long it is until less than `level` departures are in the window. */
export const waitAt = ({ count, times, window }: Log, now: number, level: number = count): number =>
  times.length < level ? 0 : times[times.length - level] + window - now

export const record = (log: Log, now: number): void => {
  const { count, times } = log
  const excess = times.push(now) - count
  // Now and then: to drop one at a time would move them all each time.
  if (excess > count) log.first = Math.max(0, log.first - times.splice(0, excess).length)
}

/** A departure turns out to have been later. */
export const postpone = ({ times }: Log, from: number, to: number): void => {
  const index = times.lastIndexOf(from)
  if (index >= 0) times[index] = to
}

/** How many departures are in the window. */
export const loadAt = (log: Log, now: number): number => {
  const { times, window } = log
  while (log.first < times.length && times[log.first] + window <= now) log.first++
  return times.length - log.first
}

export const isIdleAt = (log: Log, now: number): boolean => waitAt(log, now, 1) <= 0

/** The departures of both, as if they had been of one. */
export const merge = (one: Log, other: Log): Log => ({
  ...one,
  times: [...one.times, ...other.times].sort((a, b) => a - b),
  first: 0
})
