/** What tests of a store ask it to do. */
import { QueuedUpdate } from "@colloquy/core"
import type * as InboxStore from "@colloquy/core/inbox/InboxStore"

type Store = InboxStore.InboxStore["Service"]

export const update = (partitionKey: string, index = 0) =>
  QueuedUpdate.fromStored({ fingerprint: `${partitionKey}:${index}`, partitionKey, receivedAt: 0, text: "{}" })

export const enqueue = (store: Store, ...updates: ReadonlyArray<QueuedUpdate.QueuedUpdate>) =>
  store.enqueue({ updates, deadLetters: [], now: 0, duplicatesSince: 0 })

/** A claim of up to ten partitions with all their updates, for an hour. */
export const claim = (owner: string, parts: Partial<Omit<InboxStore.Claim, "owner">> = {}): InboxStore.Claim => ({
  owner,
  leaseDuration: 3_600_000,
  maxPartitions: 10,
  maxUpdates: 100,
  begin: 0,
  ...parts
})

/** Commits nothing but the given parts. */
export const change = (
  owner: string,
  partitionKey: string,
  parts: Partial<InboxStore.Commit> = {}
): InboxStore.Commit => ({ owner, partitionKey, completed: [], failed: [], begun: [], release: false, ...parts })

/** Acknowledges all updates of a partition, and releases it. */
export const acknowledge = (
  owner: string,
  { key, updates }: { readonly key: string; readonly updates: ReadonlyArray<{ readonly id: string }> },
  parts: Partial<InboxStore.Commit> = {}
): InboxStore.Commit => change(owner, key, { completed: updates.map(({ id }) => ({ id })), release: true, ...parts })
