/** All rules. */
import { auditProgram } from "../programs/programs.ts"
import { ofType } from "../history.ts"
import { auditHandling } from "./handling.ts"
import { auditLimits } from "./limits.ts"
import type { Recording, Violation } from "./recording.ts"
import { auditWaiting } from "./waiting.ts"
import { subjectOf } from "./subjects.ts"

/** Rules of what is left in the end. */
const auditEnding = ({ ending, plan }: Recording): ReadonlyArray<Violation> => {
  const { deadLetters, isTalkDone, processes, queued, talkFailure, timers } = ending
  const violations: Array<Violation> = []
  const violate = (rule: string, detail: string) => violations.push({ rule, detail })
  if (!isTalkDone) violate("nothing is stuck when faults have ended", "people still wait for the bot")
  if (talkFailure !== undefined) violate("people get what they expect", talkFailure)
  if (queued > 0) violate("nothing is stuck when faults have ended", `${queued} updates are queued`)
  if (timers > 0) violate("nothing is left at the end", `${timers} timers`)
  for (const detail of processes) violate("processes end when they are stopped", detail)
  for (const { attempts, error, text } of deadLetters) {
    // A process that dies while it handles an update counts against the update, whoever is to blame.
    if (plan.maxCrashes === 3 && attempts >= 3 && error.includes("died")) continue
    violate("no update becomes a dead letter", `${subjectOf(text)} after ${attempts} attempts: ${error.slice(0, 160)}`)
  }
  return violations
}

/**
 * How often a process may use the store or the platform in an hour in which it has nothing to do, at once before, and for each update
 * that a poller receives again: its request may have had no response until the quiet phase, so that it reads what others have read.
 */
const idle = { hourly: 1800, atOnce: 100, again: 10 } as const

/** Processes that have nothing to do look for work now and then, and do not handle anything again. */
const auditQuiet = ({ ending, events, plan: { delivery, quiet = 0 } }: Recording): ReadonlyArray<Violation> => {
  // A poller that starts after a failover reads from the position that the replica has, long before the last update.
  const mayRepeat = delivery === "polling" && ofType(events, "failedOver").length > 0
  const handled = mayRepeat ? [] : ofType(ending.quiet, "began")
  const again = delivery === "polling" ? idle.again * ofType(events, "said").length : 0
  const counts = new Map<string, number>()
  for (const event of ending.quiet) {
    if (event.type === "store" || event.type === "sent") counts.set(event.process, (counts.get(event.process) ?? 0) + 1)
  }
  const most = idle.atOnce + again + (idle.hourly * quiet) / 3_600_000
  return [
    ...[...counts].flatMap(([process, count]) =>
      count <= most
        ? []
        : [
            {
              rule: "a process that has nothing to do is quiet",
              detail: `${process}: ${count} operations and requests`
            }
          ]
    ),
    ...handled.map(({ process, subject }) => ({
      rule: "nothing is handled when everything is done",
      detail: `${subject} in ${process}`
    }))
  ]
}

/** Everything that people said reaches the store, and is acknowledged or a dead letter. */
const auditLosses = (recording: Recording): ReadonlyArray<Violation> => {
  const { ledger, violations } = auditHandling(recording)
  const lost = ofType(recording.events, "said").flatMap(({ subject }): ReadonlyArray<Violation> => {
    if (ledger.lost.has(subject)) return []
    if (!ledger.queued.has(subject)) return [{ rule: "nothing is lost", detail: `${subject} was never stored` }]
    return ledger.settled.has(subject) ? [] : [{ rule: "nothing is lost", detail: `${subject} was never settled` }]
  })
  return [...violations, ...lost]
}

export const audit = (recording: Recording): ReadonlyArray<Violation> => [
  ...auditEnding(recording),
  ...auditLosses(recording),
  ...auditQuiet(recording),
  ...auditWaiting(recording),
  ...auditLimits(recording),
  ...auditProgram(recording.plan.program, recording)
]
