/** Rules of the order of a chat, and of which process may handle it. */
import type { Plan } from "../plan.ts"
import type { Event, Handling } from "../history.ts"
import type { StoreApplied } from "@colloquy/testing/simulation/SimulationEvent"
import { isRelease, Ledger, type Settled } from "./ledger.ts"
import type { Ending, Recording, Violation } from "./recording.ts"
import { subjectOf } from "./subjects.ts"

interface Open {
  readonly process: string
  readonly chat: string
  readonly subject: string
}

/** A chat with its updates, as a claim returns them. */
interface ClaimedRow {
  readonly key: string
  readonly updates: ReadonlyArray<{ readonly update: { readonly text: string } }>
}

interface ProcessState {
  isAlive: boolean
  isFrozen: boolean
  /** Whether it cannot reach the store. */
  isCut: boolean
  /** When it went on the last time. */
  continuedAt: number
  stoppingAt: number
}

/**
 * How long a process may need to learn that it has lost a chat if operations of the store fail or are slow twice, or to end a
 * handler that waits for the store, which the process could not reach for a while.
 */
const slackOfFaults = 16_000

/** The same without faults of the store, in addition to the way to the store and back. */
const slack = 2000

/** The time that a process has to stop. */
const shutdownTimeout = 10_000

interface Claimed {
  readonly process: string
  readonly at: number
  readonly subjects: ReadonlyArray<string>
}

class Judge {
  readonly violations: Array<Violation> = []
  readonly ledger = new Ledger()
  readonly #open = new Map<number, Open>()
  readonly #processes = new Map<string, ProcessState>()
  /** Of each chat, when another process than before claimed it the last time. */
  readonly #claimedAt = new Map<string, { readonly process: string; readonly at: number }>()
  /** Of each chat, the last claim since a failover, unless its process was disturbed afterwards and may not know the answer. */
  readonly #claims = new Map<string, Claimed>()
  readonly #leaseDuration: number
  readonly #isStoreFaulty: boolean
  /** Consumers that have ended. */
  readonly #released = new Set<string>()
  /** The subjects that a process could not handle, because a newer version of the bot wrote what they need. */
  readonly #ofNewer = new Map<string, Map<string, number>>()
  /** When the store has lost leases the last time. */
  #failedOverAt = -Infinity
  readonly #slack: number
  readonly #stoppedAt: number
  /** How long the answer of a store without faults takes at most. */
  readonly #answerTime: number
  /** Whether messages are sent by handlers. A broadcast holds no chats. */
  readonly #sendsInHandlers: boolean

  constructor({ disturbances, faults, latency, leaseDuration, program }: Plan, stoppedAt: number) {
    this.#stoppedAt = stoppedAt
    this.#answerTime = latency
    this.#sendsInHandlers = program.kind !== "broadcasts"
    this.#leaseDuration = leaseDuration * 1000
    const { storeAfter, storeBefore, storeLate = 0, storeSlow } = faults
    this.#isStoreFaulty = storeBefore + storeAfter + storeSlow + storeLate > 0
    const isAway = this.#isStoreFaulty || disturbances.some(({ kind }) => kind === "cut")
    this.#slack = isAway ? slackOfFaults : slack + 4 * latency
  }

