/** The updates of the cases, and how the cases read updates. */
import type { Commit, Partition } from "@colloquy/core/inbox/InboxStore"
import * as QueuedUpdate from "@colloquy/core/inbox/QueuedUpdate"

/** When the updates of all cases are received. */
export const now = 1_700_000_000_000

export const day = 24 * 60 * 60 * 1000

export const lease = 90_000

export const update = (
  fingerprint: string,
  { key = "chat", receivedAt = now, text = JSON.stringify({ fingerprint }) } = {}
): QueuedUpdate.QueuedUpdate => QueuedUpdate.fromStored({ fingerprint, partitionKey: key, receivedAt, text })

export const updatesOf = (key: string, count: number): ReadonlyArray<QueuedUpdate.QueuedUpdate> =>
  Array.from({ length: count }, (_, index) => update(`${key}:${index}`, { key }))

/** The fingerprints of {@link updatesOf}. */
export const namesOf = (key: string, count: number) => updatesOf(key, count).map(({ fingerprint }) => fingerprint)

export const malformedUpdate = (fingerprint: string, text: string, error = "is no update") => ({
  update: update(fingerprint, { key: "", text }),
  error
})

export const idsOf = ({ updates }: Partition) => updates.map(({ id }) => id)

/** Commits nothing but the given parts. */
export const change = (owner: string, partitionKey: string, parts: Partial<Commit> = {}): Commit => ({
  owner,
  partitionKey,
  completed: [],
  failed: [],
  begun: [],
  release: false,
  ...parts
})

/** Attempts and crashes of claimed updates, by their fingerprints. */
export const counts = (partitions: ReadonlyArray<Partition>): Record<string, readonly [number, number]> =>
  Object.fromEntries(
    partitions.flatMap(({ updates }) =>
      updates.map(({ attempts, crashes, update }) => [update.fingerprint, [attempts, crashes] as const])
    )
  )

/** The fingerprints of updates and dead letters. */
export const namesIn = (entries: ReadonlyArray<Pick<QueuedUpdate.Entry, "update">>): ReadonlyArray<string> =>
  entries.map(({ update }) => update.fingerprint)

export const fingerprints = (partitions: ReadonlyArray<Partition>): ReadonlyArray<ReadonlyArray<string>> =>
  partitions.map(({ updates }) => namesIn(updates))
