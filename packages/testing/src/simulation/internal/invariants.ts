/** The rules that hold for every bot. */
import * as Duration from "effect/Duration"
import type { History, Invariant } from "../Simulation.ts"
import type { HandlingBegan, RequestExecuted } from "../SimulationEvent.ts"
import { type Of, ofType } from "./history.ts"

const isSending = ({ method, path, status }: RequestExecuted): boolean =>
  method === "POST" && path.startsWith("/messages?") && status === 200

const textIn = (body: string): string => {
  const parsed: unknown = body === "" ? {} : JSON.parse(body)
  const text = typeof parsed === "object" && parsed !== null && "text" in parsed ? parsed.text : ""
  return typeof text === "string" ? text : ""
}

const quoted = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)

/** An answer that is lost on its way counts: bots do not repeat answers to presses. */
export const everyPressIsAnswered: Invariant = (history) => {
  const answered = new Set(
    ofType(history, "sent").flatMap(({ path }) => /^\/answers\?.*callback_id=([^&]+)/.exec(path)?.slice(1) ?? [])
  )
  const open = ofType(history, "did").find(
    ({ callback_id }) =>
      callback_id !== undefined && !answered.has(encodeURIComponent(callback_id)) && !answered.has(callback_id)
  )
  return (
    open && { message: `The bot has not answered the press of ${open.text} by ${open.person}`, chat_id: open.chat_id }
  )
}

/** The runs of handlers with their updates. */
const runsOf = (history: History): ReadonlyMap<number, HandlingBegan> =>
  new Map(ofType(history, "began").map((began) => [began.run, began]))

/** The handled updates by the numbers of the requests that their handlers have made. */
const handledBy = (history: History, runs = runsOf(history)): ReadonlyMap<number, HandlingBegan | undefined> =>
  new Map(ofType(history, "sent").map(({ request, run }) => [request, run === undefined ? undefined : runs.get(run)]))

export const noMessageTwice: Invariant = (history) => {
  const runs = runsOf(history)
  const requests = handledBy(history, runs)
  const asked = new Map<string, Map<number, number>>()
  for (const { endpoint, run, text } of ofType(history, "asked")) {
    if (endpoint !== "Messages.send") continue
    const key = JSON.stringify([runs.get(run)?.update, text])
    const byRun = asked.get(key) ?? new Map<number, number>()
    byRun.set(run, (byRun.get(run) ?? 0) + 1)
    asked.set(key, byRun)
  }
  const sent = new Map<string, number>()
  for (const executed of ofType(history, "executed")) {
    const handled = requests.get(executed.request)
    if (!isSending(executed) || handled === undefined) continue
    const text = textIn(executed.body)
    const key = JSON.stringify([handled.update, text])
    const times = (sent.get(key) ?? 0) + 1
    sent.set(key, times)
    const most = Math.max(0, ...(asked.get(key)?.values() ?? []))
    if (times > most)
      return {
        message: `The bot has sent ${quoted(text)} twice for one update`,
        chat_id: handled.chat_id,
        at: executed.at
      }
  }
  return undefined
}

const leaving = new Set(["stop", "removeDialog", "leave", "removeBot"])

/** The chats that somebody has left, in which a bot may not be allowed to answer. */
const leftChats = (history: History): ReadonlySet<number | undefined> =>
  new Set(ofType(history, "did").flatMap(({ action, chat_id }) => (leaving.has(action) ? [chat_id] : [])))

export const noDeadLetters: Invariant = (history) => {
  const left = leftChats(history)
  const letter = history.deadLetters.find(({ chat_id, error }) => !(error.startsWith("Forbidden") && left.has(chat_id)))
  return (
    letter && {
      message: `An update was given up after ${letter.attempts} attempts: ${letter.error}`,
      chat_id: letter.chat_id
    }
  )
}

export const limitsAreKept: Invariant = (history) => {
  const injected = new Set(ofType(history, "fault").flatMap(({ detail, kind }) => (kind === "tooMany" ? [detail] : [])))
  const refused = ofType(history, "executed").find(
    ({ request, status }) => status === 429 && !injected.has(`request ${request}`)
  )
  return refused && `The platform has refused ${refused.method} ${refused.path}, because the bot exceeds a limit`
}

export const noDefects: Invariant = (history) => {
  const defect = ofType(history, "ended").find(({ outcome }) => outcome === "defect")
  return defect && { message: `A handler has died: ${defect.error}`, chat_id: defect.chat_id, at: defect.at }
}

/** A scene may have a state in which it stays. */
export const noDialogIsStuck: Invariant = ({ dialogs }) => {
  const stuck = dialogs.find(({ hasTimeout, kind }) => kind === "conversation" && !hasTimeout)
  return (
    stuck && {
      message: `The conversation "${stuck.name}" waits for an answer without a timeout`,
      chat_id: chatOfScope(stuck.scope)
    }
  )
}

const chatOfScope = (scope: string): number | undefined => {
  const [, chat] = /chat:(-?\d+)/.exec(scope) ?? []
  return chat === undefined ? undefined : Number(chat)
}

/** The words of the bot that the people of each chat saw: the requests of handlers that change something. */
const wordsOf = (history: History): ReadonlyMap<number | undefined, ReadonlyArray<Of<"executed">>> => {
  const requests = handledBy(history)
  const words = ofType(history, "executed").filter(({ method, status }) => method !== "GET" && status === 200)
  return Map.groupBy(words, ({ request }) => requests.get(request)?.chat_id)
}

/** The updates that a handler has taken. */
const takenIn = (history: History): ReadonlySet<string> =>
  new Set(ofType(history, "ended").flatMap(({ outcome, update }) => (outcome === "success" ? [update] : [])))

export const nobodyWaits = ({
  longerThan = "10 minutes"
}: { readonly longerThan?: Duration.Input | undefined } = {}) => {
  const limit = Duration.toMillis(longerThan)
  const rule: Invariant = (history) => {
    const taken = takenIn(history)
    const words = wordsOf(history)
    const left = leftChats(history)
    const disturbed = ofType(history, "process").map(({ at }) => at)
    for (const { action, at, callback_id, chat_id, message_id, person, text } of ofType(history, "did")) {
      const update = callback_id ?? message_id ?? ""
      const isInDialog = chat_id !== undefined && chat_id > 0 && !left.has(chat_id)
      if ((action !== "press" && action !== "send") || !isInDialog || !taken.has(update)) continue
      const word = words.get(chat_id)?.find((executed) => executed.at >= at)?.at ?? Infinity
      // Nobody can answer while processes are killed again and again.
      const since = word === Infinity ? at : Math.max(at, disturbed.findLast((time) => time < word) ?? 0)
      if (word - since <= limit) continue
      const message = `${person} has waited longer than ${Duration.format(Duration.millis(limit))} for a word about ${quoted(text)}`
      return { message, chat_id, at: at + limit }
    }
    return undefined
  }
  return Object.defineProperty(rule, "name", { value: "nobodyWaits" })
}

export const standard: ReadonlyArray<Invariant> = [
  noDefects,
  noDeadLetters,
  everyPressIsAnswered,
  noMessageTwice,
  nobodyWaits(),
  noDialogIsStuck,
  limitsAreKept
]
