import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import type { MadeCall } from "../../../client/internal/callRecord.ts"
import { chatOf, userIdOf } from "../../../model/Update.ts"
import { hooks } from "../hooks.ts"
import type { Queued } from "../kernel/delivery.ts"
import type { Call, Entry, Outcome } from "../../UpdateLog.ts"

/** The calls of an attempt after these are not in the log. */
export const maxCalls = 50

const maxError = 300

/** The first line of an error, because the following lines are the stack. */
const firstLine = (error: string): string => {
  const [line = ""] = error.split("\n", 1)
  return line.length > maxError ? `${line.slice(0, maxError)}…` : line
}

const textsOf = ({ answer, method, request }: MadeCall) => ({
  ...(request === undefined
    ? {}
    : {
        request: {
          method,
          path: request.path,
          query: request.query,
          ...(request.body === undefined ? {} : { body: request.body })
        }
      }),
  ...(answer === undefined ? {} : { answer: answer.text })
})

export const toCall = (call: MadeCall, hasTexts: boolean, now: number): Call => {
  const { answer, endedAt = now, endpoint, exit, request, startedAt } = call
  return {
    endpoint,
    startedAt,
    duration: endedAt - startedAt,
    ...(answer === undefined ? {} : { status: answer.status }),
    ...(request === undefined && exit !== undefined && Exit.isSuccess(exit) ? { isRecorded: true } : {}),
    ...(exit !== undefined && Exit.isFailure(exit) ? { error: firstLine(Cause.pretty(exit.cause)) } : {}),
    ...(hasTexts ? textsOf(call) : {})
  }
}

const outcomeOf = ({ outcome, record }: Queued): Outcome => {
  if (outcome?._tag === "reject") return "dead"
  if (outcome?._tag !== "ack") return "failed"
  return record.isDeclined ? "unhandled" : "handled"
}

const toEntry = (queued: Queued, hasTexts: boolean): Entry => {
  const { attempt, emittedAt, failure, origin, value } = queued
  const now = origin.clock.currentTimeMillisUnsafe()
  const outcome = outcomeOf(queued)
  const { id, update } = queued.entry
  const { calls, cause, part } = queued.record
  const startedAt = emittedAt < 0 ? now : emittedAt
  const chat_id = value && chatOf(value)
  const user_id = value && userIdOf(value)
  const reason =
    outcome === "dead" ? failure?.error : outcome === "failed" && cause !== undefined ? Cause.pretty(cause) : undefined
  return {
    id,
    fingerprint: update.fingerprint,
    update_type: value?.update_type ?? "malformed",
    ...(chat_id === undefined ? {} : { chat_id }),
    ...(user_id === undefined ? {} : { user_id }),
    outcome,
    ...(part === undefined || outcome === "unhandled" ? {} : { part: { kind: part.kind, name: part.name } }),
    attempt,
    receivedAt: update.receivedAt,
    startedAt,
    endedAt: now,
    ...(reason === undefined ? {} : { error: firstLine(reason) }),
    calls: calls.slice(0, maxCalls).map((call) => toCall(call, hasTexts, now)),
    ...(calls.length > maxCalls ? { omittedCalls: calls.length - maxCalls } : {}),
    ...(hasTexts ? { update: update.text } : {})
  }
}

/** Adds an attempt that has ended to the log of its inbox. */
export const addToLog = (queued: Queued): void => {
  const { log } = queued.inbox[hooks]
  if (log.size > 0) log.add(toEntry(queued, log.hasTexts))
}
