import type { Limits } from "./rateLimiterDriver.ts"
import * as Lessons from "./rateLimiterLessons.ts"
import * as Log from "./rateLimiterLog.ts"

/** Departures of one process, and what was learnt from them. Times are milliseconds of a clock that never goes back. */
export const make = (limits: Limits, cold: number) => {
  const { count, window } = limits.host
  const host = Log.make(count)
  const lines = new Map<string, Map<unknown, Log.Log>>()
  let lessons = Lessons.none(count)
  let coldLeft = Math.ceil(count / 3)
  let pausedUntil = -Infinity
  let pacedUntil = -Infinity

  // Lines stand in the order of their last departure: those that have become idle are at the front.
  const forgetIdle = (scope: string, logs: Map<unknown, Log.Log>, now: number) => {
    for (const [key, log] of logs) {
      if (!Log.isIdleAt(log, limits[scope].window, now)) return
      logs.delete(key)
    }
  }

  const logsOf = (scope: string) => {
    let logs = lines.get(scope)
    if (logs === undefined) lines.set(scope, (logs = new Map()))
    return logs
  }

  const spacing = () => window / lessons.level

  // Beyond a burst of a third of the limit, paced departures are spread over the window.
  const pace = (now: number) => {
    const credit = Math.ceil(lessons.level / 3) - 1
    pacedUntil = Math.max(pacedUntil, now - credit * spacing()) + spacing()
  }

  return {
    get level() {
      return lessons.level
    },
    get lines() {
      let size = 0
      for (const logs of lines.values()) size += logs.size
      return size
    },
    hostWait: (now: number): number => Math.max(pausedUntil - now, Log.waitAt(host, window, now, lessons.level)),
    // In whole milliseconds, as timers are.
    paceWait: (now: number): number => Math.floor(pacedUntil - now),
    spacing,
    /** Who has to wait for the host until then is to have no burst afterwards. */
    spreadFrom: (time: number): void => {
      pacedUntil = Math.max(pacedUntil, time)
    },
    lineWait: (scope: string, key: unknown, now: number): number => {
      const log = key === undefined ? undefined : lines.get(scope)?.get(key)
      return log === undefined ? 0 : Log.waitAt(log, limits[scope].window, now)
    },

    depart: (scope: string, key: unknown, isPaced: boolean, now: number): Lessons.Refused => {
      const load = Log.loadAt(host, window, now)
      const counted = coldLeft-- > 0 ? now + cold : now
      Log.record(host, counted)
      if (isPaced) pace(now)
      if (lessons.level < count) lessons = Lessons.climb(lessons, count, load, now, window)
      if (key === undefined) return { at: now, counted, load, isLast: false }
      const logs = logsOf(scope)
      const limit = limits[scope]
      const log = logs.get(key) ?? Log.make(limit.count)
      Log.record(log, counted)
      logs.delete(key)
      logs.set(key, log)
      forgetIdle(scope, logs, now)
      return { at: now, counted, load, isLast: Log.waitAt(log, limit.window, now) > 0 }
    },

    /** What departed was later on its way than it counts for. */
    postpone: (scope: string, key: unknown, from: number, to: number): void => {
      Log.postpone(host, from, to)
      const log = lines.get(scope)?.get(key)
      if (log !== undefined) Log.postpone(log, from, to)
    },

    pause: (now: number, millis: number): void => {
      pausedUntil = Math.max(pausedUntil, now + millis)
    },

    refused: (departure: Lessons.Refused, now: number, pause: number): void => {
      lessons = Lessons.learn(lessons, departure, now, pause)
    },

    /** What departed from one line counts for another from now on. */
    merge: (scope: string, from: unknown, to: unknown): void => {
      const logs = logsOf(scope)
      const log = logs.get(from)
      if (log === undefined) return
      logs.delete(from)
      const other = logs.get(to)
      logs.set(to, other === undefined ? log : Log.merge(log, other))
    }
  }
}
