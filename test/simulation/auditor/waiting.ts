/** No update and no timer waits while no handler is busy and nothing is disturbed. */
import type { Claim, Commit, RowWrite, Write } from "@colloquy/core/inbox/InboxStore"
import type { Event } from "../history.ts"
import type { StoreApplied } from "@colloquy/testing/simulation/SimulationEvent"
import { epoch } from "../../../packages/testing/src/simulation/internal/world/world.ts"
import { Ledger } from "./ledger.ts"
import type { Recording, Violation } from "./recording.ts"

/** Consumers look for updates at least every 30 seconds, and pauses after failures are 10 seconds at most. */
const slack = 60_000

/** Events after which an update may have to wait again: for a lease, a retry, a slow answer or a restart. */
const isActivity = (event: Event): boolean => {
  switch (event.type) {
    case "began":
    case "ended":
    case "fault":
    case "noted":
    case "process":
    case "sent":
    case "executed":
      return true
    case "store":
      return event.operation === "enqueue" || event.operation === "commit"
    default:
      return false
  }
}

/** When the timers are due that the store has, as far as the changes say for sure. */
class Due {
  readonly #timers = new Map<string, number>()
  readonly #toTime: (at: number) => number

  constructor(storeSkew: number) {
    this.#toTime = (at) => at - storeSkew - epoch
  }

  apply(event: StoreApplied, at: number, hasSettled: boolean): void {
    switch (event.operation) {
      case "write":
        for (const { rows } of event.request as ReadonlyArray<Write>) this.#change(rows, at)
        return
      case "commit":
        // A commit that is repeated sets no timers.
        if (!hasSettled) return
        for (const { rows = [] } of event.request as ReadonlyArray<Commit>) this.#change(rows, at)
        return
      case "claim":
        if (((event.request as Claim).maxDue ?? 0) === 0) return
        for (const [timer, due] of this.#timers) if (due <= at) this.#timers.delete(timer)
        return
      default:
        return
    }
  }

  #change(rows: ReadonlyArray<RowWrite>, at: number): void {
    for (const { key, otherwise, row } of rows) {
      // The next occurrence is set only if the timer was not cancelled.
      if (row?.due === undefined || otherwise === "skip") this.#timers.delete(key)
      else this.#timers.set(key, "at" in row.due.time ? this.#toTime(row.due.time.at) : at + row.due.time.after)
    }
  }

  /** Returns a timer that was due before a time. */
  before(at: number): string | undefined {
    for (const [timer, due] of this.#timers) if (due < at) return timer
    return undefined
  }
}

/** Which processes run, and whether they handle something or cannot. */
class Processes {
  /** The processes of the running handlers. */
  readonly #open = new Map<number, string>()
  readonly #disturbed = new Set<string>()
  #alive = 0

  get areIdle(): boolean {
    return this.#open.size === 0 && this.#disturbed.size === 0 && this.#alive > 0
  }

  take(event: Event): void {
    if (event.type === "began") this.#open.set(event.run, event.process)
    else if (event.type === "ended") this.#open.delete(event.run)
    else if (event.type === "process") this.#change(event.process, event.change)
  }

  #change(process: string, change: string): void {
    switch (change) {
      case "started":
        return void this.#alive++
      case "frozen":
      case "cut":
        return void this.#disturbed.add(`${process} ${change}`)
      case "continued":
        return void this.#disturbed.delete(`${process} frozen`)
      case "joined":
        return void this.#disturbed.delete(`${process} cut`)
      case "killed":
      case "ended":
        this.#alive--
        for (const [run, of] of this.#open) if (of === process) this.#open.delete(run)
        for (const change of ["frozen", "cut"]) this.#disturbed.delete(`${process} ${change}`)
        return
      default:
        return
    }
  }
}

export const auditWaiting = ({ events, plan }: Recording): ReadonlyArray<Violation> => {
  // A store that fails over loses updates and timers that the history says it has.
  if (events.some(({ type }) => type === "failedOver")) return []
  const longest = plan.leaseDuration * 1000 + slack
  const ledger = new Ledger()
  const processes = new Processes()
  const due = new Due(plan.storeSkew)
  const waiting = new Set<string>()
  let activeAt = 0
  for (const event of events) {
    const late = event.at - longest
    if (processes.areIdle && late > activeAt) {
      const [subject = due.before(late)] = waiting
      const detail = `${subject} from ${activeAt} ms to ${event.at} ms`
      if (subject !== undefined) return [{ rule: "nothing waits while nobody is busy", detail }]
    }
    if (isActivity(event)) activeAt = event.at
    processes.take(event)
    if (event.type !== "store") continue
    const known = ledger.queued.size
    const settled = ledger.apply(event, event.at)
    if (ledger.queued.size > known) for (const subject of [...ledger.queued].slice(known)) waiting.add(subject)
    for (const { subject } of settled) waiting.delete(subject)
    due.apply(event, event.at, settled.length > 0)
  }
  return []
}
