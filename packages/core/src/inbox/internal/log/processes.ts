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
export class ThisProcess {
  readonly #name: string
  readonly #context: Context.Context<never>
  readonly #startedAt: number
  /** The chats that each consumer of the process holds. */
  readonly #held = new Set<() => Iterable<string>>()
  #handled = 0
  #last: { readonly at: number; readonly handled: number; readonly permits: number }

  constructor(name: string, startedAt: number, context: Context.Context<never>) {
    this.#name = name
    this.#context = context
    this.#startedAt = startedAt
    this.#last = { at: startedAt, handled: 0, permits: 0 }
  }

  /** Adds a consumer, until the returned function is called. */
  holds(chats: () => Iterable<string>): () => void {
    this.#held.add(chats)
    return () => void this.#held.delete(chats)
  }

  /** An attempt has ended. */
  ended(): void {
    this.#handled++
  }

  /** Returns the row of the process. The rates are of the time since the last row. */
  row(now: number, revision: string): RowWrite {
    const { at, handled, permits } = this.#last
    const seconds = Math.max(1000, now - at) / 1000
    const granted = sum(byPriority(this.#context, "colloquy_limiter_permits_total"))
    const chats = [...this.#held].flatMap((held) => [...held()])
    const process: Process = {
      name: this.#name,
      startedAt: this.#startedAt,
      at: now,
      handled: this.#handled,
      updatesPerSecond: (this.#handled - handled) / seconds,
      callsPerSecond: Math.max(0, granted - permits) / seconds,
      waitingCalls: byPriority(this.#context, "colloquy_limiter_waiting"),
      chats: chats.length,
      chatsNamed: chats.slice(0, maxChats)
    }
    this.#last = { at: now, handled: this.#handled, permits: granted }
    const row = { text: JSON.stringify(process), expiresAt: now + retention }
    return { key: this.#key, row, revision }
  }

  /** Returns the write that removes the row of the process. */
  removal(revision: string): RowWrite {
    return { key: this.#key, row: undefined, revision }
  }

  get #key(): string {
    return `${processPrefix}${this.#name}`
  }
}
