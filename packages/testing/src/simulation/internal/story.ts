/** A failure as a short story in plain sentences. */
import type { History, Violation } from "../Simulation.ts"
import type { PersonActed, RequestExecuted, RequestSent, SimulationEvent } from "../SimulationEvent.ts"
import { ofType } from "./history.ts"

/** At most this many sentences are told, the last ones. */
const maxSentences = 20

const quoted = (text: string): string => `"${text.length > 60 ? `${text.slice(0, 60)}…` : text}"`.replaceAll("\n", " ")

const two = (value: number): string => String(Math.floor(value)).padStart(2, "0")

const timeOf = (at: number): string =>
  `day ${Math.floor(at / 86_400_000) + 1}, ${two((at / 3_600_000) % 24)}:${two((at / 60_000) % 60)}:${two((at / 1000) % 60)}`

const actions: Readonly<Record<string, string>> = {
  start: "opened the dialog",
  stop: "blocked the bot",
  removeDialog: "deleted the dialog",
  clearDialog: "cleared the dialog",
  remove: "removed a message",
  join: "joined the group",
  leave: "left the group"
}

const actionOf = ({ action, text }: PersonActed): string => {
  if (action === "press") return `pressed ${text}`
  if (action === "send") return text === "" ? "sent an attachment" : `wrote ${quoted(text)}`
  if (action === "edit") return `changed a message to ${quoted(text)}`
  return actions[action] ?? `did ${action}`
}

const changes: Readonly<Record<string, string>> = {
  killed: "was killed",
  frozen: "was frozen",
  continued: "went on",
  stopping: "was stopped",
  started: "was started",
  cut: "lost the store",
  joined: "reached the store again",
  clock: "got another time"
}

const faults: Readonly<Record<string, string>> = {
  resetBefore: "the connection was reset before the platform carried out",
  resetAfter: "the connection was reset after the platform had carried out",
  errorBefore: "the platform failed and did not carry out",
  errorAfter: "the platform failed after it had carried out",
  tooMany: "the platform refused for a while",
  silent: "the platform never answered",
  slow: "the platform answered late to",
  serviceBefore: "failed and did not carry out",
  serviceAfter: "carried out, and its answer was lost:",
  serviceSlow: "was slow:",
  serviceSilent: "carried out, and never answered:",
  serviceAgain: "carried out twice:"
}

const textIn = (body: string): string => {
  try {
    const { text }: { readonly text?: unknown } = JSON.parse(body)
    return typeof text === "string" ? ` ${quoted(text)}` : ""
  } catch {
    return ""
  }
}

const requestOf = ({ body, method, path }: RequestSent): string => {
  if (path.startsWith("/answers")) return "an answer to a press"
  if (!path.startsWith("/messages")) return `${method} ${path.split("?")[0]}`
  const verbs: Readonly<Record<string, string>> = { POST: "the message", PUT: "the edit", DELETE: "a removal" }
  return `${verbs[method] ?? method}${textIn(body)}`
}

const saidOf = ({ body, method, path }: RequestExecuted): string | undefined => {
  if (path.startsWith("/answers")) return "the bot answered a press"
  if (!path.startsWith("/messages") || method === "GET") return undefined
  if (method === "POST") return textIn(body) === "" ? "the bot sent a message" : `the bot wrote${textIn(body)}`
  return method === "PUT" ? "the bot edited a message" : "the bot removed a message"
}

const nameOf = (process: string): string => process.replace(/^bot/, "process ")

/** `requests`: the descriptions of the requests, by their numbers. */
const sentenceOf = (event: SimulationEvent, requests: ReadonlyMap<string, string>): string | undefined => {
  switch (event.type) {
    case "did":
      return `${event.person} ${actionOf(event)}`
    case "process":
      return event.change === "ended" ? undefined : `${nameOf(event.process)} ${changes[event.change]}`
    case "executed":
      return event.status === 200 ? saidOf(event) : undefined
    case "called":
      return `${event.service}.${event.method} was carried out${event.isSuccess ? "" : " and failed"}`
    case "ended":
      return event.outcome === "failure" || event.outcome === "defect"
        ? `the handler failed in ${nameOf(event.process)}: ${event.error}`
        : undefined
    case "fault": {
      const what = faults[event.kind]
      const detail = event.detail ?? ""
      if (what === undefined) return undefined
      const [service] = detail.split(".")
      return event.kind.startsWith("service")
        ? `${service} ${what} ${detail}`
        : `${what} ${requests.get(detail) ?? "a request"}`
    }
    default:
      return undefined
  }
}

/** The events that concern a chat, and what happened to processes while they handled something in the chat. */
const concerning = (history: History, chat_id: number): ReadonlyArray<SimulationEvent> => {
  const runs = new Set(ofType(history, "began").flatMap((began) => (began.chat_id === chat_id ? [began.run] : [])))
  const busy = new Map<string, number>()
  const disturbed = new Set<string>()
  const requests = new Set<string>()
  return history.events.filter((event) => {
    switch (event.type) {
      case "did":
        return event.chat_id === chat_id
      case "began":
        if (runs.has(event.run)) busy.set(event.process, event.run)
        return false
      case "ended":
        if (busy.get(event.process) === event.run) busy.delete(event.process)
        return runs.has(event.run)
      case "called":
        return event.run !== undefined && runs.has(event.run)
      case "sent":
        if (event.run !== undefined && runs.has(event.run)) requests.add(`request ${event.request}`)
        return false
      case "executed":
        return requests.has(`request ${event.request}`)
      case "fault":
        return requests.has(event.detail ?? "") || (event.kind.startsWith("service") && busy.has(event.process))
      case "process":
        if (busy.has(event.process)) disturbed.add(event.process)
        else if (!disturbed.delete(event.process)) return false
        if (event.change === "killed") busy.delete(event.process)
        return true
      default:
        return false
    }
  })
}

/** Tells equal sentences that follow each other once. */
const merged = (sentences: ReadonlyArray<readonly [at: number, sentence: string]>): ReadonlyArray<string> => {
  const told: Array<{ readonly at: number; readonly sentence: string; count: number }> = []
  for (const [at, sentence] of sentences) {
    const last = told[told.length - 1]
    if (last?.sentence === sentence) last.count++
    else told.push({ at, sentence, count: 1 })
  }
  return told.map(({ at, count, sentence }) => {
    const times = count === 1 ? "" : count === 2 ? ", twice" : `, ${count} times`
    return `  ${timeOf(at)}: ${sentence}${times}.`
  })
}

/** Describes the events in a chat, or in all chats, until a time. */
export const storyOf = (
  history: History,
  { at = Infinity, chat_id }: Pick<Violation, "at" | "chat_id">
): ReadonlyArray<string> => {
  const requests = new Map(ofType(history, "sent").map((sent) => [`request ${sent.request}`, requestOf(sent)]))
  const events = chat_id === undefined ? history.events : concerning(history, chat_id)
  const sentences = merged(
    events.flatMap((event) => {
      if (event.at > at) return []
      const sentence = sentenceOf(event, requests)
      return sentence === undefined ? [] : [[event.at, sentence] as const]
    })
  )
  const left = sentences.length - maxSentences
  return left <= 0 ? sentences : [`  … (${left} earlier sentences)`, ...sentences.slice(left)]
}
