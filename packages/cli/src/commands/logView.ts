import type * as UpdateLog from "@colloquy/core/inbox/UpdateLog"
import { type Color, count, time } from "../base/output.ts"
import type { UpdateFilter } from "./updateView.ts"

interface LogFilter extends UpdateFilter {
  readonly outcomes: ReadonlyArray<UpdateLog.Outcome>
}

export const isInLog =
  ({ chat, kinds, outcomes }: LogFilter) =>
  ({ chat_id, outcome, update_type }: UpdateLog.Entry): boolean =>
    (kinds.length === 0 || kinds.includes(update_type)) &&
    (outcomes.length === 0 || outcomes.includes(outcome)) &&
    (chat === undefined || chat === String(chat_id))

const describeCall = ({ duration, endpoint, error, isRecorded, status }: UpdateLog.Call): string =>
  `    ${endpoint}  ${isRecorded === true ? "recorded" : (status ?? "no answer")}  ${duration} ms` +
  (error === undefined ? "" : `  ${error}`)

/** Time, outcome, kind, chat, part, attempt and duration of an entry in one line, with lines of calls and the error below. */
const describe = (entry: UpdateLog.Entry, below: ReadonlyArray<string>): string => {
  const { attempt, calls, chat_id, endedAt, error, outcome, part, startedAt, update_type } = entry
  const summary = [
    time(endedAt),
    outcome.padEnd("unhandled".length),
    update_type,
    ...(chat_id === undefined ? [] : [`chat ${chat_id}`]),
    ...(part === undefined ? [] : [`${part.kind} ${part.name}`]),
    ...(attempt === 1 ? [] : [`attempt ${attempt}`]),
    `${endedAt - startedAt} ms`,
    ...(calls.length === 0 ? [] : [count(calls.length, "call")])
  ]
  return [summary.join("  "), ...below, ...(error === undefined ? [] : [`    ${error}`])].join("\n")
}

/** An entry with its calls that failed and its error. */
export const describeLog = (entry: UpdateLog.Entry): string =>
  describe(entry, entry.calls.filter(({ error }) => error !== undefined).map(describeCall))

/** An entry with all its calls and its error. */
export const describeStory = (entry: UpdateLog.Entry): string => {
  const { calls, omittedCalls } = entry
  const more = omittedCalls === undefined ? [] : [`    … and ${count(omittedCalls, "more call")}`]
  return describe(entry, [...calls.map(describeCall), ...more])
}

const colors: Readonly<Record<UpdateLog.Outcome, Color>> = {
  handled: "green",
  unhandled: "gray",
  failed: "yellow",
  dead: "red"
}

/** The color of an entry, by its outcome. */
export const colorOf = ({ outcome }: UpdateLog.Entry): Color => colors[outcome]
