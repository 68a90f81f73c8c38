/** An element of the list of deadlines, until the deadline passes or is cleared. */
interface Deadline {
  readonly at: number
  readonly expire: () => void
  previous: Deadline | undefined
  next: Deadline | undefined
  isPending: boolean
}

/**
 * Deadlines of the same length pass in the order in which they are set. All deadlines share one timer, because a timer
 * for each request takes longer than most requests (`npm run bench`, the webhook and the calls).
 *
 * The deadlines are a linked list, and a removed deadline has no links. With a `Set`, the garbage collector keeps each
 * added request until the next full collection, because each table of a `Set` refers to its replacement.
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
