import type { ClaimedUpdate, Partition } from "../../InboxStore.ts"
import type { QueuedUpdate } from "../../QueuedUpdate.ts"

/** Updates that other processes handle are kept until they are replaced, so their number and size are limited. */
const maxUpdates = 4000
const maxLength = 16_384

/** After this time, in milliseconds, an update may be replaced by another one. */
const maxAge = 10_000

const isSame = (a: QueuedUpdate, b: QueuedUpdate): boolean =>
  a.receivedAt === b.receivedAt && a.partitionKey === b.partitionKey && a.text === b.text

/**
 * Keeps the decoded updates that this process has stored until this process claims them, which saves decoding the texts
 * again (benchmark `sqlite-over-bare`).
 */
export const makeRecentUpdates = () => {
  const recent = new Map<string, QueuedUpdate>()
  /** When the last update was received that was kept. */
  let latest = -Infinity

  const remember = (update: QueuedUpdate): void => {
    if (update.text.length > maxLength) return
    recent.delete(update.fingerprint)
    if (recent.size >= maxUpdates) {
      const [oldest] = recent.values()
      if (oldest !== undefined && Math.abs(update.receivedAt - oldest.receivedAt) < maxAge) return
      if (oldest !== undefined) recent.delete(oldest.fingerprint)
    }
    recent.set(update.fingerprint, update)
    latest = update.receivedAt
  }

  /**
   * Only updates that were received within the time of the kept updates are looked up, which are few updates of a long
   * queue.
   */
  const recallSince = (earliest: number, claimed: ClaimedUpdate): ClaimedUpdate => {
    const { fingerprint, receivedAt } = claimed.update
    if (receivedAt < earliest || receivedAt > latest) return claimed
    const update = recent.get(fingerprint)
    if (update === undefined) return claimed
    recent.delete(fingerprint)
    return isSame(update, claimed.update) ? { ...claimed, update } : claimed
  }

  return {
    remember: (updates: ReadonlyArray<QueuedUpdate>): void => updates.forEach(remember),
    recall: (partitions: ReadonlyArray<Partition>): ReadonlyArray<Partition> => {
      const [oldest] = recent.values()
      if (oldest === undefined) return partitions
      const recall = (claimed: ClaimedUpdate) => recallSince(oldest.receivedAt, claimed)
      return partitions.map(({ key, updates }) => ({ key, updates: updates.map(recall) }))
    }
  }
}
