import type { Batch, Commit } from "@colloquy/core/inbox/InboxStore"
import type { QueuedUpdate } from "@colloquy/core/inbox/QueuedUpdate"
import { writeArguments } from "./state/redisStates.ts"
import { encodeIndexed, isId } from "../../base/internal/stores/values.ts"
import { changeArguments, valuesOfChange } from "./timers/redisTimers.ts"
import { pack, packFailure } from "./redisRows.ts"

const packReceived = (fingerprint: string, partitionKey: string, { receivedAt, text }: QueuedUpdate): string =>
  receivedAt + pack(fingerprint, partitionKey, text)

export const enqueueArguments = (sender: string, batches: ReadonlyArray<Batch>): ReadonlyArray<string> => {
  const count = batches.reduce((sum, { deadLetters, updates }) => sum + updates.length + deadLetters.length, 0)
  const args = [sender, String(batches.length), String(count)]
  for (const { deadLetters, duplicatesSince, now, updates } of batches) {
    const since = duplicatesSince <= now ? String(duplicatesSince) : ""
    args.push(String(updates.length), String(deadLetters.length), String(now), since)
    for (const update of updates) {
      const fingerprint = encodeIndexed(update.fingerprint)
      const partitionKey = encodeIndexed(update.partitionKey)
      args.push(fingerprint, partitionKey, packReceived(fingerprint, partitionKey, update))
    }
    for (const { update, error } of deadLetters) {
      const fingerprint = encodeIndexed(update.fingerprint)
      const failure = packFailure({ error, attempts: 0, failedAt: now })
      args.push(fingerprint, packReceived(fingerprint, encodeIndexed(update.partitionKey), update), failure)
    }
  }
  for (const { marker } of batches) {
    if (marker !== undefined) args.push(encodeIndexed(marker.source), String(marker.value))
  }
  return args
}

/** Whether a commit writes state or changes timers. */
export const isHandled = ({ timers = [], writes = [] }: Commit): boolean => writes.length > 0 || timers.length > 0

/** Ids that Redis did not assign belong to no update, and are left out. */
const joinIds = (ids: ReadonlyArray<string>): string => ids.filter(isId).join(",")

const pushCommit = (args: Array<string>, commit: Commit): void => {
  const { begun, completed, failed, partitionKey, release } = commit
  const acknowledged: Array<string> = []
  const deadLetters: Array<string> = []
  for (const { failure, id } of completed) {
    if (failure === undefined) acknowledged.push(id)
    else if (isId(id)) deadLetters.push(id, String(failure.failedAt), packFailure(failure))
  }
  const isHandling = isHandled(commit) && completed.every(({ id }) => isId(id))
  const writes = isHandling ? writeArguments(commit.writes ?? []) : []
  const timers = isHandling ? changeArguments(commit.timers ?? []) : []
  const isSimple = deadLetters.length === 0 && failed.length === 0 && !isHandling
  const rest = isSimple
    ? ""
    : ` ${deadLetters.length / 3} ${writes.length / 4} ${timers.length / valuesOfChange} ${joinIds(failed)}`
  args.push(encodeIndexed(partitionKey), joinIds(acknowledged), joinIds(begun), `${release ? 1 : 0}${rest}`)
  for (const values of [deadLetters, writes, timers]) for (const value of values) args.push(value)
}

export const commitArguments = (sender: string, commits: ReadonlyArray<Commit>): ReadonlyArray<string> => {
  const args = [sender]
  for (let from = 0; from < commits.length;) {
    const { owner } = commits[from]!
    const end = commits.findIndex((commit, index) => index > from && commit.owner !== owner)
    const to = end === -1 ? commits.length : end
    args.push(encodeIndexed(owner), String(to - from))
    for (; from < to; from++) pushCommit(args, commits[from]!)
  }
  return args
}
