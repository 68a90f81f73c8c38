/** The last departures of one limit, as many as it allows: the next may go when the oldest of them has left the window. */
export interface Log {
  readonly times: Float64Array
  total: number
  /** The first departure that is still in the window. */
  first: number
}

export const make = (count: number): Log => ({ times: new Float64Array(count).fill(-Infinity), total: 0, first: 0 })

/** How long it is until less than `level` departures are in the window. */
export const waitAt = ({ times, total }: Log, window: number, now: number, level: number = times.length): number =>
  times[(total + times.length - level) % times.length] + window - now

export const record = (log: Log, now: number): void => {
  log.times[log.total++ % log.times.length] = now
}

/** How many departures are in the window. */
export const loadAt = (log: Log, window: number, now: number): number => {
  const { times, total } = log
  log.first = Math.max(log.first, total - times.length)
  while (log.first < total && times[log.first % times.length] + window <= now) log.first++
  return total - log.first
}

export const isIdleAt = (log: Log, window: number, now: number): boolean => waitAt(log, window, now, 1) <= 0

/** The departures of both, as if they had been of one. */
export const merge = (one: Log, other: Log): Log => {
  const merged = make(one.times.length)
  const times = [...one.times, ...other.times].filter((time) => time > -Infinity).sort((a, b) => a - b)
  for (const time of times) record(merged, time)
  return merged
}
