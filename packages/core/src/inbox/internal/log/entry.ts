import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import type { MadeCall } from "../../../client/internal/callRecord.ts"
import { userIdOf } from "../../../model/Update.ts"
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

const outcomeOf = ({ current, outcome }: Queued): Outcome => {
  if (outcome?._tag === "reject") return "dead"
  if (outcome?._tag !== "ack") return "failed"
  return current.isDeclined ? "unhandled" : "handled"
}

const noCalls: ReadonlyArray<Call> = []

/** Members are added one by one, because there is an entry for each update (benchmark `pipeline`). */
const toEntry = (queued: Queued, hasTexts: boolean): Entry => {
  const { attempt, emittedAt, failure, handling, origin, value } = queued
  const now = origin.kernel.state.wall
  const outcome = outcomeOf(queued)
  const { id, update } = queued.entry
  const { calls, cause, part } = queued.current
  const user_id = value && userIdOf(value)
  const reason =
    outcome === "dead" ? failure?.error : outcome === "failed" && cause !== undefined ? Cause.pretty(cause) : undefined
  const entry: { -readonly [K in keyof Entry]: Entry[K] } = {
    id,
    fingerprint: update.fingerprint,
    update_type: value?.update_type ?? "malformed",
    outcome,
    attempt,
    receivedAt: update.receivedAt,
    startedAt: emittedAt < 0 ? now : emittedAt,
    endedAt: now,
    calls: calls.length === 0 ? noCalls : calls.slice(0, maxCalls).map((call) => toCall(call, hasTexts, now))
  }
  if (handling.chat_id !== undefined) entry.chat_id = handling.chat_id
  if (user_id !== undefined) entry.user_id = user_id
  if (part !== undefined && outcome !== "unhandled") entry.part = { kind: part.kind, name: part.name }
  if (reason !== undefined) entry.error = firstLine(reason)
  if (calls.length > maxCalls) entry.omittedCalls = calls.length - maxCalls
  if (hasTexts) entry.update = update.text
  return entry
}

/** Adds an attempt that has ended to the log of its inbox. */
export const addToLog = (queued: Queued): void => {
  const { log } = queued.inbox[hooks]
  if (log.size > 0) log.add(toEntry(queued, log.hasTexts))
}
