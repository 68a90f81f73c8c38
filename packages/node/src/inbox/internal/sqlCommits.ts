import type { Commit, CommitResult } from "@colloquy/core/inbox/InboxStore"
import { encodeIndexed, encodeText, isId } from "../../base/internal/stores/values.ts"

/** Makes an update a dead letter. */
export type DeathRow = {
  readonly partition_key: string
  readonly id: string
  readonly error: string
  readonly attempts: number
  readonly failed_at: number
}

/** Counts failed attempts of an update. */
export type FailureRow = { readonly partition_key: string; readonly id: string; readonly count: number }

/** The combined changes of one owner in one partition. */
export interface PartitionChange {
  readonly partition_key: string
  readonly owner: string
  readonly acknowledged: ReadonlyArray<string>
  readonly failures: ReadonlyArray<FailureRow>
  readonly deaths: ReadonlyArray<DeathRow>
  readonly completed: ReadonlySet<string>
  /** Updates that are begun after the commits. */
  readonly begun: ReadonlySet<string>
  readonly isReleased: boolean
}

const makeChange = (partition_key: string, owner: string) => ({
  partition_key,
  owner,
  acknowledged: Array<string>(),
  failures: Array<FailureRow>(),
  deaths: Array<DeathRow>(),
  completed: new Set<string>(),
  begun: new Set<string>(),
  isReleased: false
})

const addTo = (
  change: ReturnType<typeof makeChange>,
  { begun, completed, failed, release }: Pick<Commit, "begun" | "completed" | "failed" | "release">
): void => {
  const { partition_key } = change
  const isQueued = (id: string) => isId(id) && !change.completed.has(id)
  for (const { failure, id } of completed) {
    if (!isId(id)) continue
    const { size } = change.completed
    if (change.completed.add(id).size === size) continue
    if (change.begun.size > 0) change.begun.delete(id)
    if (failure === undefined) change.acknowledged.push(id)
    else {
      const { attempts, error, failedAt } = failure
      change.deaths.push({ partition_key, id, error: encodeText(error), attempts, failed_at: failedAt })
    }
  }
  for (const id of failed.filter(isQueued)) {
    change.begun.delete(id)
    const index = change.failures.findIndex((failure) => failure.id === id)
    const count = index === -1 ? 1 : change.failures[index].count + 1
    change.failures.splice(index === -1 ? change.failures.length : index, 1, { partition_key, id, count })
  }
  for (const id of begun.filter(isQueued)) change.begun.add(id)
  if (release) change.isReleased = true
}

/** Updates whose begun attempts end with the commits, and the updates of `begun`. May contain duplicates. */
export const decidedOf = ({ begun, completed, failures }: PartitionChange): ReadonlyArray<string> => [
  ...completed,
  ...failures.map(({ id }) => id),
  ...begun
]

/** A commit with its owner and partition in stored form. */
export interface Located {
  readonly commit: Commit
  readonly owner: string
  readonly partition_key: string
}

export const locate = (commits: ReadonlyArray<Commit>, ownerOf: (owner: string) => string): ReadonlyArray<Located> =>
  commits.map((commit) => ({
    commit,
    owner: ownerOf(commit.owner),
    partition_key: encodeIndexed(commit.partitionKey)
  }))

/** Whether a commit writes state or changes timers. */
export const isHandled = ({ timers = [], writes = [] }: Commit): boolean => writes.length > 0 || timers.length > 0

/**
 * Combines the commits of one transaction: a change for each partition and owner. `decide` is called for each commit in
 * order, with the updates of the partition that earlier commits complete. A refused commit is not part of a change.
 * Without `decide`, all commits are accepted, except commits after the release of their partition.
 */
export const changesOf = (
  commits: ReadonlyArray<Located>,
  decide: (commit: Located, completed: ReadonlySet<string>) => CommitResult = () => "applied"
) => {
  const changes = new Map<string, ReturnType<typeof makeChange>>()
  const decisions = commits.map((located): { readonly change: PartitionChange; readonly result: CommitResult } => {
    const { commit, owner, partition_key } = located
    const name = `${owner.length} ${owner}${partition_key}`
    const change = changes.get(name) ?? makeChange(partition_key, owner)
    const result = change.isReleased ? "leaseLost" : decide(located, change.completed)
    if (result === "applied") {
      changes.set(name, change)
      addTo(change, commit)
    }
    return { change, result }
  })
  const all: ReadonlyArray<PartitionChange> = [...changes.values()]
  return { changes: all, decisions }
}
