import type { Batch, Commit, Write } from "@colloquy/core/inbox/InboxStore"
import { encodeIndexed, isId } from "../../../base/internal/stores/values.ts"
import { pushRows } from "./rows.ts"
import { pack, packFailure } from "./updates.ts"

export const enqueueArguments = (sender: string, batches: ReadonlyArray<Batch>): ReadonlyArray<string> => {
  const count = batches.reduce((sum, { deadLetters, updates }) => sum + updates.length + deadLetters.length, 0)
  const args = [sender, String(batches.length), String(count)]
  for (const { deadLetters, duplicatesSince, now, updates } of batches) {
    const since = duplicatesSince <= now ? String(duplicatesSince) : ""
    args.push(String(updates.length), String(deadLetters.length), String(now), since)
    for (const update of updates) {
      const fingerprint = encodeIndexed(update.fingerprint)
      const partitionKey = encodeIndexed(update.partitionKey)
      args.push(fingerprint, partitionKey, pack(fingerprint, partitionKey, update))
    }
    for (const { update, error } of deadLetters) {
      const fingerprint = encodeIndexed(update.fingerprint)
      const failure = packFailure({ error, attempts: 0, failedAt: now })
      args.push(fingerprint, pack(fingerprint, encodeIndexed(update.partitionKey), update), failure)
    }
  }
  for (const { rows = [] } of batches) pushRows(args, rows)
  return args
}

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
  const rows = commit.rows === undefined || !completed.every(({ id }) => isId(id)) ? [] : commit.rows
  const isSimple = deadLetters.length === 0 && failed.length === 0 && rows.length === 0
  const rest = isSimple ? "" : ` ${deadLetters.length / 3} ${rows.length} ${joinIds(failed)}`
  args.push(encodeIndexed(partitionKey), joinIds(acknowledged), joinIds(begun), `${release ? 1 : 0}${rest}`)
  for (const value of deadLetters) args.push(value)
  pushRows(args, rows)
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

export const writeArguments = (sender: string, writes: ReadonlyArray<Write>): ReadonlyArray<string> => {
  const args = [sender]
  for (const { journal, rows } of writes) {
    if (journal === undefined) args.push("", "", "")
    else {
      const { id, owner, partitionKey } = journal
      // No update has the id 0.
      args.push(encodeIndexed(owner), encodeIndexed(partitionKey), isId(id) ? id : "0")
    }
    args.push(String(rows.length))
    pushRows(args, rows)
  }
  return args
}
