/** An update whose partition was not released for this time counts as a new one. */
const forgetAfter = 120_000

/** For how long a partition is kept after it was released once, and at most. */
const firstWait = 1000
const longestWait = 30_000

/** How many updates are remembered at most. */
const maxRemembered = 10_000

/**
 * The updates whose partitions this process releases, because the updates need data of a newer program. If no other
 * process claims a partition, this process claims the partition again, and keeps the partition for longer each time.
 */
export class HandBacks {
  readonly #recent = new Map<string, { readonly wait: number; readonly at: number }>()

  /** Returns the number of milliseconds for which the partition of an update is kept before it is released. */
  waitOf(id: string, now: number): number {
    const recent = this.#recent
    const last = recent.get(id)
    recent.delete(id)
    if (recent.size >= maxRemembered) recent.delete(recent.keys().next().value!)
    const isRecent = last !== undefined && now - last.at < forgetAfter
    const wait = isRecent ? Math.min(Math.max(firstWait, 2 * last.wait), longestWait) : 0
    recent.set(id, { wait, at: now })
    return wait
  }
}
