import type * as Endpoint from "@colloquy/core/client/Endpoint"
import type { ChatId } from "@colloquy/core/model/Chat"
import * as Json from "@colloquy/core/base/Json"
import { MessageId } from "@colloquy/core/model/Message"
import type { Update } from "@colloquy/core/model/Update"
import type { UserId } from "@colloquy/core/model/User"
import * as Effect from "effect/Effect"
import * as Sse from "effect/encoding/Sse"
import * as Option from "effect/Option"
import { hasProperty } from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { EmulatorEvent } from "../../EmulatorEvent.ts"
import type { Exchange } from "../../EmulatorHttp.ts"
import type { EventRecord } from "../platform/events.ts"
import { fieldsOf } from "../platform/faults.ts"
import { isPlain, writePlain } from "../platform/messageJson.ts"
import { now, type PlatformState } from "../platform/state.ts"
import { defined } from "../platform/validation.ts"
import type { listEvents } from "./declarations.ts"
import { parseBody, toRequestView } from "./views.ts"

/** Which events are read. Without `details: false`, requests have their headers and bodies, and updates their content. */
type Filter = Omit<Endpoint.Request<typeof listEvents>, "from" | "max_lag">

type RequestRecord = Extract<EventRecord, { readonly type: "request" }>

const maxText = 100

/** The text that a request sends. */
const textIn = ({ body }: Exchange): string | undefined => {
  const { message, notification, text } = (parseBody(body) ?? {}) as Readonly<Record<string, unknown>>
  const found = text ?? (hasProperty(message, "text") ? message.text : undefined) ?? notification
  return typeof found === "string" && found !== "" ? found.slice(0, maxText) : undefined
}

/** The marker of a page of updates. */
const markerIn = ({ answer, endpoint }: Exchange): number | undefined => {
  const [, marker] = endpoint === "Updates.list" ? (/"marker":(\d+)\}?$/.exec(answer ?? "") ?? []) : []
  return marker === undefined ? undefined : Number(marker)
}

const toRequestEvent = ({ at, exchange }: RequestRecord, id: number, details: boolean): EmulatorEvent => {
  const { bot_id, chat_id, endpoint = null, limits, message_id, method, number, path, query, status = null } = exchange
  const event = { id, at, type: "request" as const, number, took: exchange.took, method, path, query, endpoint, status }
  const found = { text: textIn(exchange), fault: exchange.fault, marker: markerIn(exchange) }
  const ids = defined({ bot_id, chat_id, message_id, ...found })
  if (!details) return { ...event, ...ids, limits }
  const { answer, body, headers } = toRequestView(exchange)
  return { ...event, ...ids, limits, headers, body, answer }
}

interface Summarized {
  readonly callback?: { readonly payload?: unknown }
  readonly message?: { readonly body?: { readonly mid?: unknown; readonly text?: unknown } | null } | null
  readonly message_id?: unknown
}

/** The message of an update, and the text that names the update in a list. A test can have delivered any object. */
const summaryOf = (update: Update): { readonly message_id?: MessageId; readonly text?: string } => {
  const { callback, message, message_id } = fieldsOf(update) as Summarized
  const [mid, text] = [message?.body?.mid ?? message_id, callback?.payload ?? message?.body?.text]
  return defined({
    message_id: typeof mid === "string" ? MessageId.make(mid) : undefined,
    text: typeof text === "string" && text !== "" ? text.slice(0, maxText) : undefined
  })
}

const toEvent = (record: EventRecord, id: number, details: boolean): EmulatorEvent => {
  if (record.type === "request") return toRequestEvent(record, id, details)
  if (record.type !== "update") return { id, ...record }
  const { update, ...rest } = record
  return { id, ...rest, ...(update === undefined ? {} : summaryOf(update)), ...(details ? { update } : {}) }
}

/** An event that is kept, with its details. */
export const eventAt = ({ events }: PlatformState, id: number): EmulatorEvent | undefined => {
  const [record] = id < events.start ? [] : events.from(id)
  return record === undefined ? undefined : toEvent(record, id, true)
}

/** The ids of an event, or of its request. */
const idsOf = (record: EventRecord): { readonly bot_id?: UserId | undefined; readonly chat_id?: ChatId | undefined } =>
  record.type === "request" ? record.exchange : (record as { readonly bot_id?: UserId; readonly chat_id?: ChatId })

const concernsBot = (state: PlatformState, record: EventRecord, bot_id: UserId): boolean => {
  const ids = idsOf(record)
  if (ids.bot_id !== undefined) return ids.bot_id === bot_id
  return ids.chat_id === undefined || state.chats.get(ids.chat_id)?.members.has(bot_id) === true
}

