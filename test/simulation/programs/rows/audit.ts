/** The rows of the author are those of the acknowledged updates: each once, those of a chat in order. */
import { Ledger } from "../../auditor/ledger.ts"
import type { Recording, Violation } from "../../auditor/recording.ts"
import { ofType } from "../../history.ts"
import type { RowsPlan } from "./plan.ts"

/** The acknowledged messages of each chat, in the order in which they were queued. */
const acknowledgedOf = ({ chats }: RowsPlan, { events }: Recording): ReadonlyMap<string, ReadonlyArray<string>> => {
  const texts = new Set(chats.flat().map(({ text }) => text))
  const ledger = new Ledger()
  const acknowledged = new Set<string>()
  for (const event of ofType(events, "store")) {
    for (const { isDead, subject } of ledger.apply(event, event.at)) if (!isDead) acknowledged.add(subject)
  }
  return new Map(
    [...ledger.queues].map(([chat, queue]) => [
      chat,
      queue.filter((subject) => texts.has(subject) && acknowledged.has(subject))
    ])
  )
}

/** Updates of a chat that are handled at the same time are acknowledged in any order. */
const isOrdered = ({ batches }: RowsPlan): boolean => batches === undefined || batches.perChat === 1

export const auditRows = (plan: RowsPlan, recording: Recording): ReadonlyArray<Violation> => {
  const { authorRows } = recording.ending
  if (authorRows === undefined) throw new Error("The store has no rows of an author.")
  const violations: Array<Violation> = []
  const { counts, log, total } = authorRows
  const acknowledged = acknowledgedOf(plan, recording)
  for (const [chat, subjects] of acknowledged) {
    const count = counts.find((row) => row.chat === chat)?.updates ?? 0
    if (count !== subjects.length) {
      const detail = `${chat}: ${count} instead of ${subjects.length}`
      violations.push({ rule: "the author's counter is the number of acknowledged updates", detail })
    }
    for (const part of ["first", "last"]) {
      const logged = log.filter((row) => row.chat === chat && row.part === part).map(({ subject }) => subject)
      const [actual, expected] = isOrdered(plan) ? [logged, subjects] : [logged.sort(), [...subjects].sort()]
      if (actual.join() !== expected.join()) {
        const detail = `${part} of ${chat}: ${actual.join()} instead of ${expected.join()}`
        violations.push({ rule: "the author's rows are those of the acknowledged updates", detail })
      }
    }
  }
  for (const { subject } of log) {
    const [first, last] = ["first", "last"].map((part) =>
      log.findIndex((row) => row.subject === subject && row.part === part)
    )
    if (first > last) violations.push({ rule: "the statements of a commit are executed in order", detail: subject })
  }
  const finished = new Set([...acknowledged.values()].flat())
  const counted = plan.chats
    .flat()
    .filter(({ steps, text }) => finished.has(text) && steps.some(({ type }) => type === "total"))
  if (total !== counted.length) {
    const detail = `${total} instead of ${counted.length}`
    violations.push({ rule: "a statement with expected rows is executed as it was read", detail })
  }
  return violations
}
