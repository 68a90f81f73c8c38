/** A deadline, and what to do when it has passed. It is in a list until it is cleared. */
interface Deadline {
  readonly at: number
  readonly expire: () => void
  previous: Deadline | undefined
  next: Deadline | undefined
  isPending: boolean
}

/**
 * Deadlines of the same length: the first one that is set is the first to pass. One timer is used for all of them, because
 * a timer for each request takes longer than most requests (`npm run bench`, the webhook and the calls).
 *
 * They are a list whose members know their neighbours only while they are in it. With a `Set`, the garbage collector keeps
 * each request that was added until the next full collection: each of its tables refers to the one that replaced it.
 */
export const makeDeadlines = (millis: number) => {
  let first: Deadline | undefined
  let last: Deadline | undefined
  let hasTimer = false

  const startTimer = (within: number): void => {
    hasTimer = true
    setTimeout(expirePassed, Math.ceil(within)).unref()
  }

  const clear = (deadline: Deadline): void => {
    if (!deadline.isPending) return
    const { next, previous } = deadline
    if (previous === undefined) first = next
    else previous.next = next
    if (next === undefined) last = previous
    else next.previous = previous
    deadline.previous = undefined
    deadline.next = undefined
    deadline.isPending = false
  }

  const expirePassed = (): void => {
    hasTimer = false
    const now = performance.now()
    while (first !== undefined) {
      const deadline = first
      if (deadline.at > now) return startTimer(deadline.at - now)
      clear(deadline)
      deadline.expire()
    }
  }

  return {
    set: (expire: () => void): Deadline => {
      const at = performance.now() + millis
      const deadline: Deadline = { at, expire, previous: last, next: undefined, isPending: true }
      if (last === undefined) first = deadline
      else last.next = deadline
      last = deadline
      if (!hasTimer) startTimer(millis)
      return deadline
    },
    clear
  }
}

export type Deadlines = ReturnType<typeof makeDeadlines>