const matches = (state: PlatformState, record: EventRecord, { bot_id, chat_id, types }: Filter): boolean =>
  (types == null || types.includes(record.type) || record.type === "reset") &&
  (chat_id == null || idsOf(record).chat_id === chat_id || record.type === "reset") &&
  (bot_id == null || concernsBot(state, record, bot_id))

/** The filter of a reader, and the maximum number of events behind the end. */
interface Reader {
  readonly state: PlatformState
  readonly filter: Filter
  readonly maxLag: number
}

/** The gap before the next kept event, if the reader missed events. */
const gapAt = ({ maxLag, state }: Reader, from: number): EmulatorEvent | undefined => {
  const { end, start } = state.events
  const next = from > end || end - from > maxLag ? end : Math.max(from, start)
  if (next === from) return undefined
  return { id: next - 1, at: now(state), type: "gap", from: from > end ? 0 : from }
}

/** The number of events that are converted at once. */
const batchSize = 256

const readBatch = (reader: Reader, from: number) => {
  const { filter, state } = reader
  const gap = gapAt(reader, from)
  const position = gap === undefined ? from : gap.id + 1
  const records = state.events.from(position).slice(0, batchSize)
  const events = records.flatMap((record, index) =>
    matches(state, record, filter) ? [toEvent(record, position + index, filter.details ?? true)] : []
  )
  return { events: gap === undefined ? events : [gap, ...events], next: position + records.length }
}

/** Waits until there are events. A slow reader keeps nothing in memory, because the events are read from the log. */
const nextBatch = (reader: Reader, from: number): Effect.Effect<ReturnType<typeof readBatch>> =>
  Effect.suspend(() => {
    const batch = readBatch(reader, from)
    if (batch.events.length > 0) return Effect.succeed(batch)
    return batch.next < reader.state.events.end
      ? nextBatch(reader, batch.next)
      : Effect.andThen(reader.state.events.arrival, nextBatch(reader, batch.next))
  })

/** The events from a position on, including future events. */
export const streamOf = (state: PlatformState, filter: Filter, from: number): Stream.Stream<EmulatorEvent> => {
  const reader: Reader = { state, filter, maxLag: Infinity }
  return Stream.paginate(from, (position) =>
    Effect.map(nextBatch(reader, position), ({ events, next }) => [events, Option.some(next)] as const)
  )
}

const encode = Schema.encodeUnknownSync(EmulatorEvent)

/** An event as JSON. The frequent events are written without their schema. */
export const toJson = (event: EmulatorEvent): string => {
  if (event.type === "request" && event.headers === undefined) return JSON.stringify(event)
  if (event.type !== "message" || !isPlain(event.message)) return Json.stringify(encode(event))
  const { message, ...rest } = event
  return `${JSON.stringify(rest).slice(0, -1)},"message":${writePlain(message)}}`
}

/** The events that are kept, as lines of JSON. */
export const linesOf = (state: PlatformState): string =>
  state.events
    .from(0)
    .map((record, index) => `${toJson(toEvent(record, state.events.start + index, true))}\n`)
    .join("")

/** An id of a server-sent event, with the start of the emulator, because positions begin at 0 after a restart. */
const sseId = ({ startedAt }: PlatformState, id: number): string => `${startedAt.toString(36)}-${id}`

/** The position after an id, or a position beyond the end if the id is of another run of the emulator. */
export const positionAfter = ({ startedAt }: PlatformState, lastEventId: string): number => {
  const [, start, id] = /^([0-9a-z]+)-(-?\d+)$/.exec(lastEventId) ?? []
  return start === startedAt.toString(36) ? Number(id) + 1 : Infinity
}

/** Minimum time between two writes to a reader, in milliseconds of real time. */
const pause = Effect.callback<void>((resume) => {
  const timer = setTimeout(() => resume(Effect.void), 10)
  return Effect.sync(() => clearTimeout(timer))
})

/**
 * The events as text of server-sent events. The events of one turn of the event loop, such as a message and its
 * request, are one write, and the pauses after the writes join the events of a busy emulator.
 */
export const sseOf = (state: PlatformState, filter: Filter, from: number, maxLag: number): Stream.Stream<string> => {
  const reader: Reader = { state, filter, maxLag }
  const write = (event: EmulatorEvent): string =>
    Sse.encoder.write({ _tag: "Event", event: "message", id: sseId(state, event.id), data: toJson(event) })
  const arrival = (position: number) =>
    Effect.suspend(() => (position === state.events.end ? state.events.arrival : Effect.void))
  const nextWrite = (position: number) =>
    pause.pipe(
      Effect.andThen(arrival(position)),
      Effect.andThen(Effect.yieldNow),
      Effect.andThen(nextBatch(reader, position)),
      Effect.map(({ events, next }) => [[events.map(write).join("")], Option.some(next)] as const)
    )
  // A comment tells the client at once that the stream is open.
  return Stream.concat(Stream.succeed(": events\n\n"), Stream.paginate(from, nextWrite))
}
