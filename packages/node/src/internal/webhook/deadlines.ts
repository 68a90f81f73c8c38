/** A deadline, and what to do when it has passed. */
interface Deadline {
  readonly at: number
  readonly expire: () => void
}

/**
 * Deadlines of the same length: the first one that is set is the first to pass. One timer is used for all of them, because
 * a timer for each request takes longer than most requests (`npm run bench`, the webhook).
 */
export const makeDeadlines = (millis: number) => {
  const pending = new Set<Deadline>()
  let hasTimer = false

  const startTimer = (within: number): void => {
    hasTimer = true
    setTimeout(expirePassed, Math.ceil(within)).unref()
  }

  const expirePassed = (): void => {
    hasTimer = false
    const now = performance.now()
    for (const deadline of pending) {
      if (deadline.at > now) return startTimer(deadline.at - now)
      pending.delete(deadline)
      deadline.expire()
    }
  }

  return {
    set: (expire: () => void): Deadline => {
      const deadline = { at: performance.now() + millis, expire }
      pending.add(deadline)
      if (!hasTimer) startTimer(millis)
      return deadline
    },
    clear: (deadline: Deadline): void => {
      pending.delete(deadline)
    }
  }
}

export type Deadlines = ReturnType<typeof makeDeadlines>
