import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { Comment, Message } from "../../../model/Message.ts"
import { memberOf } from "../../../base/internal/wire.ts"

/** A message or comment that a call has created on the platform. */
export interface Created {
  readonly id: string
  /** The time of the creation, in Unix milliseconds of the platform's clock. */
  readonly at: number
  /** The chat of the request. `undefined` if the request names no chat. */
  readonly chat_id: number | undefined
}

/** Older messages cannot be taken for the result of a later call. */
const maxIds = 10_000

/**
 * The messages that the estimate of the platform's time cannot distinguish from later messages are among the last 100.
 */
const maxLatest = 100

/** A request in flight that may create a message. */
interface Flight {
  readonly endpoint: string
  readonly chat_id: number | undefined
  landed: Deferred.Deferred<void> | undefined
}

/** A chat that is not known can be any chat. */
const mayBeSame = (one: number | undefined, other: number | undefined): boolean =>
  one === undefined || other === undefined || one === other

/** The messages that the calls of a client have created, so that no other call takes such a message as its result. */
export const makeAllCreated = () => {
  const calls = new Map<string, { readonly call: string | undefined; readonly index: number }>()
  /** The message of each call. */
  const ids = new Map<string, string>()
  let count = 0
  /** In the order of their creation. */
  const latest: Array<Created> = []
  const flights = new Set<Flight>()
  return {
    /**
     * `call` identifies the call within the process. `undefined` for a call that is never repeated. A call has one message: if
     * equal calls exchange their messages, for example in another process, the message that the call had before is free.
     */
    add: (created: Created, call: string | undefined): void => {
      const known = calls.get(created.id)
      if (known?.call !== undefined) ids.delete(known.call)
      if (call !== undefined) {
        const before = ids.get(call)
        if (before !== undefined) calls.delete(before)
        ids.set(call, created.id)
      }
      calls.set(created.id, { call, index: known?.index ?? count++ })
      latest.push(created)
      if (latest.length > maxLatest) latest.shift()
      if (calls.size <= maxIds) return
      const [id, oldest] = calls.entries().next().value!
      calls.delete(id)
      if (oldest.call !== undefined) ids.delete(oldest.call)
    },
    /** Whether another call created the message. */
    isOfAnother: (id: string, call: string): boolean => calls.has(id) && calls.get(id)!.call !== call,
    /** Number of messages so far. */
    count: (): number => count,
    /** Whether the message is not among the first `before` messages. */
    isAddedSince: (id: string, before: number): boolean => (calls.get(id)?.index ?? -1) >= before,
    /** Returns the ids of the messages that were created since a time in the chat `chat_id` or in an unknown chat. */
    since: (time: number, chat_id: number | undefined): ReadonlyArray<string> =>
      latest.filter(({ at, chat_id: other }) => at >= time && mayBeSame(other, chat_id)).map(({ id }) => id),
    /** Registers a request in flight. Returns the function that ends the request, to call after `add`. */
    begin: (endpoint: string, chat_id: number | undefined): (() => void) => {
      const flight: Flight = { endpoint, chat_id, landed: undefined }
      flights.add(flight)
      return () => {
        flights.delete(flight)
        if (flight.landed !== undefined) Deferred.doneUnsafe(flight.landed, Effect.void)
      }
    },
    /** Waits until the requests of an endpoint have ended that are on their way to a chat. */
    settled: (endpoint: string, chat_id: number | undefined): Effect.Effect<void> =>
      Effect.suspend(() => {
        const landed: Array<Deferred.Deferred<void>> = []
        for (const flight of flights) {
          if (flight.endpoint !== endpoint || !mayBeSame(flight.chat_id, chat_id)) continue
          landed.push((flight.landed ??= Deferred.makeUnsafe()))
        }
        return Effect.forEach(landed, Deferred.await, { discard: true })
      })
  }
}

export type AllCreated = ReturnType<typeof makeAllCreated>

/** The result of a call with a `lookUp`. */
export type Sent = Message | Comment

export const createdBy = ({ body, timestamp }: Sent, chat_id: number | undefined): Created | undefined =>
  body?.mid === undefined ? undefined : { id: body.mid, at: timestamp, chat_id }

export const chatOf = (request: unknown): number | undefined => {
  const chat_id = memberOf("chat_id", request)
  return typeof chat_id === "number" ? chat_id : undefined
}
