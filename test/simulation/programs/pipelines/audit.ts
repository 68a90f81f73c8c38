/** What pipelines promise: nothing is acknowledged before its work is done, and chats stay in order. */
import { Ledger } from "../../auditor/ledger.ts"
import { sentIn } from "../../auditor/messages.ts"
import type { Recording, Violation } from "../../auditor/recording.ts"
import type { Noted } from "../../history.ts"
import { isKept, type PipelinesPlan, type Stage } from "./plan.ts"

/** The places at which a message has to be worked on before it is acknowledged. */
const placesOf = ({ sink, stages }: PipelinesPlan, text: string): ReadonlyArray<string> => {
  const places: Array<string> = []
  let isGrouped = false
  for (const [index, stage] of stages.entries()) {
    // A filter keeps a group if it would keep one of its messages, so it says nothing about the others.
    if (stage.type === "filter" && (isGrouped || !isKept(stage, text))) return places
    if (stage.type === "grouped") isGrouped = true
    if (isWork(stage)) places.push(`stage ${index}`)
  }
  if (sink.type !== "runDrain") places.push("sink")
  if (sink.type === "broadcast") places.push("other")
  return places
}

const isWork = ({ type }: Stage): boolean => type === "mapEffect" || type === "tee"

class Judge {
  readonly violations: Array<Violation> = []
  readonly #done = new Map<string, Set<string>>()
  readonly #plan: PipelinesPlan
  readonly #ledger: Ledger

  constructor(plan: PipelinesPlan, ledger: Ledger) {
    this.#plan = plan
    this.#ledger = ledger
  }

  #violate(rule: string, detail: string): void {
    this.violations.push({ rule, detail })
  }

  take({ process, subject, value, what }: Noted, at: number): void {
    if (what === "done") {
      const places = this.#done.get(subject) ?? new Set()
      this.#done.set(subject, places.add(value))
      return
    }
    if (this.#plan.perChat !== 1) return
    for (const [chat, queue] of this.#ledger.queues) {
      if (!queue.includes(subject) || !this.#ledger.isValid(process, chat, at)) continue
      const first = this.#ledger.unsettledBefore(chat, subject)
      if (first !== undefined) {
        this.#violate("updates of a chat are handled in order", `${subject} at ${value} before ${first} was settled`)
      }
      this.#ledger.expect(subject)
    }
  }

  settle(subject: string): void {
    const done = this.#done.get(subject)
    const missing = placesOf(this.#plan, subject).filter((place) => done?.has(place) !== true)
    if (missing.length > 0) {
      this.#violate("nothing is acknowledged before its work is done", `${subject}: ${missing.join(", ")}`)
    }
  }
}

/** A handler at the end of a pipeline sends its message once, also if the pipeline was closed meanwhile. */
const sentTwice = ({ stages }: PipelinesPlan, { events }: Recording, { shaken }: Ledger): ReadonlyArray<Violation> => {
  // The calls for several updates are not recorded.
  if (stages.some(({ type }) => type === "grouped")) return []
  const seen = new Set<string>()
  return sentIn(events).flatMap(({ text }) => {
    const isNew = !seen.has(text) || shaken.has(text.slice("did ".length))
    seen.add(text)
    return isNew ? [] : [{ rule: "no message of a handler arrives more often", detail: text }]
  })
}

export const auditPipelines = (plan: PipelinesPlan, recording: Recording): ReadonlyArray<Violation> => {
  const { events } = recording
  const ledger = new Ledger()
  const judge = new Judge(plan, ledger)
  for (const event of events) {
    if (event.type === "noted") judge.take(event, event.at)
    if (event.type === "failedOver") ledger.lose(event.since)
    if (event.type !== "store") continue
    for (const { isDead, subject } of ledger.apply(event, event.at)) {
      if (!isDead && subject.startsWith("p")) judge.settle(subject)
    }
  }
  return [...judge.violations, ...sentTwice(plan, recording, ledger)]
}
