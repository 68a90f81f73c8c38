import type * as Context from "effect/Context"
import * as Metric from "effect/Metric"
import type { RowWrite } from "../../InboxStore.ts"
import type { Process } from "../../UpdateLog.ts"

/** The beginning of the keys of the rows of processes. */
export const processPrefix = "process/"

/** A process that has written nothing for this time is not shown any more. */
const retention = 3_600_000

/** The greatest number of chats that a process names. */
const maxChats = 20

/** The sum of the counters or gauges of a name, and each by its priority. */
const byPriority = (context: Context.Context<never>, name: string): Readonly<Record<string, number>> => {
  const values: Record<string, number> = {}
  for (const metric of Metric.snapshotUnsafe(context)) {
    const priority = metric.attributes?.["priority"]
    if (metric.id !== name || priority === undefined) continue
    if (metric.type === "Gauge") values[priority] = Number(metric.state.value)
    else if (metric.type === "Counter") values[priority] = Number(metric.state.count)
  }
  return values
}

const sum = (values: Readonly<Record<string, number>>): number => Object.values(values).reduce((a, b) => a + b, 0)

/** The description of a process that is written with the entries of the log. */
export const makeThisProcess = (name: string, startedAt: number, context: Context.Context<never>) => {
  const key = `${processPrefix}${name}`
  /** The chats that each consumer of the process holds. */
  const held = new Set<() => Iterable<string>>()
  let handled = 0
  let last = { at: startedAt, handled: 0, permits: 0 }

  return {
    /** Adds a consumer, until the returned function is called. */
    holds: (chats: () => Iterable<string>): (() => void) => {
      held.add(chats)
      return () => void held.delete(chats)
    },
    /** An attempt has ended. */
    ended: (): void => void handled++,
    /** Returns the row of the process. The rates are of the time since the last row. */
    row: (now: number, revision: string): RowWrite => {
      const seconds = Math.max(1000, now - last.at) / 1000
      const permits = sum(byPriority(context, "colloquy_limiter_permits_total"))
      const chats = [...held].flatMap((chats) => [...chats()])
      const process: Process = {
        name,
        startedAt,
        at: now,
        handled,
        updatesPerSecond: (handled - last.handled) / seconds,
        callsPerSecond: Math.max(0, permits - last.permits) / seconds,
        waitingCalls: byPriority(context, "colloquy_limiter_waiting"),
        chats: chats.length,
        chatsNamed: chats.slice(0, maxChats)
      }
      last = { at: now, handled, permits }
      return { key, row: { text: JSON.stringify(process), expiresAt: now + retention }, revision }
    },
    /** Returns the write that removes the row of the process. */
    removal: (revision: string): RowWrite => ({ key, row: undefined, revision })
  }
}

export type ThisProcess = ReturnType<typeof makeThisProcess>
