import type { StoredTimer, TimerChange, TimerSetting } from "../../InboxStore.ts"
import { makeHeap } from "./heap.ts"

interface Timer extends TimerSetting {
  readonly timerId: string
  readonly dueAt: number
  readonly sequence: number
}

/** The update that a timer became, until the update is handled. */
interface Occurrence {
  readonly id: string
  readonly user: string | undefined
}

const isEarlier = (a: Timer, b: Timer): boolean => a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.sequence < b.sequence)

/** The timers of a store in memory. Times are Unix milliseconds. */
export const makeTimers = () => {
  const timers = new Map<string, Timer>()
  /** Timers that were replaced or cancelled stay until they are the first. */
  const byTime = makeHeap(isEarlier)
  /** The queued occurrences that were not cancelled, by their timers. */
  const occurrences = new Map<string, Occurrence>()
  const cancelled = new Set<string>()
  let sequence = 0

  const cancelOccurrence = (timerId: string): boolean => {
    const occurrence = occurrences.get(timerId)
    if (occurrence !== undefined) cancelled.add(occurrence.id)
    return occurrences.delete(timerId)
  }

  const change = ({ key, name, occurrence, set }: TimerChange, now: number): void => {
    const timerId = JSON.stringify([name, key])
    if (occurrence === undefined) {
      timers.delete(timerId)
      cancelOccurrence(timerId)
    } else {
      cancelled.delete(occurrence)
      if (occurrences.get(timerId)?.id !== occurrence) return
      occurrences.delete(timerId)
    }
    if (set === undefined) return
    const dueAt = "at" in set.due ? set.due.at : now + set.due.after
    const timer = { ...set, timerId, dueAt, sequence: ++sequence }
    timers.set(timerId, timer)
    byTime.push(timer)
  }

  const first = (): Timer | undefined => {
    for (;;) {
      const timer = byTime.peek()
      if (timer === undefined || timers.get(timer.timerId) === timer) return timer
      byTime.pop()
    }
  }

  return {
    change: (changes: ReadonlyArray<TimerChange>, now: number): void => changes.forEach((timer) => change(timer, now)),
    /** Removes timers that are due, the earliest first. `append` queues the update of a timer, and returns its id. */
    moveDue: (now: number, limit: number, append: (timer: Timer) => string): void => {
      for (let moved = 0; moved < limit; moved++) {
        const timer = first()
        if (timer === undefined || timer.dueAt > now) return
        byTime.pop()
        timers.delete(timer.timerId)
        cancelOccurrence(timer.timerId)
        occurrences.set(timer.timerId, { id: append(timer), user: timer.user })
      }
    },
    untilNext: (now: number): number | undefined => {
      const timer = first()
      return timer === undefined ? undefined : Math.max(0, timer.dueAt - now)
    },
    isCancelled: (occurrence: string): boolean => cancelled.has(occurrence),
    page: (after: Pick<StoredTimer, "dueAt" | "id"> | undefined, limit: number): ReadonlyArray<StoredTimer> =>
      [...timers.values()]
        .filter(
          ({ dueAt, sequence }) =>
            after === undefined || dueAt > after.dueAt || (dueAt === after.dueAt && sequence > Number(after.id))
        )
        .sort((a, b) => (isEarlier(a, b) ? -1 : 1))
        .slice(0, limit)
        .map(({ dueAt, partitionKey, sequence, text }) => ({ id: String(sequence), dueAt, partitionKey, text })),
    forget: (user: string): number => {
      let count = 0
      for (const [timerId, timer] of timers) if (timer.user === user && timers.delete(timerId)) count++
      for (const [timerId, occurrence] of occurrences) {
        if (occurrence.user === user && cancelOccurrence(timerId)) count++
      }
      return count
    }
  }
}
