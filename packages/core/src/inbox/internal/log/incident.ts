import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { StoredIncident } from "../../Incident.ts"
import { userIdOf } from "../../../model/Update.ts"
import { userScope } from "../timers/change.ts"
import { hooks } from "../hooks.ts"
import type { Queued } from "../kernel/delivery.ts"
import { maxCalls, toCall } from "./entry.ts"

/** The rows by which an attempt can be repeated. */
export type Evidence = Pick<StoredIncident, "journal" | "values">

/** The beginning of the keys of the rows of incidents. */
export const incidentPrefix = "incident/"

/** The key of the row with what an update that became a dead letter had seen. */
export const incidentKey = (id: string): string => `${incidentPrefix}${id}`

/** A longer answer is left out, so that a row stays small. */
const maxText = 65_536

const write = (queued: Queued, now: number): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { deadLetterRetention, nextRevision } = queued.inbox[hooks]
    const calls = queued.current.calls.slice(0, maxCalls).map((call) => toCall(call, true, now))
    const stored: StoredIncident = {
      ...queued.evidence,
      calls: calls.map(({ answer, ...call }) =>
        answer === undefined || answer.length > maxText ? call : { ...call, answer }
      )
    }
    const user_id = userIdOf(queued.value)
    const user = user_id === undefined ? undefined : userScope(user_id)
    const row = { text: JSON.stringify(stored), expiresAt: now + deadLetterRetention, user }
    const rows = [{ key: incidentKey(queued.entry.id), row, revision: nextRevision() }]
    return Effect.ignore(queued.inbox.store.write([{ rows }]))
  })

/**
 * Writes what the updates that become dead letters have seen. The writes are beside the commit, and failures are ignored, because
 * a dead letter is complete without its row.
 */
export const writeIncidents = (settled: ReadonlyArray<Queued>, clock: Clock.Clock): Effect.Effect<void> => {
  const rejected = settled.filter(
    ({ entry, inbox, isLost, outcome }) =>
      outcome?._tag === "reject" && !isLost && inbox[hooks].log.size > 0 && Result.isSuccess(entry.update.decoded)
  )
  return rejected.length === 0
    ? Effect.void
    : Effect.forEach(rejected, (queued) => write(queued, clock.currentTimeMillisUnsafe()), { discard: true })
}