  #violate(rule: string, detail: string): void {
    this.violations.push({ rule, detail })
  }

  #process(name: string): ProcessState {
    const known = this.#processes.get(name) ?? {
      isAlive: true,
      isFrozen: false,
      isCut: false,
      continuedAt: -Infinity,
      stoppingAt: Infinity
    }
    this.#processes.set(name, known)
    return known
  }

  take(event: Event): void {
    switch (event.type) {
      case "process": {
        const process = this.#process(event.process)
        for (const [chat, claim] of this.#claims) if (claim.process === event.process) this.#claims.delete(chat)
        if (event.change === "ended" && event.at >= this.#stoppedAt) this.#checkLeases(event.process, event.at)
        if (event.change === "killed" || event.change === "ended") process.isAlive = false
        else if (event.change === "frozen") process.isFrozen = true
        else if (event.change === "cut") process.isCut = true
        else if (event.change === "stopping") process.stoppingAt = event.at
        else if (event.change === "continued" || event.change === "joined") {
          if (event.change === "joined") process.isCut = false
          else process.isFrozen = false
          process.continuedAt = event.at
        }
        return
      }
      case "store": {
        if (event.operation === "claim") this.#checkTakeOver(event)
        if (isRelease(event)) this.#released.add((event.request as { readonly owner: string }).owner)
        for (const chat of this.ledger.foreignOf(event)) {
          this.#violate(
            "the store changes a chat only for its holder",
            `${event.operation} of ${event.process} in ${chat}`
          )
        }
        this.#checkNewer(event)
        for (const settled of this.ledger.apply(event, event.at)) this.#settle(settled)
        if (event.operation === "claim") this.#claim(event)
        return
      }
      case "failedOver":
        this.#failedOverAt = event.at
        this.ledger.lose(event.since)
        this.#claimedAt.clear()
        this.#claims.clear()
        return this.#follow(event.at)
      case "sent":
        return this.#send(event.process, event.method, event.path, event.at)
      case "began":
        return this.#begin(event, event.at)
      case "ended": {
        const open = this.#open.get(event.run)
        this.#open.delete(event.run)
        if (event.outcome === "newer") this.#newerOf(event.process).set(event.subject, event.at)
        if (open !== undefined) this.#checkLoss(open, event.at)
        return
      }
      default:
        return
    }
  }

  /** A lease can end only because its process or the store was disturbed. */
  #checkTakeOver({ at, process, request, result }: StoreApplied & Pick<Event, "at">): void {
    if (this.#isStoreFaulty) return
    const { owner } = request as { readonly owner: string }
    for (const { key } of result as ReadonlyArray<{ readonly key: string }>) {
      const lease = this.ledger.leases.get(key)
      if (lease === undefined || (lease.process === process && lease.owner !== owner)) continue
      // A lease that ended soon after a failover can be claimed at any time.
      if (Math.min(at, lease.until) - this.#failedOverAt < 3 * this.#leaseDuration) continue
      // A claim that was under way when a stream was closed leaves a lease that nobody renews.
      if (this.#released.has(lease.owner)) continue
      const { continuedAt, isAlive, isCut, isFrozen } = this.#process(lease.process)
      // A lease that ended while its process was frozen or cut off can be claimed at any time. The process does not know a lease
      // whose claim was answered meanwhile.
      if (lease.until < continuedAt || (lease.claimedAt ?? Infinity) < continuedAt) continue
      if (isAlive && !isFrozen && !isCut && at - continuedAt > 2 * this.#leaseDuration) {
        this.#violate("a process that works keeps its chats", `${process} takes ${key} from ${lease.process}`)
      }
    }
  }

  /** A process that has ended while nothing was disturbed has released its chats. */
  #checkLeases(process: string, at: number): void {
    for (const [chat, lease] of this.ledger.leases) {
      if (lease.process === process && lease.until > at) {
        this.#violate("nothing is left at the end", `${process} has ended and still holds ${chat}`)
      }
    }
  }

  #newerOf(process: string): Map<string, number> {
    const known = this.#ofNewer.get(process) ?? new Map<string, number>()
    this.#ofNewer.set(process, known)
    return known
  }

  /**
   * An update that needs what a newer version wrote has not failed. After another claim, its attempt can be counted before it begins. A
   * process whose time to stop is over counts all attempts that it has not given back.
   */
  #checkNewer({ at, operation, process, request }: StoreApplied & Pick<Event, "at">): void {
    if (operation !== "commit" || at - this.#process(process).stoppingAt >= shutdownTimeout) return
    const commits = request as ReadonlyArray<{ readonly failed: ReadonlyArray<string>; readonly partitionKey: string }>
    for (const { failed, partitionKey } of commits) {
      const claimedAt = this.#claimedAt.get(partitionKey)?.at ?? -Infinity
      for (const id of failed) {
        const subject = this.ledger.subjectOf(id)
        if (subject !== undefined && (this.#newerOf(process).get(subject) ?? -Infinity) > claimedAt)
          this.#violate("what a newer version wrote is no failure of an update", `${subject} in ${process}`)
      }
    }
  }

  #claim({ at, process, result, sentAt }: StoreApplied & Pick<Event, "at">): void {
    this.#follow(at)
    // A process ignores what it has completed during the claim. Answers can be lost if the store is faulty.
    if (this.#isStoreFaulty || sentAt <= this.#failedOverAt + this.#answerTime) return
    for (const { key, updates } of result as ReadonlyArray<ClaimedRow>) {
      this.#claims.set(key, { process, at, subjects: updates.map(({ update }) => subjectOf(update.text)) })
    }
  }

  /** Notes which chats have another process than before. */
  #follow(at: number): void {
    for (const [chat, { process }] of this.ledger.leases) {
      if (this.#claimedAt.get(chat)?.process !== process) this.#claimedAt.set(chat, { process, at })
    }
  }

  #settle({ chat, isDead, subject }: Settled): void {
    if (isDead) return
    for (const open of this.#open.values()) {
      const { process } = open
      if (
        open.chat === chat &&
        open.subject === subject &&
        this.ledger.holds(process, chat) &&
        this.#process(process).isAlive
      ) {
        this.#violate("an update is acknowledged after its handler", `${subject} in ${process}`)
      }
    }
  }

  #begin({ chat, process, run, subject }: Handling, at: number): void {
    // A process whose lease has ended may not know yet that another one has handled the chat meanwhile.
    if (this.ledger.isValid(process, chat, at)) {
      if (this.ledger.settled.has(subject))
        this.#violate("an acknowledged update is not handled again", `${subject} in ${process}`)
      const claim = this.#claims.get(chat)
      if (claim?.process === process && at > claim.at + this.#answerTime)
        claim.subjects.forEach((one) => this.ledger.expect(one))
      const first = this.ledger.unsettledBefore(chat, subject)
      if (first !== undefined) {
        this.#violate("updates of a chat are handled in order", `${subject} began before ${first} was settled`)
      }
      this.ledger.expect(subject)
    }
    for (const open of this.#open.values()) {
      if (open.chat === chat && open.process === process) {
        this.#violate(
          "a process handles one update of a chat at a time",
          `${subject} and ${open.subject} in ${process}`
        )
      }
    }
    this.#newerOf(process).delete(subject)
    this.#open.set(run, { process, chat, subject })
  }

  /** The lease is checked right before a request is sent, so nothing is sent after another process has claimed the chat. */
  #send(process: string, method: string, path: string, at: number): void {
    // A process learns of leases that the store has lost when it renews them.
    if (at - this.#failedOverAt < this.#leaseDuration) return
    const chat = /^\/messages\?(?:.*&)?chat_id=(-?\d+)/.exec(path)?.[1]
    if (!this.#sendsInHandlers || method !== "POST" || chat === undefined) return
    const holder = this.ledger.leases.get(chat)?.process
    if (holder !== undefined && holder !== process) {
      this.#violate(
        "a process sends nothing after it has lost the chat",
        `${process} in ${chat}, which ${holder} holds`
      )
    }
  }

  /** A handler may go on for a while after another process has claimed the chat, but not for long. */
  #checkLoss({ chat, process, subject }: Open, at: number): void {
    const claimed = this.#claimedAt.get(chat)
    const { continuedAt, isCut } = this.#process(process)
    if (claimed === undefined || claimed.process === process || isCut) return
    const known = Math.max(claimed.at, continuedAt) + this.#leaseDuration + this.#slack
    if (at > known) this.#violate("a handler ends soon after its chat is lost", `${subject} in ${process}`)
  }

  /** Handlers that still run in processes that are alive. */
  end(): void {
    for (const { process, subject } of this.#open.values()) {
      if (this.#process(process).isAlive) this.#violate("every handler ends", `${subject} in ${process}`)
    }
  }
}

/** Judges the order of each chat, and returns what was settled. */
export const auditHandling = ({
  ending,
  events,
  plan
}: Pick<Recording, "events" | "plan"> & { readonly ending: Pick<Ending, "stoppedAt"> }): {
  readonly violations: ReadonlyArray<Violation>
  readonly ledger: Ledger
} => {
  const judge = new Judge(plan, ending.stoppedAt)
  for (const event of events) judge.take(event)
  judge.end()
  return { violations: judge.violations, ledger: judge.ledger }
}
