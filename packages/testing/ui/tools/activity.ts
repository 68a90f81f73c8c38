import { computed } from "@preact/signals"
import { deliveries, handled, polled, requests, updates } from "../store.ts"
import { durationOf } from "../parts/format.ts"
import type { EventOf } from "../types.ts"

export type UpdateEvent = EventOf<"update">

export type RequestEvent = EventOf<"request">

export type HandledEvent = EventOf<"handled">

/** An update with the requests of the bot that belong to the update, or a request alone. */
export interface Step {
  readonly update: UpdateEvent | undefined
  readonly requests: ReadonlyArray<RequestEvent>
  /** The attempts of the bot to handle the update, if the bot tells them. */
  readonly attempts: ReadonlyArray<HandledEvent>
}

export type UpdateState = "waiting" | "taken" | "handled" | "failed"

const isQuietPoll = ({ endpoint, status }: RequestEvent): boolean => endpoint === "Updates.list" && status === 200

const isError = ({ status }: RequestEvent): boolean => status === null || status >= 400

/** An update with its requests. `takenBy` is the poll or the delivery by which the bot received the update. */
interface Entry {
  readonly update: UpdateEvent
  readonly requests: Array<RequestEvent>
  readonly attempts: Array<HandledEvent>
  takenBy: number | undefined
}

/** The number of the last updates of a chat to which a request can belong. */
const maxEntries = 20

/**
 * The update of a request. The emulator does not know which handler made a request, so the update is derived: a repeated
 * request belongs to the update of the failed request. Any other request belongs to the first update without a request among
 * the updates that the bot received together last, or else to the last update.
 */
const entryOf = (entries: ReadonlyArray<Entry>, event: RequestEvent): Entry | undefined => {
  const taken = entries.filter(({ takenBy }) => takenBy !== undefined)
  const candidates = taken.length === 0 ? entries : taken
  const recent = candidates.findLastIndex(({ requests }) => requests.length > 0)
  const failed = candidates[recent]?.requests.at(-1)
  if (failed !== undefined && isError(failed) && failed.endpoint === event.endpoint && failed.text === event.text)
    return candidates[recent]
  const newest = candidates.at(-1)
  return candidates.find((entry, index) => index > recent && entry.takenBy === newest?.takenBy) ?? newest
}

/** The updates with the requests that followed them, the newest first. */
export const steps = computed((): ReadonlyArray<Step> => {
  const made: Array<Step> = []
  const chats = new Map<string, Array<Entry>>()
  const entries = new Map<string, Entry>()
  let untaken: ReadonlyArray<Entry> = []
  const take = (id: number, isTaken: (update: UpdateEvent) => boolean): void => {
    for (const entry of untaken) if (isTaken(entry.update)) entry.takenBy = id
    untaken = untaken.filter(({ takenBy }) => takenBy === undefined)
  }
  const events = [...updates.value, ...handled.value, ...requests.value, ...deliveries.value].sort(
    (a, b) => a.id - b.id
  )
  for (const event of events) {
    const key = event.chat_id === undefined ? undefined : `${event.bot_id} ${event.chat_id}`
    if (event.type === "update") {
      const entry: Entry = { update: event, requests: [], attempts: [], takenBy: undefined }
      made.push(entry)
      entries.set(`${event.bot_id} ${event.number}`, entry)
      untaken = [...untaken.slice(-maxEntries), entry]
      if (key !== undefined) chats.set(key, [...(chats.get(key) ?? []).slice(1 - maxEntries), entry])
    } else if (event.type === "handled") {
      entries.get(`${event.bot_id} ${event.number}`)?.attempts.push(event)
    } else if (event.type === "delivery") {
      if (event.state === "delivered")
        take(event.id, ({ bot_id, number }) => bot_id === event.bot_id && number === event.number)
    } else if (isQuietPoll(event)) {
      take(event.id, ({ bot_id, number }) => bot_id === event.bot_id && number < (event.marker ?? 0))
    } else {
      const entry = key === undefined ? undefined : entryOf(chats.get(key) ?? [], event)
      if (entry === undefined) made.push({ update: undefined, requests: [event], attempts: [] })
      else entry.requests.push(event)
    }
  }
  return made.reverse()
})

/** Which part of the bot took an update, and with which outcome. */
export const attemptText = ({ attempt, error, outcome, part, took }: HandledEvent): string => {
  const who = part === undefined ? "no handler" : `${part.kind} ${part.name}`
  const number = attempt === 1 ? "" : `, attempt ${attempt}`
  return `${who}: ${outcome} in ${durationOf(took)}${number}${error === undefined ? "" : `, ${error}`}`
}

/**
 * The state of an update: the outcome of the last attempt that the bot has told, or else as far as the emulator sees it. `handled`: the bot has acknowledged the update, or its last request
 * succeeded. `failed`: the last request failed, or no delivery has succeeded.
 */
export const stateOf = ({ attempts, requests, update }: Step): UpdateState => {
  const outcome = attempts.at(-1)?.outcome
  if (outcome !== undefined) return outcome === "failed" || outcome === "dead" ? "failed" : "handled"
  if (update === undefined) return requests.some(isError) ? "failed" : "handled"
  const last = requests.at(-1)
  if (last !== undefined) return isError(last) ? "failed" : "handled"
  const sent = deliveries.value.filter(({ bot_id, number }) => bot_id === update.bot_id && number === update.number)
  // A bot can have several webhooks, and an attempt can follow another.
  if (sent.length > 0) return sent.some(({ state }) => state === "delivered") ? "taken" : "failed"
  const { acknowledged = 0, taken = 0 } = polled.value.get(update.bot_id) ?? {}
  if (update.number < acknowledged) return "handled"
  return update.number < taken ? "taken" : "waiting"
}

export const stateClass: Readonly<Record<UpdateState, string>> = {
  waiting: "",
  taken: "warn",
  handled: "good",
  failed: "bad"
}
