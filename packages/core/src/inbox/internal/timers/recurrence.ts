import * as Cron from "effect/Cron"
import * as DateTime from "effect/DateTime"
import * as Result from "effect/Result"
import type { RowWrite } from "../../InboxStore.ts"
import type { QueuedUpdate } from "../../QueuedUpdate.ts"
import type { TimerUpdate } from "../../../model/Update.ts"
import { rowKey, setTimer } from "./change.ts"

export type Recurrence = NonNullable<TimerUpdate["recurrence"]>

/** An occurrence that is handled later than this counts as missed, in milliseconds. */
const missedAfter = 60_000

const problemOf = ({ cron, timeZone }: Recurrence, message: string): string =>
  DateTime.zoneMakeNamed(timeZone)._tag === "None"
    ? `the time zone ${JSON.stringify(timeZone)} is unknown; use a name such as "Europe/Berlin"`
    : `the cron expression ${JSON.stringify(cron)} is not valid: ${message}; it needs the fields "minute hour day-of-month ` +
      'month day-of-week", for example "0 9 * * 1-5"'

/**
 * An expression for every hour includes the hour that is repeated in autumn. An expression for certain hours is due in
 * the first of the two hours.
 */
const parse = ({ cron, timeZone }: Recurrence) =>
  Result.flatMap(Cron.parse(cron, timeZone), (parsed) =>
    parsed.hours.size % 24 === 0 ? Cron.parse(cron, timeZone, { onDstOverlap: "both" }) : Result.succeed(parsed)
  )

/** Returns the time of the next occurrence after a time, in Unix milliseconds, or why there is none. */
export const nextAfter = (recurrence: Recurrence, time: number): Result.Result<number, string> =>
  Result.flatMap(
    Result.mapError(parse(recurrence), ({ message }) => problemOf(recurrence, message)),
    (parsed) =>
      Result.try({
        try: () => Cron.next(parsed, time).getTime(),
        catch: () => `the cron expression ${JSON.stringify(recurrence.cron)} matches no time in the coming years`
      })
  )

/** Whether an occurrence is left out, because the occurrence was missed. */
export const isLeftOut = ({ recurrence, timestamp }: TimerUpdate, now: number): boolean =>
  recurrence?.missed === "none" && now - timestamp > missedAfter

/** Returns the key of the row that a timer has whose update became a dead letter. A replay handles such an update. */
export const rejectedKey = (fingerprint: string): string => `rejected/${fingerprint}`

/**
 * Returns the row that ends the handling of an occurrence of a timer, unless the timer was cancelled or set again. For a
 * recurring timer, the row is the next occurrence. With `missed: "all"`, the next occurrence can be in the past, so that it
 * is due at once.
 */
export const ending = (
  update: TimerUpdate,
  { fingerprint, partitionKey }: QueuedUpdate,
  revision: string,
  now: number
): RowWrite => {
  const { recurrence, timestamp } = update
  const condition = { expected: fingerprint, otherwise: "skip" } as const
  const last = { key: rowKey(update), row: undefined, revision, ...condition }
  if (recurrence === undefined) return last
  const at = nextAfter(recurrence, recurrence.missed === "all" ? timestamp : Math.max(now, timestamp))
  // The expression was checked when the timer was set, so there is no other occurrence.
  if (Result.isFailure(at)) return last
  const next = setTimer({ ...update, timestamp: at.success }, { time: { at: at.success }, partitionKey }, revision)
  return { ...next, ...condition }
}
