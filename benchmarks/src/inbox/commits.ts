import type * as InboxStore from "@colloquy/core/inbox/InboxStore"

/** Acknowledges all updates of a partition, and releases it by default. */
export const acknowledge = (
  owner: string,
  { key, updates }: InboxStore.Partition,
  { release = true }: { readonly release?: boolean } = {}
): InboxStore.Commit => ({
  owner,
  partitionKey: key,
  completed: updates.map(({ id }) => ({ id })),
  failed: [],
  begun: [],
  release
})
