/** What has until then to come to its end. */
export interface Deadline {
  readonly at: number
  readonly expire: () => void
}

/**
 * Deadlines that are all equally far away when they are set: the first one set is the first to pass. One timer watches
 * over all of them, since a timer for each would cost more than most of what it watches over.
 */
export const makeDeadlines = (millis: number) => {
  const pending = new Set<Deadline>()
  let isWatched = false

  const watch = (within: number): void => {
    isWatched = true
    setTimeout(look, Math.ceil(within)).unref()
  }

  const look = (): void => {
    isWatched = false
    const now = performance.now()
    for (const deadline of pending) {
      if (deadline.at > now) return watch(deadline.at - now)
      pending.delete(deadline)
      deadline.expire()
    }
  }

  return {
    set: (expire: () => void): Deadline => {
      const deadline = { at: performance.now() + millis, expire }
      pending.add(deadline)
      if (!isWatched) watch(millis)
      return deadline
    },
    clear: (deadline: Deadline): void => {
      pending.delete(deadline)
    }
  }
}

export type Deadlines = ReturnType<typeof makeDeadlines>
