/** All rules. */
import { auditProgram } from "../programs/programs.ts"
import { ofType } from "../world/history.ts"
import { auditHandling } from "./handling.ts"
import { auditLimits } from "./limits.ts"
import type { Recording, Violation } from "./recording.ts"
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

/** Everything that people said reaches the store, and is acknowledged or a dead letter. */
const auditLosses = (recording: Recording): ReadonlyArray<Violation> => {
  const { ledger, violations } = auditHandling(recording)
  const lost = ofType(recording.events, "said").flatMap(({ subject }): ReadonlyArray<Violation> => {
    if (!ledger.queued.has(subject)) return [{ rule: "nothing is lost", detail: `${subject} was never stored` }]
    return ledger.settled.has(subject) ? [] : [{ rule: "nothing is lost", detail: `${subject} was never settled` }]
  })
  return [...violations, ...lost]
}

export const audit = (recording: Recording): ReadonlyArray<Violation> => [
  ...auditEnding(recording),
  ...auditLosses(recording),
  ...auditLimits(recording),
  ...auditProgram(recording.plan.program, recording)
]
