import type { TimerChange, TimerSetting } from "../../HandlingStore.ts"
import { makeHeap } from "../updates/heap.ts"

interface Timer extends TimerSetting {
  readonly id: string
  readonly dueAt: number
  readonly sequence: number
}

/** The timers of a store in memory. Times are Unix milliseconds. */
export const makeTimers = () => {
  const timers = new Map<string, Timer>()
  /** Timers that were replaced or cancelled stay until they are the first. */
  const byTime = makeHeap<Timer>((a, b) => a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.sequence < b.sequence))
  let sequence = 0

  const change = ({ key, name, set }: TimerChange, now: number): void => {
    const id = JSON.stringify([name, key])
    if (set === undefined) return void timers.delete(id)
    const dueAt = "at" in set.due ? set.due.at : now + set.due.after
    const timer = { ...set, id, dueAt, sequence: ++sequence }
    timers.set(id, timer)
    byTime.push(timer)
  }

  const first = (): Timer | undefined => {
    for (;;) {
      const timer = byTime.peek()
      if (timer === undefined || timers.get(timer.id) === timer) return timer
      byTime.pop()
    }
  }

  return {
    change: (changes: ReadonlyArray<TimerChange>, now: number): void => changes.forEach((timer) => change(timer, now)),
    /** Removes timers that are due, the earliest first. */
    takeDue: (now: number, limit: number): ReadonlyArray<Timer> => {
      const due: Array<Timer> = []
      while (due.length < limit) {
        const timer = first()
        if (timer === undefined || timer.dueAt > now) break
        byTime.pop()
        timers.delete(timer.id)
        due.push(timer)
      }
      return due
    },
    untilNext: (now: number): number | undefined => {
      const timer = first()
      return timer === undefined ? undefined : Math.max(0, timer.dueAt - now)
    }
  }
}
