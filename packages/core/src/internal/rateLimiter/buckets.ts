import type { Limits } from "./driver.ts"
import * as Lessons from "./adaptiveLimit.ts"
import * as Log from "./slidingWindow.ts"

/** Departures of one process, and what was learnt from them. Times are milliseconds of a clock that never goes back. */
export const make = (limits: Limits, cold: number) => {
  const { count, window } = limits.host
  const host = Log.make(limits.host)
  const lines = new Map<string, Log.Log>()
  let lessons = Lessons.none(count)
  let coldLeft = Math.ceil(count / 3)
  let pausedUntil = -Infinity
  let pacedUntil = -Infinity

  // Lines stand in the order of their last departure: those that have become idle are at the front.
  const forgetIdle = (now: number) => {
    for (const [line, log] of lines) {
      if (!Log.isIdleAt(log, now)) return
      lines.delete(line)
    }
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
      return lines.size
    },
    hostWait: (now: number): number => Math.max(pausedUntil - now, Log.waitAt(host, now, lessons.level)),
    // In whole milliseconds, as timers are.
    paceWait: (now: number): number => Math.floor(pacedUntil - now),
    spacing,
    /** Who has to wait for the host until then is to have no burst afterwards. */
    spreadFrom: (time: number): void => {
      pacedUntil = Math.max(pacedUntil, time)
    },
    lineWait: (line: string | undefined, now: number): number => {
      const log = line === undefined ? undefined : lines.get(line)
      return log === undefined ? 0 : Log.waitAt(log, now)
    },

    depart: (scope: string, line: string | undefined, isPaced: boolean, now: number): Lessons.Refused => {
      const load = Log.loadAt(host, now)
      const counted = coldLeft-- > 0 ? now + cold : now
      Log.record(host, counted)
      if (isPaced) pace(now)
      if (lessons.level < count) lessons = Lessons.climb(lessons, count, load, now, window)
      if (line === undefined) return { at: now, counted, load, isLast: false }
      const log = lines.get(line) ?? Log.make(limits[scope])
      Log.record(log, counted)
      lines.delete(line)
      lines.set(line, log)
      forgetIdle(now)
      return { at: now, counted, load, isLast: Log.waitAt(log, now) > 0 }
    },

    /** What departed was later on its way than it counts for. */
    postpone: (line: string | undefined, from: number, to: number): void => {
      Log.postpone(host, from, to)
      const log = line === undefined ? undefined : lines.get(line)
      if (log !== undefined) Log.postpone(log, from, to)
    },

    pause: (now: number, millis: number): void => {
      pausedUntil = Math.max(pausedUntil, now + millis)
    },

    refused: (departure: Lessons.Refused, now: number, pause: number): void => {
      lessons = Lessons.learn(lessons, departure, now, pause)
    },

    /** What departed from one line counts for another from now on. */
    merge: (from: string, to: string): void => {
      const log = lines.get(from)
      if (log === undefined) return
      lines.delete(from)
      const other = lines.get(to)
      lines.set(to, other === undefined ? log : Log.merge(log, other))
    }
  }
}
